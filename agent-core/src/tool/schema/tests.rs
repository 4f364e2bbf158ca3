//! Tests of whole checks: coercion, validation and defaults together.

mod properties;
mod usable;

use std::time::{Duration, Instant};

use serde_json::{Map, json};

use super::*;

/// The schema of an object with these properties and definitions for them to refer to.
#[expect(clippy::needless_pass_by_value, reason = "callers write `json!(…)`")]
fn object(properties: Value) -> Value {
    json!({"type": "object", "properties": properties, "$defs": {
        "word": {"type": "string"},
        "node": {"type": "object", "properties": {
            "leaf": {"type": "integer"}, "child": {"$ref": "#/$defs/node"},
        }},
    }})
}

/// Checks what becomes of arguments; the error is the lines of the report.
fn checked(schema: &Value, sent: &str) -> Result<Value, Vec<String>> {
    let compiled = ArgumentSchema::compile(schema).unwrap_or_else(|error| panic!("{error}"));
    let value = serde_json::from_str(sent).unwrap();
    match compiled.check(&value, Some(sent)) {
        Ok(checked) => Ok(checked.arguments),
        Err(problems) => {
            let text = problems.report("t", &value);
            let lines = text.lines().filter_map(|line| line.strip_prefix("  - "));
            Err(lines.map(str::to_owned).collect())
        }
    }
}

