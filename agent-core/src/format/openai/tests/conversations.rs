//! What was said, as messages.

use serde_json::{Value, json};
use tool_sdk::Content;

use super::super::conversation;
use crate::message::{Arguments, Block, Context, Message, Role};

/// Checks what these messages become, instructions before them.
#[expect(clippy::needless_pass_by_value, reason = "callers write `json!(…)`")]
fn check(system: &str, messages: Vec<Message>, expected: Value) {
    let context = Context {
        system_prompt: system.to_owned(),
        messages,
        ..Context::default()
    };
    let written = Value::from(conversation(&context, None));
    assert_eq!(written["messages"].to_string(), expected.to_string());
}

fn call(id: &str, name: &str, input: Value) -> Block {
    Block::ToolUse {
        id: id.to_owned(),
        name: name.to_owned(),
        input: Arguments::Json(input),
    }
}

fn result(id: &str, content: Vec<Content>) -> Message {
    let block = Block::ToolResult {
        tool_call_id: id.to_owned(),
        tool_name: "getWeather".to_owned(),
        content,
        is_error: false,
    };
    Message::new(Role::Tool, vec![block])
}

fn assistant(content: Vec<Block>) -> Message {
    Message::new(Role::Assistant, content)
}

#[test]
fn y43_y44_history_after_one_call() {
    let messages = vec![
        Message::text(Role::User, "What's the weather in Tokyo?"),
        assistant(vec![call("call_1", "getWeather", json!({"city": "Tokyo"}))]),
        result(
            "call_1",
            vec![Content::text("Weather in Tokyo: Sunny, 22°C")],
        ),
    ];
    check(
        "You are a helpful assistant.",
        messages,
        json!([
            {"role": "system", "content": "You are a helpful assistant."},
            {"role": "user", "content": "What's the weather in Tokyo?"},
            {"role": "assistant", "content": null, "tool_calls": [{
                "id": "call_1", "type": "function",
                "function": {"name": "getWeather", "arguments": "{\"city\": \"Tokyo\"}"},
            }]},
            {"role": "tool", "tool_call_id": "call_1", "content": "Weather in Tokyo: Sunny, 22°C"},
        ]),
    );
}

#[test]
fn r34_calls_alone_have_the_content_that_the_server_wants() {
    let context = Context {
        messages: vec![assistant(vec![call("a", "f", json!({}))])],
        ..Context::default()
    };
    let said = |when_empty| {
        let written = Value::from(conversation(&context, when_empty));
        written["messages"][0]["content"].clone()
    };
    assert_eq!(said(None), Value::Null);
    assert_eq!(said(Some("")), "");
}

#[test]
fn a22_text_stands_beside_the_calls_and_thoughts_stay_out() {
    let thought = Block::Thinking {
        thinking: "Hm".to_owned(),
        signature: None,
        redacted: None,
    };
    check(
        "",
        vec![
            assistant(vec![
                thought.clone(),
                Block::text("One moment."),
                call("a", "f", json!({})),
            ]),
            assistant(vec![thought]),
        ],
        json!([{"role": "assistant", "content": "One moment.", "tool_calls": [
            {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}},
        ]}]),
    );
}

/// `g5.images.1`: behind the last result, never as text.
#[test]
fn pictures_of_results_follow_all_results_of_the_turn() {
    let picture = || Content::image("AAAA", "image/png");
    check(
        "",
        vec![
            assistant(vec![call("a", "f", json!({})), call("b", "f", json!({}))]),
            result("a", vec![Content::text("One:"), picture()]),
            result(
                "b",
                vec![picture(), Content::image("BBBB", "image/svg+xml")],
            ),
            Message::text(Role::User, "Well?"),
        ],
        json!([
            {"role": "assistant", "content": null, "tool_calls": [
                {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}},
                {"id": "b", "type": "function", "function": {"name": "f", "arguments": "{}"}},
            ]},
            {"role": "tool", "tool_call_id": "a",
             "content": "One:\n[image 1, shown in the next user message]"},
            {"role": "tool", "tool_call_id": "b",
             "content": "[image 2, shown in the next user message]\n[image image/svg+xml, 3 B]"},
            {"role": "user", "content": [
                {"type": "text", "text": "[image 1, from the result of getWeather]"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
                {"type": "text", "text": "[image 2, from the result of getWeather]"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
            ]},
            {"role": "user", "content": "Well?"},
        ]),
    );
}

#[test]
fn user_may_send_pictures_sounds_and_documents() {
    let content = [
        Content::text("Look:"),
        Content::text(""),
        Content::image("AAAA", "image/jpeg"),
        Content::audio("AAAA", "audio/mpeg"),
        Content::audio("AAAA", "audio/ogg"),
        Content::resource("file:///a.md", "# A"),
    ];
    check(
        "",
        vec![Message::new(
            Role::User,
            content.into_iter().map(Block::Content).collect(),
        )],
        json!([{"role": "user", "content": [
            {"type": "text", "text": "Look:"},
            {"type": "image_url", "image_url": {"url": "data:image/jpeg;base64,AAAA"}},
            {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "mp3"}},
            {"type": "text", "text": "[audio audio/ogg, 3 B]"},
            {"type": "text", "text": "[resource file:///a.md, unknown type]\n# A"},
        ]}]),
    );
}

#[test]
fn a25_speakers_have_names_that_servers_take() {
    let named = |name: &str| Message {
        name: Some(name.to_owned()),
        ..Message::text(Role::User, "Hi")
    };
    check(
        "",
        vec![named("Friday"), named("Dr. Ü"), named("")],
        json!([
            {"role": "user", "name": "Friday", "content": "Hi"},
            {"role": "user", "name": "Dr___", "content": "Hi"},
            {"role": "user", "content": "Hi"},
        ]),
    );
}

/// `g1.poisoned-history.1`, Y26.
#[test]
fn broken_calls_go_back_in_a_form_that_servers_take() {
    let broken = Block::ToolUse {
        id: "a".to_owned(),
        name: String::new(),
        input: Arguments::Text("{\"city\": ".to_owned()),
    };
    check(
        "",
        vec![assistant(vec![broken])],
        json!([{"role": "assistant", "content": null, "tool_calls": [{
            "id": "a", "type": "function",
            "function": {"name": "unnamed", "arguments": "{\"invalidArguments\": \"{\\\"city\\\": \"}"},
        }]}]),
    );
}
