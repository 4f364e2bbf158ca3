//! JSON text → value, as it is written.
//!
//! `serde_json` reads an object with a certain private key as something else, since it passes types
//! of its own through serde so. To a model's text that key is a key like any other.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// Reads one value.
///
/// # Errors
/// What is wrong with the text, and where. Nesting has a limit, which is `serde_json`'s.
pub fn parse(text: &str) -> serde_json::Result<Value> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let value = Plain.deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(value)
}

/// How deep arrays and objects lie in each other.
pub fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or_default(),
        Value::Object(fields) => 1 + fields.values().map(depth).max().unwrap_or_default(),
        _ => 0,
    }
}

/// Makes a [`Value`] of whatever comes.
#[derive(Clone, Copy)]
struct Plain;

impl<'de> DeserializeSeed<'de> for Plain {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Plain {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E: Error>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(self)? {
            list.push(item);
        }
        Ok(list.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut fields = Map::new();
        while let Some(name) = entries.next_key::<String>()? {
            let value = entries.next_value_seed(self)?;
            fields.insert(name, value);
        }
        Ok(fields.into())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn text_is_read_as_serde_json_reads_it() {
        for text in [
            "null",
            "true",
            "-0",
            "-0.0",
            "5",
            "18446744073709551615",
            "1e3",
            "0.1",
            "\"ß\\n\"",
            "[1, [], {}]",
            r#"{"a": 1, "b": [null], "a": 2}"#,
            "[",
            "1 2",
            "",
            "nul",
            "1e999",
        ] {
            let ours = parse(text).map_err(|error| error.to_string());
            let theirs = serde_json::from_str::<Value>(text).map_err(|error| error.to_string());
            assert_eq!(ours, theirs, "{text}");
        }
        assert!(parse(&"[".repeat(500_000)).is_err());
    }

    #[test]
    fn private_key_of_serde_json_is_a_key() {
        let text = r#"{"a": {"$serde_json::private::RawValue": "5", "b": 1}}"#;
        let value = parse(text).unwrap();
        assert_eq!(value["a"]["$serde_json::private::RawValue"], "5");
        assert_eq!(value["a"]["b"], 1);
    }

    #[test]
    fn depth_counts_containers() {
        assert_eq!(depth(&json!(1)), 0);
        assert_eq!(depth(&json!({"a": [1, {}]})), 3);
    }
}
