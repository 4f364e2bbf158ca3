//! The schema's defaults where values are absent, at every depth.

use serde_json::Value;

use super::shape::{all_of, allows_null, item, property, resolve, types};
use crate::limits;

/// Keywords for which it may matter whether a value is there at all.
const OF_PRESENCE: [&str; 11] = [
    "oneOf",
    "not",
    "if",
    "maxProperties",
    "dependentRequired",
    "dependentSchemas",
    "dependencies",
    "propertyNames",
    "patternProperties",
    "unevaluatedProperties",
    "$dynamicRef",
];

/// Keywords next to a default that do not decide whether it is valid, or that are looked at.
const JUDGED: [&str; 12] = [
    "type",
    "enum",
    "minimum",
    "maximum",
    "default",
    "title",
    "description",
    "examples",
    "deprecated",
    "readOnly",
    "writeOnly",
    "$comment",
];

/// Puts defaults where values are absent; says whether there was such a place.
pub(super) fn fill(root: &Value, arguments: &mut Value) -> bool {
    fill_value(root, root, arguments, 0)
}

fn fill_value(root: &Value, schema: &Value, value: &mut Value, depth: usize) -> bool {
    if depth > limits::ARGUMENT_DEPTH {
        return false;
    }
    let schema = resolve(root, schema);
    let mut filled = false;
    match value {
        Value::Object(object) => {
            let properties = schema.get("properties").and_then(Value::as_object);
            for (name, property) in properties.into_iter().flatten() {
                if let Some(default) = default_of(root, property)
                    && !object.contains_key(name)
                {
                    object.insert(name.clone(), default.clone());
                    filled = true;
                }
            }
            for (name, value) in object.iter_mut() {
                if let Some(of) = property(schema, name) {
                    filled |= fill_value(root, of, value, depth + 1);
                }
            }
        }
        Value::Array(items) => {
            for (index, value) in items.iter_mut().enumerate() {
                if let Some(of) = item(schema, index) {
                    filled |= fill_value(root, of, value, depth + 1);
                }
            }
        }
        _ => return false,
    }
    for part in all_of(schema) {
        filled |= fill_value(root, part, value, depth + 1);
    }
    filled
}

/// A schema's default, or that of what it refers to. Many schemas say `"default": null` where
/// they mean that there is none.
fn default_of<'s>(root: &'s Value, schema: &'s Value) -> Option<&'s Value> {
    let default = schema
        .get("default")
        .or_else(|| resolve(root, schema).get("default"))?;
    (!default.is_null() || allows_null(root, schema)).then_some(default)
}

/// Whether valid arguments surely stay valid with any of the defaults filled in.
pub(super) fn are_safe(root: &Value) -> bool {
    safe_below(root, root)
}

fn safe_below(root: &Value, schema: &Value) -> bool {
    match schema {
        Value::Object(keywords) => {
            OF_PRESENCE
                .iter()
                .all(|keyword| !keywords.contains_key(*keyword))
                && default_of(root, schema).is_none_or(|default| fits(root, schema, default))
                && keywords
                    .get("anyOf")
                    .is_none_or(|_| !std::ptr::eq(resolve(root, schema), schema))
                && keywords.values().all(|value| safe_below(root, value))
        }
        Value::Array(items) => items.iter().all(|item| safe_below(root, item)),
        _ => true,
    }
}

