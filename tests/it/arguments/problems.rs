//! R8's block: what a model is told of arguments that do not fit.

use std::time::{Duration, Instant};

use agent_core::call::Arguments;
use serde_json::{Value, json};
use tool_sdk::ErrorKind;

use super::{Tool, block};

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
