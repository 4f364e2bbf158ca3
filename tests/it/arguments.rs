//! What a model may send as arguments, and what it is told when it may not.

use std::sync::Arc;
use std::time::{Duration, Instant};

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
        let call = ToolCall::new(&self.name, arguments).with_id("call_1");
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
    let lines: String = lines.iter().map(|line| format!("  - {line}\n")).collect();
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

#[tokio::test]
async fn r8_block_of_the_ruling_byte_for_byte() {
    let tool = Tool::weather().await;
    let text = "Validation failed for tool \"getWeather\":\n  \
                - /city: missing required argument (expected string)\n  \
                - /unitz: unknown argument, did you mean \"units\"? (allowed: city, units)\n\n\
                Received arguments:\n\
                {\"unitz\": \"celsius\"}";
    let problems = tool
        .check_refused(r#"{"unitz":"celsius"}"#, ErrorKind::InvalidArguments, text)
        .await;
    let expected = json!([
        {"pointer": "/city", "problem": "missing required argument", "expected": "string"},
        {"pointer": "/unitz", "problem": "unknown argument", "expected": "city, units", "suggestion": "units"},
    ]);
    assert_eq!(serde_json::to_value(problems).unwrap(), expected);
}

#[tokio::test]
async fn r8_r9_every_problem_at_every_depth_has_its_line() {
    let tool = Tool::of(json!({
        "mode": {"enum": ["fast", "exact", 3]},
        "count": {"type": "integer", "minimum": 1},
        "when": {"type": "string", "format": "date"},
        "tags": {"type": "array", "items": {"type": "string", "maxLength": 3}, "maxItems": 2},
        "place": {
            "type": "object",
            "properties": {"lat": {"type": "number"}, "lon/gitude": {"type": "number"}},
            "required": ["lat", "lon/gitude"],
            "additionalProperties": false,
        },
    }))
    .await;
    let sent = r#"{"place": {"lat": "north", "lng": 5}, "tags": ["ab", "abcd", {}],
        "when": "soon", "count": 0, "mode": "exakt", "Count": 1}"#;
    let lines = [
        "/place/lon~1gitude: missing required argument (expected number)",
        "/place/lat: wrong type (expected number, got string \"north\")",
        "/tags: too many items (expected at most 2 items, got array [\"ab\", \"abcd\", {}])",
        "/tags/1: too long (expected at most 3 characters, got string \"abcd\")",
        "/tags/2: wrong type (expected string, got object {})",
        "/when: wrong form (expected date, such as 2031-04-05, got string \"soon\")",
        "/count: too small (expected at least 1, got number 0)",
        "/mode: not one of the allowed values, did you mean \"exact\"? \
         (expected one of \"fast\", \"exact\", 3, got string \"exakt\")",
        "/place/lng: unknown argument (allowed: lat, lon/gitude)",
        "/Count: unknown argument, did you mean \"count\"? (allowed: mode, count, when, tags, place)",
    ];
    let received = r#"{"place": {"lat": "north", "lng": 5}, "tags": ["ab", "abcd", {}], "when": "soon", "count": 0, "mode": "exakt", "Count": 1}"#;
    let problems = tool
        .check_refused(sent, ErrorKind::InvalidArguments, &block(&lines, received))
        .await;
    assert_eq!(problems.len(), lines.len());
}

#[tokio::test]
async fn r8_more_than_twenty_problems_are_all_told() {
    let tool = Tool::of(json!({"a": {"type": "integer"}})).await;
    let names: Vec<String> = (0..25).map(|n| format!("{n:02}")).collect();
    let sent: serde_json::Map<String, Value> =
        names.iter().map(|name| (name.clone(), json!(1))).collect();
    let lines: Vec<String> = names
        .iter()
        .map(|name| format!("/{name}: unknown argument (allowed: a)"))
        .collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let received: Vec<String> = names.iter().map(|name| format!("\"{name}\": 1")).collect();
    let text = block(&lines, &format!("{{{}}}", received.join(", ")));
    tool.check_refused(&json!(sent).to_string(), ErrorKind::InvalidArguments, &text)
        .await;
}

