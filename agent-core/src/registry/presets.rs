//! Values of arguments that no model sees (R13): from the configuration or from the embedding
//! program, one set for each tool.
//!
//! Nothing here shows a value: not `Debug`, not an error. What of a schema everybody sees is
//! decided in `tool::preset`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde_json::{Map, Value};

use super::secrets::{SecretTables, Table};
use crate::config::{Config, Environment, FILE_NAME, Unset};
use crate::tool::preset::{Misfit, Unfit, arguments, fit};
use crate::tool::problem::closest;
use crate::tool::{SchemaError, ToolSpec};

/// Values of arguments that no model sees, by the names of tool and argument.
///
/// ```
/// use agent_core::registry::Presets;
/// use serde_json::json;
///
/// let presets = Presets::default().with("bing_search", "api_key", json!("secret"));
/// assert!(!format!("{presets:?}").contains("secret"));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Presets(SecretTables);

impl Presets {
    /// What a configuration says, its variables replaced. A variable that is not set costs only the
    /// tool that needs it.
    pub fn read(config: &Config, environment: Environment<'_>) -> Self {
        let tools = config.tools.iter();
        let tables = tools.map(|(name, tool)| (name, &tool.preset));
        Self(SecretTables::read(tables, environment))
    }

    /// The same presets and one more: the value of a tool's argument.
    #[must_use]
    pub fn with(
        mut self,
        tool: impl Into<String>,
        argument: impl Into<String>,
        value: Value,
    ) -> Self {
        self.0.insert(tool.into(), argument.into(), value);
        self
    }

    /// What is given to a tool.
    pub(super) fn of(&self, tool: &str) -> Option<&Table> {
        self.0.get(tool)
    }

    /// The names of a tool's arguments that no model sees: those that have a value here, and those
    /// that must have one.
    pub(super) fn names(&self, spec: &ToolSpec) -> Vec<String> {
        let given = self.0.get(&spec.name).into_iter().flat_map(BTreeMap::keys);
        let names: BTreeSet<&String> = given.chain(&spec.presets).collect();
        names.into_iter().cloned().collect()
    }

    /// The values of a tool's presets, judged by its schema.
    pub(super) fn values(&self, spec: &ToolSpec) -> Result<Preset, PresetError> {
        let names = self.names(spec);
        if names.is_empty() {
            return Ok(Preset::default());
        }
        let mut problems = self.unusable(spec);
        let given = self.0.get(&spec.name).into_iter().flatten();
        let given = given.filter(|(name, _)| problems.iter().all(|one| one.argument() != *name));
        let given = given.filter_map(|(name, value)| Some((name.clone(), value.clone().ok()?)));
        let known: Vec<String> = names
            .into_iter()
            .filter(|name| problems.iter().all(|one| one.argument() != name))
            .collect();
        match fit(&spec.input_schema, &known, given.collect()) {
            Ok(values) if problems.is_empty() => return Ok(Preset(values)),
            Ok(_) => {}
            Err(Unfit::Schema(error)) => return Err(PresetError::Schema(error)),
            Err(Unfit::Values(misfits)) => problems.extend(misfits.into_iter().map(of_misfit)),
        }
        Err(PresetError::Values {
            tool: spec.name.clone(),
            others: self.usable(spec, &problems),
            problems,
        })
    }

    /// The entries that are to stay as they are.
    fn usable(&self, spec: &ToolSpec, problems: &[PresetProblem]) -> Vec<String> {
        let given = self.0.get(&spec.name).into_iter().flat_map(BTreeMap::keys);
        let usable = given.filter(|name| problems.iter().all(|one| one.argument() != *name));
        usable.map(|name| format!("{} = …", key(name))).collect()
    }

    /// Presets that can't even be judged: without a variable, or without an argument.
    fn unusable(&self, spec: &ToolSpec) -> Vec<PresetProblem> {
        let known: Vec<&str> = arguments(&spec.input_schema).collect();
        let given = self.0.get(&spec.name).into_iter().flatten();
        let problems = given.filter_map(|(name, value)| {
            let argument = name.clone();
            if !known.contains(&name.as_str()) {
                return Some(PresetProblem::Unknown {
                    closest: closest(name, known.iter().copied()),
                    argument,
                });
            }
            let Unset { variable } = value.clone().err()?;
            Some(PresetProblem::Unset { argument, variable })
        });
        problems.collect()
    }
}

