//! What a model may send as arguments, and what it is told when it may not.

mod coercion;
mod problems;

use std::sync::Arc;

use agent_core::call::{Arguments, ToolCall};
use agent_core::tool::{Execution, FunctionTool, Problem, ToolCallResult, ToolSpec};
use serde_json::{Value, json};
use tool_sdk::{ErrorKind, ToolResult};

use crate::host::{Host, Log, weather_spec};

/// One tool that writes down what it gets.
struct Tool {
    host: Host,
    name: String,
    got: Log,
}

impl Tool {
    async fn new(spec: ToolSpec) -> Self {
        let got = Log::default();
        let log = got.clone();
        let name = spec.name.clone();
        let tool = FunctionTool::new(spec, move |call: Execution<'_>| {
            log.add(call.arguments.to_string());
            async { Ok(ToolResult::text("Done!")) }
        });
        Self {
            host: Host::with(tool).await,
            name,
            got,
        }
    }

    /// `getWeather` of the documents.
    async fn weather() -> Self {
        Self::new(weather_spec()).await
    }

    /// A tool with these properties, none required, no others allowed.
    async fn of(properties: Value) -> Self {
        let schema =
            json!({"type": "object", "properties": properties, "additionalProperties": false});
        Self::new(ToolSpec::new("tool", "A tool.", schema)).await
    }

    async fn send(&self, arguments: Arguments) -> Arc<ToolCallResult> {
        let call = ToolCall::new(self.name.as_str(), arguments).with_id("call_1");
        self.host.make(&self.host.caller(), call).await.result
    }

    /// Checks that the tool runs with these arguments.
    async fn check(&self, sent: &str, expected: Value) {
        let result = self.send(Arguments::Text(sent.to_owned())).await;
        assert!(!result.is_error, "{sent}: {}", result.text());
        assert_eq!(self.got.take(), [expected.to_string()], "{sent}");
        self.host.events.take();
    }

    /// Checks that the tool does not run, and the whole text that the model reads.
    async fn check_refused(&self, sent: &str, kind: ErrorKind, text: &str) -> Vec<Problem> {
        let result = self.send(Arguments::Text(sent.to_owned())).await;
        assert_eq!(result.text(), text, "{sent}");
        let error = result.error.clone().unwrap();
        assert_eq!((error.kind, error.message.as_str()), (kind, text), "{sent}");
        assert_eq!(self.got.take(), Vec::<String>::new(), "{sent}");
        assert_eq!(
            self.host.events.take_types(),
            ["toolCallRejected"],
            "{sent}"
        );
        error.problems
    }

    /// The same for arguments that are no JSON; a part of the text.
    async fn check_no_json(&self, sent: &str, part: &str) {
        let result = self.send(Arguments::Text(sent.to_owned())).await;
        assert!(result.text().contains(part), "{}", result.text());
        assert_eq!(result.error.as_ref().unwrap().kind, ErrorKind::InvalidJson);
        assert_eq!(self.got.take(), Vec::<String>::new());
        assert_eq!(self.host.events.take_types(), ["toolCallRejected"]);
    }
}

/// R8's block for problems of the tool `tool`, and what was received.
fn block(lines: &[&str], received: &str) -> String {
    let lines: Vec<String> = lines.iter().map(|line| format!("  - {line}\n")).collect();
    let lines = lines.concat();
    format!("Validation failed for tool \"tool\":\n{lines}\nReceived arguments:\n{received}")
}

#[tokio::test]
async fn r11_empty_blank_missing_and_null_arguments_are_no_arguments() {
    let tool = Tool::of(json!({})).await;
    for sent in [
        "",
        "  \n\t",
        "null",
        " null ",
        "{}",
        "\"\"",
        "\" \"",
        "\"null\"",
        r#""\"\"""#,
        "\"{}\"",
    ] {
        tool.check(sent, json!({})).await;
    }
    for sent in [
        Value::Null,
        json!({}),
        json!(""),
        json!("null"),
        json!("{}"),
    ] {
        let result = tool.send(Arguments::Json(sent.clone())).await;
        assert!(!result.is_error, "{sent}");
        assert_eq!(tool.got.take(), ["{}"], "{sent}");
    }
    // Where something is required, its absence is told, not a syntax error.
    let missing = "Validation failed for tool \"getWeather\":\n  \
                   - /city: missing required argument (expected string)\n\n\
                   Received arguments:\n{}";
    let weather = Tool::weather().await;
    for sent in ["", "null", "{}"] {
        weather
            .check_refused(sent, ErrorKind::InvalidArguments, missing)
            .await;
    }
}

