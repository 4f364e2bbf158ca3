//! Whole answers.

use serde_json::{Value, json};

use super::super::reply;
use crate::message::{Arguments, Block, Reply, StopReason};

/// The answer with this message and this reason.
#[expect(clippy::needless_pass_by_value, reason = "callers write `json!(…)`")]
fn read(message: Value, finish: Value) -> Reply {
    reply(&json!({"choices": [{"message": message, "finish_reason": finish}]})).unwrap()
}

fn call(id: &str, name: &str, input: Arguments) -> Block {
    Block::ToolUse {
        id: id.to_owned(),
        name: name.to_owned(),
        input,
    }
}

#[test]
fn text_thoughts_and_calls_are_read_in_their_order() {
    let message = json!({
        "role": "assistant", "content": "One moment.", "reasoning_content": "Hm",
        "tool_calls": [
            {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{\"x\": 1}"}},
            {"id": "b", "type": "function", "function": {"name": "g", "arguments": {"y": 2}}},
        ],
    });
    let thought = Block::Thinking {
        thinking: "Hm".to_owned(),
        signature: None,
        redacted: None,
    };
    let reply = read(message, json!("tool_calls"));
    let expected = [
        thought,
        Block::text("One moment."),
        call("a", "f", Arguments::Text("{\"x\": 1}".to_owned())),
        call("b", "g", Arguments::Json(json!({"y": 2}))),
    ];
    assert_eq!(reply.content, expected);
    assert_eq!(reply.stop, StopReason::ToolUse);
}

#[test]
fn reasons_are_judged_by_what_the_answer_holds() {
    let calls = json!({"content": null, "tool_calls": [{"id": "a", "function": {"name": "f"}}]});
    let text = json!({"content": "Hi"});
    for (message, finish, expected) in [
        (&calls, json!("stop"), StopReason::ToolUse),
        (&calls, json!(null), StopReason::ToolUse),
        (&calls, json!("length"), StopReason::Length),
        (&text, json!("stop"), StopReason::End),
        (&text, json!("tool_calls"), StopReason::End),
        (&text, json!("content_filter"), StopReason::Refused),
        (&text, json!("odd"), StopReason::Other("odd".to_owned())),
    ] {
        assert_eq!(
            read(message.clone(), finish.clone()).stop,
            expected,
            "{finish}"
        );
    }
    let refusal = read(json!({"content": null, "refusal": "No."}), json!("stop"));
    assert_eq!(refusal.content, [Block::text("No.")]);
    assert_eq!(refusal.stop, StopReason::Refused);
}

#[test]
fn content_may_be_a_list_and_the_call_the_old_one() {
    let parts = json!([
        {"type": "thinking", "thinking": [{"type": "text", "text": "Hm"}]},
        {"type": "text", "text": "Hi"},
    ]);
    let reply = read(json!({"content": parts}), json!("stop"));
    assert_eq!(reply.content.last(), Some(&Block::text("Hi")));
    assert_eq!(reply.content.len(), 2);

    let old = json!({"content": null, "function_call": {"name": "f", "arguments": "{}"}});
    let reply = read(old, json!("function_call"));
    let [Block::ToolUse { id, name, .. }] = reply.content.as_slice() else {
        panic!("{reply:?}");
    };
    assert_eq!((id.len(), name.as_str()), (36, "f"));
}

#[test]
fn usage_is_counted_by_our_names() {
    let reply = reply(&json!({
        "choices": [{"message": {"content": "Hi"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11,
                  "prompt_tokens_details": {"cached_tokens": 4, "audio_tokens": null}},
    }));
    assert_eq!(
        reply.unwrap().usage,
        Some(
            json!({"inputTokens": 9, "outputTokens": 2, "totalTokens": 11, "cachedInputTokens": 4})
        )
    );
}

#[test]
fn what_is_no_answer_is_told() {
    for (response, expected) in [
        (
            json!({"error": {"message": "Overloaded", "code": 503}}),
            "Overloaded",
        ),
        (
            json!({"choices": []}),
            r#"expected an answer with `choices`, found {"choices":[]}"#,
        ),
        (json!([1]), "expected an answer with `choices`, found [1]"),
    ] {
        assert_eq!(reply(&response).unwrap_err().to_string(), expected);
    }
}
