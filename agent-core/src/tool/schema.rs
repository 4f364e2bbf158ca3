//! The compiled schema of a tool's arguments: coercion, validation, defaults, in this order (R32).
//!
//! Compiled once when a tool is published. No reference leaves the document, formats are
//! asserted, and no pattern can run for longer than a fixed number of steps.

use std::fmt;

use jsonschema::{PatternOptions, Validator};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::coerce::{self, Walk};
use super::problem::{self, Problem};
use crate::limits;

/// What was changed in the arguments, and where (R10).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// JSON pointer to the value.
    pub pointer: String,
    /// The value as it was sent.
    pub from: Value,
    /// The value as the tool gets it; absent when it was taken out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<Value>,
}

/// A schema that can't be used. Only its own tool is affected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the input schema is not usable at `{pointer}`: {reason}")]
pub struct SchemaError {
    /// JSON pointer into the schema.
    pub pointer: String,
    /// What is wrong there.
    pub reason: String,
}

/// A tool's input schema, ready to check arguments.
pub struct ArgumentSchema {
    schema: Value,
    validator: Validator,
    /// Whether valid arguments still need a look: floats to integers.
    has_integers: bool,
    has_defaults: bool,
}

impl ArgumentSchema {
    /// Compiles the schema.
    pub fn compile(schema: &Value) -> Result<Self, SchemaError> {
        if schema.get("type").and_then(Value::as_str) != Some("object") {
            return Err(SchemaError {
                pointer: "/type".to_owned(),
                reason: "expected \"object\", since arguments are named".to_owned(),
            });
        }
        let patterns = PatternOptions::fancy_regex().backtrack_limit(limits::PATTERN_STEPS);
        let validator = jsonschema::options()
            .offline()
            .should_validate_formats(true)
            .with_pattern_options(patterns)
            .build(schema)
            .map_err(|error| SchemaError {
                pointer: error.instance_path().to_string(),
                reason: error.to_string(),
            })?;
        Ok(Self {
            validator,
            has_integers: coerce::mentions(schema, "type", |kind| {
                kind == "integer"
                    || kind
                        .as_array()
                        .is_some_and(|kinds| kinds.contains(&"integer".into()))
            }),
            has_defaults: coerce::mentions(schema, "default", |_| true),
            schema: schema.clone(),
        })
    }

    /// Checks the arguments and makes them what the tool gets. `text` is what was sent, for
    /// numbers whose digits matter.
    ///
    /// # Errors
    /// Every problem at once, in the order of the arguments.
    pub fn check(
        &self,
        arguments: &mut Value,
        text: Option<&str>,
    ) -> Result<Vec<Change>, Vec<Problem>> {
        let mut changes = Vec::new();
        let valid = self.validator.is_valid(arguments);
        if !valid || self.has_integers {
            Walk::new(&self.schema, text, &mut changes).coerce(arguments);
        }
        if !valid {
            let problems = problem::collect(&self.schema, &self.validator, arguments);
            if !problems.is_empty() {
                return Err(problems);
            }
        }
        if self.has_defaults {
            coerce::fill_defaults(&self.schema, arguments);
        }
        Ok(changes)
    }

    /// The schema itself.
    pub fn schema(&self) -> &Value {
        &self.schema
    }
}

impl fmt::Debug for ArgumentSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ArgumentSchema")
            .field("schema", &self.schema)
            .finish_non_exhaustive()
    }
}
