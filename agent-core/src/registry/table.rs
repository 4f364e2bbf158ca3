//! The immutable list of tools that calls look things up in.
//!
//! A table is made anew for every change and swapped in whole, so a call sees one state of the
//! world and takes no lock.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fmt::{self, Write};
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::{Semaphore, SemaphorePermit};

use super::configuration::Configuration;
use super::presets::{Preset, PresetError};
use super::turns::Turns;
use crate::config::Permission;
use crate::ids::{ContentHash, GenerationNumber, PluginName};
use crate::json_text::shortened;
use crate::limits;
use crate::plugin::{Generation, Lease};
use crate::tool::preset::hide;
use crate::tool::problem::closest;
use crate::tool::{ArgumentSchema, HostTool, Isolation, Origin, SchemaError, ToolSpec};

/// How many names an answer about an unknown tool lists (R7).
const NAMES_SHOWN: usize = 20;

/// All tools there are, in R3's order.
#[derive(Debug, Default)]
pub struct Table {
    entries: Vec<Arc<ToolEntry>>,
    by_name: HashMap<String, usize>,
    conflicts: Vec<Conflict>,
}

/// One tool in the table.
#[derive(Clone)]
pub struct ToolEntry {
    tool: Arc<dyn HostTool>,
    /// The tool's own, without presets.
    spec: Arc<ToolSpec>,
    schema: Result<Arc<ArgumentSchema>, Unavailable>,
    preset: Preset,
    /// Instead of the tool's own time limit.
    timeout: Option<Duration>,
    /// Instead of what the tool's annotations say.
    permission: Option<Permission>,
    /// Where only so many calls may run at the same time.
    turns: Option<Arc<Semaphore>>,
    origin: Origin,
    isolation: Isolation,
    generation: Option<Arc<Generation>>,
}

/// What a registry gives to its tools. Clones share it.
#[derive(Clone, Debug, Default)]
pub(super) struct ToolSettings {
    pub(super) configuration: Arc<Configuration>,
    pub(super) turns: Turns,
}

