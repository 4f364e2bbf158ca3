//! A published schema: its parts, each by its JSON pointer, and the validator that a host makes.

use jsonschema::{Draft, PatternOptions, ValidationError, Validator};
use serde_json::{Map, Value};

/// Keywords of one schema.
pub(super) type Keywords = Map<String, Value>;

/// The validator of a schema as the host configures it.
pub(super) fn validator(schema: &Value) -> Result<Validator, ValidationError<'static>> {
    jsonschema::options()
        .offline()
        .should_validate_formats(true)
        .with_draft(Draft::Draft202012)
        .with_pattern_options(PatternOptions::regex())
        .build(schema)
}

/// The schema and every schema inside it. What is called like a keyword but is a name is none.
pub(super) fn parts(schema: &Value) -> Vec<(String, &Keywords)> {
    let mut found = Vec::new();
    collect(schema, String::new(), &mut found);
    found
}

fn collect<'s>(schema: &'s Value, pointer: String, found: &mut Vec<(String, &'s Keywords)>) {
    let Value::Object(keywords) = schema else {
        return;
    };
    for (keyword, value) in keywords {
        match (keyword.as_str(), value) {
            ("properties" | "$defs", Value::Object(named)) => {
                for (name, schema) in named {
                    collect(schema, format!("{pointer}/{keyword}/{}", step(name)), found);
                }
            }
            ("allOf" | "anyOf" | "oneOf" | "prefixItems", Value::Array(listed)) => {
                for (index, schema) in listed.iter().enumerate() {
                    collect(schema, format!("{pointer}/{keyword}/{index}"), found);
                }
            }
            ("items" | "additionalProperties" | "unevaluatedProperties" | "not", schema) => {
                collect(schema, format!("{pointer}/{keyword}"), found);
            }
            _ => {}
        }
    }
    found.push((pointer, keywords));
}

/// A name as a step of a JSON pointer.
pub(super) fn step(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// What a `$ref` stands for.
pub(super) fn target<'s>(root: &'s Value, schema: &Value) -> Option<&'s Value> {
    let reference = schema.get("$ref")?.as_str()?;
    root.pointer(reference.strip_prefix('#')?)
}

/// The declared types; none where the schema does not say.
pub(super) fn types(schema: &Value) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::String(kind)) => vec![kind],
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}