/// The presets of one tool, ready to be added to the arguments of its calls.
#[derive(Clone, Default)]
pub(super) struct Preset(Map<String, Value>);

impl Preset {
    pub(super) fn names(&self) -> impl Iterator<Item = &String> {
        self.0.keys()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The arguments together with the presets. A preset can't be overridden.
    pub(super) fn added_to(&self, arguments: &Value) -> Value {
        let mut all = arguments.clone();
        if let Value::Object(all) = &mut all {
            all.extend(self.0.clone());
        }
        all
    }
}

impl fmt::Debug for Preset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

/// Why a tool's presets can't be used. Only this tool is affected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PresetError {
    /// The tool's schema is not usable.
    #[error(transparent)]
    Schema(SchemaError),
    /// Presets are wrong or lacking.
    #[error("{}", told(.tool, .others, .problems))]
    Values {
        /// The tool.
        tool: String,
        /// Entries of the table `preset` that are to stay, without their values.
        others: Vec<String>,
        /// What is wrong, one for each argument; never empty.
        problems: Vec<PresetProblem>,
    },
}

/// What is wrong with one preset.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PresetProblem {
    /// A variable that its value needs is not set.
    Unset {
        /// The argument.
        argument: String,
        /// The variable.
        variable: String,
    },
    /// The tool has no such argument.
    Unknown {
        /// The name that was given.
        argument: String,
        /// The argument that was probably meant.
        closest: Option<String>,
    },
    /// It must have a value and has none.
    Missing {
        /// The argument.
        argument: String,
    },
    /// Its value does not fit its schema.
    Wrong {
        /// The argument.
        argument: String,
        /// What is wrong and what is expected, without anything of the value.
        problem: String,
    },
}

fn of_misfit(misfit: Misfit) -> PresetProblem {
    let Misfit {
        argument,
        missing,
        problem,
    } = misfit;
    if missing {
        PresetProblem::Missing { argument }
    } else {
        PresetProblem::Wrong { argument, problem }
    }
}

impl PresetProblem {
    fn argument(&self) -> &str {
        match self {
            Self::Unset { argument, .. }
            | Self::Unknown { argument, .. }
            | Self::Missing { argument }
            | Self::Wrong { argument, .. } => argument,
        }
    }

    /// The entry of the table `preset` that would do.
    fn entry(&self) -> Option<String> {
        let variable = match self {
            Self::Unknown { .. } => return None,
            Self::Unset { variable, .. } => variable.clone(),
            Self::Missing { argument } | Self::Wrong { argument, .. } => variable_for(argument),
        };
        Some(format!("{} = \"${{{variable}}}\"", key(self.argument())))
    }
}

impl fmt::Display for PresetProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unset { argument, variable } => write!(
                f,
                "the environment variable `{variable}` for its argument `{argument}` is not set"
            ),
            Self::Unknown {
                argument,
                closest: Some(closest),
            } => write!(
                f,
                "it has no argument `{argument}` to preset, did you mean `{closest}`?"
            ),
            Self::Unknown { argument, .. } => {
                write!(f, "it has no argument `{argument}` to preset")
            }
            Self::Missing { argument } => {
                write!(
                    f,
                    "its argument `{argument}` must be preset and has no value"
                )
            }
            Self::Wrong { argument, problem } => {
                write!(
                    f,
                    "the preset value of its argument `{argument}` is wrong: {problem}"
                )
            }
        }
    }
}

/// The name of an argument as a key of TOML.
fn key(argument: &str) -> String {
    let bare = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
    if !argument.is_empty() && argument.chars().all(bare) {
        argument.to_owned()
    } else {
        format!("{argument:?}")
    }
}

/// The name that a variable for this argument would have.
fn variable_for(argument: &str) -> String {
    let letter = |letter: char| {
        if letter.is_ascii_alphanumeric() {
            letter.to_ascii_uppercase()
        } else {
            '_'
        }
    };
    let name: String = argument.chars().map(letter).collect();
    if name.starts_with(|first: char| first.is_ascii_digit()) || name.is_empty() {
        format!("_{name}")
    } else {
        name
    }
}

