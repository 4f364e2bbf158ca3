//! From a JSON Schema to a validator that can be trusted with whatever a model sends.
//!
//! No reference leaves the document, formats are asserted, patterns take linear time where they
//! can and a bounded number of steps where they look around. A schema that can't be held to this
//! is refused with the place that is wrong; that costs its own tool only.

use std::collections::HashMap;

use jsonschema::error::ValidationErrorKind;
use jsonschema::{Draft, PatternOptions, ValidationError, Validator};
use serde_json::{Value, json};

use super::SchemaError;
use super::shape::{escape, mentions};
use crate::json_text::shortened;
use crate::limits;

/// How many schemas may describe one value at once, through references and combinations.
const MOST_LAYERS: u64 = 10_000;

/// Keywords whose schemas describe the same value as the schema that they stand in.
const IN_PLACE: [&str; 7] = ["allOf", "anyOf", "oneOf", "not", "if", "then", "else"];

/// Compiles a schema. Answers it as it is used, with its validator.
pub(super) fn compile(schema: &Value) -> Result<(Value, Validator), SchemaError> {
    if schema.get("type").and_then(Value::as_str) != Some("object") {
        return Err(refused(
            "/type",
            "expected \"object\", since arguments are named",
        ));
    }
    Layers {
        root: schema,
        known: HashMap::new(),
    }
    .check(schema, "")?;
    let (mut schema, draft) = with_draft(schema);
    let options = || {
        let options = jsonschema::options()
            .offline()
            .should_validate_formats(true);
        draft
            .iter()
            .fold(options, |options, draft| options.with_draft(*draft))
    };
    if let Ok(validator) = options()
        .with_pattern_options(PatternOptions::regex())
        .build(&schema)
    {
        return Ok((schema, validator));
    }
    let patterns = || PatternOptions::fancy_regex().backtrack_limit(limits::PATTERN_STEPS);
    let build = |schema: &Value| {
        let built = options().with_pattern_options(patterns()).build(schema);
        built.map_err(|error| explain(schema, &error))
    };
    // What is wrong with the schema must be told of the schema as it was given.
    build(&schema)?;
    bound_patterns(&mut schema, "")?;
    let validator = build(&schema)?;
    Ok((schema, validator))
}

fn refused(pointer: &str, reason: &str) -> SchemaError {
    SchemaError {
        pointer: pointer.to_owned(),
        reason: reason.to_owned(),
    }
}

/// Takes a dialect that nobody knows out of the schema, and chooses the draft by what the schema
/// contains where it does not name one.
fn with_draft(schema: &Value) -> (Value, Option<Draft>) {
    let mut schema = schema.clone();
    let known = |dialect: &str| {
        dialect.contains("json-schema.org/draft-0") || dialect.contains("json-schema.org/draft/20")
    };
    if schema
        .get("$schema")
        .and_then(Value::as_str)
        .is_some_and(known)
    {
        return (schema, None);
    }
    if let Value::Object(keywords) = &mut schema {
        keywords.shift_remove("$schema");
    }
    let exclusive = |keyword| mentions(&schema, keyword, Value::is_boolean);
    let draft = if exclusive("exclusiveMinimum") || exclusive("exclusiveMaximum") {
        Draft::Draft4
    } else if mentions(&schema, "items", Value::is_array) {
        Draft::Draft7
    } else {
        Draft::Draft202012
    };
    (schema, Some(draft))
}

