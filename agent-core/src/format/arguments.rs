//! The arguments of a call as they go back to a provider: always an object.
//!
//! Owns what becomes of arguments that are none. Whether a call with them runs is decided long
//! before.

use serde_json::{Map, Value, json};

use crate::json_text::spaced;
use crate::json_value;
use crate::message::Arguments;

/// Under this key a provider gets back what was no object: servers refuse a history with broken
/// arguments, and the model should see what it wrote.
const INVALID: &str = "invalidArguments";

/// How often an object may have been encoded as a string.
const ENCODINGS: usize = 8;

/// As JSON text: what was sent, letter by letter, where it is an object (R16 else).
pub(super) fn text(arguments: &Arguments) -> String {
    match arguments {
        Arguments::Text(text) if matches!(json_value::parse(text), Ok(Value::Object(_))) => {
            text.clone()
        }
        other => spaced(&Value::Object(object(other))),
    }
}

/// As an object.
pub(super) fn object(arguments: &Arguments) -> Map<String, Value> {
    let plain = arguments.object().or_else(|| match arguments {
        Arguments::Json(Value::String(text)) | Arguments::Text(text) => decoded(text),
        Arguments::Json(_) => None,
    });
    plain.unwrap_or_else(|| {
        let sent = match arguments {
            Arguments::Text(text) | Arguments::Json(Value::String(text)) => text.clone(),
            Arguments::Json(value) => spaced(value),
        };
        Map::from_iter([(INVALID.to_owned(), json!(sent))])
    })
}

/// The object in a text that is a string in JSON once more.
fn decoded(text: &str) -> Option<Map<String, Value>> {
    let mut text = text.to_owned();
    for _ in 0..ENCODINGS {
        if let Some(object) = Arguments::Text(text.clone()).object() {
            return Some(object);
        }
        match json_value::parse(&text) {
            Ok(Value::String(inner)) => text = inner,
            _ => return None,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks what goes back for arguments that were sent as this text.
    fn check(sent: &str, expected: &str) {
        assert_eq!(text(&Arguments::Text(sent.to_owned())), expected, "{sent}");
        let value: Value = serde_json::from_str(expected).unwrap();
        assert_eq!(
            Value::Object(object(&Arguments::Text(sent.to_owned()))),
            value,
            "{sent}"
        );
    }

    /// R16, `g1.double-encode-out.1`, `g1.big-int.1`.
    #[test]
    fn r16_what_was_sent_goes_back_letter_by_letter() {
        check(r#"{"a":3,"b":4}"#, r#"{"a":3,"b":4}"#);
        check("{\"a\":\n 1e2}", "{\"a\":\n 1e2}");
        let large = r#"{"row_id":2512292042121000001}"#;
        check(large, large);
        let json =
            Arguments::Json(json!({"command": "whoami", "row": 2_512_292_042_121_000_001_u64}));
        assert_eq!(
            text(&json),
            r#"{"command": "whoami", "row": 2512292042121000001}"#
        );
    }

    /// R11, `g1.empty-args.1`, `g1.null-args.1`.
    #[test]
    fn r11_nothing_is_an_empty_object() {
        for nothing in ["", " ", "null"] {
            check(nothing, "{}");
        }
        assert_eq!(text(&Arguments::Json(Value::Null)), "{}");
    }

    /// `g1.poisoned-history.1`, `g1.non-object-args.1`, `g1.surrogates.1`.
    #[test]
    fn what_is_no_object_goes_back_as_text_in_one() {
        check(r#"{"a": "#, r#"{"invalidArguments": "{\"a\": "}"#);
        check(r#"["a"]"#, r#"{"invalidArguments": "[\"a\"]"}"#);
        check("17", r#"{"invalidArguments": "17"}"#);
        check(
            r#"{"a":"\ud99c"}"#,
            r#"{"invalidArguments": "{\"a\":\"\\ud99c\"}"}"#,
        );
        assert_eq!(
            text(&Arguments::Json(json!([1, 2]))),
            r#"{"invalidArguments": "[1, 2]"}"#
        );
        assert_eq!(
            text(&Arguments::Json(json!("go"))),
            r#"{"invalidArguments": "go"}"#
        );
    }

    /// `g1.double-encoded.1`.
    #[test]
    fn object_in_a_string_is_the_object() {
        check(r#""{\"ticket\":\"88120\"}""#, r#"{"ticket": "88120"}"#);
        check(r#""null""#, "{}");
        let json = Arguments::Json(json!(r#"{"ticket":"88120"}"#));
        assert_eq!(text(&json), r#"{"ticket": "88120"}"#);
    }
}
