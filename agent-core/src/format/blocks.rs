//! Answers that are lists of content blocks, in every shape that providers and programs give them.
//!
//! Owns the reading of one block and of one call. What stands around the list is the affair of a
//! provider's own module; here it may be a whole answer `{"content": […]}` or the bare list.

use serde_json::{Map, Value, json};

use super::FormatError;
use super::received::{failure, id_or_fresh, malformed};
use crate::message::{Arguments, Block, Reply};

/// Reads an answer: `{"content": […]}` or the list itself (Y25, A10).
///
/// # Errors
/// What stands where the list should be.
pub fn reply(value: &Value) -> Result<Reply, FormatError> {
    if let Some(failure) = failure(value) {
        return Err(failure);
    }
    let content = match value {
        Value::Array(_) => Some(value),
        other => other.get("content"),
    };
    content
        .and_then(read)
        .map(Reply::new)
        .ok_or_else(|| malformed("a list of content blocks", &value.to_string()))
}

/// The blocks of a list, or of a text that stands in its place. Blocks of unknown kinds are what
/// providers add with time, and are left out.
pub(super) fn read(content: &Value) -> Option<Vec<Block>> {
    match content {
        Value::String(text) => Some(said(text)),
        Value::Array(blocks) => Some(blocks.iter().flat_map(block).collect()),
        _ => None,
    }
}

/// A text as a block, unless it is empty.
pub(super) fn said(text: &str) -> Vec<Block> {
    let block = (!text.is_empty()).then(|| Block::text(text));
    block.into_iter().collect()
}

fn block(block: &Value) -> Vec<Block> {
    let text = |key: &str| block.get(key).and_then(Value::as_str);
    match text("type").unwrap_or_default() {
        "text" | "output_text" => said(text("text").unwrap_or_default()),
        "refusal" => said(text("refusal").unwrap_or_default()),
        "thinking" => thinking(block),
        "redacted_thinking" => vec![Block::Thinking {
            thinking: String::new(),
            signature: None,
            redacted: text("data").map(str::to_owned),
        }],
        "tool_use" | "tool_call" => vec![call(block)],
        "tool_calls" => calls(block.get("tool_calls")),
        _ => block.as_str().map(said).unwrap_or_default(),
    }
}

/// The thought is a text, or a list of blocks of text.
fn thinking(block: &Value) -> Vec<Block> {
    let thinking = match block.get("thinking") {
        Some(Value::String(thinking)) => thinking.clone(),
        Some(Value::Array(parts)) => {
            let texts = parts.iter().filter_map(|part| part.get("text")?.as_str());
            texts.collect()
        }
        _ => String::new(),
    };
    let signature = block.get("signature").and_then(Value::as_str);
    vec![Block::Thinking {
        thinking,
        signature: signature
            .filter(|signature| !signature.is_empty())
            .map(str::to_owned),
        redacted: None,
    }]
}

/// The calls of a list; nothing where there is none.
pub(super) fn calls(list: Option<&Value>) -> Vec<Block> {
    let entries = list.and_then(Value::as_array).into_iter().flatten();
    entries
        .filter(|entry| entry.is_object())
        .map(call)
        .collect()
}

/// One call, `{"id", "function": {"name", "arguments"}}` or with name and arguments beside the id.
/// A missing id is a fresh one, a missing name the empty one, missing arguments are none (Y26).
pub(super) fn call(entry: &Value) -> Block {
    let function = entry.get("function").unwrap_or(entry);
    let sent = function.get("arguments").or_else(|| function.get("input"));
    Block::ToolUse {
        id: id_or_fresh(entry.get("id").and_then(Value::as_str)),
        name: function
            .get("name")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned(),
        input: arguments(sent),
    }
}

fn arguments(sent: Option<&Value>) -> Arguments {
    match sent {
        None | Some(Value::Null) => Arguments::Json(json!(Map::new())),
        Some(Value::String(text)) => Arguments::Text(text.clone()),
        Some(value) => Arguments::Json(value.clone()),
    }
}

#[cfg(test)]
mod tests {
    use uuid::{Uuid, Version};