/// Why a tool that is in the table can't be called. Only this tool is affected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unavailable {
    /// Its schema is not usable.
    #[error(transparent)]
    Schema(#[from] SchemaError),
    /// Its presets are not usable.
    #[error(transparent)]
    Preset(#[from] PresetError),
}

/// A tool that is not in the table, since another one has its name.
#[derive(Clone, Debug)]
pub struct Conflict {
    /// The tool that can't be called.
    pub entry: Arc<ToolEntry>,
    /// Who has its name.
    pub winner: String,
}

impl ToolEntry {
    /// An entry for this tool, outside of a registry: without presets.
    pub fn new(
        tool: Arc<dyn HostTool>,
        origin: Origin,
        isolation: Isolation,
        generation: Option<Arc<Generation>>,
    ) -> Self {
        Self::with(
            tool,
            origin,
            isolation,
            generation,
            &ToolSettings::default(),
        )
    }

    /// An entry for this tool. Its schema is compiled here, once.
    pub(super) fn with(
        tool: Arc<dyn HostTool>,
        origin: Origin,
        isolation: Isolation,
        generation: Option<Arc<Generation>>,
        settings: &ToolSettings,
    ) -> Self {
        let ToolSettings {
            configuration,
            turns,
        } = settings;
        let Configuration {
            presets,
            timeouts,
            permissions,
            ..
        } = &**configuration;
        let whole = tool.spec();
        let hidden = presets.names(whole);
        let spec = without(whole, &hidden);
        let preset = presets.values(whole);
        let schema = ArgumentSchema::compile(&spec.input_schema)
            .map(|schema| Arc::new(schema.hiding(hidden)))
            .map_err(Unavailable::from);
        let (schema, preset) = match preset {
            Ok(preset) => (schema, preset),
            Err(error) => (schema.and(Err(error.into())), Preset::default()),
        };
        let limit = whole.max_concurrent;
        Self {
            timeout: timeouts.get(&whole.name).copied(),
            permission: permissions.get(&whole.name).copied(),
            turns: limit.map(|limit| turns.of(&whole.name, limit)),
            spec,
            tool,
            schema,
            preset,
            origin,
            isolation,
            generation,
        }
    }

    /// The same tool under other settings.
    pub(super) fn again(&self, settings: &ToolSettings) -> Self {
        let (tool, generation) = (Arc::clone(&self.tool), self.generation.clone());
        Self::with(tool, self.origin, self.isolation, generation, settings)
    }

    /// The same tool under another name.
    #[must_use]
    pub(super) fn named(&self, name: String) -> Self {
        let mut entry = self.clone();
        Arc::make_mut(&mut entry.spec).name = name;
        entry
    }

    /// Whether a call runs, is asked for, or is refused. Where nothing is configured, a tool that
    /// says that it destroys is asked for.
    pub fn permission(&self) -> Permission {
        self.permission.unwrap_or_else(|| {
            let destroys = self.spec.annotations.destructive == Some(true);
            if destroys && self.spec.annotations.read_only != Some(true) {
                Permission::Ask
            } else {
                Permission::Allow
            }
        })
    }

    /// How long a call may run, where it was configured or the tool says so.
    pub fn timeout(&self) -> Option<Duration> {
        self.timeout.or(self.spec.timeout)
    }

    /// The tool.
    pub fn tool(&self) -> &Arc<dyn HostTool> {
        &self.tool
    }

    /// What is known of the tool, as everybody sees it: without presets (R13).
    pub fn spec(&self) -> &Arc<ToolSpec> {
        &self.spec
    }

    /// The compiled schema of the arguments that a model may send, or why the tool can't be called.
    pub fn schema(&self) -> Result<&ArgumentSchema, &Unavailable> {
        self.schema.as_deref()
    }

    /// The arguments together with the tool's presets. For the tool alone: presets are secret.
    pub fn with_presets<'a>(&self, arguments: &'a Value) -> Cow<'a, Value> {
        if self.preset.is_empty() {
            Cow::Borrowed(arguments)
        } else {
            Cow::Owned(self.preset.added_to(arguments))
        }
    }

    /// The names of its presets.
    pub fn presets(&self) -> impl Iterator<Item = &String> {
        self.preset.names()
    }

    /// Waits until one more call of the tool may run; it has its turn until the answer is dropped.
    /// A call that is given up gives its turn back although its thread may still be at work: a tool
    /// that hangs could else never be called again, not even after it was mended.
    pub async fn turn(&self) -> Option<SemaphorePermit<'_>> {
        // Turns are never closed.
        self.turns.as_ref()?.acquire().await.ok()
    }

    /// Where the tool comes from.
    pub fn origin(&self) -> Origin {
        self.origin
    }

    /// What stands between its code and this process.
    pub fn isolation(&self) -> Isolation {
        self.isolation
    }

    /// The plugin that it belongs to.
    pub fn plugin(&self) -> Option<&PluginName> {
        self.generation
            .as_ref()
            .map(|generation| generation.plugin())
    }

    /// Number of its generation; 0 where it never reloads.
    pub fn generation(&self) -> GenerationNumber {
        self.generation
            .as_ref()
            .map_or_else(GenerationNumber::default, |one| one.number())
    }

    /// The plugin and the library that its code is from.
    pub fn library(&self) -> Option<(PluginName, ContentHash)> {
        let generation = self.generation.as_ref()?;
        Some((generation.plugin().clone(), generation.hash()))
    }

    /// How many calls run on its generation.
    pub fn in_flight(&self) -> u64 {
        self.generation
            .as_ref()
            .map_or(0, |generation| generation.in_flight())
    }

    /// Keeps its generation in service for one call; `Err` when a newer one was published and
    /// this one has closed.
    pub fn lease(&self) -> Result<Option<Lease>, Closed> {
        match &self.generation {
            None => Ok(None),
            Some(generation) => generation.lease().map(Some).ok_or(Closed),
        }
    }

    /// Who offers the tool, for messages.
    fn owner(&self) -> String {
        self.plugin().map_or_else(
            || "this program".to_owned(),
            |plugin| format!("plugin {plugin}"),
        )
    }

    /// The smaller keeps a name that several want (R26).
    fn rank(&self) -> u8 {
        match self.origin {
            Origin::Builtin => 0,
            Origin::Static => 1,
            Origin::Plugin => 2,
            Origin::Written => 3,
            Origin::Mcp => 4,
        }
    }

    /// Groups of R3's order.
    fn place(&self) -> u8 {
        match self.origin {
            Origin::Static => 0,
            Origin::Plugin | Origin::Written => 1,
            Origin::Builtin => 2,
            Origin::Mcp => 3,
        }
    }
}

