//! What a new schema means for those who know the old one. Pure.
//!
//! Careful: a change is compatible only if it is sure that the new schema accepts every value that
//! the old one accepts.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::event::SchemaChange;

type Keywords = Map<String, Value>;

/// Whether calls that were valid for the old schema are valid for the new one.
pub(super) fn schema_change(old: &Value, new: &Value) -> SchemaChange {
    if old == new {
        return SchemaChange::Same;
    }
    let (old, new) = (essence(old), essence(new));
    if definitions_accept(&old, &new) && accepts(&old, &new) {
        SchemaChange::Compatible
    } else {
        SchemaChange::Breaking
    }
}

/// Whether `new` accepts every value that `old` accepts, where references of the same text do.
fn accepts(old: &Value, new: &Value) -> bool {
    if old == new || *old == Value::Bool(false) || is_open(new) {
        return true;
    }
    let empty = Keywords::new();
    let (old, new) = match (old, new) {
        (Value::Object(old), Value::Object(new)) => (old, new),
        (Value::Bool(true), Value::Object(new)) => (&empty, new),
        _ => return false,
    };
    let keywords: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    keywords
        .into_iter()
        .all(|keyword| keyword_accepts(keyword, old, new))
}

fn is_open(schema: &Value) -> bool {
    *schema == Value::Bool(true) || schema.as_object().is_some_and(Map::is_empty)
}

fn keyword_accepts(keyword: &str, old: &Keywords, new: &Keywords) -> bool {
    let (before, after) = (old.get(keyword), new.get(keyword));
    match keyword {
        "type" => types(before, after),
        "enum" => within(before, after),
        "required" => after.is_none() || within(after, before),
        "minimum" | "exclusiveMinimum" | "minLength" | "minItems" | "minProperties" => {
            bound(before, after, |before, after| after < before)
        }
        "maximum" | "exclusiveMaximum" | "maxLength" | "maxItems" | "maxProperties" => {
            bound(before, after, |before, after| after > before)
        }
        "uniqueItems" => before == after || after != Some(&Value::Bool(true)),
        "items" => accepts(or_open(before), or_open(after)),
        "properties" | "additionalProperties" => properties(old, new),
        "anyOf" => alternatives(before, after),
        // Compared before everything else.
        "$defs" => true,
        // Without one of these more is accepted.
        "pattern" | "format" | "multipleOf" | "const" | "not" => after.is_none() || before == after,
        _ => before == after,
    }
}

fn or_open(schema: Option<&Value>) -> &Value {
    schema.unwrap_or(&Value::Bool(true))
}

fn types(before: Option<&Value>, after: Option<&Value>) -> bool {
    let list = |types: &Value| -> Vec<String> {
        let words = types
            .as_array()
            .map_or(std::slice::from_ref(types), Vec::as_slice);
        let words = words.iter().filter_map(Value::as_str);
        words.map(str::to_owned).collect()
    };
    let Some(after) = after.map(list) else {
        return true;
    };
    let is_there = |word: &String| {
        after.contains(word) || (word == "integer" && after.iter().any(|one| one == "number"))
    };
    before.is_some_and(|before| list(before).iter().all(is_there))
}

/// Whether every element of `few` is one of `many`; without `many` nothing is demanded.
fn within(few: Option<&Value>, many: Option<&Value>) -> bool {
    let Some(many) = many.and_then(Value::as_array) else {
        return many.is_none() && few.is_none_or(Value::is_array);
    };
    let few = few.and_then(Value::as_array);
    few.is_some_and(|few| few.iter().all(|one| many.contains(one)))
}

fn bound(
    before: Option<&Value>,
    after: Option<&Value>,
    is_wider: impl Fn(f64, f64) -> bool,
) -> bool {
    let number = |value: Option<&Value>| value.and_then(Value::as_f64);
    match (before, after) {
        (_, None) => true,
        (before, after) if before == after => true,
        _ => match (number(before), number(after)) {
            // Numbers that a float can't tell apart are not told apart here.
            (Some(before), Some(after)) => is_wider(before, after),
            _ => false,
        },
    }
}