    use super::*;

    fn block_of(id: &str, name: &str, input: Value) -> Block {
        Block::ToolUse {
            id: id.to_owned(),
            name: name.to_owned(),
            input: Arguments::Json(input),
        }
    }

    /// The only block of an answer.
    fn only(block: &Value) -> Block {
        let reply = reply(&json!([block])).unwrap();
        assert_eq!(reply.content.len(), 1, "{block}");
        reply.content[0].clone()
    }

    fn fresh(block: &Block) -> bool {
        let Block::ToolUse { id, .. } = block else {
            return false;
        };
        Uuid::parse_str(id).is_ok_and(|id| id.get_version() == Some(Version::Random))
    }

    #[test]
    fn y25_three_shapes_are_one_call() {
        let tokyo = json!({"city": "Tokyo"});
        let expected = block_of("call_1", "getWeather", tokyo.clone());
        let function = json!({"name": "getWeather", "arguments": tokyo});
        let a =
            json!({"type": "tool_calls", "tool_calls": [{"id": "call_1", "function": function}]});
        let b =
            json!({"type": "tool_call", "id": "call_1", "name": "getWeather", "arguments": tokyo});
        let c = json!({"type": "tool_calls", "tool_calls": [function]});
        assert_eq!(only(&a), expected);
        assert_eq!(only(&b), expected);
        let Block::ToolUse { id: _, name, input } = only(&c) else {
            panic!("{c}");
        };
        assert!(fresh(&only(&c)));
        assert_eq!(
            (name.as_str(), input),
            ("getWeather", Arguments::Json(tokyo))
        );
    }

    #[test]
    fn y26_what_is_missing_is_replaced() {
        for id in [json!(null), json!(""), json!(7)] {
            let call = only(&json!({"type": "tool_call", "id": id}));
            assert!(fresh(&call));
            let Block::ToolUse { name, input, .. } = call else {
                panic!("no call");
            };
            assert_eq!((name.as_str(), input), ("", Arguments::Json(json!({}))));
        }
    }

    /// `g1.object-for-string.1` too.
    #[test]
    fn y27_arguments_may_be_text_and_the_text_may_be_broken() {
        for text in [r#"{"city": "Tokyo"}"#, r#"{"city": "#] {
            let call = only(&json!({"type": "tool_call", "name": "w", "arguments": text}));
            let Block::ToolUse { input, .. } = call else {
                panic!("no call");
            };
            assert_eq!(input, Arguments::Text(text.to_owned()));
        }
    }

    #[test]
    fn a10_tool_use_is_a_call() {
        let input = json!({"question": "q", "num_results": 3});
        let block = json!({"type": "tool_use", "id": "xxx", "name": "bing_search", "input": input});
        assert_eq!(only(&block), block_of("xxx", "bing_search", input));
    }

    #[test]
    fn order_is_kept_and_the_unknown_is_left_out() {
        let answer = json!({"content": [
            {"type": "thinking", "thinking": "Hm", "signature": "s"},
            {"type": "text", "text": "One moment."},
            {"type": "server_tool_use", "id": "x"},
            {"type": "text", "text": ""},
            {"type": "tool_use", "id": "a", "name": "f", "input": {}},
        ]});
        let reply = reply(&answer).unwrap();
        let thinking = Block::Thinking {
            thinking: "Hm".to_owned(),
            signature: Some("s".to_owned()),
            redacted: None,
        };
        let expected = [
            thinking,
            Block::text("One moment."),
            block_of("a", "f", json!({})),
        ];
        assert_eq!(reply.content, expected);
        assert_eq!(reply.stop, crate::message::StopReason::ToolUse);
    }

    #[test]
    fn what_holds_no_blocks_is_told() {
        let error = reply(&json!({"answer": 42})).unwrap_err();
        assert_eq!(
            error.to_string(),
            r#"expected a list of content blocks, found {"answer":42}"#
        );
        let error = reply(&json!({"error": {"message": "no"}})).unwrap_err();
        assert_eq!(error.to_string(), "no");
    }
}
