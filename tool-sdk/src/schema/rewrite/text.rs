//! Types of text: where the `format` that `schemars` gives them accepts what serde can't read, or is
//! none that JSON Schema defines, a pattern says it exactly.
//!
//! chrono and jiff have types of the same `format`, so a pattern accepts what both can read. All
//! patterns do without look-around, so that they take linear time.

use serde_json::{Value, json};

use super::super::also;
use super::{Keywords, Use};

/// Says exactly which text is accepted.
pub(super) fn rewrite(keywords: &mut Keywords, purpose: &mut Use<'_>) {
    let Some(format) = keywords.get("format").and_then(Value::as_str) else {
        return;
    };
    let is_argument = purpose.is_argument();
    match format {
        "ip" => {
            keywords.shift_remove("format");
            let versions = json!([{"format": "ipv4"}, {"format": "ipv6"}]);
            also(keywords, "anyOf", versions);
        }
        "partial-time" => replace(keywords, &time(), "09:30:00"),
        "partial-date-time" => replace(keywords, &date_time(), "2024-03-31T09:30:00"),
        "zoned-date-time" => {
            replace(
                keywords,
                &zoned(),
                "2024-03-31T09:30:00+02:00[Europe/Berlin]",
            );
            purpose.refuse(
                "a time with a zone: no schema can say which zones there are, and which offset \
                 each has when; use `jiff::Timestamp`, or `jiff::civil::DateTime` and the name of \
                 the zone as a `String`",
            );
        }
        "duration" if cfg!(feature = "jiff") => {
            let pattern = if is_argument {
                duration()
            } else {
                any_duration()
            };
            replace(keywords, &pattern, "PT1H30M");
        }
        "date-time" if cfg!(feature = "jiff") && is_argument => {
            also(keywords, "pattern", TIMESTAMP.into());
        }
        "uri" if cfg!(feature = "url") && is_argument => {
            also(keywords, "pattern", url().into());
            also(
                keywords,
                "not",
                json!({"type": "string", "pattern": NO_URL}),
            );
        }
        _ => {}
    }
}

/// Adds a line to the description.
pub(super) fn describe(keywords: &mut Keywords, line: &str) {
    let written = keywords.get("description").and_then(Value::as_str);
    let text = written.map_or_else(|| line.to_owned(), |written| format!("{written}\n{line}"));
    keywords.insert("description".to_owned(), text.into());
}

/// What the author says of an argument, with what its type ends with: an example, or the meaning of
/// each of its words.
pub(in crate::schema) fn with_notes(text: &str, of_type: Option<&Value>) -> String {
    let is_note = |line: &&str| line.starts_with("For example ") || line.starts_with("- `");
    let lines = of_type.and_then(Value::as_str).unwrap_or_default().lines();
    let mut notes: Vec<&str> = lines.rev().take_while(is_note).collect();
    notes.push(text);
    notes.reverse();
    notes.join("\n")
}

/// A pattern for a `format` that no validator knows. A model reads an example more easily.
fn replace(keywords: &mut Keywords, pattern: &str, example: &str) {
    keywords.shift_remove("format");
    also(keywords, "pattern", pattern.into());
    describe(keywords, &format!("For example `{example}`."));
}

// ---- dates and times ---------------------------------------------------------------------------

/// A day that the calendar has: every month has 28 days, and some have more.
const DATE: &str = "([0-9]{4}-(\
    (0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])|(0[13-9]|1[0-2])-(29|30)|(0[13578]|1[02])-31)|\
    ([0-9]{2}(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)-02-29)";

const HOURS_AND_MINUTES: &str = "([01][0-9]|2[0-3]):[0-5][0-9]";

const SECONDS: &str = r":[0-5][0-9](\.[0-9]{1,9})?";

fn time() -> String {
    format!("^{HOURS_AND_MINUTES}({SECONDS})?$")
}

fn date_time() -> String {
    format!("^{DATE}T{HOURS_AND_MINUTES}{SECONDS}$")
}

fn zoned() -> String {
    format!(r"^{DATE}T{HOURS_AND_MINUTES}{SECONDS}[+-][0-9:]+\[[A-Za-z0-9_/+:-]+\]$")
}

/// Narrows `date-time` to what a `Timestamp` holds: it ends with the year 9999, some hours early, and
/// it counts nanoseconds.
const TIMESTAMP: &str =
    r"^([0-9]{3}[0-8]|[0-9]{2}[0-8]9|[0-9][0-8]99|[0-8]999)-[^.]*(\.[0-9]{1,9}[^0-9].*)?$";

/// Hours, minutes and seconds, at least one of them. A `SignedDuration` takes no days, and a `Span`
/// no more digits.
fn duration() -> String {
    let hours = "[0-9]{1,8}H";
    let minutes = "[0-9]{1,10}M";
    let seconds = r"[0-9]{1,11}(\.[0-9]{1,9})?S";
    format!("^-?PT({hours}({minutes})?({seconds})?|{minutes}({seconds})?|{seconds})$")
}

/// What a `Span` may come to.
fn any_duration() -> String {
    let date = "([0-9]+Y)?([0-9]+M)?([0-9]+W)?([0-9]+D)?";
    let time = r"([0-9]+H)?([0-9]+M)?([0-9]+(\.[0-9]+)?S)?";
    format!("^-?P{date}(T{time})?$")
}

// ---- addresses ---------------------------------------------------------------------------------

/// Narrows `uri` to URLs whose host is a name, an address or missing. The last part of a name begins
/// with a letter: one that begins with a digit would be read as an address.
fn url() -> String {
    let byte = "(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])";
    let name = r"([A-Za-z0-9_-]+\.)*[A-Za-z_-][A-Za-z0-9_-]*\.?";
    let host = format!(r"({name}|({byte}\.){{3}}{byte}|\[[0-9A-Fa-f:.]+\])");
    let port = "([0-9]{1,4}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])";
    let authority = format!("([^/?#@]*@)?{host}(:{port})?([/?#].*)?");
    format!("^[a-z][a-z0-9+.-]*:(//({authority}|/.*)|/?[^/].*|/)?$")
}

/// What a URL may not be all the same: one of the web or a file without its slashes, a file of
/// another machine, a host in Punycode, which may hold anything.
const NO_URL: &str = "^((https?|wss?|ftp):(/?([^/]|$)|///)|\
    file:/{0,2}([^/]|$)|\
    [^/?#]*//[^/?#]*[Xx][Nn]--)";
