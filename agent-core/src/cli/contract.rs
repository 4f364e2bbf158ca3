//! What programs read with `--json`: keys in camelCase, absent rather than null. Keys may be
//! added, never renamed.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::output::Output;
use crate::call::ExampleOutcome;
use crate::event::FailedPlugin;
use crate::ids::{ContentHash, GenerationNumber, PluginName};
use crate::plugin::Judgement;
use crate::registry::trust::Vouched;
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

/// Answer of `check`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Checked {
    /// The library, the crate's folder, or the plugins folder.
    #[serde(serialize_with = "lossy")]
    pub(super) path: PathBuf,
    /// Whether everything of it would be taken over.
    pub(super) ok: bool,
    /// Of one library.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) stamp: Option<Stamp>,
    pub(super) tools: Vec<CheckedTool>,
    pub(super) findings: Vec<Finding>,
    /// Of the whole project: every plugin with its own stamp.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) plugins: Option<Vec<CheckedPlugin>>,
}

/// One plugin of a project that is checked.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CheckedPlugin {
    pub(super) name: PluginName,
    #[serde(serialize_with = "lossy")]
    pub(super) path: PathBuf,
    pub(super) ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) stamp: Option<Stamp>,
}

/// One tool of what is checked.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CheckedTool {
    pub(super) name: String,
    pub(super) label: String,
    pub(super) description: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) plugin: Option<PluginName>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) parallel: Option<bool>,
    #[serde(rename = "async")]
    pub(super) is_async: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) max_concurrent: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) timeout_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) deprecated: Option<String>,
    /// Arguments that no model sees.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) presets: Vec<String>,
}

/// What a library says of its making.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Stamp {
    pub(super) abi: String,
    pub(super) sdk: String,
    pub(super) rustc: String,
    pub(super) target: String,
}

impl Stamp {
    pub(super) fn of(judgement: &Judgement) -> Self {
        Self {
            abi: judgement.abi.clone(),
            sdk: judgement.sdk.clone(),
            rustc: judgement.rustc.clone(),
            target: judgement.target.clone(),
        }
    }
}

/// How grave a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum FindingLevel {
    /// It would not be taken over, or one of its tools could not be called.
    Error,
    /// It serves; its author may want to know.
    Warning,
}

/// One thing that `check` has to say.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Finding {
    pub(super) level: FindingLevel,
    /// A word that stays the same from version to version.
    pub(super) code: String,
    pub(super) message: String,
    /// Of the whole project: whose it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) plugin: Option<PluginName>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tool: Option<String>,
    /// JSON pointer into the tool's input schema.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) pointer: Option<String>,
}

/// Answer of `build`: its manifest, and what is not in it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct HandedOn<'a> {
    #[serde(flatten)]
    pub(super) manifest: &'a Manifest,
    /// The folder of libraries.
    #[serde(serialize_with = "lossy")]
    pub(super) path: PathBuf,
    pub(super) failed: Vec<FailedPlugin>,
}

/// `manifest.json` in a folder of finished libraries.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Manifest {
    pub(super) schema_version: u32,
    /// `dev` or `release`: how crates were compiled.
    pub(super) profile: String,
    pub(super) libraries: Vec<FinishedLibrary>,
}

/// One library of a [`Manifest`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FinishedLibrary {
    /// The file's name in the folder.
    pub(super) file: String,
    pub(super) plugin: PluginName,
    /// BLAKE3 of its bytes, in hexadecimal digits.
    pub(super) hash: ContentHash,
    /// In bytes.
    pub(super) size: u64,
    /// Where it was kept from an earlier run that compiled in another way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) profile: Option<String>,
    pub(super) stamp: Stamp,
    /// Names of its tools.
    pub(super) tools: Vec<String>,
}

/// A path that is no UTF-8 is shown as far as it can be: it must not cost the whole answer.
fn lossy<S: serde::Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&path.display())
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

/// Answer of `trust`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Trusting {
    plugin: String,
    path: PathBuf,
    /// `trusted`, `alreadyTrusted` or `notWritten`.
    state: &'static str,
    /// What stands for the content that is trusted.
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<String>,
}

impl Trusting {
    pub(super) fn of(plugin: &str, vouched: &Vouched) -> Self {
        let (state, path, content) = match vouched {
            Vouched::Trusted { path, content } => ("trusted", path, Some(content.clone())),
            Vouched::Already { path } => ("alreadyTrusted", path, None),
            Vouched::NotWritten { path } => ("notWritten", path, None),
        };
        Self {
            plugin: plugin.to_owned(),
            path: path.clone(),
            state,
            content,
        }
    }
}
