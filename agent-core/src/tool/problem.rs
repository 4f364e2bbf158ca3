//! What is wrong with arguments, as data and as the text of R8 that a model can act on.

use std::fmt::Write;

use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::{ValidationError, Validator};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::coerce::{escape, resolve, types};
use crate::json_text::{shortened, spaced};

/// How many problems of one call are listed.
const MOST_PROBLEMS: usize = 20;

/// How much of the received arguments is shown, in characters.
const RECEIVED_LENGTH: usize = 2000;

/// The problem of a name that the schema does not know.
const UNKNOWN: &str = "unknown argument";

/// One thing that is wrong with the arguments of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// JSON pointer to the value that is wrong or missing.
    pub pointer: String,
    /// What is wrong.
    pub problem: String,
    /// What was expected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// What was sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub got: Option<String>,
    /// The closest thing that would be right.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<String>,
}

impl Problem {
    /// The problem on one line, without its pointer.
    fn line(&self) -> String {
        let mut line = self.problem.clone();
        if let Some(suggestion) = &self.suggestion {
            _ = write!(line, ", did you mean {suggestion:?}?");
        }
        let what = if self.problem == UNKNOWN {
            "allowed:"
        } else {
            "expected"
        };
        match (&self.expected, &self.got) {
            (Some(expected), Some(got)) => _ = write!(line, " ({what} {expected}, got {got})"),
            (Some(expected), None) => _ = write!(line, " ({what} {expected})"),
            (None, Some(got)) => _ = write!(line, " (got {got})"),
            (None, None) => {}
        }
        line
    }
}

/// The text of R8.
pub fn report(tool: &str, problems: &[Problem], received: &Value) -> String {
    let mut text = format!("Validation failed for tool {tool:?}:\n");
    for problem in problems.iter().take(MOST_PROBLEMS) {
        let place = if problem.pointer.is_empty() {
            "(arguments)"
        } else {
            &problem.pointer
        };
        _ = writeln!(text, "  - {place}: {}", problem.line());
    }
    if let Some(more) = problems
        .len()
        .checked_sub(MOST_PROBLEMS)
        .filter(|more| *more > 0)
    {
        _ = writeln!(text, "  - and {more} more");
    }
    _ = write!(
        text,
        "\nReceived arguments:\n{}",
        shortened(&spaced(received), RECEIVED_LENGTH)
    );
    text
}

/// Every problem of these arguments.
pub(super) fn collect(schema: &Value, validator: &Validator, arguments: &Value) -> Vec<Problem> {
    let mut problems = Vec::new();
    for error in validator.iter_errors(arguments) {
        describe(schema, &error, &mut problems);
    }
    problems.dedup();
    problems
}

fn describe(root: &Value, error: &ValidationError<'_>, problems: &mut Vec<Problem>) {
    let pointer = error.instance_path().to_string();
    let simple = |problem: &str, expected: String| Problem {
        pointer: pointer.clone(),
        problem: problem.to_owned(),
        expected: Some(expected),
        got: Some(shown(error.instance())),
        suggestion: None,
    };
    let problem = match error.kind() {
        ValidationErrorKind::Required { property } => missing(root, &pointer, property),
        ValidationErrorKind::AdditionalProperties { unexpected }
        | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
            problems.extend(unexpected.iter().map(|name| unknown(root, &pointer, name)));
            return;
        }
        ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } => {
            nearest_branch(root, context, problems);
            return;
        }
        ValidationErrorKind::Type { kind } => simple("wrong type", type_names(kind)),
        ValidationErrorKind::Enum { options } => {
            let suggestion = error
                .instance()
                .as_str()
                .and_then(|got| closest(got, options.as_array()?.iter().filter_map(Value::as_str)));
            Problem {
                suggestion,
                ..simple("not one of the allowed values", one_of(options))
            }
        }
        ValidationErrorKind::Constant { expected_value } => {
            simple("wrong value", expected_value.to_string())
        }
        ValidationErrorKind::Minimum { limit } => simple("too small", format!("at least {limit}")),
        ValidationErrorKind::Maximum { limit } => simple("too large", format!("at most {limit}")),
        ValidationErrorKind::ExclusiveMinimum { limit } => {
            simple("too small", format!("more than {limit}"))
        }
        ValidationErrorKind::ExclusiveMaximum { limit } => {
            simple("too large", format!("less than {limit}"))
        }
        ValidationErrorKind::MinLength { limit } => {
            simple("too short", format!("at least {limit} characters"))
        }
        ValidationErrorKind::MaxLength { limit } => {
            simple("too long", format!("at most {limit} characters"))
        }
        ValidationErrorKind::MinItems { limit } => {
            simple("too few items", format!("at least {limit} items"))
        }
        ValidationErrorKind::MaxItems { limit } => {
            simple("too many items", format!("at most {limit} items"))
        }
        ValidationErrorKind::UniqueItems => {
            simple("items are repeated", "every item only once".to_owned())
        }
        ValidationErrorKind::Pattern { pattern } => {
            simple("wrong form", format!("text that matches {pattern}"))
        }
        ValidationErrorKind::Format { format } => simple("wrong form", example_of(format)),
        ValidationErrorKind::BacktrackLimitExceeded { .. } => simple(
            "could not be checked",
            "text on which the pattern ends soon".to_owned(),
        ),
        _ => Problem {
            pointer: pointer.clone(),
            problem: shortened(&error.to_string(), 200),
            expected: None,
            got: None,
            suggestion: None,
        },
    };
    problems.push(problem);
}

