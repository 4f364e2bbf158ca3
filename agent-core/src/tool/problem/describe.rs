//! What the validator found → problems in words that a model can act on.

use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::{ValidationError, Validator};
use serde_json::Value;

use super::super::shape::{escape, item, property, resolve, types, unescape};
use super::super::union;
use super::{MISSING, NAME_LENGTH, Problem, Problems, UNKNOWN, closest, shown, unknown};
use crate::json_text::shortened;

/// Every problem of these arguments.
pub(in crate::tool) fn collect(
    schema: &Value,
    validator: &Validator,
    arguments: &Value,
) -> Problems {
    let mut problems = Problems::default();
    for error in validator.iter_errors(arguments) {
        describe(schema, &error, &mut problems);
    }
    // The validator's own order is that of its optimisations.
    problems.listed.sort_by_cached_key(|problem| {
        let class = match problem.problem.as_str() {
            MISSING => 0,
            UNKNOWN => 2,
            _ => 1,
        };
        (class, position(arguments, &problem.pointer))
    });
    problems
}

/// Where a pointer leads, in the order in which the arguments were sent; behind everything where
/// it leads nowhere.
fn position(arguments: &Value, pointer: &str) -> Vec<usize> {
    let mut at = Some(arguments);
    let steps = pointer.split('/').skip(1);
    let index = |step: &str| {
        let name = unescape(step);
        let (index, next) = match at? {
            Value::Object(object) => {
                let index = object.keys().position(|key| *key == name)?;
                (index, object.get(&name))
            }
            Value::Array(items) => {
                let index = name.parse().ok()?;
                (index, items.get(index))
            }
            _ => return None,
        };
        at = next;
        Some(index)
    };
    steps
        .map(index)
        .map(|index| index.unwrap_or(usize::MAX))
        .collect()
}

/// Adds what one error of the validator means.
pub(in crate::tool) fn describe(
    root: &Value,
    error: &ValidationError<'_>,
    problems: &mut Problems,
) {
    use ValidationErrorKind as Kind;

    let pointer = error.instance_path().as_str();
    match error.kind() {
        Kind::Required { property } => problems.push(missing(root, error, property)),
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            let known = known_names(root, error);
            for name in unexpected {
                if problems.is_full() {
                    problems.more += 1;
                } else {
                    problems.push(unknown(pointer, name, &known));
                }
            }
        }
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
            union::describe(root, error, context, problems);
        }
        Kind::PropertyNames { error: name_error } => {
            let name = name_error.instance().as_str().unwrap_or_default();
            let pointer = format!("{pointer}/{}", escape(name));
            problems.push(Problem {
                pointer,
                ..plain(name_error, "a name that is not allowed")
            });
        }
        _ if problems.is_full() => problems.more += 1,
        _ => problems.push(of_value(error)),
    }
}

/// The problem of one value with one keyword.
fn of_value(error: &ValidationError<'_>) -> Problem {
    use ValidationErrorKind as Kind;

    let (problem, expected) = match error.kind() {
        Kind::Type { kind } => ("wrong type", type_names(kind)),
        Kind::Enum { options } => {
            let options = options.as_array().map(Vec::as_slice).unwrap_or_default();
            return not_allowed(error, options, "");
        }
        Kind::Constant { expected_value } => ("wrong value", expected_value.to_string()),
        Kind::Minimum { limit } => ("too small", format!("at least {limit}")),
        Kind::Maximum { limit } => ("too large", format!("at most {limit}")),
        Kind::ExclusiveMinimum { limit } => ("too small", format!("more than {limit}")),
        Kind::ExclusiveMaximum { limit } => ("too large", format!("less than {limit}")),
        Kind::MultipleOf { multiple_of } => ("wrong value", format!("a multiple of {multiple_of}")),
        Kind::MinLength { limit } => ("too short", at_least(*limit, "character")),
        Kind::MaxLength { limit } => ("too long", at_most(*limit, "character")),
        Kind::MinItems { limit } => ("too few items", at_least(*limit, "item")),
        Kind::MaxItems { limit } => ("too many items", at_most(*limit, "item")),
        Kind::MinProperties { limit } => ("too few names", at_least(*limit, "name")),
        Kind::MaxProperties { limit } => ("too many names", at_most(*limit, "name")),
        Kind::UniqueItems => ("items are repeated", "every item only once".to_owned()),
        Kind::Pattern { pattern } => ("wrong form", format!("text that matches {pattern}")),
        Kind::Format { format } => ("wrong form", example_of(format)),
        Kind::OneOfMultipleValid { .. } => (
            "ambiguous",
            "a value that fits one alternative only".to_owned(),
        ),
        Kind::BacktrackLimitExceeded { .. } => (
            "could not be checked",
            "text on which the pattern ends soon".to_owned(),
        ),
        Kind::FalseSchema | Kind::Not { .. } => return plain(error, "not allowed"),
        _ => {
            let problem = shortened(&error.to_string(), NAME_LENGTH);
            return Problem {
                got: None,
                ..plain(error, &problem)
            };
        }
    };
    Problem {
        expected: Some(expected),
        ..plain(error, problem)
    }
}

