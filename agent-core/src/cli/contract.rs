//! What programs read with `--json`: keys in camelCase, absent rather than null. Keys may be
//! added, never renamed.

use std::path::PathBuf;

use serde::Serialize;

use super::output::Output;
use crate::call::ExampleOutcome;
use crate::event::FailedPlugin;
use crate::ids::{GenerationNumber, PluginName};
use crate::registry::{PluginStatus, Registry, ToolEntry};
use crate::tool::{Isolation, Origin};

/// Answer of `list`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct List {
    pub(super) schema_version: u32,
    /// The tools that can be called, in R3's order, then those that can't.
    pub(super) tools: Vec<ListedTool>,
    pub(super) plugins: Vec<PluginStatus>,
    /// What a person should know of all of it together.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) notices: Vec<String>,
}

/// How a tool stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum ToolState {
    Ready,
    Unavailable,
    Conflicted,
}

/// One tool of `list`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ListedTool {
    pub(super) name: String,
    pub(super) label: String,
    pub(super) description: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) deprecated: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) plugin: Option<PluginName>,
    pub(super) origin: Origin,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) server: Option<String>,
    pub(super) isolation: Isolation,
    pub(super) generation: GenerationNumber,
    pub(super) state: ToolState,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<String>,
    pub(super) in_flight: u64,
}

/// Answer of `test`.
#[derive(Debug, Serialize)]
pub(super) struct Tested {
    pub(super) ok: bool,
    pub(super) passed: usize,
    pub(super) failed: usize,
    pub(super) examples: Vec<ExampleOutcome>,
    /// Plugins whose newest content does not serve, so that its examples could not be run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) plugins: Vec<FailedPlugin>,
}

impl Tested {
    pub(super) fn new(examples: Vec<ExampleOutcome>, plugins: Vec<FailedPlugin>) -> Self {
        let passed = examples.iter().filter(|example| example.ok).count();
        let failed = examples.len() - passed;
        Self {
            ok: failed == 0 && plugins.is_empty(),
            passed,
            failed,
            examples,
            plugins,
        }
    }
}

/// Answer of `new`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Made {
    pub(super) path: PathBuf,
    #[serde(rename = "crate", skip_serializing_if = "Option::is_none")]
    pub(super) package: Option<String>,
}

/// What a command prints that did not get as far as its own answer.
#[derive(Debug, Serialize)]
pub(super) struct Refusal<'a> {
    error: RefusalText<'a>,
}

#[derive(Debug, Serialize)]
struct RefusalText<'a> {
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'a str>,
}

impl<'a> Refusal<'a> {
    pub(super) fn new(message: &'a str, hint: Option<&'a str>) -> Self {
        Self {
            error: RefusalText { message, hint },
        }
    }

    /// One JSON value on stdout, as of every command.
    pub(super) fn print(&self) {
        Output::new(Box::new(std::io::stdout()), true).json(self);
    }
}

impl List {
    pub(super) fn of(registry: &Registry) -> Self {
        let table = registry.table();
        let there = table.entries().iter().map(|entry| match entry.schema() {
            Ok(_) => ListedTool::of(entry, ToolState::Ready, None),
            Err(error) => ListedTool::of(entry, ToolState::Unavailable, Some(error.to_string())),
        });
        let lost = table.conflicts().iter().map(|conflict| {
            let reason = format!("{} already has a tool of that name", conflict.winner);
            ListedTool::of(&conflict.entry, ToolState::Conflicted, Some(reason))
        });
        Self {
            schema_version: 1,
            tools: there.chain(lost).collect(),
            plugins: registry.plugins(),
            notices: registry.notices(),
        }
    }
}

impl ListedTool {
    fn of(entry: &ToolEntry, state: ToolState, reason: Option<String>) -> Self {
        let spec = entry.spec();
        Self {
            name: spec.name.clone(),
            label: spec.label.clone(),
            description: spec.description.clone(),
            deprecated: spec.deprecated.clone(),
            plugin: entry.plugin().cloned(),
            origin: entry.origin(),
            server: None,
            isolation: entry.isolation(),
            generation: entry.generation(),
            state,
            reason,
            in_flight: entry.in_flight(),
        }
    }
}
