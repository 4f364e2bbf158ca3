//! Tests of whole checks: which schemas are usable, and coercion, validation and defaults together.

use std::time::{Duration, Instant};

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use serde_json::{Map, json};

use super::*;

/// The schema of an object with these properties and definitions for them to refer to.
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

fn refused(schema: &Value) -> SchemaError {
    ArgumentSchema::compile(schema)
        .map(|_| ())
        .expect_err(&schema.to_string())
}

#[test]
fn unusable_schema_names_the_place() {
    let check = |property: Value, pointer: &str, reason: &str| {
        let error = refused(&object(json!({"k": property})));
        assert_eq!(error.pointer, pointer, "{error}");
        assert!(error.reason.contains(reason), "{error}");
    };
    check(
        json!({"$ref": "http://169.254.169.254/latest/"}),
        "/properties/k/$ref",
        "Retrieval is disabled",
    );
    check(
        json!({"$ref": "file:///etc/passwd"}),
        "/properties/k/$ref",
        "Retrieval is disabled",
    );
    check(
        json!({"$ref": "other.json#/x"}),
        "/properties/k/$ref",
        "other.json",
    );
    check(
        json!({"$dynamicRef": "http://x/y#z"}),
        "/properties/k/$dynamicRef",
        "http://x/y",
    );
    check(
        json!({"items": {"$ref": "#/$defs/none"}}),
        "/properties/k/items/$ref",
        "/$defs/none",
    );
    check(json!({"$id": ":::bad"}), "/properties/k/$id", "Invalid URI");
    check(json!({"pattern": "(["}), "/properties/k/pattern", "([");
    check(json!({"type": "strin"}), "/properties/k/type", "strin");
    check(
        json!({"type": "string", "required": true}),
        "/properties/k/required",
        "true",
    );
    let names = json!({"patternProperties": {"^(?!a/b)": {}}});
    check(
        names,
        "/properties/k/patternProperties/^(?!a~1b)",
        "without look-around",
    );
    check(
        json!({"patternProperties": {"([": {}}}),
        "/properties/k/patternProperties/([",
        "([",
    );

    let error = refused(&json!({"properties": {}}));
    assert_eq!(
        error.to_string(),
        "the input schema is not usable at `/type`: expected \"object\", since arguments are named"
    );
    assert_eq!(
        refused(&json!({"type": ["object", "null"]})).pointer,
        "/type"
    );
    assert_eq!(refused(&json!(true)).pointer, "/type");
}

