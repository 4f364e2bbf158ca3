//! What is wrong with arguments, as data and as the text of R8 that a model can act on.

use std::fmt::Write;

use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::{ValidationError, Validator};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::shape::{escape, item, property, resolve, types, unescape};
use super::union;
use crate::json_text::{shortened, spaced};

/// How many problems of one call are listed; what is beyond them is counted.
const MOST_PROBLEMS: usize = 100;

/// How much of the received arguments is shown, in characters.
const RECEIVED_LENGTH: usize = 2000;

/// Longest pointer that is shown, and longest name that is compared with known ones.
const NAME_LENGTH: usize = 200;

/// The problem of a name that should be there.
pub(super) const MISSING: &str = "missing required argument";

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
    /// What is wrong and what was expected, without anything of the value.
    pub(super) fn without_value(&self) -> String {
        match &self.expected {
            Some(expected) => on_one_line(&format!("{} (expected {expected})", self.problem)),
            // The validator's own words may quote the value.
            None if self.got.is_none() && self.problem != MISSING => "not allowed".to_owned(),
            None => self.problem.clone(),
        }
    }

    /// The problem on one line.
    pub(super) fn line(&self) -> String {
        let place = if self.pointer.is_empty() {
            "(arguments)"
        } else {
            &self.pointer
        };
        let mut line = format!("{}: {}", shortened(place, NAME_LENGTH), self.problem);
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
        on_one_line(&line)
    }
}

/// Names may hold any character; a line feed in one must not look like another problem.
fn on_one_line(text: &str) -> String {
    if !text.contains(char::is_control) {
        return text.to_owned();
    }
    let mut line = String::with_capacity(text.len());
    for letter in text.chars() {
        if letter.is_control() {
            line.extend(letter.escape_default());
        } else {
            line.push(letter);
        }
    }
    line
}

/// Everything that is wrong with the arguments of one call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problems {
    /// The problems, in the order in which they are told.
    pub listed: Vec<Problem>,
    /// How many more there are.
    pub more: usize,
}

impl Problems {
    pub(super) fn is_empty(&self) -> bool {
        self.listed.is_empty()
    }

    pub(super) fn push(&mut self, problem: Problem) {
        if self.listed.len() >= MOST_PROBLEMS {
            self.more += 1;
        } else if !self.listed.contains(&problem) {
            self.listed.push(problem);
        }
    }

    fn is_full(&self) -> bool {
        self.listed.len() >= MOST_PROBLEMS
    }

    /// Every problem on a line of its own, without anything of the values. Names are no values.
    pub fn lines_without_values(&self) -> String {
        let line = |problem: &Problem| match problem.problem.as_str() {
            UNKNOWN => format!("  - {}", problem.line()),
            _ => format!("  - {}: {}", problem.pointer, problem.without_value()),
        };
        let lines: Vec<String> = self.listed.iter().map(line).collect();
        lines.join("\n")
    }

    /// The text of R8.
    pub fn report(&self, tool: &str, received: &Value) -> String {
        let mut text = format!("Validation failed for tool {tool:?}:\n");
        for problem in &self.listed {
            _ = writeln!(text, "  - {}", problem.line());
        }
        if self.more > 0 {
            _ = writeln!(text, "  - and {} more", self.more);
        }
        let received = shortened(&spaced(received), RECEIVED_LENGTH);
        _ = write!(text, "\nReceived arguments:\n{received}");
        text
    }
}

/// Every problem of these arguments.
pub(super) fn collect(schema: &Value, validator: &Validator, arguments: &Value) -> Problems {
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
pub(super) fn describe(root: &Value, error: &ValidationError<'_>, problems: &mut Problems) {
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
pub(super) fn plain(error: &ValidationError<'_>, problem: &str) -> Problem {
    Problem {
        pointer: error.instance_path().as_str().to_owned(),
        problem: problem.to_owned(),
        expected: None,
        got: Some(shown(error.instance())),
        suggestion: None,
    }
}

/// A value that is none of the allowed ones; `or` is what else is allowed.
pub(super) fn not_allowed(error: &ValidationError<'_>, options: &[Value], or: &str) -> Problem {
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

pub(super) fn unknown(pointer: &str, name: &str, known: &[&str]) -> Problem {
    let allowed = if known.is_empty() {
        "none".to_owned()
    } else {
        known.join(", ")
    };
    Problem {
        pointer: format!("{pointer}/{}", escape(name)),
        problem: UNKNOWN.to_owned(),
        expected: Some(shortened(&allowed, 1000)),
        got: None,
        suggestion: closest(name, known.iter().copied()),
    }
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
pub(super) fn type_names(kind: &TypeKind) -> String {
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

/// A value as it is quoted in a message: JSON, cut.
pub(super) fn shown(value: &Value) -> String {
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
    if name.len() > NAME_LENGTH {
        return None;
    }
    let plain = |text: &str| text.to_lowercase().replace(['_', '-', ' '], "");
    let wanted = plain(name);
    known
        .map(|candidate| (strsim::jaro_winkler(&wanted, &plain(candidate)), candidate))
        .filter(|(likeness, _)| *likeness >= 0.8)
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, candidate)| candidate.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_with_a_line_feed_stays_on_its_line() {
        let problem = unknown("/a", "b\n  - /c: missing", &["d"]);
        assert_eq!(problem.pointer, "/a/b\n  - ~1c: missing");
        assert_eq!(
            problem.line(),
            "/a/b\\n  - ~1c: missing: unknown argument (allowed: d)"
        );
    }

    #[test]
    fn long_names_and_values_are_cut() {
        let line = unknown("", &"x".repeat(100_000), &["x"]).line();
        let expected = format!("/{}…: unknown argument (allowed: x)", "x".repeat(199));
        assert_eq!(line, expected);
        assert_eq!(
            shown(&"y".repeat(100_000).into()),
            format!("string \"{}…", "y".repeat(79))
        );
    }

    #[test]
    fn r8_problems_beyond_the_listed_ones_are_counted() {
        let mut problems = Problems::default();
        let known = [];
        (0..250).for_each(|number| problems.push(unknown("", &number.to_string(), &known)));
        let text = problems.report("t", &Value::Null);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 1 + 100 + 1 + 3);
        assert_eq!(lines[100], "  - /99: unknown argument (allowed: none)");
        assert_eq!(lines[101], "  - and 150 more");
    }

    #[test]
    fn closest_name_ignores_case_and_separators() {
        let check = |name, expected: Option<&str>| {
            let known = ["getWeather", "get_time", "listTools"];
            assert_eq!(
                closest(name, known.into_iter()).as_deref(),
                expected,
                "{name}"
            );
        };
        check("get_weather", Some("getWeather"));
        check("GETTIME", Some("get_time"));
        check("list-tool", Some("listTools"));
        check("brew_coffee", None);
        check("", None);
        check(&"getWeather".repeat(100_000), None);
    }
}