/// However much is wrong, the answer stays short and comes soon.
#[tokio::test]
async fn r8_flood_of_problems_is_cut_and_counted() {
    let tool = Tool::of(json!({"a": {"type": "integer"}})).await;
    let sent: serde_json::Map<String, Value> = (0..100_000)
        .map(|n| (format!("name-{n}-{}", "x".repeat(60)), json!("y")))
        .collect();
    let began = Instant::now();
    let result = tool.send(Arguments::Json(sent.into())).await;
    let text = result.text();
    assert!(text.len() < 30_000, "{}", text.len());
    assert!(text.contains("\n  - and 99900 more\n"), "{text}");
    assert!(text.ends_with('…'));
    assert_eq!(result.error.as_ref().unwrap().problems.len(), 100);
    assert!(
        began.elapsed() < Duration::from_secs(10),
        "{:?}",
        began.elapsed()
    );
}

#[tokio::test]
async fn r8_union_is_told_by_its_nearest_branch() {
    let tool = Tool::of(json!({"shape": {"anyOf": [
        {"type": "object", "properties": {"kind": {"const": "circle"}, "radius": {"type": "number"}},
         "required": ["kind", "radius"], "additionalProperties": false},
        {"type": "object", "properties": {"kind": {"const": "square"}, "width": {"type": "number"}},
         "required": ["kind", "width"], "additionalProperties": false},
        {"type": "string"},
    ]}}))
    .await;
    let check = async |sent: &str, line: &str| {
        let value: Value = serde_json::from_str(sent).unwrap();
        let received = agent_core::json_text::spaced(&value);
        tool.check_refused(
            sent,
            ErrorKind::InvalidArguments,
            &block(&[line], &received),
        )
        .await;
    };
    check(
        r#"{"shape": {"kind": "square", "wdith": 1, "width": 2}}"#,
        "/shape/wdith: unknown argument, did you mean \"width\"? (allowed: kind, width)",
    )
    .await;
    check(
        r#"{"shape": {"kind": "circle", "radius": "wide"}}"#,
        "/shape/radius: wrong type (expected number, got string \"wide\")",
    )
    .await;
    check(
        r#"{"shape": 5}"#,
        "/shape: wrong type (expected object or string, got number 5)",
    )
    .await;
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

#[tokio::test]
async fn r2_null_for_an_optional_argument_means_absent_at_every_depth() {
    let place = json!({"type": "object", "properties": {
        "name": {"type": "string"}, "floor": {"type": "integer", "default": 0}}});
    let tool = Tool::of(json!({
        "timezone": {"type": "string"},
        "units": {"type": "string", "enum": ["m", "ft"], "default": "m"},
        "maybe": {"type": ["string", "null"], "default": "x"},
        "choice": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "place": place,
        "places": {"type": "array", "items": place},
    }))
    .await;
    tool.check(r#"{"timezone": null}"#, json!({"units": "m", "maybe": "x"}))
        .await;
    tool.check(r#"{"units": null}"#, json!({"units": "m", "maybe": "x"}))
        .await;
    let kept = json!({"maybe": null, "choice": null, "units": "m"});
    tool.check(r#"{"maybe": null, "choice": null}"#, kept).await;
    let sent =
        r#"{"place": {"name": null, "floor": null}, "places": [{"name": null}, {"floor": 3}]}"#;
    let whole = json!({"place": {"floor": 0}, "places": [{"floor": 0}, {"floor": 3}], "units": "m", "maybe": "x"});
    tool.check(sent, whole).await;

    // What is required is not absent, and null in a list is a value in the list.
    let weather = Tool::weather().await;
    let text = "Validation failed for tool \"getWeather\":\n  \
                - /city: wrong type (expected string, got null)\n\n\
                Received arguments:\n{\"city\": null}";
    weather
        .check_refused(r#"{"city": null}"#, ErrorKind::InvalidArguments, text)
        .await;
    let text = block(
        &["/places/0: wrong type (expected object, got null)"],
        r#"{"places": [null]}"#,
    );
    tool.check_refused(r#"{"places": [null]}"#, ErrorKind::InvalidArguments, &text)
        .await;
}

#[tokio::test]
async fn r10_values_are_coerced_towards_the_declared_type_and_nowhere_else() {
    let tool = Tool::of(json!({
        "offset": {"type": "integer"}, "ratio": {"type": "number"}, "flag": {"type": "boolean"},
        "text": {"type": "string"}, "items": {"type": "array"}, "nested": {"type": "object", "properties": {
            "n": {"type": "integer"}}},
    }))
    .await;
    tool.check(
        r#"{"offset":"500","ratio":"2.5"}"#,
        json!({"offset": 500, "ratio": 2.5}),
    )
    .await;
    tool.check(
        r#"{"offset": 5.0, "flag": "true"}"#,
        json!({"offset": 5, "flag": true}),
    )
    .await;
    tool.check(r#"{"text": 1.10}"#, json!({"text": "1.10"}))
        .await;
    let digits = "1234567890123456789012345";
    tool.check(&format!(r#"{{"text": {digits}}}"#), json!({"text": digits}))
        .await;
    tool.check(
        r#"{"items":"[{\"t\":\"a\"}]"}"#,
        json!({"items": [{"t": "a"}]}),
    )
    .await;
    tool.check(
        r#"{"text":"[{\"t\":\"a\"}]"}"#,
        json!({"text": r#"[{"t":"a"}]"#}),
    )
    .await;
    tool.check(r#"{"nested":"{\"n\":\"7\"}"}"#, json!({"nested": {"n": 7}}))
        .await;

    let check = async |sent: &str, line: &str| {
        let received = agent_core::json_text::spaced(&serde_json::from_str(sent).unwrap());
        tool.check_refused(
            sent,
            ErrorKind::InvalidArguments,
            &block(&[line], &received),
        )
        .await;
    };
    check(
        r#"{"offset":"3.14"}"#,
        "/offset: wrong type (expected integer, got string \"3.14\")",
    )
    .await;
    check(
        r#"{"offset":"abc"}"#,
        "/offset: wrong type (expected integer, got string \"abc\")",
    )
    .await;
    check(
        r#"{"offset":5.5}"#,
        "/offset: wrong type (expected integer, got number 5.5)",
    )
    .await;
    check(
        r#"{"ratio":"NaN"}"#,
        "/ratio: wrong type (expected number, got string \"NaN\")",
    )
    .await;
    check(
        r#"{"flag":1}"#,
        "/flag: wrong type (expected boolean, got number 1)",
    )
    .await;
    check(
        r#"{"text":true}"#,
        "/text: wrong type (expected string, got boolean true)",
    )
    .await;
    check(
        r#"{"items":"a"}"#,
        "/items: wrong type (expected array, got string \"a\")",
    )
    .await;
}

#[tokio::test]
async fn integers_reach_the_tool_exactly_or_not_at_all() {
    let tool = Tool::of(json!({
        "row_id": {"type": "integer", "minimum": i64::MIN, "maximum": i64::MAX},
        "any": {"type": "integer"},
    }))
    .await;
    for digits in [
        "2512292042121000001",
        "9223372036854775807",
        "-9223372036854775808",
        "0",
    ] {
        let sent = format!(r#"{{"row_id":{digits}}}"#);
        let result = tool.send(Arguments::Text(sent.clone())).await;
        assert!(!result.is_error, "{}", result.text());
        assert_eq!(tool.got.take(), [sent]);
    }
    tool.check(r#"{"row_id": -0}"#, json!({"row_id": 0})).await;
    tool.host.events.take();
    let max = "at most 9223372036854775807";
    let line = format!("/row_id: too large (expected {max}, got number 9223372036854775808)");
    let text = block(&[&line], r#"{"row_id": 9223372036854775808}"#);
    tool.check_refused(
        r#"{"row_id":9223372036854775808}"#,
        ErrorKind::InvalidArguments,
        &text,
    )
    .await;
    let line = "/any: out of range (expected an integer from -9223372036854775808 to \
                18446744073709551615, got number 123456789012345678901234567890)";
    let text = block(&[line], r#"{"any": 1.2345678901234568e+29}"#);
    let sent = r#"{"any":123456789012345678901234567890}"#;
    tool.check_refused(sent, ErrorKind::InvalidArguments, &text)
        .await;
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