/// A problem that says what was sent, but not what was expected.
pub(in crate::tool) fn plain(error: &ValidationError<'_>, problem: &str) -> Problem {
    Problem {
        pointer: error.instance_path().as_str().to_owned(),
        problem: problem.to_owned(),
        expected: None,
        got: Some(shown(error.instance())),
        suggestion: None,
    }
}

/// A value that is none of the allowed ones; `or` is what else is allowed.
pub(in crate::tool) fn not_allowed(
    error: &ValidationError<'_>,
    options: &[Value],
    or: &str,
) -> Problem {
    let got = error.instance().as_str();
    let suggestion = got.and_then(|got| closest(got, options.iter().filter_map(Value::as_str)));
    let expected = Some(one_of(options) + or);
    Problem {
        expected,
        suggestion,
        ..plain(error, "not one of the allowed values")
    }
}

fn at_least(limit: u64, what: &str) -> String {
    format!(
        "at least {limit} {what}{}",
        if limit == 1 { "" } else { "s" }
    )
}

fn at_most(limit: u64, what: &str) -> String {
    format!(
        "at most {limit} {what}{}",
        if limit == 1 { "" } else { "s" }
    )
}

fn missing(root: &Value, error: &ValidationError<'_>, property: &Value) -> Problem {
    let name = property.as_str().unwrap_or_default();
    let of = schema_of(root, error).and_then(|schema| schema.get("properties")?.get(name));
    Problem {
        pointer: format!("{}/{}", error.instance_path().as_str(), escape(name)),
        problem: MISSING.to_owned(),
        expected: of.map(|of| expectation(resolve(root, of))),
        got: None,
        suggestion: None,
    }
}

fn known_names<'s>(root: &'s Value, error: &ValidationError<'_>) -> Vec<&'s str> {
    let schema = schema_of(root, error);
    let properties = schema.and_then(|schema| schema.get("properties")?.as_object());
    properties
        .into_iter()
        .flat_map(|names| names.keys().map(String::as_str))
        .collect()
}

/// The schema whose keyword an error is of: where it stands, else by the place of the value.
fn schema_of<'s>(root: &'s Value, error: &ValidationError<'_>) -> Option<&'s Value> {
    let path = error.schema_path().as_str();
    let stands = path
        .rsplit_once('/')
        .and_then(|(schema, _)| root.pointer(schema));
    let has_names = |schema: &&Value| schema.get("properties").is_some();
    stands
        .filter(has_names)
        .or_else(|| schema_at(root, error.instance_path().as_str()))
}

/// The schema of the value at a pointer into the arguments.
fn schema_at<'s>(root: &'s Value, pointer: &str) -> Option<&'s Value> {
    let mut schema = resolve(root, root);
    for step in pointer.split('/').skip(1) {
        let name = unescape(step);
        let index = || item(schema, name.parse().ok()?);
        schema = resolve(root, property(schema, &name).or_else(index)?);
    }
    Some(schema)
}

/// What a schema expects, in a few words.
fn expectation(schema: &Value) -> String {
    if let Some(options) = schema.get("enum").and_then(Value::as_array) {
        return one_of(options);
    }
    let kinds = types(schema).join(" or ");
    match schema.get("format").and_then(Value::as_str) {
        Some(format) => example_of(format),
        None if kinds.is_empty() => "a value".to_owned(),
        None => kinds,
    }
}

fn one_of(options: &[Value]) -> String {
    let texts: Vec<String> = options.iter().map(ToString::to_string).collect();
    format!("one of {}", shortened(&texts.join(", "), 300))
}

/// The names of types as a message spells them.
pub(in crate::tool) fn type_names(kind: &TypeKind) -> String {
    match kind {
        TypeKind::Single(kind) => kind.to_string(),
        TypeKind::Multiple(kinds) => kinds
            .iter()
            .map(|kind| kind.to_string())
            .collect::<Vec<_>>()
            .join(" or "),
    }
}

fn example_of(format: &str) -> String {
    let example = match format {
        "date-time" => "2031-04-05T14:30:00Z",
        "date" => "2031-04-05",
        "time" => "14:30:00Z",
        "duration" => "PT1H30M",
        "email" => "ada@example.com",
        "uuid" => "67e55044-10b1-426f-9247-bb680e5fe0c8",
        "uri" => "https://example.com/page",
        "ipv4" => "192.0.2.1",
        "ipv6" => "2001:db8::1",
        "hostname" => "example.com",
        other => return format!("text of the form {other}"),
    };
    format!("{format}, such as {example}")
}
