//! Values that hold values of their own kind, to any depth that JSON text may have.

use agent_core::tool::ArgumentSchema;
use serde_json::Value;
use tool_sdk::testing;

/// Deepest nesting inside the arguments that is read from JSON text.
const MOST: usize = 126;

/// Deepest nesting of alternatives. Left out: below it a host leaves floats that stand for integers
/// as they are, since a step into an alternative counts as one more level, and then no tool reads
/// them.
const MOST_ALTERNATIVES: usize = 60;

/// Checks that a tool reads a value that is nested so often. `value` is the innermost one, `around`
/// what each other one is.
#[track_caller]
fn check(tool: &str, depth: usize, others: &str, value: &str, around: impl Fn(&str) -> String) {
    let schema = testing::describe(tool).unwrap().input_schema;
    let host = ArgumentSchema::compile(&schema).unwrap();
    for depth in [1, 2, depth / 2, depth] {
        let nested = (0..depth).fold(value.to_owned(), |nested, _| around(&nested));
        let text = others.replace('_', &nested);
        let sent: Value = serde_json::from_str(&text).unwrap();
        let checked = host.check(&sent, Some(&text));
        let checked = checked.unwrap_or_else(|problems| panic!("{depth}: {problems:?}"));
        let run = testing::run(tool, checked.arguments);
        assert!(run.is_ok(), "{depth}: {run:?}");
    }
}

#[test]
fn structs_in_structs() {
    let others =
        r#"{"tree": {"value": 1, "children": []}, "folder": {"size": 1}, "people": [], "link": _}"#;
    check(
        "agree_recursive_structs",
        MOST - 1,
        others,
        "null",
        |next| format!(r#"{{"value": 2.0, "next": {next}}}"#),
    );
    let others = r#"{"tree": _, "folder": {"size": 1}, "people": []}"#;
    check(
        "agree_recursive_structs",
        MOST / 2 - 1,
        others,
        r#"{"value": 1.0, "children": []}"#,
        |child| format!(r#"{{"value": 2.0, "children": [{child}]}}"#),
    );
    let others = r#"{"tree": {"value": 1, "children": []}, "folder": _, "people": []}"#;
    check(
        "agree_recursive_structs",
        MOST / 2 - 1,
        others,
        r#"{"size": 1.0}"#,
        |entry| format!(r#"{{"size": 2.0, "entries": {{"a": {entry}}}}}"#),
    );
}

#[test]
fn enums_in_enums() {
    let others = r#"{"term": _, "query": {"op": "any"}}"#;
    check(
        "agree_recursive_enums",
        MOST_ALTERNATIVES,
        others,
        r#"{"Number": 1.0}"#,
        |term| format!(r#"{{"Negative": {term}}}"#),
    );
    let others = r#"{"term": {"Number": 1}, "query": _}"#;
    let value = r#"{"op": "is", "field": "a", "value": 1.0}"#;
    check(
        "agree_recursive_enums",
        MOST_ALTERNATIVES,
        others,
        value,
        |query| format!(r#"{{"op": "not", "query": {query}}}"#),
    );
    check(
        "agree_recursive_untagged",
        MOST_ALTERNATIVES,
        r#"{"tree": _}"#,
        "1.0",
        |tree| format!("[{tree}]"),
    );
}

/// Text that is nested more deeply is no arguments, so what lies deeper is never half read.
#[test]
fn deeper_text_is_no_json_of_ours() {
    let text = (0..200).fold("1".to_owned(), |nested, _| format!("[{nested}]"));
    assert!(serde_json::from_str::<Value>(&text).is_err());
}