fn properties(old: &Keywords, new: &Keywords) -> bool {
    let of = |schema: &Keywords| {
        let properties = schema.get("properties").and_then(Value::as_object);
        properties.cloned().unwrap_or_default()
    };
    let (before, after) = (of(old), of(new));
    let other = |schema: &Keywords| {
        schema
            .get("additionalProperties")
            .cloned()
            .unwrap_or(Value::Bool(true))
    };
    let (others_before, others_after) = (other(old), other(new));
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    // What is no property of a schema is one of its others.
    let each = names.into_iter().all(|name| {
        let old = before.get(name).unwrap_or(&others_before);
        accepts(old, after.get(name).unwrap_or(&others_after))
    });
    each && accepts(&others_before, &others_after)
}

fn alternatives(before: Option<&Value>, after: Option<&Value>) -> bool {
    let list = |schemas: Option<&Value>| schemas.and_then(Value::as_array).cloned();
    let (before, after) = match (list(before), list(after)) {
        (_, None) => return after.is_none(),
        (None, Some(_)) => return false,
        (Some(before), Some(after)) => (before, after),
    };
    let is_there = |old: &Value| after.iter().any(|new| accepts(old, new));
    before.iter().all(is_there)
}

/// References are compared by their text, so what they mean must be accepted too.
fn definitions_accept(old: &Value, new: &Value) -> bool {
    let of = |schema: &Value| schema.get("$defs").and_then(Value::as_object).cloned();
    let (before, after) = (of(old).unwrap_or_default(), of(new).unwrap_or_default());
    // Below these, what accepts more may refuse more.
    let turns = |keyword: &&str| new.to_string().contains(&format!("{keyword:?}:"));
    if before != after && ["contains", "if", "not", "oneOf"].iter().any(turns) {
        return false;
    }
    before.iter().all(|(name, old)| {
        // One that is gone is not referred to any more, or the reference has changed.
        after.get(name).is_none_or(|new| accepts(old, new))
    })
}

