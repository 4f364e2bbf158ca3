//! The body of a request and the tools in it.

use std::sync::Arc;

use serde_json::{Map, json};

use super::super::{request, tools};
use crate::message::{Context, Prompt};
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
