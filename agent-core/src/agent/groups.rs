//! Tools by groups, so that a model sees those that it needs now.
//!
//! A tool that belongs to no group is always shown; one that belongs to some is shown while one of
//! them is active. Who changes the groups — the program, or the model by a tool of its own — is
//! heard at the next turn.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};
use tool_sdk::{ErrorKind, ToolError, ToolResult};

use crate::registry::ToolEntry;
use crate::tool::problem::closest;
use crate::tool::{FunctionTool, Isolation, Origin, ToolSpec};

/// Name of the tool by which a model chooses groups.
pub const GROUPS_TOOL: &str = "setToolGroups";

/// Some tools that belong together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolGroup {
    /// Its name.
    pub name: String,
    /// What it is for, for the model.
    pub description: String,
    /// What the model must know to use its tools, while it is active.
    pub instructions: String,
    /// Names of the tools, without prefix.
    pub tools: BTreeSet<String>,
    /// Whether its tools are shown.
    pub is_active: bool,
}

impl ToolGroup {
    /// A group of these tools that is not active.
    pub fn new<T: Into<String>>(
        name: impl Into<String>,
        description: impl Into<String>,
        tools: impl IntoIterator<Item = T>,
    ) -> Self {
        Self {
            name: name.into(),
            description: description.into(),
            tools: tools.into_iter().map(Into::into).collect(),
            ..Self::default()
        }
    }

    /// With what the model must know to use the tools.
    #[must_use]
    pub fn instructions(mut self, text: impl Into<String>) -> Self {
        self.instructions = text.into();
        self
    }

    /// The same group, active from the start.
    #[must_use]
    pub fn active(mut self) -> Self {
        self.is_active = true;
        self
    }
}

/// A name that no group has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct UnknownGroup(String);

/// The groups of an agent. Clones are the same groups.
#[derive(Clone, Debug, Default)]
pub struct ToolGroups(Arc<Mutex<Groups>>);

#[derive(Debug, Default)]
struct Groups {
    groups: Vec<ToolGroup>,
    /// Whether the model may choose.
    is_offered: bool,
}

impl ToolGroups {
    /// Adds a group; one of the same name is replaced.
    pub fn add(&self, group: ToolGroup) {
        let mut known = self.lock();
        known.groups.retain(|other| other.name != group.name);
        known.groups.push(group);
    }

    /// All groups.
    pub fn all(&self) -> Vec<ToolGroup> {
        self.lock().groups.clone()
    }

    /// Shows the tools of these groups.
    pub fn activate(&self, names: &[&str]) -> Result<(), UnknownGroup> {
        self.change(names, |group, is_named| group.is_active |= is_named)
    }

    /// Shows the tools of these groups no more.
    pub fn deactivate(&self, names: &[&str]) -> Result<(), UnknownGroup> {
        self.change(names, |group, is_named| group.is_active &= !is_named)
    }

    /// Shows the tools of these groups and of no other.
    pub fn choose(&self, names: &[&str]) -> Result<(), UnknownGroup> {
        self.change(names, |group, is_named| group.is_active = is_named)
    }

    /// Lets the model choose.
    pub fn offer(&self) {
        self.lock().is_offered = true;
    }

    /// Changes nothing where one of the names is unknown.
    fn change(
        &self,
        names: &[&str],
        change: impl Fn(&mut ToolGroup, bool),
    ) -> Result<(), UnknownGroup> {
        let mut known = self.lock();
        let groups = || known.groups.iter().map(|group| group.name.as_str());
        for name in names {
            if !groups().any(|group| group == *name) {
                let hint = closest(name, groups())
                    .map_or_else(String::new, |close| format!(", did you mean {close:?}?"));
                let all: Vec<&str> = groups().collect();
                let text = format!(
                    "There is no group {name:?}{hint} (groups: {})",
                    all.join(", ")
                );
                return Err(UnknownGroup(text));
            }
        }
        for group in &mut known.groups {
            let is_named = names.contains(&group.name.as_str());
            change(group, is_named);
        }
        Ok(())
    }

    /// Whether a tool is shown now.
    pub(super) fn shows(&self, tool: &str) -> bool {
        let known = self.lock();
        let mut own = known
            .groups
            .iter()
            .filter(|group| group.tools.contains(tool))
            .peekable();
        own.peek().is_none() || own.any(|group| group.is_active)
    }

    /// What the model must know to use the tools of the active groups.
    pub(super) fn instructions(&self) -> String {
        let known = self.lock();
        let active = known.groups.iter().filter(|group| group.is_active);
        let texts = active.map(|group| group.instructions.as_str());
        let texts: Vec<&str> = texts.filter(|text| !text.is_empty()).collect();
        texts.join("\n\n")
    }

    /// The tool by which the model chooses, where it may.
    pub(super) fn tool(&self) -> Option<Arc<ToolEntry>> {
        let known = self.lock();
        if !known.is_offered || known.groups.is_empty() {
            return None;
        }
        let spec = spec(&known.groups);
        drop(known);
        let groups = self.clone();
        let tool = FunctionTool::new(spec, move |call| {
            let chosen = groups.choose_by_model(call.arguments);
            async { chosen }
        });
        let entry = ToolEntry::new(Arc::new(tool), Origin::Builtin, Isolation::None, None);
        Some(Arc::new(entry))
    }

    fn choose_by_model(&self, arguments: &Value) -> Result<ToolResult, ToolError> {
        let names = arguments.get("groups").and_then(Value::as_array);
        let names: Vec<&str> = names
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        self.choose(&names)
            .map_err(|error| ToolError::of(ErrorKind::InvalidArguments, error.to_string()))?;
        let instructions = self.instructions();
        let active = if names.is_empty() {
            "No group of tools is active now.".to_owned()
        } else {
            format!("Active groups of tools: {}.", names.join(", "))
        };
        Ok(ToolResult::text(if instructions.is_empty() {
            active
        } else {
            format!("{active}\n\n{instructions}")
        }))
    }

    fn lock(&self) -> MutexGuard<'_, Groups> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the model is told of the choice.
fn spec(groups: &[ToolGroup]) -> ToolSpec {
    let names: Vec<&str> = groups.iter().map(|group| group.name.as_str()).collect();
    let lines = groups
        .iter()
        .map(|group| format!("- {}: {}", group.name, group.description));
    let lines: Vec<String> = lines.collect();
    let description = format!(
        "Choose which groups of tools are active from the next turn on; the others are hidden. \
         Groups:\n{}",
        lines.join("\n")
    );
    let schema = json!({
        "type": "object",
        "properties": {"groups": {
            "type": "array",
            "description": "Names of all groups that are to be active.",
            "items": {"type": "string", "enum": names},
            "uniqueItems": true,
        }},
        "required": ["groups"],
        "additionalProperties": false,
    });
    let mut spec = ToolSpec::new(GROUPS_TOOL, description, schema);
    "Choose Tool Groups".clone_into(&mut spec.label);
    spec
}
