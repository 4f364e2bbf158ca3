//! Whole answers.

use serde_json::json;

use super::super::reply;
use crate::message::{Arguments, Block, StopReason};

#[test]
fn answer_is_read_with_its_thoughts_calls_and_counts() {
    let reply = reply(&json!({
        "type": "message", "role": "assistant", "stop_reason": "tool_use",
        "content": [
            {"type": "thinking", "thinking": "Hm", "signature": "s"},
            {"type": "redacted_thinking", "data": "xyz"},
            {"type": "text", "text": "One moment."},
            {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {"x": 1}},
        ],
        "usage": {"input_tokens": 3, "cache_read_input_tokens": 10, "cache_creation_input_tokens": null, "output_tokens": 5},
    }))
    .unwrap();
    let thought =
        |thinking: &str, signature: Option<&str>, redacted: Option<&str>| Block::Thinking {
            thinking: thinking.to_owned(),
            signature: signature.map(str::to_owned),
            redacted: redacted.map(str::to_owned),
        };
    let call = Block::ToolUse {
        id: "toolu_1".to_owned(),
        name: "f".to_owned(),
        input: Arguments::Json(json!({"x": 1})),
    };
    let expected = [
        thought("Hm", Some("s"), None),
        thought("", None, Some("xyz")),
        Block::text("One moment."),
        call,
    ];
    assert_eq!(reply.content, expected);
    assert_eq!(reply.stop, StopReason::ToolUse);
    assert_eq!(
        reply.usage,
        Some(
            json!({"inputTokens": 13, "outputTokens": 5, "totalTokens": 18, "cachedInputTokens": 10})
        )
    );
}

#[test]
fn reasons_have_our_names() {
    for (reason, expected) in [
        ("end_turn", StopReason::End),
        ("stop_sequence", StopReason::End),
        ("tool_use", StopReason::End),
        ("max_tokens", StopReason::Length),
        ("refusal", StopReason::Refused),
        ("pause_turn", StopReason::Other("pause_turn".to_owned())),
    ] {
        let answer = json!({"content": [{"type": "text", "text": "Hi"}], "stop_reason": reason});
        assert_eq!(reply(&answer).unwrap().stop, expected, "{reason}");
    }
}

#[test]
fn what_is_no_answer_is_told() {
    let overloaded =
        json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}});
    assert_eq!(reply(&overloaded).unwrap_err().to_string(), "Overloaded");
    let error = reply(&json!({"choices": []})).unwrap_err();
    assert_eq!(
        error.to_string(),
        r#"expected an answer with `content`, found {"choices":[]}"#
    );
}
