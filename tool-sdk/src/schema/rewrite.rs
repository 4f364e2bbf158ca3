//! What `schemars` makes, rewritten once so that it says exactly what is accepted, and says it in
//! keywords that every client knows.
//!
//! Rewriting goes by schema position: an argument that is called `title` or `format` is no
//! keyword and stays. What a type of text accepts is in `rewrite/text.rs`.

mod text;

use serde_json::{Map, Number, Value};

use super::less;

pub(super) use self::text::with_notes;

/// Keywords of one schema.
type Keywords = Map<String, Value>;

/// Rewrites the schema of an argument and every schema inside it. What no schema can say, and so
/// can't be an argument, is added to `problems`.
pub(super) fn rewrite(schema: &mut Value, problems: &mut Vec<String>) {
    walk(schema, &mut Use::Argument { problems }, Position::Whole);
}

/// Rewrites the schema of a result and every schema inside it. A tool may answer what it could not
/// be given.
pub(super) fn rewrite_result(schema: &mut Value) {
    walk(schema, &mut Use::Result, Position::Whole);
}

/// What a schema is for.
enum Use<'p> {
    Argument { problems: &'p mut Vec<String> },
    Result,
}

impl Use<'_> {
    fn is_argument(&self) -> bool {
        matches!(self, Self::Argument { .. })
    }

    fn refuse(&mut self, problem: &str) {
        if let Self::Argument { problems } = self
            && problems.iter().all(|known| known != problem)
        {
            problems.push(problem.to_owned());
        }
    }
}

/// Whether a schema says all about its value.
#[derive(Clone, Copy)]
enum Position {
    Whole,
    /// Another schema says more about the same value.
    Part,
}

/// Keywords whose schemas are about the same value as the schema that they stand in, so that their
/// properties are its properties.
const IN_PLACE: [&str; 8] = [
    "$ref",
    "allOf",
    "anyOf",
    "oneOf",
    "if",
    "then",
    "else",
    "dependentSchemas",
];

fn walk(schema: &mut Value, purpose: &mut Use<'_>, position: Position) {
    let Value::Object(keywords) = schema else {
        return;
    };
    keywords.shift_remove("title");
    keywords.shift_remove("$schema");
    number_format_to_bounds(keywords, purpose);
    text::rewrite(keywords, purpose);
    time_delta(keywords);
    std_time(keywords);
    integer_names(keywords);
    constants_to_enum(keywords);
    let inner = close(keywords, position);
    for (keyword, value) in keywords.iter_mut() {
        match keyword.as_str() {
            "properties" | "patternProperties" | "$defs" => {
                walk_all(
                    value.as_object_mut().into_iter().flat_map(Map::values_mut),
                    purpose,
                    Position::Whole,
                );
            }
            "allOf" | "anyOf" | "oneOf" => {
                walk_all(value.as_array_mut().into_iter().flatten(), purpose, inner);
            }
            "prefixItems" => {
                let items = value.as_array_mut().into_iter().flatten();
                walk_all(items, purpose, Position::Whole);
            }
            "items"
            | "additionalProperties"
            | "unevaluatedProperties"
            | "contains"
            | "propertyNames" => walk(value, purpose, Position::Whole),
            "not" | "if" | "then" | "else" => walk(value, purpose, Position::Part),
            "dependentSchemas" => {
                let schemas = value.as_object_mut().into_iter().flat_map(Map::values_mut);
                walk_all(schemas, purpose, Position::Part);
            }
            _ => {}
        }
    }
    join_null(keywords);
}