#[test]
fn recursive_schema_tells_the_path_to_a_wrong_leaf() {
    let schema = object(json!({"tree": {"$ref": "#/$defs/node"}}));
    let nested = |leaf: &str| {
        let deep = (0..5).fold(format!(r#"{{"leaf": {leaf}}}"#), |deep, _| {
            format!(r#"{{"child": {deep}}}"#)
        });
        format!(r#"{{"tree": {deep}}}"#)
    };
    assert!(checked(&schema, &nested("1")).is_ok());
    let line =
        "/tree/child/child/child/child/child/leaf: wrong type (expected integer, got string \"x\")";
    assert_eq!(
        checked(&schema, &nested("\"x\"")),
        Err(vec![line.to_owned()])
    );
}

#[test]
fn patterns_are_not_anchored_and_may_look_around() {
    let schema = object(json!({"digits": {"pattern": "[0-9]+"}, "name": {"pattern": "^(?!tmp_)"}}));
    assert!(
        checked(
            &schema,
            r#"{"digits": "abc 7 xyz", "name": "a", "more": 1}"#
        )
        .is_ok()
    );
    let line = r#"/name: wrong form (expected text that matches ^(?!tmp_), got string "tmp_a")"#;
    assert_eq!(
        checked(&schema, r#"{"name": "tmp_a"}"#),
        Err(vec![line.to_owned()])
    );
    assert!(checked(&schema, r#"{"name": 5}"#).is_ok());
    let long = format!(r#"{{"name": "{}"}}"#, "a".repeat(5000));
    let told = checked(&schema, &long).unwrap_err();
    assert!(
        told[0].starts_with("/name: too long (expected at most 4096 characters, got "),
        "{told:?}"
    );
}

#[test]
fn no_pattern_takes_exponential_time() {
    let evil = "((a+)+)+$";
    let value = format!("{}!", "a".repeat(28));
    let long = format!("{}!", "a".repeat(100_000));
    let began = Instant::now();
    for (schema, sent) in [
        (json!({"k": {"pattern": evil}}), json!({"k": value})),
        (json!({"k": {"pattern": evil}}), json!({"k": long})),
        (
            json!({"k": {"pattern": format!("(?!x){evil}")}}),
            json!({"k": value}),
        ),
        (
            json!({"k": {"pattern": format!("(?!x){evil}")}}),
            json!({"k": long}),
        ),
        (
            json!({"k": {"pattern": "^(a|aa)+\\1$"}}),
            json!({"k": value}),
        ),
        (
            json!({"k": {"patternProperties": {evil: false}, "maxProperties": 0}}),
            json!({"k": {value: 1}}),
        ),
    ] {
        let told = checked(&object(schema.clone()), &sent.to_string());
        assert!(told.is_err(), "{schema}");
    }
    // A debug build does all of it in some milliseconds; exponential time would be minutes.
    assert!(
        began.elapsed() < Duration::from_secs(5),
        "{:?}",
        began.elapsed()
    );
}

#[test]
fn lengths_count_code_points() {
    let schema = object(json!({"a": {"maxLength": 1}, "b": {"minLength": 2}}));
    assert!(checked(&schema, "{\"a\": \"\u{1f973}\"}").is_ok());
    let lines =
        ["/b: too short (expected at least 2 characters, got string \"\u{1f973}\")".to_owned()];
    assert_eq!(
        checked(&schema, "{\"b\": \"\u{1f973}\"}"),
        Err(lines.to_vec())
    );
}

#[test]
fn formats_are_asserted_with_an_example() {
    let check = |format: &str, good: &str, example: &str| {
        let schema = object(json!({"a": {"type": "string", "format": format}}));
        assert!(
            checked(&schema, &json!({"a": good}).to_string()).is_ok(),
            "{format}"
        );
        let line = format!("/a: wrong form (expected {example}, got string \"some day\")");
        assert_eq!(
            checked(&schema, r#"{"a": "some day"}"#),
            Err(vec![line]),
            "{format}"
        );
    };
    check(
        "date-time",
        "2031-04-05T14:30:00Z",
        "date-time, such as 2031-04-05T14:30:00Z",
    );
    check("date", "2031-04-05", "date, such as 2031-04-05");
    check(
        "uuid",
        "67e55044-10b1-426f-9247-bb680e5fe0c8",
        "uuid, such as 67e55044-10b1-426f-9247-bb680e5fe0c8",
    );
    check("email", "ada@example.com", "email, such as ada@example.com");
    check(
        "uri",
        "https://example.com/page",
        "uri, such as https://example.com/page",
    );
    check("json-pointer", "/a", "text of the form json-pointer");
    let unknown = object(json!({"a": {"type": "string", "format": "my-own"}}));
    assert!(checked(&unknown, r#"{"a": "some day"}"#).is_ok());
}

#[test]
fn integers_are_exact_or_refused() {
    let bare = object(json!({"v": {"type": "integer"}}));
    let check = |sent: &str, kept: &str| {
        let sent = format!("{{\"v\": {sent}}}");
        let arguments = checked(&bare, &sent).map(|arguments| arguments.to_string());
        assert_eq!(arguments, Ok(format!("{{\"v\":{kept}}}")), "{sent}");
    };
    check("2512292042121000001", "2512292042121000001");
    check("-9223372036854775808", "-9223372036854775808");
    check("18446744073709551615", "18446744073709551615");
    check("9007199254740993.0", "9007199254740993");
    check("\"9007199254740993\"", "9007199254740993");
    check("1e3", "1000");
    check("-0.0", "0");
    check("-0", "0");

    let refused = |schema: &Value, sent: &str, expected: &str| {
        let told = checked(schema, &format!("{{\"v\": {sent}}}"));
        assert_eq!(told, Err(vec![expected.to_owned()]), "{sent}");
    };
    let range = "/v: out of range (expected an integer from -9223372036854775808 to \
                 18446744073709551615, got number ";
    for digits in [
        "123456789012345678901234567890",
        "18446744073709551616.0",
        "1e30",
    ] {
        refused(&bare, digits, &format!("{range}{digits})"));
    }
    let small = object(json!({"v": {"type": "integer", "minimum": -128, "maximum": 127}}));
    refused(
        &small,
        "128",
        "/v: too large (expected at most 127, got number 128)",
    );
    refused(
        &small,
        "-129.0",
        "/v: too small (expected at least -128, got number -129)",
    );
    refused(
        &small,
        "1e30",
        "/v: too large (expected at most 127, got number 1e+30)",
    );
    refused(
        &bare,
        "5.5",
        "/v: wrong type (expected integer, got number 5.5)",
    );
}

#[test]
fn problems_are_told_in_one_order_whatever_the_order_of_keywords() {
    let keywords = [
        ("type", json!("object")),
        (
            "properties",
            json!({"b": {"type": "string"}, "a": {"type": "integer"}, "c": {}}),
        ),
        ("required", json!(["b", "c"])),
        ("additionalProperties", json!(false)),
    ];
    let forward: Map<String, Value> = keywords
        .iter()
        .map(|(key, value)| ((*key).to_owned(), value.clone()))
        .collect();
    let backward: Map<String, Value> = keywords
        .iter()
        .rev()
        .map(|(key, value)| ((*key).to_owned(), value.clone()))
        .collect();
    let lines = [
        "/b: missing required argument (expected string)",
        "/c: missing required argument (expected a value)",
        "/a: wrong type (expected integer, got string \"x\")",
        "/z: unknown argument (allowed: b, a, c)",
        "/y: unknown argument (allowed: b, a, c)",
    ];
    for schema in [forward, backward] {
        let told = checked(&schema.into(), r#"{"z": 1, "a": "x", "y": 2}"#);
        assert_eq!(told, Err(lines.map(str::to_owned).to_vec()));
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "one table of keywords")]
fn every_other_keyword_has_its_words() {
    let check = |keywords: Value, value: Value, line: &str| {
        let told = checked(
            &object(json!({"v": keywords})),
            &json!({"v": value}).to_string(),
        );
        assert_eq!(told, Err(vec![line.to_owned()]));
    };
    check(
        json!({"const": "a"}),
        json!("b"),
        "/v: wrong value (expected \"a\", got string \"b\")",
    );
    check(
        json!({"exclusiveMinimum": 1}),
        json!(1),
        "/v: too small (expected more than 1, got number 1)",
    );
    check(
        json!({"exclusiveMaximum": 1}),
        json!(1),
        "/v: too large (expected less than 1, got number 1)",
    );
    check(
        json!({"multipleOf": 5}),
        json!(7),
        "/v: wrong value (expected a multiple of 5, got number 7)",
    );
    check(
        json!({"minItems": 1}),
        json!([]),
        "/v: too few items (expected at least 1 item, got array [])",
    );
    check(
        json!({"maxItems": 0}),
        json!([1]),
        "/v: too many items (expected at most 0 items, got array [1])",
    );
    check(
        json!({"minProperties": 1}),
        json!({}),
        "/v: too few names (expected at least 1 name, got object {})",
    );
    check(
        json!({"maxProperties": 0}),
        json!({"a": 1}),
        "/v: too many names (expected at most 0 names, got object {\"a\": 1})",
    );
    check(
        json!({"uniqueItems": true}),
        json!([1, 1]),
        "/v: items are repeated (expected every item only once, got array [1, 1])",
    );
    check(
        json!({"not": {"type": "string"}}),
        json!("x"),
        "/v: not allowed (got string \"x\")",
    );
    check(
        json!(false),
        json!("x"),
        "/v: not allowed (got string \"x\")",
    );
    check(
        json!({"oneOf": [{"minLength": 1}, {"maxLength": 9}]}),
        json!("x"),
        "/v: ambiguous (expected a value that fits one alternative only, got string \"x\")",
    );
    check(
        json!({"propertyNames": {"pattern": "^a"}}),
        json!({"b/c": 1}),
        "/v/b~1c: a name that is not allowed (got string \"b/c\")",
    );
    check(
        json!({"contains": {"type": "string"}}),
        json!([1]),
        "/v: None of [1] are valid under the given schema",
    );
    check(
        json!({"properties": {"a": {}}, "dependentRequired": {"a": ["b"]}}),
        json!({"a": 1}),
        "/v/b: missing required argument",
    );
    check(
        json!({"properties": {"a": {}}, "unevaluatedProperties": false}),
        json!({"b": 1}),
        "/v/b: unknown argument (allowed: a)",
    );
}

/// R2: where null is a value, it is one, and no default replaces it.
#[test]
fn r2_null_that_is_a_value_stays_one() {
    let schema = object(json!({
        "text": {"type": "string", "default": "x"},
        "maybe": {"type": ["string", "null"], "default": "y"},
    }));
    let arguments = checked(&schema, r#"{"text": null, "maybe": null}"#);
    assert_eq!(arguments, Ok(json!({"maybe": null, "text": "x"})));
}

#[test]
fn default_that_would_make_arguments_invalid_is_not_filled() {
    let one_of = json!({"type": "object", "properties": {"a": {"default": 1}, "b": {"default": 2}},
        "oneOf": [{"required": ["a"]}, {"required": ["b"]}]});
    assert_eq!(checked(&one_of, r#"{"a": 5}"#), Ok(json!({"a": 5})));
    let wrong = object(json!({"a": {"type": "string", "default": 1}}));
    assert_eq!(checked(&wrong, "{}"), Ok(json!({})));
    let pattern = object(json!({"a": {"type": "string", "pattern": "^a", "default": "abc"}}));
    assert_eq!(checked(&pattern, "{}"), Ok(json!({"a": "abc"})));
}
