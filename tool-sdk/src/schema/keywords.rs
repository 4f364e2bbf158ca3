//! The keys of `#[arg(…)]` that narrow what a type accepts, as keywords of JSON Schema.
//!
//! A key holds for the values that it can be about: `min` for numbers, `pattern` for text. In a
//! list it holds for the items, in an optional argument for the value that is there.

use serde_json::{Map, Value};

use super::{also, less};
use crate::panic;
use crate::tool::Keyword;

/// Keywords of one schema.
type Keywords = Map<String, Value>;

/// What a key is about.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Subject {
    Number,
    Text,
    /// Text, lists and maps have a length.
    Length,
    Choice,
}

/// Adds what an argument's author says to the schema of its type, and says what does not fit.
pub(super) fn apply(schema: &mut Keywords, added: &[Keyword]) -> Vec<String> {
    let mut problems = Vec::new();
    for Keyword { key, value } in added {
        let key = *key;
        let value = match made(*value) {
            Ok(value) => value,
            Err(problem) => {
                problems.push(format!("`{key}`: {problem}"));
                continue;
            }
        };
        let done = match key {
            "min" => narrow(schema, Subject::Number, &bound("minimum", &value)),
            "max" => narrow(schema, Subject::Number, &bound("maximum", &value)),
            "exclusive_min" => narrow(schema, Subject::Number, &bound("exclusiveMinimum", &value)),
            "exclusive_max" => narrow(schema, Subject::Number, &bound("exclusiveMaximum", &value)),
            "min_length" => narrow(schema, Subject::Length, &length("min", &value)),
            "max_length" => narrow(schema, Subject::Length, &length("max", &value)),
            "pattern" | "format" => narrow(schema, Subject::Text, &|text| {
                also(text, key, value.clone());
                Ok(())
            }),
            "one_of" => narrow(schema, Subject::Choice, &|choice| one_of(choice, &value)),
            "example" => {
                put(schema, "examples", vec![value].into());
                Ok(())
            }
            unknown => Err(format!("this tool-sdk knows no key `{unknown}`")),
        };
        problems.extend(done.err().map(|problem| format!("`{key}`: {problem}")));
    }
    problems.extend(contradiction(schema));
    problems
}

/// The value of an author's expression, which may panic or be no JSON.
pub(super) fn made(value: fn() -> Value) -> Result<Value, String> {
    panic::catch(value).map_err(|report| format!("there is no such value: {report}"))
}

/// Applies `change` where the key's subject is: to the schema itself, to the items of a list, to
/// the alternatives of a union.
fn narrow(
    schema: &mut Keywords,
    subject: Subject,
    change: &dyn Fn(&mut Keywords) -> Result<(), String>,
) -> Result<(), String> {
    if is_about(schema, subject) {
        return change(schema);
    }
    if let Some(items) = schema.get_mut("items").and_then(Value::as_object_mut) {
        return narrow(items, subject, change);
    }
    let mut found = false;
    for union in ["anyOf", "oneOf"] {
        let branches = schema.get_mut(union).and_then(Value::as_array_mut);
        for branch in branches
            .into_iter()
            .flatten()
            .filter_map(Value::as_object_mut)
        {
            if branch.get("type").is_none_or(|kind| kind != "null") {
                narrow(branch, subject, change)?;
                found = true;
            }
        }
    }
    if found {
        return Ok(());
    }
    let expected = match subject {
        Subject::Number => "a number",
        Subject::Text => "text",
        Subject::Length => "text, a list or a map",
        Subject::Choice => "text, a number or a boolean",
    };
    Err(format!(
        "it is about {expected}, which this type does not take"
    ))
}

fn is_about(schema: &Keywords, subject: Subject) -> bool {
    let kinds = match schema.get("type") {
        Some(Value::String(kind)) => vec![kind.as_str()],
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
        // Any value may be one of a few.
        _ => return subject == Subject::Choice && schema.keys().all(|key| key == "description"),
    };
    let fitting: &[&str] = match subject {
        Subject::Number => &["integer", "number"],
        Subject::Text => &["string"],
        Subject::Length if schema.contains_key("properties") => &["string", "array"],
        Subject::Length => &["string", "array", "object"],
        Subject::Choice => &["string", "integer", "number", "boolean"],
    };
    kinds.iter().any(|kind| fitting.contains(kind))
}