/// `{"anyOf": [T, {"type": "null"}]}`, where one type says it all: `{"type": ["string", "null"], …}`,
/// which more clients read.
fn join_null(keywords: &mut Keywords) {
    let Some([value, null]) = keywords
        .get("anyOf")
        .and_then(Value::as_array)
        .map(Vec::as_slice)
    else {
        return;
    };
    let is_null = null
        .as_object()
        .is_some_and(|null| null.len() == 1 && null.get("type").is_some_and(|kind| kind == "null"));
    let Some(value) = value.as_object().filter(|_| is_null).cloned() else {
        return;
    };
    // Keywords that are about a value of any type would be about null too.
    let says_more = value.keys().any(|keyword| {
        keyword == "not" || keyword == "const" || IN_PLACE.contains(&keyword.as_str())
    });
    let Some(Value::String(kind)) = value.get("type").filter(|_| !says_more).cloned() else {
        return;
    };
    keywords.shift_remove("anyOf");
    for (keyword, value) in value {
        keywords.entry(keyword).or_insert(value);
    }
    keywords.insert("type".to_owned(), vec![kind, "null".to_owned()].into());
    if let Some(Value::Array(words)) = keywords.get_mut("enum") {
        words.push(Value::Null);
    }
}

fn walk_all<'v>(
    schemas: impl Iterator<Item = &'v mut Value>,
    purpose: &mut Use<'_>,
    position: Position,
) {
    for schema in schemas {
        walk(schema, purpose, position);
    }
}

/// Refuses names that the schema does not know, unless it says itself what becomes of them.
/// Answers how much each schema in `allOf`, `anyOf` and `oneOf` says.
fn close(keywords: &mut Keywords, position: Position) -> Position {
    let has = |keyword: &str| keywords.contains_key(keyword);
    let is_object = keywords.get("type").is_some_and(|kind| kind == "object");
    let describes = has("properties") || is_object && has("allOf");
    let says = has("additionalProperties") || has("unevaluatedProperties");
    if describes && !says && matches!(position, Position::Whole) {
        // Where fields come from `#[serde(flatten)]`, only all the schemas together know them.
        let keyword = if IN_PLACE.iter().any(|keyword| has(keyword)) {
            "unevaluatedProperties"
        } else {
            "additionalProperties"
        };
        keywords.insert(keyword.to_owned(), false.into());
    }
    if describes { Position::Part } else { position }
}

/// `"format": "uint8"` is no format that clients know: its bounds say the same.
fn number_format_to_bounds(keywords: &mut Keywords, purpose: &mut Use<'_>) {
    let Some(format) = keywords.get("format").and_then(Value::as_str) else {
        return;
    };
    let bounds: Option<(Number, Number)> = match format {
        "int8" => Some((i8::MIN.into(), i8::MAX.into())),
        "int16" => Some((i16::MIN.into(), i16::MAX.into())),
        "int32" => Some((i32::MIN.into(), i32::MAX.into())),
        "int64" | "int" => Some((i64::MIN.into(), i64::MAX.into())),
        "uint8" => Some((0.into(), u8::MAX.into())),
        "uint16" => Some((0.into(), u16::MAX.into())),
        "uint32" => Some((0.into(), u32::MAX.into())),
        "uint64" | "uint" => Some((0.into(), u64::MAX.into())),
        // What is beyond would become infinite.
        "float" => Number::from_f64(f32::MIN.into()).zip(Number::from_f64(f32::MAX.into())),
        // JSON in memory holds no other numbers.
        "double" => None,
        "int128" | "uint128" => {
            purpose.refuse("a number of 128 bits: JSON has none; use `i64`, `u64` or a `String`");
            None
        }
        _ => return,
    };
    keywords.shift_remove("format");
    if let Some((minimum, maximum)) = bounds {
        limit(keywords, "minimum", minimum);
        limit(keywords, "maximum", maximum);
    }
}

/// Sets what a type holds, where its author does not allow less.
fn limit(keywords: &mut Keywords, keyword: &str, limit: Number) {
    let written = keywords.get(keyword).and_then(Value::as_number);
    let is_narrower = written.is_some_and(|written| match keyword {
        "minimum" => less(&limit, written),
        _ => less(written, &limit),
    });
    if !is_narrower {
        keywords.insert(keyword.to_owned(), limit.into());
    }
}