#[tokio::test]
async fn r11_what_is_no_object_is_refused_by_its_kind() {
    let tool = Tool::of(json!({})).await;
    let check = async |sent: &str, kind: &str| {
        let text = format!("The arguments must be a JSON object, got {kind}; nothing was run");
        tool.check_refused(sent, ErrorKind::InvalidJson, &text)
            .await;
    };
    check(r#"["a","b"]"#, "an array").await;
    check("17", "a number").await;
    check("-0.5", "a number").await;
    check("true", "a boolean").await;
    check(r#""go""#, "a string").await;
    check(r#""[1]""#, "an array").await;
    check(r#""17""#, "a number").await;
    // It is told with what was sent.
    tool.send(Arguments::Text(r#"["a"]"#.to_owned())).await;
    assert_eq!(tool.host.events.take_json()[0]["args"], json!(["a"]));
}

#[tokio::test]
async fn r10_object_that_was_encoded_more_than_once_is_the_object() {
    let tool = Tool::of(json!({"ticket": {"type": "string"}})).await;
    let mut sent = r#"{"ticket":"88120"}"#.to_owned();
    for _ in 0..4 {
        tool.check(&sent, json!({"ticket": "88120"})).await;
        sent = Value::from(sent).to_string();
    }
    let result = tool
        .send(Arguments::Json(json!(r#"{"ticket":"88120"}"#)))
        .await;
    assert!(!result.is_error);
    assert_eq!(tool.got.take(), [r#"{"ticket":"88120"}"#]);
    // Digits are kept through every layer.
    tool.check(r#""{\"ticket\": 1.10}""#, json!({"ticket": "1.10"}))
        .await;
    let text = "The arguments must be a JSON object, got a string; nothing was run";
    for _ in 0..8 {
        sent = Value::from(sent).to_string();
    }
    tool.check_refused(&sent, ErrorKind::InvalidJson, text)
        .await;
}

#[tokio::test]
async fn r10_broken_arguments_are_never_replaced() {
    let tool = Tool::of(json!({"path": {"type": "string"}})).await;
    let check = async |sent: &str, problem: &str| {
        let text = format!(
            "The arguments are no valid JSON: {problem}. Send one JSON object; nothing was run"
        );
        tool.check_refused(sent, ErrorKind::InvalidJson, &text)
            .await;
    };
    check(
        r#"{"path":"notes/a.md",}"#,
        "trailing comma at line 1 column 22",
    )
    .await;
    check(
        r#"{"path":"Told the "boss"."}"#,
        "expected `,` or `}` at line 1 column 20",
    )
    .await;
    check(
        r#"{"path":"big.md"#,
        "EOF while parsing a string at line 1 column 15",
    )
    .await;
    check("{path: 1}", "key must be a string at line 1 column 2").await;
    check(
        r#"{"path":"a"} x"#,
        "trailing characters at line 1 column 14",
    )
    .await;
    check(
        r#""{\"path\":\"a\"""#,
        "EOF while parsing an object at line 1 column 11",
    )
    .await;
    assert_eq!(tool.host.events.take_json(), Vec::<Value>::new());
    tool.send(Arguments::Text("{".to_owned())).await;
    assert_eq!(tool.host.events.take_json()[0].get("args"), None);
}

#[tokio::test]
async fn no_number_text_or_nesting_that_json_does_not_have_gets_through() {
    let tool = Tool::of(json!({"limit": {"type": "number"}, "title": {"type": "string"}})).await;
    for sent in [
        r#"{"limit": NaN}"#,
        r#"{"limit": Infinity}"#,
        r#"{"limit": -Infinity}"#,
        r#"{"limit": 1e999}"#,
    ] {
        tool.check_no_json(sent, "The arguments are no valid JSON: ")
            .await;
    }
    tool.check_no_json(r#"{"title": "x \ud99c y"}"#, "hex escape")
        .await;
    tool.check_no_json(r#"{"title": "x \udc00 y"}"#, "hex escape")
        .await;
    tool.check_no_json(
        &"[".repeat(500_000),
        "nested too deeply at line 1 column 128",
    )
    .await;
    tool.check_no_json(&"{\"a\":".repeat(500_000), "nested too deeply")
        .await;
    let inner = Value::from("[".repeat(500_000)).to_string();
    tool.check_refused(
        &inner,
        ErrorKind::InvalidJson,
        "The arguments must be a JSON object, got a string; nothing was run",
    )
    .await;
    let long = format!(r#"{{"title": "{}"}}"#, "x".repeat(16 * 1024 * 1024));
    tool.check_no_json(&long, "they are longer than 16777216 bytes")
        .await;
    // The tool still serves.
    tool.check(
        r#"{"title": "\ud83e\udd73"}"#,
        json!({"title": "\u{1f973}"}),
    )
    .await;
}

/// A string that holds half a million brackets is text for a string, and no array for an array.
#[tokio::test]
async fn nesting_inside_text_is_not_followed() {
    let tool = Tool::of(json!({"text": {"type": "string"}, "list": {"type": "array"}})).await;
    let deep = "[".repeat(500_000) + &"]".repeat(500_000);
    tool.check(&json!({"text": deep}).to_string(), json!({"text": deep}))
        .await;
    let result = tool.send(Arguments::Json(json!({"list": deep}))).await;
    assert!(
        result
            .text()
            .contains("/list: wrong type (expected array, got string"),
        "{}",
        result.text().len()
    );
}

/// R24: entities and escapes are what they are.
#[tokio::test]
async fn r24_strings_reach_the_tool_byte_for_byte() {
    let tool = Tool::of(json!({"body": {"type": "string"}})).await;
    for body in [
        "&lt;b&gt; &amp;amp;",
        "\u{feff}ünïcödé \u{0}\u{1f}\r\n",
        "  spaces  ",
        "{\"a\": 1}",
        "null",
        "5",
    ] {
        tool.check(&json!({"body": body}).to_string(), json!({"body": body}))
            .await;
    }
}

/// R12: a value for a name that nobody knows is never lost in silence.
#[tokio::test]
async fn r12_unknown_arguments_are_refused_unless_the_schema_allows_them() {
    let closed =
        Tool::of(json!({"page": {"type": "integer"}, "full_page": {"type": "boolean"}})).await;
    let line =
        "/fullpage: unknown argument, did you mean \"full_page\"? (allowed: page, full_page)";
    let text = block(&[line], r#"{"page": 1, "fullpage": true}"#);
    closed
        .check_refused(
            r#"{"page":1,"fullpage":true}"#,
            ErrorKind::InvalidArguments,
            &text,
        )
        .await;

    let none = Tool::of(json!({})).await;
    let text = block(&["/x: unknown argument (allowed: none)"], r#"{"x": 1}"#);
    none.check_refused(r#"{"x": 1}"#, ErrorKind::InvalidArguments, &text)
        .await;

    let open = json!({"type": "object", "properties": {"page": {"type": "integer"}}});
    let open = Tool::new(ToolSpec::new("tool", "A tool.", open)).await;
    open.check(
        r#"{"page": "1", "more": "2"}"#,
        json!({"page": 1, "more": "2"}),
    )
    .await;
    let numbers = json!({"type": "object", "additionalProperties": {"type": "integer"}});
    let numbers = Tool::new(ToolSpec::new("tool", "A tool.", numbers)).await;
    numbers.check(r#"{"more": "2"}"#, json!({"more": 2})).await;
}

/// R21: a tool without arguments.
#[tokio::test]
async fn r21_tool_without_arguments_takes_none() {
    let schema = json!({"type": "object", "properties": {}, "additionalProperties": false});
    let tool = Tool::new(ToolSpec::new("ping", "Answer pong.", schema)).await;
    tool.check("", json!({})).await;
    let result = tool.send(Arguments::Text(r#"{"a": 1}"#.to_owned())).await;
    assert_eq!(
        result.error.as_ref().unwrap().kind,
        ErrorKind::InvalidArguments
    );
}

/// The order in which names were sent is the order in which the tool gets them.
#[tokio::test]
async fn order_of_names_is_kept() {
    let schema = json!({"type": "object"});
    let tool = Tool::new(ToolSpec::new("tool", "A tool.", schema)).await;
    let sent = r#"{"z":1,"a":{"y":2,"b":3},"m":[{"k":1,"c":2}]}"#;
    tool.send(Arguments::Text(sent.to_owned())).await;
    assert_eq!(tool.got.take(), [sent]);
}
