//! What comes from a server: text → value, and the few things that every dialect says alike.

use serde_json::{Map, Value};
use uuid::Uuid;

use super::FormatError;
use crate::json_text::{one_line, shortened};
use crate::json_value;
use crate::message::{Block, StopReason};

/// How much of an unexpected answer is quoted, in characters.
const QUOTED: usize = 200;

/// What is said where a server reports a failure without a word about it.
const SILENT_FAILURE: &str = "the server reports a failure and does not say which";

/// Reads JSON. Half a surrogate pair, which some servers send, is the replacement character.
pub(crate) fn parse(text: &str) -> Result<Value, FormatError> {
    let parsed = json_value::parse(text).or_else(|error| {
        let mended = without_lone_surrogates(text).ok_or(error)?;
        json_value::parse(&mended)
    });
    parsed.map_err(|_| malformed("JSON", text))
}

pub(super) fn malformed(expected: &'static str, found: &str) -> FormatError {
    FormatError::Malformed {
        expected,
        found: shortened(&one_line(found), QUOTED),
    }
}

/// The failure that stands where an answer should be: `{"error": {…}}`, `{"error": "…"}`.
pub(crate) fn failure(value: &Value) -> Option<FormatError> {
    let error = value.get("error").filter(|error| !error.is_null())?;
    let text = |key: &str| match error.get(key) {
        Some(Value::String(text)) => Some(text.clone()),
        Some(Value::Number(number)) => Some(number.to_string()),
        _ => None,
    };
    let message = match error {
        Value::String(message) => message.clone(),
        _ => text("message").unwrap_or_else(|| SILENT_FAILURE.to_owned()),
    };
    let code = text("code").or_else(|| text("type")).unwrap_or_default();
    Some(FormatError::Server { code, message })
}

/// The id that a call was given, else a fresh one (R4).
pub(super) fn id_or_fresh(id: Option<&str>) -> String {
    match id {
        Some(id) if !id.is_empty() => id.to_owned(),
        _ => Uuid::new_v4().to_string(),
    }
}

/// Why an answer ends, where what it holds is more reliable than what the server calls it.
pub(super) fn stop_reason(named: Option<StopReason>, content: &[Block]) -> StopReason {
    let calls = content
        .iter()
        .any(|block| matches!(block, Block::ToolUse { .. }));
    match named {
        None | Some(StopReason::End | StopReason::ToolUse) if calls => StopReason::ToolUse,
        None | Some(StopReason::End | StopReason::ToolUse) => StopReason::End,
        Some(other) => other,
    }
}

/// Counted tokens by our names; what was not counted is absent.
pub(super) fn usage(counts: &[(&str, Option<u64>)]) -> Option<Value> {
    let counts = counts
        .iter()
        .filter_map(|(name, count)| Some(((*name).to_owned(), Value::from((*count)?))));
    let usage: Map<String, Value> = counts.collect();
    (!usage.is_empty()).then(|| usage.into())
}

/// The text with `\ufffd` for every escape that is half a surrogate pair; `None` if there is none.
fn without_lone_surrogates(text: &str) -> Option<String> {
    let mut mended = String::with_capacity(text.len());
    let mut rest = text;
    let mut found = false;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        mended.push_str(before);
        let taken = match code_unit(escape) {
            Some(0xD800..=0xDBFF)
                if escape.get(6..).and_then(code_unit).is_some_and(is_low_half) =>
            {
                12
            }
            Some(0xD800..=0xDFFF) => 0,
            Some(_) => 6,
            None => escape.chars().take(2).map(char::len_utf8).sum(),
        };
        let (kept, after) = if taken == 0 {
            found = true;
            ("\\ufffd", escape.get(6..))
        } else {
            (escape.get(..taken).unwrap_or(escape), escape.get(taken..))
        };
        mended.push_str(kept);
        rest = after.unwrap_or_default();
    }
    mended.push_str(rest);
    found.then_some(mended)
}

/// The number in an escape such as `\u00e9` at the beginning of the text.
fn code_unit(text: &str) -> Option<u32> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    u32::from_str_radix(digits, 16).ok()
}

fn is_low_half(unit: u32) -> bool {
    (0xDC00..=0xDFFF).contains(&unit)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// `g1.surrogates.1`.
    #[test]
    fn half_a_surrogate_pair_is_the_replacement_character() {
        let check = |text: &str, expected: Value| assert_eq!(parse(text), Ok(expected), "{text}");
        check(r#"["x \ud99c y"]"#, json!(["x \u{fffd} y"]));
        check(
            r#"["\udc00\ud83d\ude00\ud800"]"#,
            json!(["\u{fffd}😀\u{fffd}"]),
        );
        check(r#"["\\ud99c", "\ud800"]"#, json!(["\\ud99c", "\u{fffd}"]));
        check(
            r#"["\ud800é\ud800\u0041\\"]"#,
            json!(["\u{fffd}é\u{fffd}A\\"]),
        );
    }

    #[test]
    fn what_is_no_json_is_quoted_on_one_line() {
        let error = parse("<html>\n<body>").unwrap_err();
        assert_eq!(error.to_string(), "expected JSON, found <html> <body>");
        assert!(parse("\"\\ud800").is_err());
        assert!(parse("\\").is_err());
    }

    #[test]
    fn failures_are_told_with_the_servers_words() {
        let check = |error: Value, code: &str, message: &str| {
            let expected = FormatError::Server {
                code: code.to_owned(),
                message: message.to_owned(),
            };
            assert_eq!(failure(&json!({"error": error})), Some(expected));
        };
        check(json!("no"), "", "no");
        check(
            json!({"message": "no", "type": "t", "code": null}),
            "t",
            "no",
        );
        check(json!({"message": "no", "code": 429}), "429", "no");
        check(json!({}), "", SILENT_FAILURE);
        assert_eq!(failure(&json!({"error": null})), None);
    }
}
