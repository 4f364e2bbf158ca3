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
pub(super) fn check(schema: &Value, validator: &Validator, sent: &Value) -> Result<(), String> {
    let errors: Vec<_> = validator.iter_errors(sent).collect();
    if errors.is_empty() {
        return Err("no keyword at all".to_owned());
    }
    errors.iter().try_for_each(|error| narrows(schema, error))
}

fn narrows(schema: &Value, error: &ValidationError<'_>) -> Result<(), String> {
    let all = |branch: &Vec<_>| branch.iter().all(|error| narrows(schema, error).is_ok());
    let is_narrower = match error.kind() {
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => context.iter().any(all),
        kind => NARROWER
            .iter()
            .any(|(keyword, _)| *keyword == kind.keyword()),
    };
    if is_narrower || is_other_spelling(schema, error) {
        return Ok(());
    }
    let keyword = error.kind().keyword();
    Err(format!("`{keyword}` at {}: {error}", error.instance_path()))
}

/// Serde reads some values in another spelling too: a struct from the list of its fields, a word of
/// an enum from an object that has it as its name, a tag from the number of its variant. No schema
/// shows these, and a host does not take them.
fn is_other_spelling(schema: &Value, error: &ValidationError<'_>) -> bool {
    let keyword = error.schema_path().as_str();
    let part = keyword
        .rsplit_once('/')
        .and_then(|(part, _)| schema.pointer(part));
    let is_tag = part.is_some_and(|part| part.get("const").is_some());
    let takes = |wanted: JsonType| match error.kind() {
        Kind::Type {
            kind: TypeKind::Single(kind),
        } => *kind == wanted,
        Kind::Type {
            kind: TypeKind::Multiple(kinds),
        } => kinds.contains(wanted),
        _ => false,
    };
    match &**error.instance() {
        Value::Array(_) => takes(JsonType::Object),
        Value::Object(fields) => takes(JsonType::String) && fields.values().eq([&Value::Null]),
        Value::Number(_) => is_tag,
        _ => false,
    }
}
