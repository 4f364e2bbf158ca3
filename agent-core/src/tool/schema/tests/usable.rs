//! Which schemas are usable, and what is said of those that are not.

use serde_json::{Map, json};

use super::*;

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
