//! The provider's rules, checked on conversations of every kind.

use std::collections::HashSet;

use proptest::prelude::*;
use serde_json::{Value, json};
use tool_sdk::Content;

use super::super::conversation;
use crate::message::{Arguments, Block, Context, Message, Role};

/// What the provider would say against these messages, by its documentation.
fn refusal(messages: &[Value]) -> Option<&'static str> {
    let mut ids = HashSet::new();
    let mut open: Vec<String> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let expected = if at % 2 == 0 { "user" } else { "assistant" };
        if message["role"] != expected {
            return Some("the roles do not take turns");
        }
        let blocks = message["content"].as_array()?;
        if blocks.is_empty() {
            return Some("a message is empty");
        }
        let kinds: Vec<&str> = blocks
            .iter()
            .map(|block| block["type"].as_str().unwrap())
            .collect();
        if !kinds.is_sorted_by_key(|kind| *kind != "tool_result")
            || !kinds.is_sorted_by_key(|kind| *kind == "tool_use")
        {
            return Some("calls do not stand last, or results not first");
        }
        if kinds.last().is_some_and(|kind| kind.ends_with("thinking")) {
            return Some("a thought is the last word");
        }
        let answered: Vec<String> = blocks
            .iter()
            .filter(|block| block["type"] == "tool_result")
            .map(|block| block["tool_use_id"].as_str().unwrap().to_owned())
            .collect();
        if answered != open {
            return Some("results are not those of the calls before them");
        }
        open = Vec::new();
        for block in blocks {
            match block["type"].as_str()? {
                "text" if block["text"].as_str()?.trim().is_empty() => {
                    return Some("a text is blank");
                }
                "tool_use" => {
                    let id = block["id"].as_str()?;
                    if !block["input"].is_object()
                        || !crate::ids::is_tool_name(block["name"].as_str()?)
                    {
                        return Some("a call is none");
                    }
                    if !ids.insert(id.to_owned()) || id.is_empty() || !crate::ids::is_tool_name(id)
                    {
                        return Some("an id is taken or has other letters");
                    }
                    open.push(id.to_owned());
                }
                _ => {}
            }
        }
    }
    messages
        .len()
        .is_multiple_of(2)
        .then_some("the assistant has the last word")
}

/// What happens in one step of a conversation.
#[derive(Clone, Debug)]
enum Step {
    User(String),
    System(String),
    Assistant {
        before: String,
        calls: Vec<(String, String)>,
        after: String,
        thoughts: Vec<Option<String>>,
    },
}

fn step() -> impl Strategy<Value = Step> {
    let text = || prop_oneof!["", " ", "[a-z]{1,5}"];
    let call = (
        "[a-c:.]{1,2}",
        prop_oneof!["", "\\{\\}", "\\{", "[a-z. ]{0,5}"],
    );
    prop_oneof![
        text().prop_map(Step::User),
        text().prop_map(Step::System),
        (
            text(),
            prop::collection::btree_map(call.0, call.1, 0..3),
            text(),
            prop::collection::vec(prop::option::of(Just("s".to_owned())), 0..3)
        )
            .prop_map(|(before, calls, after, thoughts)| Step::Assistant {
                before,
                calls: calls.into_iter().collect(),
                after,
                thoughts,
            }),
    ]
}

fn messages(steps: Vec<Step>) -> Vec<Message> {
    let mut messages = Vec::new();
    for step in steps {
        match step {
            Step::User(text) => messages.push(Message::text(Role::User, text)),
            Step::System(text) => messages.push(Message::text(Role::System, text)),
            Step::Assistant {
                before,
                calls,
                after,
                thoughts,
            } => {
                let mut content = vec![Block::text(before)];
                content.extend(calls.iter().map(|(id, input)| Block::ToolUse {
                    id: id.clone(),
                    name: input.clone(),
                    input: Arguments::Text(input.clone()),
                }));
                content.push(Block::text(after));
                content.extend(thoughts.into_iter().map(|signature| Block::Thinking {
                    thinking: "Hm".to_owned(),
                    signature,
                    redacted: None,
                }));
                messages.push(Message::new(Role::Assistant, content));
                messages.extend(calls.into_iter().map(|(id, text)| {
                    let content = vec![Content::text(text)];
                    let block = Block::ToolResult {
                        tool_call_id: id,
                        tool_name: "f".to_owned(),
                        content,
                        is_error: false,
                    };
                    Message::new(Role::Tool, vec![block])
                }));
            }
        }
    }
    messages
}

proptest! {
    /// `g5.anthropic-layout.1`: whatever was said, the next request is legal.
    #[test]
    fn any_conversation_is_legal(steps in prop::collection::vec(step(), 0..8)) {
        let context = Context { messages: messages(steps), ..Context::default() };
        let written = Value::from(conversation(&context));
        let messages = written["messages"].as_array().unwrap();
        prop_assert_eq!(refusal(messages), None, "{}", written);
    }
}

/// The checker must see what it is for.
#[test]
fn illegal_conversations_are_seen() {
    let user = |content: Value| json!({"role": "user", "content": content});
    let assistant = |content: Value| json!({"role": "assistant", "content": content});
    let hi = json!([{"type": "text", "text": "Hi"}]);
    let call = json!({"type": "tool_use", "id": "a", "name": "f", "input": {}});
    for (messages, expected) in [
        (vec![user(hi.clone())], None),
        (
            vec![user(hi.clone()), user(hi.clone())],
            Some("the roles do not take turns"),
        ),
        (
            vec![user(hi.clone()), assistant(hi.clone())],
            Some("the assistant has the last word"),
        ),
        (vec![user(json!([]))], Some("a message is empty")),
        (
            vec![user(json!([{"type": "text", "text": " "}]))],
            Some("a text is blank"),
        ),
        (
            vec![user(hi.clone()), assistant(json!([call])), user(hi.clone())],
            Some("results are not those of the calls before them"),
        ),
        (
            vec![
                user(hi.clone()),
                assistant(json!([call, hi[0]])),
                user(hi.clone()),
            ],
            Some("calls do not stand last, or results not first"),
        ),
    ] {
        assert_eq!(refusal(&messages), expected, "{messages:?}");
    }
}
