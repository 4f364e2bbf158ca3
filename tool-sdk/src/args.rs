//! The arguments of a call, and how plain types are read from them.
//!
//! Reading is done by small functions that are compiled once, here: what is generic over a
//! tool's types is compiled again in every plugin crate, where it costs the author time.

mod list;

use std::ops::{Deref, DerefMut, Index, IndexMut};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::error::{ErrorKind, ToolError};

pub use list::ArgumentList;

/// The arguments of a call: a JSON object.
///
/// It has the methods of [`serde_json::Map`]; an absent key reads as null.
///
/// ```
/// use tool_sdk::prelude::*;
///
/// let args: Args = serde_json::from_str(r#"{"city": "Tokyo"}"#).unwrap();
/// assert_eq!(args["city"], "Tokyo");
/// assert_eq!(args["units"], Value::Null);
/// assert!(!args.contains_key("units"));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Args(Map<String, Value>);

impl Args {
    /// No arguments.
    pub fn new() -> Self {
        Self::default()
    }

    /// The object itself.
    pub fn into_inner(self) -> Map<String, Value> {
        self.0
    }
}

impl From<Map<String, Value>> for Args {
    fn from(map: Map<String, Value>) -> Self {
        Self(map)
    }
}

impl Deref for Args {
    type Target = Map<String, Value>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for Args {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

impl Index<&str> for Args {
    type Output = Value;

    fn index(&self, name: &str) -> &Value {
        const NULL: Value = Value::Null;
        self.0.get(name).unwrap_or(&NULL)
    }
}

impl IndexMut<&str> for Args {
    fn index_mut(&mut self, name: &str) -> &mut Value {
        self.0.entry(name).or_insert(Value::Null)
    }
}

/// Why a value is not of the wanted type: what was expected.
type Expected = String;

/// A type that is read without serde's generic machinery.
#[doc(hidden)]
pub trait Plain: Sized {
    /// Reads the value, or says what was expected.
    fn read(value: Value) -> Result<Self, Expected>;

    /// The value of an argument that is not there.
    fn absent() -> Option<Self> {
        None
    }
}

/// Reads one argument of a plain type.
pub(crate) fn take_plain<T: Plain>(args: &mut ArgumentList, name: &str) -> Result<T, ToolError> {
    match args.take(name) {
        Some(value) => T::read(value).map_err(|expected| mismatch(name, &expected)),
        None => T::absent().ok_or_else(|| missing(name)),
    }
}

/// Reads one argument of any other type.
pub(crate) fn take_any<T: serde::de::DeserializeOwned>(
    args: &mut ArgumentList,
    name: &str,
) -> Result<T, ToolError> {
    match args.take(name) {
        Some(value) => {
            serde_json::from_value(value).map_err(|error| mismatch(name, &error.to_string()))
        }
        None => serde_json::from_value(Value::Null).map_err(|_| missing(name)),
    }
}

/// Reads all arguments as one value.
pub(crate) fn whole<T: serde::de::DeserializeOwned>(args: &Args) -> Result<T, ToolError> {
    serde_json::from_value(Value::Object(args.0.clone()))
        .map_err(|error| ToolError::of(ErrorKind::InvalidArguments, error.to_string()))
}

fn missing(name: &str) -> ToolError {
    ToolError::of(
        ErrorKind::InvalidArguments,
        format!("/{name}: missing required argument"),
    )
}

fn mismatch(name: &str, expected: &str) -> ToolError {
    ToolError::of(ErrorKind::InvalidArguments, format!("/{name}: {expected}"))
}

fn expected(what: &str, value: &Value) -> Expected {
    let mut got = value.to_string();
    if let Some((end, _)) = got.char_indices().nth(60) {
        got.truncate(end);
        got.push('…');
    }
    format!("expected {what}, got {got}")
}

impl Plain for String {
    fn read(value: Value) -> Result<Self, Expected> {
        match value {
            Value::String(text) => Ok(text),
            other => Err(expected("a string", &other)),
        }
    }
}

impl Plain for char {
    fn read(value: Value) -> Result<Self, Expected> {
        let mut chars = value.as_str().unwrap_or_default().chars();
        match (chars.next(), chars.next()) {
            (Some(single), None) => Ok(single),
            _ => Err(expected("one character", &value)),
        }
    }
}

impl Plain for bool {
    fn read(value: Value) -> Result<Self, Expected> {
        value.as_bool().ok_or_else(|| expected("a boolean", &value))
    }
}

impl Plain for f64 {
    fn read(value: Value) -> Result<Self, Expected> {
        value.as_f64().ok_or_else(|| expected("a number", &value))
    }
}

impl Plain for f32 {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a rounded f32 is what the author asked for"
    )]
    fn read(value: Value) -> Result<Self, Expected> {
        let number = value.as_f64();
        // What is beyond would become infinite.
        let fitting = number.filter(|number| number.abs() <= Self::MAX.into());
        fitting.map(|number| number as Self).ok_or_else(|| {
            let range = format!("a number from {:e} to {:e}", Self::MIN, Self::MAX);
            expected(&range, &value)
        })
    }
}

