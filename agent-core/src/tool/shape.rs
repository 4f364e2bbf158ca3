//! What a schema says of a value's shape: its types, its parts, whether it may be null.
//!
//! Only keywords that say what a value *is* are read; where a schema leaves a choice, the answer
//! is "nothing is said". Validation itself is `jsonschema`'s, not ours.

use serde_json::Value;

/// How many references and layers are followed before a schema is taken for a circle.
const LAYERS: usize = 32;

/// Whether a keyword with a fitting value stands anywhere in the schema.
pub(super) fn mentions(
    schema: &Value,
    keyword: &str,
    fits: impl Fn(&Value) -> bool + Copy,
) -> bool {
    match schema {
        Value::Object(keywords) => keywords
            .iter()
            .any(|(key, value)| (key == keyword && fits(value)) || mentions(value, keyword, fits)),
        Value::Array(items) => items.iter().any(|item| mentions(item, keyword, fits)),
        _ => false,
    }
}

/// The schema that really describes a value: references followed, `X or null` taken as `X`.
pub(super) fn resolve<'s>(root: &'s Value, mut schema: &'s Value) -> &'s Value {
    for _ in 0..LAYERS {
        let next = if schema.get("$ref").is_some() {
            target(root, schema)
        } else {
            non_null_branch(schema)
        };
        match next {
            Some(next) => schema = next,
            None => break,
        }
    }
    schema
}

/// What a schema's `$ref` points to, within the document.
fn target<'s>(root: &'s Value, schema: &'s Value) -> Option<&'s Value> {
    let reference = schema.get("$ref")?.as_str()?;
    reference.strip_prefix('#').and_then(|at| root.pointer(at))
}

/// The schema with its references followed.
pub(super) fn reference<'s>(root: &'s Value, mut schema: &'s Value) -> &'s Value {
    for _ in 0..LAYERS {
        match target(root, schema) {
            Some(next) => schema = next,
            None => break,
        }
    }
    schema
}

fn branches(schema: &Value) -> Option<&[Value]> {
    let branches = schema
        .get("anyOf")
        .or_else(|| schema.get("oneOf"))?
        .as_array()?;
    Some(branches.as_slice())
}

fn non_null_branch(schema: &Value) -> Option<&Value> {
    let is_null = |branch: &Value| branch.get("type").and_then(Value::as_str) == Some("null");
    match branches(schema)? {
        [one, null] | [null, one] if is_null(null) && !is_null(one) => Some(one),
        _ => None,
    }
}

/// The declared types; none when the schema does not say.
pub(super) fn types(schema: &Value) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::String(kind)) => vec![kind.as_str()],
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// Whether null is a value for this schema, as far as can be said without validating.
pub(super) fn allows_null(root: &Value, schema: &Value) -> bool {
    null_fits(root, schema, LAYERS)
}

fn null_fits(root: &Value, schema: &Value, layers: usize) -> bool {
    let Some(layers) = layers.checked_sub(1) else {
        return true;
    };
    let fits = |part: &Value| null_fits(root, part, layers);
    let listed = schema.get("enum").and_then(Value::as_array);
    let parts = schema.get("allOf").and_then(Value::as_array);
    let kinds = types(schema);
    schema != &Value::Bool(false)
        && schema.get("const").is_none_or(Value::is_null)
        && listed.is_none_or(|options| options.contains(&Value::Null))
        && (kinds.is_empty() || kinds.contains(&"null"))
        && target(root, schema).is_none_or(fits)
        && branches(schema).is_none_or(|branches| branches.iter().any(fits))
        && parts.is_none_or(|parts| parts.iter().all(fits))
}

/// The schema of an object's value of this name.
pub(super) fn property<'s>(schema: &'s Value, name: &str) -> Option<&'s Value> {
    let named = schema
        .get("properties")
        .and_then(|properties| properties.get(name));
    // Whether a pattern covers the name is not decided here, so nothing is said of it.
    let rest = || match schema.get("patternProperties") {
        None => schema
            .get("additionalProperties")
            .filter(|rest| rest.is_object()),
        Some(_) => None,
    };
    named.or_else(rest)
}

/// The schema of an array's item.
pub(super) fn item(schema: &Value, index: usize) -> Option<&Value> {
    match (
        schema.get("prefixItems").and_then(Value::as_array),
        schema.get("items"),
    ) {
        (None, Some(Value::Array(tuple))) => tuple.get(index),
        (Some(tuple), rest) => tuple.get(index).or(rest),
        (None, rest) => rest,
    }
}

/// The parts that all describe the same value.
pub(super) fn all_of(schema: &Value) -> impl Iterator<Item = &Value> {
    schema
        .get("allOf")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
}

/// A name as a step of a JSON pointer.
pub(super) fn escape(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// The name that a step of a JSON pointer stands for.
pub(super) fn unescape(step: &str) -> String {
    step.replace("~1", "/").replace("~0", "~")
}
