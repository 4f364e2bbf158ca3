//! Which branches of `anyOf` and `oneOf` a value is meant for, as far as its shape tells. Whether it
//! fits them is `jsonschema`'s to say.

use serde_json::{Map, Value};

use super::coerce::Extent;
use super::shape::{reference, types};

/// The branches that a value may be coerced by. Of a valid value all that may have taken it: the one
/// change that is made to it, of `5.0` to `5`, suits the others too. Of an invalid one the only one
/// that its tags leave.
pub(super) fn meant<'s>(
    root: &'s Value,
    schema: &'s Value,
    value: &Value,
    extent: Extent,
) -> Vec<&'s Value> {
    let unions = ["anyOf", "oneOf"].into_iter();
    let branches = unions.filter_map(|union| schema.get(union)?.as_array());
    let branches = branches.flatten().map(|branch| reference(root, branch));
    match extent {
        Extent::Valid => branches.filter(|branch| may_take(branch, value)).collect(),
        Extent::Invalid => {
            let meant: Vec<&Value> = branches
                .filter(|branch| is_tagged_as(branch, value))
                .collect();
            if meant.len() == 1 { meant } else { Vec::new() }
        }
    }
}

/// Whether a branch may have taken the value as it is.
fn may_take(branch: &Value, value: &Value) -> bool {
    if !says(branch, value) || !is_of_kind(branch, value) {
        return false;
    }
    let Value::Object(object) = value else {
        return true;
    };
    let has = |name: &Value| name.as_str().is_some_and(|name| object.contains_key(name));
    let required = branch.get("required").and_then(Value::as_array);
    required.into_iter().flatten().all(has) && tags_agree(branch, object)
}

/// Whether an object has the tags of a branch: its constants, or its one name.
fn is_tagged_as(branch: &Value, value: &Value) -> bool {
    let (Value::Object(object), true) = (value, is_of_kind(branch, value)) else {
        return false;
    };
    let Some(properties) = branch.get("properties").and_then(Value::as_object) else {
        return false;
    };
    let has_tags = properties.values().any(|of| tag(of).is_some());
    let is_one_name =
        properties.len() == 1 && properties.keys().all(|name| object.contains_key(name));
    (has_tags || is_one_name)
        && tags_agree(branch, object)
        && properties
            .iter()
            .all(|(name, of)| tag(of).is_none() || object.contains_key(name))
}

fn tags_agree(branch: &Value, object: &Map<String, Value>) -> bool {
    let properties = branch.get("properties").and_then(Value::as_object);
    properties.into_iter().flatten().all(|(name, of)| {
        let tag = tag(of);
        object
            .get(name)
            .zip(tag)
            .is_none_or(|(value, tag)| value == tag)
    })
}

/// The only value of a property.
fn tag(of: &Value) -> Option<&Value> {
    let only = || match of.get("enum")?.as_array()?.as_slice() {
        [only] => Some(only),
        _ => None,
    };
    of.get("const").or_else(only)
}

fn says(branch: &Value, value: &Value) -> bool {
    let options = branch.get("enum").and_then(Value::as_array);
    branch.get("const").is_none_or(|constant| constant == value)
        && options.is_none_or(|options| options.contains(value))
}

fn is_of_kind(branch: &Value, value: &Value) -> bool {
    let kinds = types(branch);
    let fits = |kind: &&str| match *kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        _ => value.is_number(),
    };
    kinds.is_empty() || kinds.iter().any(fits)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schema() -> Value {
        let side = json!({"type": "integer"});
        json!({"oneOf": [
            {
                "type": "object",
                "properties": {"kind": {"const": "square"}, "side": side},
                "required": ["kind", "side"],
            },
            {
                "type": "object",
                "properties": {"Level": side},
                "required": ["Level"],
            },
            {"type": "integer"},
            {"$ref": "#/$defs/Word"},
        ], "$defs": {"Word": {"type": "string", "enum": ["a"]}}})
    }

    #[track_caller]
    fn check(value: &Value, extent: Extent, expected: &[usize]) {
        let schema = schema();
        let branches: Vec<&Value> = schema["oneOf"].as_array().unwrap().iter().collect();
        let meant = meant(&schema, &schema, value, extent);
        let at = |one: &&Value| {
            let is_it = |branch: &&Value| std::ptr::eq(reference(&schema, branch), *one);
            branches.iter().position(is_it).unwrap()
        };
        let found: Vec<usize> = meant.iter().map(at).collect();
        assert_eq!(found, expected, "{value}");
    }

    #[test]
    fn valid_value_is_of_every_branch_that_may_take_it() {
        check(&json!({"kind": "square", "side": 2.0}), Extent::Valid, &[0]);
        check(&json!({"Level": 0.0}), Extent::Valid, &[1]);
        check(&json!(5.0), Extent::Valid, &[2]);
        check(&json!("a"), Extent::Valid, &[3]);
    }

    #[test]
    fn r10_invalid_value_is_of_the_branch_that_its_tags_leave() {
        check(&json!({"kind": "square"}), Extent::Invalid, &[0]);
        check(&json!({"Level": "7"}), Extent::Invalid, &[1]);
        check(
            &json!({"kind": "circle", "side": "2"}),
            Extent::Invalid,
            &[],
        );
        check(&json!({"side": "2"}), Extent::Invalid, &[]);
        check(&json!("5"), Extent::Invalid, &[]);
    }
}