/// Whether a default surely is valid for its own schema.
fn fits(root: &Value, schema: &Value, default: &Value) -> bool {
    let target = resolve(root, schema);
    let plain = |schema: &Value| {
        let keywords = schema
            .as_object()
            .into_iter()
            .flat_map(serde_json::Map::keys);
        let mut keywords =
            keywords.filter(|key| !matches!(key.as_str(), "$ref" | "anyOf" | "$defs"));
        keywords.all(|key| JUDGED.contains(&key.as_str()))
    };
    if default.is_null() {
        return plain(schema) && allows_null(root, schema);
    }
    let kind = match default {
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        _ => return false,
    };
    let kinds = types(target);
    let of_type = kinds.contains(&kind) || (kind == "integer" && kinds.contains(&"number"));
    let listed = target.get("enum").and_then(Value::as_array);
    let bound = |keyword: &str| target.get(keyword).and_then(Value::as_f64);
    let within = |number: f64| {
        bound("minimum").is_none_or(|least| number >= least)
            && bound("maximum").is_none_or(|most| number <= most)
    };
    plain(schema)
        && plain(target)
        && of_type
        && listed.is_none_or(|options| options.contains(default))
        && default.as_f64().is_none_or(within)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn filled(schema: &Value, mut arguments: Value) -> Value {
        fill(schema, &mut arguments);
        arguments
    }

    #[test]
    fn r32_defaults_are_filled_at_every_depth() {
        let unit = json!({"type": "object", "properties": {"unit": {"default": "m"}}});
        let schema = json!({
            "type": "object",
            "properties": {
                "plain": {"type": "integer", "default": 10},
                "nested": unit,
                "list": {"type": "array", "items": unit},
                "pair": {"type": "array", "prefixItems": [unit], "items": {"type": "integer"}},
                "old": {"type": "array", "items": [unit]},
                "map": {"type": "object", "additionalProperties": unit},
                "or_null": {"anyOf": [unit, {"type": "null"}]},
                "referred": {"$ref": "#/$defs/unit"},
                "beside": {"$ref": "#/$defs/unit", "default": {}},
                "behind": {"$ref": "#/$defs/word"},
                "parts": {"allOf": [unit, {"properties": {"more": {"default": true}}}]},
            },
            "$defs": {"unit": unit, "word": {"type": "string", "default": "w"}},
        });
        let sent = json!({
            "nested": {}, "list": [{}, {"unit": "km"}], "pair": [{}, 1], "old": [{}],
            "map": {"x": {}}, "or_null": {}, "referred": {}, "parts": {},
        });
        let m = json!({"unit": "m"});
        let expected = json!({
            "nested": m, "list": [m, {"unit": "km"}], "pair": [m, 1], "old": [m],
            "map": {"x": m}, "or_null": m, "referred": m, "parts": {"unit": "m", "more": true},
            "plain": 10, "beside": m, "behind": "w",
        });
        assert_eq!(filled(&schema, sent), expected);
    }

    #[test]
    fn absent_objects_without_a_default_stay_absent() {
        let schema = json!({"properties": {"a": {"properties": {"b": {"default": 1}}}}});
        assert_eq!(filled(&schema, json!({})), json!({}));
    }

    #[test]
    fn null_as_default_counts_where_null_is_a_value() {
        let schema = json!({"properties": {
            "text": {"type": "string", "default": null},
            "maybe": {"type": ["string", "null"], "default": null},
        }});
        assert_eq!(filled(&schema, json!({})), json!({"maybe": null}));
    }

    #[test]
    fn defaults_that_may_be_invalid_are_told_apart() {
        let check = |safe: bool, property: Value| {
            let schema = json!({"type": "object", "properties": {"a": property}});
            assert_eq!(are_safe(&schema), safe, "{schema}");
        };
        check(
            true,
            json!({"type": "integer", "minimum": 1, "maximum": 20, "default": 10}),
        );
        check(true, json!({"type": "number", "default": 10}));
        check(
            true,
            json!({"type": "string", "enum": ["a", "b"], "default": "a", "description": "x"}),
        );
        check(true, json!({"type": ["string", "null"], "default": null}));
        check(
            true,
            json!({"anyOf": [{"type": "string"}, {"type": "null"}], "default": "a"}),
        );
        check(true, json!({"type": "string", "pattern": "^a"}));
        check(
            false,
            json!({"type": "string", "pattern": "^a", "default": "a"}),
        );
        check(
            false,
            json!({"type": "string", "enum": ["a", "b"], "default": "c"}),
        );
        check(
            false,
            json!({"type": "integer", "maximum": 5, "default": 6}),
        );
        check(false, json!({"type": "integer", "default": 1.5}));
        check(false, json!({"type": "string", "default": 1}));
        check(false, json!({"default": {}}));
        check(
            false,
            json!({"oneOf": [{"required": ["a"]}, {"required": ["b"]}]}),
        );
        check(
            false,
            json!({"anyOf": [{"type": "string"}, {"type": "integer"}]}),
        );
    }
}