/// A schema without the keywords that refuse nothing.
fn essence(schema: &Value) -> Value {
    match schema {
        Value::Object(keywords) => {
            let kept = keywords.iter().filter(|(key, value)| {
                let words = matches!(
                    key.as_str(),
                    "description" | "title" | "default" | "examples" | "deprecated"
                );
                // An argument may have such a name; then its value is a schema.
                !words || value.is_object()
            });
            kept.map(|(key, value)| (key.clone(), essence(value)))
                .collect::<Map<_, _>>()
                .into()
        }
        Value::Array(items) => items.iter().map(essence).collect::<Vec<_>>().into(),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use SchemaChange::{Breaking, Compatible, Same};
    use serde_json::json;

    use super::*;

    fn object(properties: &Value, required: &[&str]) -> Value {
        json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
    }

    #[test]
    fn arguments_may_come_but_not_go_and_not_become_mandatory() {
        let old = object(&json!({"a": {"type": "string", "enum": ["x"]}}), &["a"]);
        let check = |new: Value, expected: SchemaChange| {
            assert_eq!(schema_change(&old, &new), expected, "{new}");
        };
        check(old.clone(), Same);
        let described = json!({"a": {"type": "string", "description": "d", "enum": ["x"]}});
        check(object(&described, &["a"]), Compatible);
        let wider = json!({"a": {"type": "string", "enum": ["x", "y"]}, "b": {"type": "integer"}});
        check(object(&wider, &[]), Compatible);
        check(object(&wider, &["a", "b"]), Breaking);
        check(object(&json!({"a": {"type": "integer"}}), &["a"]), Breaking);
        check(object(&json!({}), &[]), Breaking);
        check(json!({"type": "object"}), Compatible);
        check(object(&json!({"a": true}), &["a"]), Compatible);
    }

    /// One argument, before and after; the other way round is breaking, unless it is the same.
    #[test]
    fn what_accepts_more_is_compatible_one_way_only() {
        let pairs = [
            (json!({"type": "integer"}), json!({"type": "number"})),
            (
                json!({"type": "string"}),
                json!({"type": ["string", "null"]}),
            ),
            (json!({"type": "string"}), json!(true)),
            (
                json!({"type": "string", "enum": ["a"]}),
                json!({"type": "string"}),
            ),
            (
                json!({"type": "integer", "minimum": 1}),
                json!({"type": "integer", "minimum": 0}),
            ),
            (
                json!({"type": "integer", "maximum": 9}),
                json!({"type": "integer", "maximum": 9.5}),
            ),
            (
                json!({"type": "string", "maxLength": 3}),
                json!({"type": "string"}),
            ),
            (
                json!({"type": "string", "pattern": "^a"}),
                json!({"type": "string"}),
            ),
            (
                json!({"type": "array", "items": {"type": "integer"}, "uniqueItems": true}),
                json!({"type": "array", "items": {"type": "number"}}),
            ),
            (
                json!({"type": "array", "items": {"type": "string"}}),
                json!({"type": "array"}),
            ),
            (
                json!({"anyOf": [{"type": "string"}, {"type": "null"}]}),
                json!({"anyOf": [{"type": "null"}, {"type": "string"}, {"type": "boolean"}]}),
            ),
            (
                object(&json!({"x": {"type": "integer"}}), &["x"]),
                object(
                    &json!({"x": {"type": "integer"}, "y": {"type": "integer"}}),
                    &["x"],
                ),
            ),
            (
                json!({"type": "object", "additionalProperties": {"type": "integer"}}),
                json!({"type": "object", "additionalProperties": {"type": "number"}}),
            ),
        ];
        for (narrow, wide) in pairs {
            let tool = |schema: &Value| object(&json!({"a": schema}), &["a"]);
            let (narrow, wide) = (tool(&narrow), tool(&wide));
            assert_eq!(schema_change(&narrow, &wide), Compatible, "{narrow} {wide}");
            assert_eq!(schema_change(&wide, &narrow), Breaking, "{wide} {narrow}");
        }
    }

    #[test]
    fn what_is_not_sure_is_breaking() {
        for (old, new) in [
            // Open for all arguments, then one of them has a type.
            (
                json!({"type": "object"}),
                json!({"type": "object", "properties": {"a": {"type": "string"}}}),
            ),
            (
                json!({"oneOf": [{"type": "string"}]}),
                json!({"oneOf": [{"type": "string"}, {"type": "null"}]}),
            ),
            (json!({"patternProperties": {"^a": true}}), json!({})),
            (json!({"const": 1}), json!({"const": 2})),
            (
                json!({"minimum": 9_007_199_254_740_992_u64}),
                json!({"minimum": 9_007_199_254_740_993_u64}),
            ),
        ] {
            let change = schema_change(&old, &new);
            let open = new == json!({});
            assert_eq!(
                change,
                if open { Compatible } else { Breaking },
                "{old} {new}"
            );
        }
    }

    #[test]
    fn definitions_count_where_references_stay_the_same() {
        let schema = |node: &Value| {
            json!({
                "type": "object", "additionalProperties": false, "required": ["tree"],
                "properties": {"tree": {"$ref": "#/$defs/Node"}},
                "$defs": {"Node": node},
            })
        };
        let node = |properties: &Value| object(properties, &[]);
        let children = json!({"type": "array", "items": {"$ref": "#/$defs/Node"}});
        let old = schema(&node(&json!({"children": children})));
        let wider = schema(&node(
            &json!({"children": children, "name": {"type": "string"}}),
        ));
        assert_eq!(schema_change(&old, &wider), Compatible);
        assert_eq!(schema_change(&wider, &old), Breaking);
        let without =
            |node: &Value| json!({"not": {"$ref": "#/$defs/Node"}, "$defs": {"Node": node}});
        let (few, many) = (json!({"type": "integer"}), json!({"type": "number"}));
        assert_eq!(schema_change(&without(&few), &without(&many)), Breaking);
    }
}
