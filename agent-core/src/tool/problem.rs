//! What is wrong with arguments, as data and as the text of R8 that a model can act on.

mod describe;

use std::fmt::Write;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub(super) use self::describe::{collect, describe, not_allowed, plain, type_names};
use super::shape::escape;
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

/// A name that the schema does not know.
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
