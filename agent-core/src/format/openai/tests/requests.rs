//! The body of a request and the tools in it.

use serde_json::{Map, Value, json};
use std::sync::Arc;

use super::super::{request, tools};
use crate::message::{Context, Prompt};
use crate::tool::ToolSpec;

/// A spec of a tool as A8 has it, with the schema closed as the SDK closes it.
fn shell() -> Arc<ToolSpec> {
    let schema = json!({
        "type": "object",
        "properties": {
            "command": {"type": "string", "description": "The shell command to execute."},
        },
        "required": ["command"],
        "additionalProperties": false,
    });
    let description = "Executes a given shell command.";
    Arc::new(ToolSpec::new("execute_shell_command", description, schema))
}

#[test]
fn a8_r33_tool_is_shown_byte_for_byte_and_open() {
    let expected = r#"[{"type":"function","function":{"name":"execute_shell_command","description":"Executes a given shell command.","parameters":{"type":"object","properties":{"command":{"type":"string","description":"The shell command to execute."}},"required":["command"]}}}]"#;
    assert_eq!(tools(&[shell()]).to_string(), expected);
}

/// `g2.desc-length.1`.
#[test]
fn long_descriptions_are_cut_where_the_provider_would_refuse_them() {
    let described = |length: usize| {
        let spec = ToolSpec::new("t", "ä".repeat(length), json!({}));
        let tools = tools(&[Arc::new(spec)]);
        tools[0]["function"]["description"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert_eq!(described(1024), "ä".repeat(1024));
    assert_eq!(described(1103), format!("{}…", "ä".repeat(1023)));
}

fn prompt(tools: Vec<Arc<ToolSpec>>) -> Prompt {
    let messages = Map::from_iter([("messages".to_owned(), json!([]))]);
    Prompt {
        context: Context {
            tools,
            ..Context::default()
        },
        conversation: messages,
    }
}

#[test]
fn request_holds_only_what_there_is_and_parameters_win() {
    let none = Map::new();
    let body = |prompt, parameters: &Map<String, Value>, stream| {
        request(&prompt, "m", parameters, stream).to_string()
    };
    assert_eq!(
        body(prompt(Vec::new()), &none, false),
        r#"{"model":"m","messages":[]}"#
    );
    let parameters = json!({"temperature": 0.5, "stream_options": {}});
    assert_eq!(
        body(prompt(Vec::new()), parameters.as_object().unwrap(), true),
        r#"{"model":"m","messages":[],"stream":true,"stream_options":{},"temperature":0.5}"#
    );
    let with_tool = request(&prompt(vec![shell()]), "m", &none, true);
    assert_eq!(with_tool["tools"], tools(&[shell()]));
    assert_eq!(with_tool["stream_options"], json!({"include_usage": true}));
    assert_eq!(with_tool.get("tool_choice"), None);
    let mut last = prompt(vec![shell()]);
    last.context.calls_are_over = true;
    assert_eq!(request(&last, "m", &none, true)["tool_choice"], "none");
    assert_eq!(request(&last, "m", &none, true)["tools"], tools(&[shell()]));
}