fn put(schema: &mut Keywords, keyword: &str, value: Value) {
    schema.insert(keyword.to_owned(), value);
}

/// A bound of a number. It may only narrow what the type holds.
fn bound<'a>(
    keyword: &'static str,
    value: &'a Value,
) -> impl Fn(&mut Keywords) -> Result<(), String> + 'a {
    move |schema| {
        let Value::Number(number) = value else {
            return Err(format!("expected a number, found {value}"));
        };
        let own = |limit: &str| schema.get(limit).and_then(Value::as_number).cloned();
        let (limit, widens, side) = if keyword.ends_with("inimum") {
            let limit = own("minimum");
            let widens = limit.as_ref().is_some_and(|limit| less(number, limit));
            (limit, widens, "below what the argument takes, from")
        } else {
            let limit = own("maximum");
            let widens = limit.as_ref().is_some_and(|limit| less(limit, number));
            (limit, widens, "above what the argument takes, up to")
        };
        if let Some(limit) = limit.filter(|_| widens) {
            return Err(format!("{number} is {side} {limit}"));
        }
        put(schema, keyword, number.clone().into());
        Ok(())
    }
}

/// `minLength`, `minItems` or `minProperties`, and the same with `max`.
fn length<'a>(
    side: &'static str,
    value: &'a Value,
) -> impl Fn(&mut Keywords) -> Result<(), String> + 'a {
    move |schema| {
        if !value.is_u64() {
            return Err(format!("expected a length, found {value}"));
        }
        let has = |wanted: &str| match schema.get("type") {
            Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == wanted),
            Some(kind) => kind == wanted,
            None => false,
        };
        let of = if has("string") {
            "Length"
        } else if has("array") {
            "Items"
        } else {
            "Properties"
        };
        let keyword = format!("{side}{of}");
        let own = schema.get(&keyword).and_then(Value::as_number);
        let widens = own.zip(value.as_number()).is_some_and(|(own, value)| {
            let (small, large) = if side == "min" {
                (value, own)
            } else {
                (own, value)
            };
            less(small, large)
        });
        if widens {
            let own = schema.get(&keyword).cloned().unwrap_or_default();
            return Err(format!("{value} is beyond the type's own limit, {own}"));
        }
        put(schema, &keyword, value.clone());
        Ok(())
    }
}

/// Null stays where the type takes it: an optional argument may still be absent.
fn one_of(schema: &mut Keywords, choices: &Value) -> Result<(), String> {
    let Value::Array(choices) = choices else {
        return Err(format!("expected a list of values, found {choices}"));
    };
    if choices.is_empty() {
        return Err("nothing is one of no values".to_owned());
    }
    let mut choices = choices.clone();
    if let Some(Value::Array(known)) = schema.get("enum")
        && let Some(other) = choices.iter().find(|choice| !known.contains(choice))
    {
        return Err(format!("{other} is none of the type's own values"));
    }
    let nullable = schema
        .get("type")
        .and_then(Value::as_array)
        .is_some_and(|kinds| kinds.iter().any(|kind| kind == "null"));
    if nullable {
        choices.push(Value::Null);
    }
    put(schema, "enum", choices.into());
    Ok(())
}

/// Bounds between which there is no value.
fn contradiction(schema: &Keywords) -> Option<String> {
    let pairs = [
        ("minimum", "maximum"),
        ("exclusiveMinimum", "maximum"),
        ("minimum", "exclusiveMaximum"),
        ("exclusiveMinimum", "exclusiveMaximum"),
        ("minLength", "maxLength"),
        ("minItems", "maxItems"),
        ("minProperties", "maxProperties"),
    ];
    pairs.into_iter().find_map(|(low, high)| {
        let (from, to) = (
            schema.get(low)?.as_number()?,
            schema.get(high)?.as_number()?,
        );
        less(to, from).then(|| format!("no value lies between {from} and {to}"))
    })
}
