//! The body of a request and the tools in it.

use std::sync::Arc;

use serde_json::{Map, json};

use super::super::{conversation, request, tools};
use crate::message::{Arguments, Block, Context, Message, Prompt, Role};
use crate::tool::ToolSpec;

#[test]
fn a20_r33_tool_is_shown_with_its_closed_schema() {
    let schema = json!({"type": "object", "properties": {}, "additionalProperties": false});
    let ping = Arc::new(ToolSpec::new("ping", "Answer pong.", schema.clone()));
    let bare = Arc::new(ToolSpec::new("bare", "", json!({"type": "object"})));
    let expected = json!([
        {"name": "ping", "description": "Answer pong.", "input_schema": schema},
        {"name": "bare", "input_schema": {"type": "object", "properties": {}}},
    ]);
    assert_eq!(tools(&[ping, bare]).to_string(), expected.to_string());
}

#[test]
fn request_has_a_limit_of_tokens_and_parameters_win() {
    let mut conversation = Map::from_iter([("system".to_owned(), json!("Be kind."))]);
    conversation.insert("messages".to_owned(), json!([]));
    let prompt = Prompt {
        context: Context::default(),
        conversation,
    };
    assert_eq!(
        request(&prompt, "m", &Map::new(), false).to_string(),
        r#"{"model":"m","max_tokens":8192,"system":"Be kind.","messages":[]}"#
    );
    let parameters = json!({"max_tokens": 50, "temperature": 1});
    assert_eq!(
        request(&prompt, "m", parameters.as_object().unwrap(), true).to_string(),
        r#"{"model":"m","max_tokens":50,"system":"Be kind.","messages":[],"stream":true,"temperature":1}"#
    );
    let mut last = prompt;
    last.context.calls_are_over = true;
    last.context.tools = vec![Arc::new(ToolSpec::new(
        "ping",
        "",
        json!({"type": "object"}),
    ))];
    let body = request(&last, "m", &Map::new(), false);
    assert_eq!(body["tool_choice"], json!({"type": "none"}));
}

/// The provider refuses calls and results in a request that defines no tools: a last turn, or a
/// conversation whose tools are gone.
#[test]
fn tools_that_are_mentioned_are_defined_and_can_not_be_called() {
    let call = |id: &str, name: &str| Block::ToolUse {
        id: id.to_owned(),
        name: name.to_owned(),
        input: Arguments::Json(json!({})),
    };
    let calls = vec![call("a", "ping"), call("b", "bare"), call("c", "ping")];
    let said = Message::text(Role::User, "Hi");
    let mut context = Context {
        messages: vec![said, Message::new(Role::Assistant, calls)],
        ..Context::default()
    };
    let body = |context: &Context| {
        let prompt = Prompt {
            context: context.clone(),
            conversation: conversation(context),
        };
        request(&prompt, "m", &Map::new(), false)
    };
    let defined = |name: &str| {
        let schema = json!({"type": "object", "properties": {}});
        json!({"name": name, "description": "Can't be called now.", "input_schema": schema})
    };
    let alone = body(&context);
    assert_eq!(alone["tools"], json!([defined("bare"), defined("ping")]));
    assert_eq!(alone["tool_choice"], json!({"type": "none"}));

    // Where there are tools, they are the ones, and may be called.
    let ping = ToolSpec::new("ping", "Answer pong.", json!({"type": "object"}));
    context.tools = vec![Arc::new(ping)];
    let equipped = body(&context);
    assert_eq!(equipped["tools"], tools(&context.tools));
    assert_eq!(equipped.get("tool_choice"), None);
}
