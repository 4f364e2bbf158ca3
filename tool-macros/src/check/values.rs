//! Rules for what stands in `#[arg(…)]`: that it fits the type and that the values agree with each
//! other, as far as both are known when the macro runs. What is not, the probe of the library finds.

use std::cmp::Ordering;

use super::arguments;
use crate::errors::Errors;
use crate::kind::{self, Kind};
use crate::literal::{self, Literal};
use crate::model::Tool;
use crate::name;
use crate::parameter::{Argument, Keyword};

/// The formats that hosts check.
const FORMATS: [&str; 19] = [
    "date",
    "date-time",
    "duration",
    "email",
    "hostname",
    "idn-email",
    "idn-hostname",
    "ipv4",
    "ipv6",
    "iri",
    "iri-reference",
    "json-pointer",
    "regex",
    "relative-json-pointer",
    "time",
    "uri",
    "uri-reference",
    "uri-template",
    "uuid",
];

/// A pair of keys that bound a value from below and from above.
const BOUNDS: [(&str, &str); 3] = [
    ("min", "max"),
    ("exclusive_min", "exclusive_max"),
    ("min_length", "max_length"),
];

/// `pattern` is about text, `min` about numbers.
pub(super) fn keys_fit_their_types(tool: &Tool, errors: &mut Errors) {
    for argument in arguments(tool) {
        for keyword in &argument.keywords {
            let key = keyword.key.to_string();
            let (kind, about) = match key.as_str() {
                "min" | "max" | "exclusive_min" | "exclusive_max" => {
                    (values(argument), [Kind::Whole, Kind::Float].as_slice())
                }
                "pattern" | "format" => (values(argument), [Kind::Text, Kind::Char].as_slice()),
                "min_length" | "max_length" => {
                    let kinds = [Kind::Text, Kind::List, Kind::Map].as_slice();
                    (Kind::of(&argument.ty), kinds)
                }
                _ => continue,
            };
            if kind != Kind::Unknown && !about.contains(&kind) {
                errors.over(&keyword.key, misfit(&key, kind));
            }
        }
    }
}

/// The kind of the values that a constraint holds for: in a list, of its items.
fn values(argument: &Argument) -> Kind {
    Kind::of(kind::of_values(&argument.ty))
}

fn misfit(key: &str, kind: Kind) -> String {
    let instead = match (key, kind) {
        ("min" | "exclusive_min", Kind::Text | Kind::Map) => "; write `min_length = …`",
        ("max" | "exclusive_max", Kind::Text | Kind::Map) => "; write `max_length = …`",
        ("min_length", Kind::Whole | Kind::Float) => "; write `min = …`",
        ("max_length", Kind::Whole | Kind::Float) => "; write `max = …`",
        ("pattern" | "format", _) => "; take a `String`",
        _ => "",
    };
    let about = match key {
        "pattern" | "format" => "text",
        "min_length" | "max_length" => "the length of text, lists and maps",
        _ => "numbers",
    };
    format!(
        "`{key}` is about {about}, and this argument takes {}{instead}",
        kind.name()
    )
}

/// Everything that is shown is enforced, so a format must be one that is.
pub(super) fn formats_are_known(tool: &Tool, errors: &mut Errors) {
    for argument in arguments(tool) {
        let Some(keyword) = argument.keyword("format") else {
            continue;
        };
        let Some(Literal::Text(format)) = Literal::of(&keyword.value) else {
            continue;
        };
        if !FORMATS.contains(&format.as_str()) {
            let meant = name::closest(&format, &FORMATS)
                .map(|meant| format!("; did you mean {meant:?}?"))
                .unwrap_or_default();
            let known = FORMATS.join(", ");
            let text = format!(
                "no host checks a format {format:?}{meant} (there are {known}); for another one \
                 write `pattern = \"…\"`"
            );
            errors.over(&keyword.value, text);
        }
    }
}

/// Between the bounds there is a value, and `one_of` has one.
pub(super) fn bounds_leave_room(tool: &Tool, errors: &mut Errors) {
    for argument in arguments(tool) {
        for (low, high) in BOUNDS {
            let (Some(from), Some(to)) = (bound(argument, low), bound(argument, high)) else {
                continue;
            };
            let order = from.1.compare(&to.1);
            let exclusive = low.starts_with("exclusive");
            if order == Some(Ordering::Greater) || exclusive && order == Some(Ordering::Equal) {
                let text = format!("no value lies between {} and {}", from.1, to.1);
                errors.over(&to.0.value, text);
            }
        }
        if let Some(choice) = argument.keyword("one_of")
            && literal::list(&choice.value).is_some_and(|list| list.elems.is_empty())
        {
            let text = "nothing is one of no values: list them, `one_of = [\"a\", \"b\"]`";
            errors.over(&choice.value, text);
        }
    }
}

fn bound<'a>(argument: &'a Argument, key: &str) -> Option<(&'a Keyword, Literal)> {
    let keyword = argument.keyword(key)?;
    Some((keyword, Literal::of(&keyword.value)?))
}

/// What stands in for an absent argument, and what shows how one looks, must be allowed itself.
pub(super) fn defaults_and_examples_are_allowed(tool: &Tool, errors: &mut Errors) {
    for argument in arguments(tool) {
        let default = argument.default.iter().map(|value| ("default", value));
        let example = argument.keyword("example").into_iter();
        let example = example.map(|keyword| ("example", &keyword.value));
        for (what, value) in default.chain(example) {
            let Some(known) = Literal::of(value) else {
                continue;
            };
            if let Some(broken) = broken_constraint(argument, &known) {
                errors.over(
                    value,
                    format!("the {what} {known} is not allowed by {broken}"),
                );
            }
        }
    }
}

/// The constraint that a value breaks, as it is written.
fn broken_constraint(argument: &Argument, value: &Literal) -> Option<String> {
    let breaks = |key: &str, wrong: &[Ordering]| {
        let (_, bound) = bound(argument, key)?;
        let order = measured(key, value)?.compare(&bound)?;
        wrong.contains(&order).then(|| format!("`{key} = {bound}`"))
    };
    let bounds = breaks("min", &[Ordering::Less])
        .or_else(|| breaks("max", &[Ordering::Greater]))
        .or_else(|| breaks("exclusive_min", &[Ordering::Less, Ordering::Equal]))
        .or_else(|| breaks("exclusive_max", &[Ordering::Greater, Ordering::Equal]))
        .or_else(|| breaks("min_length", &[Ordering::Less]))
        .or_else(|| breaks("max_length", &[Ordering::Greater]));
    bounds.or_else(|| breaks_choice(argument, value))
}

/// What a bound is compared with: a number itself, or the length of a text in code points.
fn measured(key: &str, value: &Literal) -> Option<Literal> {
    match value {
        Literal::Text(text) if key.ends_with("_length") => {
            Some(Literal::Whole(i128::try_from(text.chars().count()).ok()?))
        }
        Literal::Whole(_) | Literal::Float(_) if !key.ends_with("_length") => Some(value.clone()),
        _ => None,
    }
}

fn breaks_choice(argument: &Argument, value: &Literal) -> Option<String> {
    let choice = literal::list(&argument.keyword("one_of")?.value)?;
    let choices: Option<Vec<Literal>> = choice.elems.iter().map(Literal::of).collect();
    let choices = choices?;
    if choices.iter().any(|choice| choice.equals(value)) {
        return None;
    }
    let listed: Vec<String> = choices.iter().map(ToString::to_string).collect();
    Some(format!("`one_of = [{}]`", listed.join(", ")))
}