impl fmt::Debug for ToolEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolEntry")
            .field("name", &self.spec().name)
            .field("generation", &self.generation)
            .finish_non_exhaustive()
    }
}

/// What everybody sees of a tool.
fn without(whole: &Arc<ToolSpec>, hidden: &[String]) -> Arc<ToolSpec> {
    if hidden.is_empty() {
        return Arc::clone(whole);
    }
    let mut spec = ToolSpec::clone(whole);
    spec.input_schema = hide(&whole.input_schema, hidden);
    Arc::new(spec)
}

/// A generation that takes no more calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Closed;

impl Table {
    /// A table of these tools. Each group must come in its own order: by registration, by plugin
    /// and name, by server and name.
    pub fn new(mut entries: Vec<Arc<ToolEntry>>) -> Self {
        entries.sort_by_key(|entry| entry.place());
        let mut best: HashMap<String, Arc<ToolEntry>> = HashMap::new();
        for entry in &entries {
            let holder = best
                .entry(entry.spec().name.clone())
                .or_insert_with(|| Arc::clone(entry));
            if entry.rank() < holder.rank() {
                *holder = Arc::clone(entry);
            }
        }
        let holds = |entry: &Arc<ToolEntry>| {
            best.get(&entry.spec().name)
                .is_some_and(|holder| Arc::ptr_eq(holder, entry))
        };
        let (winners, losers): (Vec<_>, Vec<_>) = entries.into_iter().partition(holds);
        let conflicts = losers.into_iter().map(|entry| Conflict {
            winner: best
                .get(&entry.spec().name)
                .map_or_else(String::new, |winner| winner.owner()),
            entry,
        });
        Self {
            conflicts: conflicts.collect(),
            by_name: (0..)
                .zip(&winners)
                .map(|(at, entry)| (entry.spec().name.clone(), at))
                .collect(),
            entries: winners,
        }
    }

    /// Whether it is made of exactly these.
    pub(super) fn holds(&self, entries: &[Arc<ToolEntry>]) -> bool {
        let lost = self.conflicts.iter().map(|conflict| &conflict.entry);
        let own: HashSet<*const ToolEntry> =
            self.entries.iter().chain(lost).map(Arc::as_ptr).collect();
        own.len() == entries.len() && entries.iter().all(|one| own.contains(&Arc::as_ptr(one)))
    }

    /// All tools, in R3's order.
    pub fn entries(&self) -> &[Arc<ToolEntry>] {
        &self.entries
    }

    /// The tool of this name.
    pub fn get(&self, name: &str) -> Option<&Arc<ToolEntry>> {
        self.by_name.get(name).and_then(|at| self.entries.get(*at))
    }

    /// Tools that lost their name to another one.
    pub fn conflicts(&self) -> &[Conflict] {
        &self.conflicts
    }

    /// What to say of a name that no tool has (R7).
    pub fn unknown(&self, name: &str) -> String {
        let names = || self.entries.iter().map(|entry| entry.spec().name.as_str());
        let mut text = format!("Tool {} not found", shortened(name, limits::NAME_SHOWN));
        if let Some(close) = closest(name, names()) {
            _ = write!(text, "\nDid you mean {close:?}?");
        }
        let shown: Vec<&str> = names().take(NAMES_SHOWN).collect();
        if !shown.is_empty() {
            _ = write!(text, "\nAvailable tools: {}", shown.join(", "));
        }
        text
    }
}
