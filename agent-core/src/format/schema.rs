//! The arguments' schema as providers take it. It is shown only: what a model sends is judged by
//! the tool's own schema.

use serde_json::{Map, Value, json};

/// Keywords of which a provider refuses each at the root, and with it every tool of the request
/// (`g2.root-union.1`).
const REFUSED_AT_ROOT: [&str; 5] = ["anyOf", "oneOf", "allOf", "enum", "not"];

/// Keywords that hold schemas by name.
const NAMED: [&str; 5] = [
    "properties",
    "patternProperties",
    "$defs",
    "definitions",
    "dependentSchemas",
];

/// Keywords that hold a schema, or a list of them.
const NESTED: [&str; 15] = [
    "items",
    "prefixItems",
    "additionalItems",
    "additionalProperties",
    "unevaluatedItems",
    "unevaluatedProperties",
    "contains",
    "propertyNames",
    "anyOf",
    "oneOf",
    "allOf",
    "not",
    "if",
    "then",
    "else",
];

/// The schema with an object at its root that names its properties (`g2.no-arg.1`); of a choice at
/// the root, the properties of all branches.
pub(super) fn rooted(schema: &Value) -> Value {
    let mut root = match schema {
        Value::Object(keywords) => keywords.clone(),
        _ => Map::new(),
    };
    follow_reference(schema, &mut root);
    let branches: Vec<Value> = ["anyOf", "oneOf", "allOf"]
        .iter()
        .filter_map(|keyword| root.get(*keyword)?.as_array().cloned())
        .flatten()
        .collect();
    for keyword in REFUSED_AT_ROOT {
        root.shift_remove(keyword);
    }
    if root.get("type") != Some(&json!("object")) {
        root.shift_insert(0, "type".to_owned(), json!("object"));
    }
    let properties = root.entry("properties").or_insert_with(|| json!({}));
    for branch in &branches {
        let named = branch.get("properties").and_then(Value::as_object);
        for (name, property) in named.into_iter().flatten() {
            if let Some(properties) = properties.as_object_mut()
                && !properties.contains_key(name)
            {
                properties.insert(name.clone(), property.clone());
            }
        }
    }
    root.into()
}

/// A root that only refers to a definition is that definition.
fn follow_reference(schema: &Value, root: &mut Map<String, Value>) {
    let target = root
        .get("$ref")
        .and_then(Value::as_str)
        .and_then(|reference| schema.pointer(reference.strip_prefix('#')?))
        .and_then(Value::as_object);
    if let Some(target) = target {
        root.shift_remove("$ref");
        for (keyword, value) in target {
            root.entry(keyword.as_str())
                .or_insert_with(|| value.clone());
        }
    }
}

/// The schema without `additionalProperties: false` (R33). Arguments that are called so stay.
pub(super) fn opened(schema: &Value) -> Value {
    let Value::Object(keywords) = schema else {
        return schema.clone();
    };
    let kept = keywords
        .iter()
        .filter(|(keyword, value)| *keyword != "additionalProperties" || **value != json!(false));
    let opened = kept.map(|(keyword, value)| {
        let value = match value {
            Value::Object(schemas) if NAMED.contains(&keyword.as_str()) => {
                let schemas = schemas.iter();
                schemas
                    .map(|(name, schema)| (name.clone(), opened(schema)))
                    .collect()
            }
            Value::Array(schemas) if NESTED.contains(&keyword.as_str()) => {
                schemas.iter().map(opened).collect()
            }
            schema if NESTED.contains(&keyword.as_str()) => opened(schema),
            other => other.clone(),
        };
        (keyword.clone(), value)
    });
    opened.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r33_objects_are_shown_open_and_arguments_of_that_name_stay() {
        let schema = json!({
            "type": "object",
            "properties": {
                "additionalProperties": {"type": "boolean", "default": false},
                "list": {"type": "array", "items": {"type": "object", "additionalProperties": false}},
                "map": {"type": "object", "additionalProperties": {"anyOf": [
                    {"type": "object", "properties": {}, "additionalProperties": false},
                ]}},
                "value": {"default": {"additionalProperties": false}},
            },
            "required": ["additionalProperties"],
            "$defs": {"a": {"type": "object", "additionalProperties": false}},
            "additionalProperties": false,
        });
        let expected = json!({
            "type": "object",
            "properties": {
                "additionalProperties": {"type": "boolean", "default": false},
                "list": {"type": "array", "items": {"type": "object"}},
                "map": {"type": "object", "additionalProperties": {"anyOf": [
                    {"type": "object", "properties": {}},
                ]}},
                "value": {"default": {"additionalProperties": false}},
            },
            "required": ["additionalProperties"],
            "$defs": {"a": {"type": "object"}},
        });
        // Texts are compared, so that the order counts.
        assert_eq!(opened(&schema).to_string(), expected.to_string());
    }

    /// `g2.no-arg.1`, `g2.root-union.1`.
    #[test]
    fn root_is_an_object_with_properties() {
        let check = |schema: Value, expected: Value| {
            assert_eq!(rooted(&schema).to_string(), expected.to_string());
        };
        check(
            json!({"type": "object"}),
            json!({"type": "object", "properties": {}}),
        );
        check(json!(true), json!({"type": "object", "properties": {}}));
        let whole = json!({"type": "object", "properties": {"a": {}}, "required": ["a"]});
        check(whole.clone(), whole);
        check(
            json!({"oneOf": [
                {"properties": {"kind": {"const": "a"}, "x": {}}},
                {"properties": {"kind": {"const": "b"}, "y": {}}},
            ]}),
            json!({"type": "object", "properties": {"kind": {"const": "a"}, "x": {}, "y": {}}}),
        );
        check(
            json!({"$ref": "#/$defs/A", "$defs": {"A": {"type": "object", "properties": {"a": {}}}}}),
            json!({
                "$defs": {"A": {"type": "object", "properties": {"a": {}}}},
                "type": "object", "properties": {"a": {}},
            }),
        );
    }
}
