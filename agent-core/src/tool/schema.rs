//! The compiled schema of a tool's arguments: coercion, validation, defaults, in this order (R32).
//!
//! Compiled once when a tool is published. How a schema is compiled is in `compile.rs`.

use std::fmt;

use jsonschema::Validator;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::coerce::{Extent, Walk};
use super::problem::{self, Problem, Problems};
use super::{compile, defaults, preset, shape};
use crate::json_value::depth;
use crate::limits;

/// How much deeper defaults hardly ever make arguments.
const DEPTH_OF_DEFAULTS: usize = 16;

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
    /// Whether arguments with defaults filled in need another look.
    defaults_are_safe: bool,
    /// Names that are unknown even where the schema allows any name.
    hidden: Vec<String>,
}

/// Arguments that the tool may get.
#[derive(Clone, Debug, PartialEq)]
pub struct Checked {
    /// The arguments.
    pub arguments: Value,
    /// What was changed in those that were sent; defaults are not listed.
    pub changes: Vec<Change>,
    /// Whether they are those that were sent: nothing was changed, and no default filled in.
    pub as_sent: bool,
}

impl ArgumentSchema {
    /// Compiles the schema.
    pub fn compile(schema: &Value) -> Result<Self, SchemaError> {
        let (schema, validator) = compile::compile(schema)?;
        let has_defaults = shape::mentions(&schema, "default", |_| true);
        Ok(Self {
            has_integers: shape::mentions(&schema, "type", |kind| {
                kind == "integer"
                    || kind
                        .as_array()
                        .is_some_and(|kinds| kinds.contains(&"integer".into()))
            }),
            has_defaults,
            defaults_are_safe: has_defaults && defaults::are_safe(&schema),
            schema,
            validator,
            hidden: Vec::new(),
        })
    }

    /// The same schema, for which these names are unknown arguments: it does not hold them, but it
    /// may allow names that it does not hold.
    #[must_use]
    pub fn hiding(mut self, names: Vec<String>) -> Self {
        self.hidden = names;
        self
    }

    /// Checks the arguments and makes them what the tool gets. `text` is what was sent, for
    /// numbers whose digits matter.
    ///
    /// # Errors
    /// Every problem at once.
    pub fn check(&self, sent: &Value, text: Option<&str>) -> Result<Checked, Problems> {
        let mut arguments = sent.clone();
        let mut changes = Vec::new();
        if !self.is_valid(&arguments) {
            changes = self.coerced(&mut arguments, sent, text, Extent::Invalid)?;
        }
        // What is valid may hold floats that stand for integers.
        if self.has_integers {
            let exact = self.coerced(&mut arguments, sent, text, Extent::Valid)?;
            // Digits beyond those of a float may lie on the other side of a bound.
            if !exact.is_empty() && !self.is_valid(&arguments) {
                return Err(problem::collect(&self.schema, &self.validator, &arguments));
            }
            changes.extend(exact);
        }
        let filled = self.fill_defaults(&mut arguments);
        if depth(&arguments) > limits::ARGUMENT_DEPTH {
            return Err(too_deep());
        }
        Ok(Checked {
            arguments,
            as_sent: changes.is_empty() && !filled,
            changes,
        })
    }

    /// Brings arguments to their declared types, and says what was changed.
    fn coerced(
        &self,
        arguments: &mut Value,
        sent: &Value,
        text: Option<&str>,
        extent: Extent,
    ) -> Result<Vec<Change>, Problems> {
        let (changes, too_large) = Walk::new(&self.schema, text, extent).coerce(arguments);
        let mut problems = match extent {
            Extent::Valid => Problems::default(),
            Extent::Invalid => problem::collect(&self.schema, &self.validator, arguments),
        };
        self.refuse_hidden(sent, &mut problems);
        for problem in too_large {
            let is_new = |told: &Problem| told.pointer != problem.pointer;
            if problems.listed.iter().all(is_new) {
                problems.push(problem);
            }
        }
        if problems.is_empty() {
            Ok(changes)
        } else {
            Err(problems)
        }
    }