fn missing(root: &Value, pointer: &str, property: &Value) -> Problem {
    let name = property.as_str().unwrap_or_default();
    let expected = schema_at(root, pointer)
        .and_then(|schema| schema.get("properties")?.get(name))
        .map(|property| expectation(resolve(root, property)));
    Problem {
        pointer: format!("{pointer}/{}", escape(name)),
        problem: "missing required argument".to_owned(),
        expected,
        got: None,
        suggestion: None,
    }
}

fn unknown(root: &Value, pointer: &str, name: &str) -> Problem {
    let properties =
        schema_at(root, pointer).and_then(|schema| schema.get("properties")?.as_object());
    let known: Vec<&str> = properties
        .into_iter()
        .flat_map(|map| map.keys().map(String::as_str))
        .collect();
    let allowed = if known.is_empty() {
        "none".to_owned()
    } else {
        known.join(", ")
    };
    Problem {
        pointer: format!("{pointer}/{}", escape(name)),
        problem: UNKNOWN.to_owned(),
        expected: Some(allowed),
        got: None,
        suggestion: closest(name, known.iter().copied()),
    }
}

/// Of a union that no branch of fits, the branch that was meant is the one that got furthest.
fn nearest_branch(
    root: &Value,
    branches: &[Vec<ValidationError<'static>>],
    problems: &mut Vec<Problem>,
) {
    let depth = |branch: &Vec<ValidationError<'_>>| {
        branch
            .iter()
            .map(|error| error.instance_path().as_str().matches('/').count())
            .max()
    };
    let wrong_type = |branch: &Vec<ValidationError<'_>>| {
        branch
            .iter()
            .filter(|error| matches!(error.kind(), ValidationErrorKind::Type { .. }))
            .count()
    };
    let nearest = branches.iter().max_by_key(|branch| {
        (
            depth(branch),
            std::cmp::Reverse(wrong_type(branch)),
            std::cmp::Reverse(branch.len()),
        )
    });
    for error in nearest.into_iter().flatten() {
        describe(root, error, problems);
    }
}

/// The schema of the value at a pointer into the arguments.
fn schema_at<'s>(root: &'s Value, pointer: &str) -> Option<&'s Value> {
    let mut schema = resolve(root, root);
    for step in pointer.split('/').skip(1) {
        let name = step.replace("~1", "/").replace("~0", "~");
        let property = schema
            .get("properties")
            .and_then(|properties| properties.get(&name));
        let tuple = || schema.get("prefixItems")?.get(name.parse::<usize>().ok()?);
        let rest = || {
            schema
                .get("items")
                .or_else(|| schema.get("additionalProperties"))
        };
        schema = resolve(root, property.or_else(tuple).or_else(rest)?);
    }
    Some(schema)
}

/// What a schema expects, in a few words.
fn expectation(schema: &Value) -> String {
    if let Some(options) = schema.get("enum") {
        return one_of(options);
    }
    let kinds = types(schema).join(" or ");
    match schema.get("format").and_then(Value::as_str) {
        Some(format) => example_of(format),
        None if kinds.is_empty() => "a value".to_owned(),
        None => kinds,
    }
}

fn one_of(options: &Value) -> String {
    let texts: Vec<String> = options
        .as_array()
        .into_iter()
        .flatten()
        .map(ToString::to_string)
        .collect();
    format!("one of {}", shortened(&texts.join(", "), 300))
}

fn type_names(kind: &TypeKind) -> String {
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
        other => return format!("a {other}"),
    };
    format!("a {format} such as {example}")
}

/// A value as it is quoted in a message: JSON, cut.
fn shown(value: &Value) -> String {
    let kind = match value {
        Value::Null => return "null".to_owned(),
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    format!("{kind} {}", shortened(&spaced(value), 80))
}

/// The known name that is close enough to be meant.
pub fn closest<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> Option<String> {
    let plain = |text: &str| text.to_lowercase().replace(['_', '-', ' '], "");
    let wanted = plain(name);
    known
        .map(|candidate| (strsim::jaro_winkler(&wanted, &plain(candidate)), candidate))
        .filter(|(likeness, _)| *likeness >= 0.8)
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, candidate)| candidate.to_owned())
}
