//! What was said, as messages.

use serde_json::{Value, json};
use tool_sdk::Content;

use super::super::conversation;
use crate::message::{Arguments, Block, Context, Message, Role};

/// Checks what these messages become.
#[expect(clippy::needless_pass_by_value, reason = "callers write `json!(…)`")]
fn check(messages: Vec<Message>, expected: Value) {
    let context = Context {
        messages,
        ..Context::default()
    };
    let written = Value::from(conversation(&context));
    assert_eq!(written["messages"].to_string(), expected.to_string());
    assert_eq!(written.get("system"), None);
}

fn call(id: &str, input: Value) -> Block {
    Block::ToolUse {
        id: id.to_owned(),
        name: "f".to_owned(),
        input: Arguments::Json(input),
    }
}

fn result(id: &str, content: Vec<Content>, is_error: bool) -> Message {
    let block = Block::ToolResult {
        tool_call_id: id.to_owned(),
        tool_name: "f".to_owned(),
        content,
        is_error,
    };
    Message::new(Role::Tool, vec![block])
}

fn assistant(content: Vec<Block>) -> Message {
    Message::new(Role::Assistant, content)
}

fn user(text: &str) -> Message {
    Message::text(Role::User, text)
}

fn said(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

#[test]
fn a25_instructions_stand_apart_at_the_head_and_are_the_users_words_later() {
    let system = |text: &str| Message::text(Role::System, text);
    let context = Context {
        system_prompt: "Be kind.".to_owned(),
        messages: vec![system("Be short."), user("Hi"), system("Now be loud.")],
        ..Context::default()
    };
    let expected = json!({
        "system": "Be kind.\n\nBe short.",
        "messages": [{"role": "user", "content": [said("Hi"), said("Now be loud.")]}],
    });
    assert_eq!(
        Value::from(conversation(&context)).to_string(),
        expected.to_string()
    );
}

/// `g5.images.1`, and the results of one turn in one message.
#[test]
fn results_of_a_turn_stand_together_with_pictures_and_failures() {
    check(
        vec![
            user("Go."),
            assistant(vec![call("a", json!({"x": 1})), call("b", json!({}))]),
            result(
                "a",
                vec![Content::text("One:"), Content::image("AAAA", "image/png")],
                false,
            ),
            result("b", vec![Content::text("It broke.")], true),
            user("Well?"),
        ],
        json!([
            {"role": "user", "content": [said("Go.")]},
            {"role": "assistant", "content": [
                {"type": "tool_use", "id": "a", "name": "f", "input": {"x": 1}},
                {"type": "tool_use", "id": "b", "name": "f", "input": {}},
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "a", "content": [
                    said("One:"),
                    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}},
                ]},
                {"type": "tool_result", "tool_use_id": "b", "content": [said("It broke.")], "is_error": true},
                said("Well?"),
            ]},
        ]),
    );
}

/// `g5.anthropic-layout.1`.
#[test]
fn calls_stand_last_and_their_results_first() {
    check(
        vec![
            user("Go."),
            assistant(vec![
                Block::text("One"),
                call("a", json!({})),
                Block::text("moment."),
            ]),
            user("Hurry!"),
            result("a", vec![Content::text("ok")], false),
        ],
        json!([
            {"role": "user", "content": [said("Go.")]},
            {"role": "assistant", "content": [
                said("One"), said("moment."),
                {"type": "tool_use", "id": "a", "name": "f", "input": {}},
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "a", "content": [said("ok")]},
                said("Hurry!"),
            ]},
        ]),
    );
}

#[test]
fn thoughts_go_back_in_their_place_if_they_are_signed() {
    let thought = |signature: Option<&str>, redacted: Option<&str>| Block::Thinking {
        thinking: "Hm".to_owned(),
        signature: signature.map(str::to_owned),
        redacted: redacted.map(str::to_owned),
    };
    check(
        vec![
            user("Go."),
            assistant(vec![
                thought(Some("s"), None),
                thought(None, Some("xyz")),
                thought(None, None),
                call("a", json!({})),
            ]),
            result("a", Vec::new(), false),
            assistant(vec![thought(Some("s"), None)]),
            user("And?"),
        ],
        json!([
            {"role": "user", "content": [said("Go.")]},
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "Hm", "signature": "s"},
                {"type": "redacted_thinking", "data": "xyz"},
                {"type": "tool_use", "id": "a", "name": "f", "input": {}},
            ]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a"}, said("And?")]},
        ]),
    );
}

#[test]
fn assistant_may_begin_and_end_and_blanks_are_left_out() {
    let text = |text: &str| assistant(vec![Block::text(text)]);
    check(
        vec![text("Hello!"), user(" \n"), text("Well?")],
        json!([
            {"role": "user", "content": [said("(The conversation begins.)")]},
            {"role": "assistant", "content": [said("Hello!"), said("Well?")]},
            {"role": "user", "content": [said("(Go on.)")]},
        ]),
    );
    check(
        Vec::new(),
        json!([{"role": "user", "content": [said("(The conversation begins.)")]}]),
    );
}

/// `g1.id-reuse-across-turns.1`, `g1.poisoned-history.1`.
#[test]
fn ids_and_arguments_are_what_the_provider_takes() {
    let broken = Block::ToolUse {
        id: "f:0".to_owned(),
        name: "functions.f".to_owned(),
        input: Arguments::Text("{\"x\": ".to_owned()),
    };
    let ok = || result("f:0", vec![Content::text("ok")], false);
    check(
        vec![
            user("Go."),
            assistant(vec![broken]),
            ok(),
            assistant(vec![call("f:0", json!({}))]),
            ok(),
        ],
        json!([
            {"role": "user", "content": [said("Go.")]},
            {"role": "assistant", "content": [{
                "type": "tool_use", "id": "f_0", "name": "functions_f",
                "input": {"invalidArguments": "{\"x\": "},
            }]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "f_0", "content": [said("ok")]}]},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "f_0_2", "name": "f", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "f_0_2", "content": [said("ok")]}]},
        ]),
    );
}