/// A `TimeDelta` is a pair of seconds and nanoseconds that has to fit in 64 bits of milliseconds.
fn time_delta(keywords: &mut Keywords) {
    const MOST: i64 = i64::MAX / 1_000 - 1;
    let pair = keywords
        .get_mut("prefixItems")
        .and_then(Value::as_array_mut);
    if let Some([seconds, nanos]) = pair.map(Vec::as_mut_slice)
        && nanos.get("exclusiveMaximum").and_then(Value::as_u64) == Some(1_000_000_000)
        && let Some(seconds) = seconds.as_object_mut()
    {
        limit(seconds, "minimum", (-MOST).into());
        limit(seconds, "maximum", MOST.into());
        text::describe(keywords, "For example `[90, 0]`: seconds and nanoseconds.");
    }
}

/// The times of the standard library are whole seconds and nanoseconds. Nanoseconds of more than
/// one second may overflow, and so may a point of time that no clock can show.
fn std_time(keywords: &mut Keywords) {
    const END_OF_9999: u64 = 253_402_300_799;
    // A struct of a plugin's author says what becomes of further fields.
    if keywords.contains_key("additionalProperties") {
        return;
    }
    let Some(Value::Object(fields)) = keywords.get_mut("properties") else {
        return;
    };
    let names: Vec<&str> = fields.keys().map(String::as_str).collect();
    let seconds = match names.as_slice() {
        ["secs", "nanos"] => u64::MAX,
        ["secs_since_epoch", "nanos_since_epoch"] => END_OF_9999,
        _ => return,
    };
    let maxima = [seconds, 999_999_999];
    for (field, maximum) in fields.values_mut().zip(maxima) {
        if let Value::Object(field) = field {
            limit(field, "maximum", maximum.into());
        }
    }
}

/// Names that are integers: no leading zeros, no more than 64 bits. Types of fewer bits accept less,
/// which `schemars` does not tell.
fn integer_names(keywords: &mut Keywords) {
    const UNSIGNED: &str = "^(0|[1-9][0-9]{0,18}|1[0-7][0-9]{18})$";
    const SIGNED: &str = "^(0|-?([1-9][0-9]{0,17}|[1-8][0-9]{18}))$";
    let Some(Value::Object(patterns)) = keywords.get_mut("patternProperties") else {
        return;
    };
    for (any_digits, integer) in [(r"^\d+$", UNSIGNED), (r"^-?\d+$", SIGNED)] {
        if let Some(schema) = patterns.shift_remove(any_digits) {
            patterns.insert(integer.to_owned(), schema);
        }
    }
}

/// An enum of unit variants with doc comments comes as `oneOf` of constants, which many clients
/// do not read. It becomes an `enum`, and the variants' descriptions go into the description.
fn constants_to_enum(keywords: &mut Keywords) {
    let Some(variants) = keywords.get("oneOf").and_then(Value::as_array) else {
        return;
    };
    let mut values = Vec::new();
    let mut lines = Vec::new();
    for variant in variants {
        let documented = variant.get("description").and_then(Value::as_str);
        if let Some(constant) = variant.get("const").filter(|value| value.is_string()) {
            lines.extend(documented.map(|text| format!("- `{}`: {text}", plain(constant))));
            values.push(constant.clone());
        } else if let Some(list) = variant.get("enum").and_then(Value::as_array)
            && documented.is_none()
        {
            values.extend(list.iter().cloned());
        } else {
            return;
        }
    }
    keywords.shift_remove("oneOf");
    keywords.insert("type".to_owned(), "string".into());
    keywords.insert("enum".to_owned(), values.into());
    if !lines.is_empty() {
        text::describe(keywords, &lines.join("\n"));
    }
}

fn plain(constant: &Value) -> &str {
    constant.as_str().unwrap_or_default()
}