    /// Brings arguments to their declared types and fills defaults in, without refusing any but
    /// hidden ones.
    ///
    /// # Errors
    /// Hidden arguments.
    pub fn coerce(&self, sent: &Value, text: Option<&str>) -> Result<Checked, Problems> {
        let mut problems = Problems::default();
        self.refuse_hidden(sent, &mut problems);
        if !problems.is_empty() {
            return Err(problems);
        }
        let mut arguments = sent.clone();
        let walk = Walk::new(&self.schema, text, Extent::Invalid);
        let (changes, _) = walk.coerce(&mut arguments);
        let filled = self.has_defaults && defaults::fill(&self.schema, &mut arguments);
        Ok(Checked {
            arguments,
            as_sent: changes.is_empty() && !filled,
            changes,
        })
    }

    /// Takes arguments that are valid and need no coercion; all others come back as they were and
    /// are for [`Self::check`]. Nothing is copied.
    ///
    /// # Errors
    /// The arguments, if they need a closer look.
    pub fn accept(&self, sent: Value) -> Result<Checked, Value> {
        let is_shallow = depth(&sent) + DEPTH_OF_DEFAULTS <= limits::ARGUMENT_DEPTH;
        let plain =
            is_shallow && self.is_valid(&sent) && !(self.has_integers && holds_float(&sent));
        if !plain {
            return Err(sent);
        }
        let mut arguments = sent;
        let filled = self.fill_defaults(&mut arguments);
        Ok(Checked {
            arguments,
            as_sent: !filled,
            changes: Vec::new(),
        })
    }

    /// What is wrong with arguments as they are, nothing coerced.
    pub(super) fn problems(&self, arguments: &Value) -> Problems {
        let mut problems = problem::collect(&self.schema, &self.validator, arguments);
        self.refuse_hidden(arguments, &mut problems);
        problems
    }

    /// The schema as it is used.
    pub(super) fn json(&self) -> &Value {
        &self.schema
    }

    fn is_valid(&self, arguments: &Value) -> bool {
        self.validator.is_valid(arguments) && self.hidden_in(arguments).next().is_none()
    }

    fn hidden_in<'a>(&'a self, arguments: &'a Value) -> impl Iterator<Item = &'a String> {
        let hidden = self.hidden.iter();
        hidden.filter(|name| arguments.get(name.as_str()).is_some())
    }

    fn refuse_hidden(&self, sent: &Value, problems: &mut Problems) {
        for name in self.hidden_in(sent) {
            let known: Vec<&str> = preset::arguments(&self.schema).collect();
            problems.push(problem::unknown("", name, &known));
        }
    }

    /// Fills defaults in, unless the arguments would no longer be valid with them. Whether any was.
    fn fill_defaults(&self, arguments: &mut Value) -> bool {
        if !self.has_defaults {
            return false;
        }
        if self.defaults_are_safe {
            return defaults::fill(&self.schema, arguments);
        }
        let mut filled = arguments.clone();
        let fits = defaults::fill(&self.schema, &mut filled) && self.validator.is_valid(&filled);
        if fits {
            *arguments = filled;
        }
        fits
    }
}

/// What was unpacked from text or filled in may lie deeper than what was sent.
fn too_deep() -> Problems {
    let mut problems = Problems::default();
    problems.push(Problem {
        pointer: String::new(),
        problem: "nested too deeply".to_owned(),
        expected: Some(format!("at most {} levels", limits::ARGUMENT_DEPTH)),
        got: None,
        suggestion: None,
    });
    problems
}

/// Whether a number stands anywhere that an integer type could not hold as it is.
fn holds_float(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.is_f64(),
        Value::Array(items) => items.iter().any(holds_float),
        Value::Object(object) => object.values().any(holds_float),
        _ => false,
    }
}

impl fmt::Debug for ArgumentSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ArgumentSchema")
            .field("schema", &self.schema)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