impl Plain for Value {
    fn read(value: Value) -> Result<Self, Expected> {
        Ok(value)
    }
}

macro_rules! integers {
    ($($type:ty)*) => {$(
        impl Plain for $type {
            fn read(value: Value) -> Result<Self, Expected> {
                let integer = value.as_i64().map(i128::from).or(value.as_u64().map(i128::from));
                integer.and_then(|integer| Self::try_from(integer).ok()).ok_or_else(|| {
                    let range = format!("an integer from {} to {}", Self::MIN, Self::MAX);
                    expected(&range, &value)
                })
            }
        }
    )*};
}
integers! { i8 i16 i32 i64 isize u8 u16 u32 u64 usize }

impl<T: Plain> Plain for Option<T> {
    fn read(value: Value) -> Result<Self, Expected> {
        if value.is_null() {
            Ok(None)
        } else {
            T::read(value).map(Some)
        }
    }

    fn absent() -> Option<Self> {
        Some(None)
    }
}

impl<T: Plain> Plain for Vec<T> {
    fn read(value: Value) -> Result<Self, Expected> {
        match value {
            Value::Array(items) => items.into_iter().map(T::read).collect(),
            other => Err(expected("an array", &other)),
        }
    }
}

/// Types of other crates are read by serde, but compiled here instead of in every plugin crate.
macro_rules! by_serde {
    ($($feature:literal: $type:ty = $example:literal,)*) => {$(
        #[cfg(feature = $feature)]
        impl Plain for $type {
            fn read(value: Value) -> Result<Self, Expected> {
                Self::deserialize(&value).map_err(|error| {
                    let example = concat!("something like `", $example, "`");
                    format!("{}: {error}", expected(example, &value))
                })
            }
        }
    )*};
}
by_serde! {
    "chrono": chrono04::NaiveDate = "2024-03-31",
    "chrono": chrono04::NaiveTime = "09:30:00",
    "chrono": chrono04::NaiveDateTime = "2024-03-31T09:30:00",
    "chrono": chrono04::DateTime<chrono04::Utc> = "2024-03-31T09:30:00Z",
    "chrono": chrono04::DateTime<chrono04::FixedOffset> = "2024-03-31T09:30:00+02:00",
    "chrono": chrono04::TimeDelta = "[90, 0]",
    "jiff": jiff02::civil::Date = "2024-03-31",
    "jiff": jiff02::civil::Time = "09:30:00",
    "jiff": jiff02::civil::DateTime = "2024-03-31T09:30:00",
    "jiff": jiff02::Timestamp = "2024-03-31T09:30:00Z",
    "jiff": jiff02::SignedDuration = "PT1H30M",
    "jiff": jiff02::Span = "PT1H30M",
    "url": url2::Url = "https://example.com/",
    "uuid": uuid1::Uuid = "67e55044-10b1-426f-9247-bb680e5fe0c8",
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read<T: Plain>(value: Value) -> Result<T, String> {
        let args = Args::from(Map::from_iter([("x".to_owned(), value)]));
        take_plain(&mut args.into(), "x").map_err(|error| error.to_string())
    }

    #[test]
    fn integers_keep_every_digit_and_their_range() {
        assert_eq!(
            read::<i64>(json!(2_512_292_042_121_000_001_i64)),
            Ok(2_512_292_042_121_000_001)
        );
        assert_eq!(read::<u64>(json!(u64::MAX)), Ok(u64::MAX));
        assert_eq!(
            read::<u8>(json!(256)).unwrap_err(),
            "/x: expected an integer from 0 to 255, got 256"
        );
        assert!(read::<i64>(json!(1.5)).is_err());
    }

    #[test]
    fn floats_are_finite() {
        assert_eq!(read::<f32>(json!(f32::MAX)), Ok(f32::MAX));
        assert_eq!(read::<f32>(json!(-0.5)), Ok(-0.5));
        assert_eq!(
            read::<f32>(json!(1e39)).unwrap_err(),
            "/x: expected a number from -3.4028235e38 to 3.4028235e38, got 1e+39"
        );
        assert!(read::<f32>(json!("1")).is_err());
    }

    #[test]
    fn absent_and_null_are_none() {
        assert_eq!(read::<Option<String>>(Value::Null), Ok(None));
        assert_eq!(
            take_plain::<Option<i64>>(&mut ArgumentList::default(), "x"),
            Ok(None)
        );
        assert_eq!(
            take_plain::<i64>(&mut ArgumentList::default(), "x")
                .unwrap_err()
                .to_string(),
            "/x: missing required argument"
        );
    }

    #[test]
    fn absent_key_reads_as_null_and_can_be_written() {
        let mut args = Args::new();
        assert_eq!(args["a"], Value::Null);
        args["a"] = json!(1);
        assert_eq!(args["a"], 1);
    }
}