#[test]
fn schema_of_which_no_check_would_end_is_refused() {
    let endless = object(json!({"a": {"$ref": "#/properties/b"}, "b": {"$ref": "#/properties/a"}}));
    assert_eq!(refused(&endless).pointer, "/properties/a");
    let itself = object(json!({"a": {"anyOf": [{"type": "string"}, {"$ref": "#/properties/a"}]}}));
    assert_eq!(refused(&itself).pointer, "/properties/a");

    let doubling = |levels: u32| {
        let twice = |level: u32| {
            let next = json!({"$ref": format!("#/$defs/{}", level + 1)});
            (level.to_string(), json!({"allOf": [next, next]}))
        };
        let mut definitions: Map<String, Value> = (0..levels).map(twice).collect();
        definitions.insert(levels.to_string(), json!({"type": "string"}));
        json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/0"}}, "$defs": definitions})
    };
    assert_eq!(refused(&doubling(40)).pointer, "/properties/a");
    assert_eq!(
        checked(&doubling(5), r#"{"a": "x"}"#),
        Ok(json!({"a": "x"}))
    );
}

#[test]
fn every_draft_is_understood_and_unknown_ones_by_their_content() {
    let tuple = json!({"k": {"items": [{"type": "string"}, {"type": "integer"}]}});
    let bound = json!({"k": {"minimum": 1, "exclusiveMinimum": true}});
    let modern = json!({"k": {"prefixItems": [{"type": "string"}], "items": false}});
    let check = |dialect: Option<Value>, properties: &Value, good: &str, bad: &str| {
        let mut schema = object(properties.clone());
        if let Some(dialect) = dialect {
            schema["$schema"] = dialect;
        }
        assert!(checked(&schema, good).is_ok(), "{schema} {good}");
        assert!(checked(&schema, bad).is_err(), "{schema} {bad}");
    };
    let (good, bad) = (r#"{"k": ["a", 1]}"#, r#"{"k": ["a", "b"]}"#);
    check(
        Some("http://json-schema.org/draft-07/schema#".into()),
        &tuple,
        good,
        bad,
    );
    check(
        Some("https://json-schema.org/draft-07/schema".into()),
        &tuple,
        good,
        bad,
    );
    check(
        Some("http://json-schema.org/draft-06/schema#".into()),
        &tuple,
        good,
        bad,
    );
    check(
        Some("https://json-schema.org/draft/2019-09/schema".into()),
        &tuple,
        good,
        bad,
    );
    check(Some("https://example.com/my-own".into()), &tuple, good, bad);
    check(Some("no address at all".into()), &tuple, good, bad);
    check(Some(7.into()), &tuple, good, bad);
    check(None, &tuple, good, bad);
    let (good, bad) = (r#"{"k": 2}"#, r#"{"k": 1}"#);
    check(
        Some("http://json-schema.org/draft-04/schema#".into()),
        &bound,
        good,
        bad,
    );
    check(None, &bound, good, bad);
    let (good, bad) = (r#"{"k": ["a"]}"#, r#"{"k": ["a", 1]}"#);
    check(
        Some("https://json-schema.org/draft/2020-12/schema".into()),
        &modern,
        good,
        bad,
    );
    check(
        Some("https://example.com/my-own".into()),
        &modern,
        good,
        bad,
    );
    check(None, &modern, good, bad);
}

#[test]
fn references_within_the_document_and_to_known_dialects_resolve() {
    let schema = object(json!({"w": {"$ref": "#/$defs/word"}, "s": {
        "$ref": "https://json-schema.org/draft/2020-12/schema"}}));
    assert_eq!(
        checked(&schema, r#"{"w": 5, "s": {}}"#),
        Ok(json!({"w": "5", "s": {}}))
    );
    let named = json!({"$id": "https://example.com/tool", "type": "object",
        "properties": {"a": {"$ref": "tool#/$defs/x"}}, "$defs": {"x": {"type": "string"}}});
    assert!(checked(&named, r#"{"a": []}"#).is_err());
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

/// A property's schema, small and of every kind that arguments have.
fn schemas() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!({"type": "integer"})),
        Just(json!({"type": "integer", "minimum": 0, "default": 7})),
        Just(json!({"type": "number", "default": 0.5})),
        Just(json!({"type": "string"})),
        Just(json!({"type": "string", "enum": ["1", "true", "north"], "default": "north"})),
        Just(json!({"type": "boolean", "default": false})),
        Just(json!({"type": ["integer", "null"], "default": null})),
        Just(json!({"type": ["string", "null"]})),
        Just(json!({"type": ["string", "integer"]})),
        Just(json!({"anyOf": [{"type": "integer"}, {"type": "null"}]})),
        Just(json!({"anyOf": [{"type": "string"}, {"type": "array"}]})),
        Just(json!({"allOf": [{"type": "number"}, {"type": "integer"}]})),
        Just(json!({})),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            inner
                .clone()
                .prop_map(|items| json!({"type": "array", "items": items})),
            inner
                .clone()
                .prop_map(|rest| json!({"type": "object", "additionalProperties": rest})),
            (
                btree_map("[a-d]", inner, 0..4),
                any::<bool>(),
                any::<bool>()
            )
                .prop_map(|(properties, closed, demanding)| {
                    let required: Vec<&String> = properties.keys().filter(|_| demanding).collect();
                    json!({"type": "object", "properties": properties, "required": required,
                        "additionalProperties": !closed})
                }),
        ]
    })
}

/// What a model might send: values of all kinds, many of them as text.
fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        (-3i64..20).prop_map(Value::from),
        (-3i32..20).prop_map(|number| json!(f64::from(number))),
        Just(json!(0.5)),
        any::<bool>().prop_map(Value::from),
        Just(Value::Null),
        prop_oneof![
            "1",
            "2.0",
            "1.5",
            "true",
            "north",
            "null",
            "[1]",
            "\\{\"a\":\"1\"\\}",
            ""
        ]
        .prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            btree_map("[a-d]", inner, 0..4).prop_map(|values| json!(values)),
        ]
    })
}

/// Whether `got` is `sent` with floats as integers and more names.
fn is_same_and_more(sent: &Value, got: &Value) -> bool {
    match (sent, got) {
        (Value::Number(a), Value::Number(b)) => a.as_f64() == b.as_f64(),
        (Value::Object(a), Value::Object(b)) => a
            .iter()
            .all(|(name, value)| b.get(name).is_some_and(|got| is_same_and_more(value, got))),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_same_and_more(a, b))
        }
        _ => sent == got,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn checked_arguments_are_valid_and_checking_them_again_changes_nothing(
        properties in btree_map("[a-d]", schemas(), 0..4),
        sent in btree_map("[a-d]", values(), 0..4),
        as_text in any::<bool>(),
    ) {
        let schema = json!({"type": "object", "properties": properties});
        let sent = json!(sent);
        let text = sent.to_string();
        let compiled = ArgumentSchema::compile(&schema).unwrap();
        let validator = jsonschema::validator_for(&schema).unwrap();
        let checked = compiled.check(&sent, as_text.then_some(text.as_str()));
        if validator.is_valid(&sent) {
            let Checked { arguments, changes } = checked.clone().expect("valid arguments are taken");
            prop_assert!(is_same_and_more(&sent, &arguments), "{sent} became {arguments}");
            for change in changes {
                let float = change.from.is_f64();
                prop_assert!(float && change.to.is_some_and(|to| to.is_i64() || to.is_u64()));
            }
        }
        if let Ok(Checked { arguments, .. }) = checked {
            prop_assert!(validator.is_valid(&arguments), "{sent} became {arguments}");
            let again = compiled.check(&arguments, None);
            prop_assert_eq!(again, Ok(Checked { arguments, changes: vec![] }));
        }
    }
}
