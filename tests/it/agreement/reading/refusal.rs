//! Why a host refuses what a tool would read.

use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use jsonschema::{JsonType, ValidationError, Validator};
use serde_json::Value;

/// Keywords that refuse what the types of Rust can hold, each with its reason. Any other keyword
/// says no more than the types do.
const NARROWER: &[(&str, &str)] = &[
    ("minimum", "`min`, `range`"),
    ("maximum", "`max`, `range`"),
    ("exclusiveMinimum", "`exclusive_min`"),
    ("exclusiveMaximum", "`exclusive_max`"),
    ("multipleOf", "an author's own keyword"),
    ("minLength", "`min_length`, `length`"),
    ("maxLength", "`max_length`, `length`"),
    ("pattern", "`pattern`, `regex`"),
    ("format", "`format`, `email`, `url`"),
    ("enum", "`one_of`"),
    ("minItems", "`min_length`, `length`"),
    ("maxItems", "`max_length`, `length`"),
    ("minProperties", "`min_length`, `length`"),
    ("maxProperties", "`max_length`, `length`"),
    (
        "uniqueItems",
        "a set takes what is repeated for one, which loses something in silence",
    ),
    (
        "additionalProperties",
        "a name that nobody knows is told and not lost in silence",
    ),
    (
        "unevaluatedProperties",
        "the same where fields are flattened",
    ),
];

/// Checks that arguments which the tool would read are refused for nothing but these keywords.
pub(super) fn check(validator: &Validator, sent: &Value) -> Result<(), String> {
    let mut any = false;
    for error in validator.iter_errors(sent) {
        any = true;
        narrows(&error)?;
    }
    if any {
        Ok(())
    } else {
        Err("no keyword at all".to_owned())
    }
}

fn narrows(error: &ValidationError<'_>) -> Result<(), String> {
    if let Kind::AnyOf { context } | Kind::OneOfNotValid { context } = error.kind()
        && context
            .iter()
            .any(|branch| branch.iter().all(|error| narrows(error).is_ok()))
    {
        return Ok(());
    }
    let keyword = error.kind().keyword();
    if NARROWER.iter().any(|(narrower, _)| *narrower == keyword) || is_other_spelling(error) {
        return Ok(());
    }
    Err(format!("`{keyword}` at {}: {error}", error.instance_path()))
}

/// Serde reads a struct from the list of its fields too, and a word of an enum from an object that
/// has it as its name. No schema shows these spellings, and a host does not take them.
fn is_other_spelling(error: &ValidationError<'_>) -> bool {
    let Kind::Type { kind } = error.kind() else {
        return false;
    };
    let takes = |wanted: JsonType| match kind {
        TypeKind::Single(kind) => *kind == wanted,
        TypeKind::Multiple(kinds) => kinds.contains(wanted),
    };
    match &**error.instance() {
        Value::Array(_) => takes(JsonType::Object),
        Value::Object(fields) => takes(JsonType::String) && fields.values().eq([&Value::Null]),
        _ => false,
    }
}