/// The problems on one line, and what to do.
fn told(tool: &str, others: &[String], problems: &[PresetProblem]) -> String {
    let texts: Vec<String> = problems.iter().map(ToString::to_string).collect();
    let mut entries: Vec<String> = problems.iter().filter_map(PresetProblem::entry).collect();
    entries.dedup();
    let advice = if entries.is_empty() {
        format!("look at `preset` under `[tools.{tool}]` in {FILE_NAME}")
    } else {
        let all: Vec<String> = others.iter().cloned().chain(entries).collect();
        let line = format!("preset = {{ {} }}", all.join(", "));
        format!(
            "under `[tools.{tool}]` in {FILE_NAME} write `{line}`, and set the variables that it names"
        )
    };
    format!("{}; {advice}", texts.join("; "))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn spec(presets: &[&str]) -> ToolSpec {
        let schema = json!({
            "type": "object",
            "properties": {
                "question": {"type": "string"},
                "api_key": {"type": "string", "minLength": 10},
                "region": {"type": "string", "default": "eu"},
            },
            "required": ["question", "api_key"],
            "additionalProperties": false,
        });
        let mut spec = ToolSpec::new("bing_search", "Search.", schema);
        spec.presets = presets.iter().map(ToString::to_string).collect();
        spec
    }

    fn configured(preset: &str) -> Presets {
        let text = format!("[tools.bing_search]\npreset = {{ {preset} }}\n");
        let config = Config::parse(&text, FILE_NAME.as_ref()).unwrap();
        Presets::read(&config, &|name| {
            (name == "BING_API_KEY").then(|| "hunter2-hunter2".to_owned())
        })
    }

    #[test]
    fn r13_values_come_from_configuration_and_environment() {
        let presets = configured("api_key = \"${BING_API_KEY}\"");
        let values = presets.values(&spec(&[])).unwrap();
        let expected = json!({"question": "why", "api_key": "hunter2-hunter2"});
        let given = json!({"question": "why", "api_key": "mine"});
        assert_eq!(values.added_to(&given), expected);
        assert_eq!(presets.names(&spec(&["region"])), ["api_key", "region"]);
        // A declared preset with a default needs no value.
        let values = presets.values(&spec(&["api_key", "region"])).unwrap();
        assert_eq!(values.added_to(&json!({}))["region"], "eu");
        let shown = format!("{presets:?} {values:?}");
        assert!(
            shown.contains("api_key") && !shown.contains("hunter2"),
            "{shown}"
        );
    }

    #[test]
    fn presets_that_cannot_be_used_say_what_to_write_and_never_the_value() {
        let check = |preset: &str, declared: &[&str], expected: &str| {
            let error = configured(preset).values(&spec(declared)).unwrap_err();
            assert_eq!(error.to_string(), expected);
            assert!(!format!("{error:?}").contains("hunter2"), "{error:?}");
        };
        let under = "under `[tools.bing_search]` in toolsmith.toml";
        let write = |entries: &str| {
            format!("{under} write `preset = {{ {entries} }}`, and set the variables that it names")
        };
        check(
            "api_key = \"${OTHER}\"",
            &[],
            &format!(
                "the environment variable `OTHER` for its argument `api_key` is not set; {}",
                write("api_key = \"${OTHER}\"")
            ),
        );
        check(
            "",
            &["api_key"],
            &format!(
                "its argument `api_key` must be preset and has no value; {}",
                write("api_key = \"${API_KEY}\"")
            ),
        );
        check(
            "api_key = \"hunter2\", region = 3",
            &[],
            &format!(
                "the preset value of its argument `api_key` is wrong: too short (expected at least \
                 10 characters); {}",
                write("region = …, api_key = \"${API_KEY}\"")
            ),
        );
        check(
            "api_kye = \"hunter2\"",
            &[],
            &format!(
                "it has no argument `api_kye` to preset, did you mean `api_key`?; look at `preset` \
                 {under}"
            ),
        );
    }

    #[test]
    fn names_of_variables_and_keys_are_ones_that_work() {
        let missing = |argument: &str| {
            let argument = argument.to_owned();
            PresetProblem::Missing { argument }.entry().unwrap()
        };
        assert_eq!(missing("api-key"), "api-key = \"${API_KEY}\"");
        assert_eq!(missing("2nd key"), "\"2nd key\" = \"${_2ND_KEY}\"");
    }
}
