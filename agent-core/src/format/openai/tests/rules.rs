//! The rules of servers, checked on conversations of every kind.

use proptest::prelude::*;
use serde_json::{Value, json};
use tool_sdk::Content;

use super::super::conversation;
use crate::ids::is_tool_name;
use crate::message::{Arguments, Block, Context, Message, Role};

/// What a strict server would say against these messages.
fn refusal(messages: &[Value]) -> Option<&'static str> {
    let mut open: Vec<&str> = Vec::new();
    for message in messages {
        let content = &message["content"];
        let calls = message["tool_calls"].as_array();
        if message["role"] == "tool" {
            if open.is_empty() || message["tool_call_id"] != open.remove(0) {
                return Some("a result is not that of the next call");
            }
            if content.as_str().is_none_or(str::is_empty) {
                return Some("a result says nothing");
            }
            continue;
        }
        if !open.is_empty() {
            return Some("a call has no result");
        }
        let silent = content.is_null() || content == "" || *content == json!([]);
        if silent && calls.is_none_or(Vec::is_empty) {
            return Some("a message says nothing");
        }
        for part in content.as_array().into_iter().flatten() {
            if part["type"] == "text" && part["text"] == "" {
                return Some("a part is empty");
            }
        }
        for call in calls.into_iter().flatten() {
            let function = &call["function"];
            let arguments = function["arguments"].as_str()?;
            if !serde_json::from_str::<Value>(arguments).is_ok_and(|value| value.is_object()) {
                return Some("arguments are no object");
            }
            if !is_tool_name(function["name"].as_str()?) {
                return Some("a name is none");
            }
            open.push(call["id"].as_str()?);
        }
    }
    (!open.is_empty()).then_some("a call has no result")
}

fn content() -> impl Strategy<Value = Content> {
    prop_oneof![
        "[a-z]{0,3}".prop_map(Content::text),
        Just(Content::image("AAAA", "image/png")),
        Just(Content::audio("AAAA", "audio/wav")),
        Just(Content::resource("file:///a", "x")),
    ]
}

/// What is said in one step: the user's words, or the assistant's with calls and their results.
fn step() -> impl Strategy<Value = Vec<Message>> {
    let contents = || prop::collection::vec(content(), 0..3);
    let user = contents().prop_map(|contents| {
        let blocks = contents.into_iter().map(Block::Content).collect();
        vec![Message::new(Role::User, blocks)]
    });
    let call = ("[a-z.]{0,4}", "\\PC{0,6}|\\{\\}", contents());
    let assistant = ("[a-z]{0,4}", prop::collection::vec(call, 0..3)).prop_map(|(text, calls)| {
        let mut said = vec![Block::text(text)];
        let mut results = Vec::new();
        for (at, (name, input, content)) in calls.into_iter().enumerate() {
            let id = format!("call_{at}");
            said.push(Block::ToolUse {
                id: id.clone(),
                name: name.clone(),
                input: Arguments::Text(input),
            });
            let block = Block::ToolResult {
                tool_call_id: id,
                tool_name: name,
                content,
                is_error: at == 1,
            };
            results.push(Message::new(Role::Tool, vec![block]));
        }
        let mut messages = vec![Message::new(Role::Assistant, said)];
        messages.append(&mut results);
        messages
    });
    prop_oneof![user, assistant]
}

proptest! {
    /// `g5.abort-orphans.1`, `g1.poisoned-history.1`: whatever was said, the next request is legal.
    #[test]
    fn any_conversation_is_legal(steps in prop::collection::vec(step(), 0..6)) {
        let context = Context {
            messages: steps.concat(),
            ..Context::default()
        };
        let written = Value::from(conversation(&context, None));
        let messages = written["messages"].as_array().unwrap();
        prop_assert_eq!(refusal(messages), None, "{}", written);
    }
}

/// The checker must see what it is for.
#[test]
fn illegal_conversations_are_seen() {
    let call = |arguments: &str| {
        json!({"role": "assistant", "content": null, "tool_calls": [
            {"id": "a", "function": {"name": "f", "arguments": arguments}},
        ]})
    };
    let result = json!({"role": "tool", "tool_call_id": "a", "content": "ok"});
    let user = json!({"role": "user", "content": "Hi"});
    for (messages, expected) in [
        (vec![call("{}"), result.clone(), user.clone()], None),
        (vec![call("{}"), user.clone()], Some("a call has no result")),
        (vec![call("{}")], Some("a call has no result")),
        (vec![result], Some("a result is not that of the next call")),
        (vec![call("{")], Some("arguments are no object")),
        (
            vec![json!({"role": "user", "content": []})],
            Some("a message says nothing"),
        ),
    ] {
        assert_eq!(refusal(&messages), expected, "{messages:?}");
    }
}
