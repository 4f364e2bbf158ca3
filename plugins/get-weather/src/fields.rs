//! Reads single values out of a JSON answer, and says by pointer which one is missing.

use serde_json::Value;

use crate::fault::Fault;

/// The number at a place.
pub fn number(answer: &Value, pointer: &str) -> Result<f64, Fault> {
    let found = answer.pointer(pointer);
    found
        .and_then(Value::as_f64)
        .ok_or_else(|| unusable(pointer, "a number", found))
}

/// The whole number at a place, not below zero.
pub fn code(answer: &Value, pointer: &str) -> Result<u64, Fault> {
    let found = answer.pointer(pointer);
    // Some of the service's weather models write codes as `3.0`.
    found
        .and_then(whole)
        .ok_or_else(|| unusable(pointer, "a whole number", found))
}

/// The text at a place.
pub fn text<'a>(answer: &'a Value, pointer: &str) -> Result<&'a str, Fault> {
    let found = answer.pointer(pointer);
    found
        .and_then(Value::as_str)
        .ok_or_else(|| unusable(pointer, "a text", found))
}

/// The list at a place.
pub fn list<'a>(answer: &'a Value, pointer: &str) -> Result<&'a [Value], Fault> {
    let found = answer.pointer(pointer);
    found
        .and_then(Value::as_array)
        .map(Vec::as_slice)
        .ok_or_else(|| unusable(pointer, "a list", found))
}

/// A value as a whole number, also where it is written with a fraction of zero.
#[must_use]
pub fn whole(value: &Value) -> Option<u64> {
    let number = value
        .as_f64()
        .filter(|number| number.fract() == 0.0 && (0.0..1e9).contains(number))?;
    format!("{number:.0}").parse().ok()
}

/// The fault of a value that is missing or of another kind.
fn unusable(pointer: &str, expected: &'static str, found: Option<&Value>) -> Fault {
    let found = match found {
        None => "nothing",
        Some(Value::Null) => "null",
        Some(Value::Bool(_)) => "true or false",
        Some(Value::Number(_)) => "another number",
        Some(Value::String(_)) => "a text",
        Some(Value::Array(_)) => "a list",
        Some(Value::Object(_)) => "an object",
    };
    Fault::Field {
        pointer: pointer.to_owned(),
        expected,
        found: found.to_owned(),
    }
}