/// Puts a limit on the length of every text that a pattern with look-around is tried on, since
/// such a pattern may take time that grows faster than the text.
fn bound_patterns(schema: &mut Value, pointer: &str) -> Result<(), SchemaError> {
    match schema {
        Value::Object(keywords) => {
            for (keyword, value) in keywords.iter_mut() {
                bound_patterns(value, &format!("{pointer}/{}", escape(keyword)))?;
            }
            let names = keywords.get("patternProperties").and_then(Value::as_object);
            let unfit = names.and_then(|names| names.keys().find(|pattern| looks_around(pattern)));
            if let Some(pattern) = unfit {
                let pointer = format!("{pointer}/patternProperties/{}", escape(pattern));
                let reason = "a pattern of names must do without look-around and back-references";
                return Err(refused(&pointer, reason));
            }
            let pattern = keywords.get("pattern").and_then(Value::as_str);
            if let Some(pattern) = pattern
                .filter(|pattern| looks_around(pattern))
                .map(str::to_owned)
            {
                keywords.shift_remove("pattern");
                let limit = json!({"maxLength": limits::PATTERN_TEXT});
                let bounded = json!({"if": limit, "then": {"pattern": pattern}, "else": limit});
                let parts = keywords.entry("allOf").or_insert_with(|| json!([]));
                if let Value::Array(parts) = parts {
                    parts.push(bounded);
                }
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter_mut().enumerate() {
                bound_patterns(item, &format!("{pointer}/{index}"))?;
            }
        }
        _ => {}
    }
    Ok(())
}

/// Whether a pattern may need more than linear time.
fn looks_around(pattern: &str) -> bool {
    let patterns = PatternOptions::regex();
    jsonschema::options()
        .with_pattern_options(patterns)
        .build(&json!({"pattern": pattern}))
        .is_err()
}

fn explain(schema: &Value, error: &ValidationError<'_>) -> SchemaError {
    let pointer = match error.kind() {
        ValidationErrorKind::Referencing(_) => {
            let text = error.to_string();
            reference_in(schema, &text, "").unwrap_or_default()
        }
        _ => error.instance_path().as_str().to_owned(),
    };
    SchemaError {
        pointer,
        reason: shortened(&error.to_string(), 300),
    }
}

/// Where the reference stands that an error speaks of.
fn reference_in(schema: &Value, error: &str, pointer: &str) -> Option<String> {
    const REFERENCES: [&str; 5] = ["$ref", "$dynamicRef", "$recursiveRef", "$id", "id"];
    match schema {
        Value::Object(keywords) => keywords.iter().find_map(|(keyword, value)| {
            let here = format!("{pointer}/{}", escape(keyword));
            let spoken_of = |reference: &str| {
                let (document, fragment) = reference.split_once('#').unwrap_or((reference, ""));
                let part = if document.is_empty() {
                    fragment
                } else {
                    document
                };
                !part.is_empty() && error.contains(&format!("'{part}"))
            };
            match value.as_str() {
                Some(text) if REFERENCES.contains(&keyword.as_str()) && spoken_of(text) => {
                    Some(here)
                }
                _ => reference_in(value, error, &here),
            }
        }),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .find_map(|(index, item)| reference_in(item, error, &format!("{pointer}/{index}"))),
        _ => None,
    }
}

/// Counts how many schemas describe one value at once. References that multiply each other make
/// the time of one check grow without bound.
struct Layers<'s> {
    root: &'s Value,
    /// By the address of the schema; `None` while it is being counted.
    known: HashMap<*const Value, Option<u64>>,
}

impl<'s> Layers<'s> {
    /// Counts the layers of every schema.
    fn check(&mut self, schema: &'s Value, pointer: &str) -> Result<(), SchemaError> {
        match schema {
            Value::Object(keywords) => {
                if self.of(schema) > MOST_LAYERS {
                    let reason =
                        "it refers to itself or to others so often that no check would end";
                    return Err(refused(pointer, reason));
                }
                keywords.iter().try_for_each(|(keyword, value)| {
                    self.check(value, &format!("{pointer}/{}", escape(keyword)))
                })
            }
            Value::Array(items) => items
                .iter()
                .enumerate()
                .try_for_each(|(index, item)| self.check(item, &format!("{pointer}/{index}"))),
            _ => Ok(()),
        }
    }

    fn of(&mut self, schema: &'s Value) -> u64 {
        match self.known.get(&std::ptr::from_ref(schema)) {
            Some(Some(layers)) => return *layers,
            Some(None) => return u64::MAX,
            None => {}
        }
        self.known.insert(schema, None);
        let reference = schema.get("$ref").and_then(Value::as_str);
        let target =
            reference.and_then(|reference| self.root.pointer(reference.strip_prefix('#')?));
        let combined = IN_PLACE.iter().filter_map(|keyword| schema.get(keyword));
        let combined = combined.flat_map(|part| {
            part.as_array()
                .map_or(std::slice::from_ref(part), Vec::as_slice)
        });
        let parts: Vec<&Value> = combined.chain(target).collect();
        let layers = parts
            .into_iter()
            .fold(1, |layers: u64, part| layers.saturating_add(self.of(part)));
        self.known.insert(schema, Some(layers));
        layers
    }
}
