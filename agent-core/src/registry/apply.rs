//! Performs the steps of a reload: build → judge → store → try out → load → publish.
//!
//! Libraries that are at hand go through together and are published in one step; crates that must
//! be built follow one after the other, each published when it is ready. Whatever fails leaves the
//! plugin as it was: the generation that served goes on serving.

mod batch;
mod loader;
mod plugin;
mod report;
mod shared;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use self::batch::Candidate;
pub(super) use self::loader::Loader;
use self::plugin::{Current, Failure, Plugin, library_of};
use self::shared::Shared;
use super::configuration::{Configuration, ConfigurationFile};
use super::notices::Topic;
use super::plan::{self, Action};
use super::scan::{Found, Index, scan};
use super::status::{PluginState, Status};
use super::table::{Table, ToolEntry};
use super::{Inner, RegistryError, Scope, mentions};
use crate::build::{BuildProgress, Builder, CrateManifest};
use crate::event::FailedPlugin;
use crate::ids::PluginName;
use crate::limits;
use crate::plugin::PluginError;
use crate::plugin::linked::LinkedPackage;
use crate::tool::{HostTool, Isolation, Origin};

/// How often, and after what pause, it is asked whether a library is whole now.
const WRITING_CHECKS: u32 = 10;
const WRITING_PAUSE: Duration = Duration::from_millis(10);

/// Everything that only a reload changes. One reload at a time owns it.
#[derive(Debug, Default)]
pub(super) struct Reload {
    plugins: BTreeMap<PluginName, Plugin>,
    index: Index,
    statics: Vec<Arc<ToolEntry>>,
    /// What tools that are linked into this program share, by package.
    linked: Vec<(PluginName, Shared)>,
    /// Plugins whose failure is not yet in an event.
    failed: Vec<FailedPlugin>,
    /// The configuration file, if one is followed.
    file: Option<ConfigurationFile>,
    /// What the tools in the table were made with.
    configured: Arc<Configuration>,
}

impl Reload {
    /// Nothing is known yet. `config` is the configuration file to follow.
    pub(super) fn new(config: Option<PathBuf>) -> Self {
        Self {
            file: config.map(ConfigurationFile::new),
            ..Self::default()
        }
    }

    /// Looks at the folder and brings the table to what it says.
    pub(super) async fn run(
        &mut self,
        registry: &Inner,
        scope: Scope<'_>,
        progress: &dyn BuildProgress,
    ) -> Result<(), RegistryError> {
        self.configure(registry);
        let found = self.look(registry).await?;
        let forced = scope == Scope::Forced;
        match scope {
            Scope::All | Scope::Forced => self.ensure(registry, found, forced, progress).await,
            Scope::Only(only) => {
                let found = found.into_iter().filter(|(name, _)| name == only);
                self.ensure(registry, found.collect(), false, progress)
                    .await;
            }
            Scope::Tool(tool) => self.ensure_tool(registry, found, tool, progress).await,
        }
        for (package, shared) in &mut self.linked {
            if let Err(failure) = shared.follow(registry, package).await {
                let reason = failure.reason;
                tracing::warn!(%package, reason, "what was open goes on serving");
            }
        }
        self.notice(registry);
        registry.statuses.store(Arc::new(self.statuses()));
        if let Err(error) = registry.store.save() {
            tracing::warn!(%error, "the next start has to look at every library again");
        }
        Ok(())
    }

    /// Brings in what was decided about tools since the last time.
    fn configure(&mut self, registry: &Inner) {
        let read = self.file.as_mut().and_then(ConfigurationFile::read_if_new);
        match read {
            Some(Ok(configuration)) => {
                registry.notices.say(Topic::Configuration, Vec::new());
                registry.configuration.store(Arc::new(configuration));
            }
            Some(Err(error)) => {
                let text = format!("{error}; what was configured before goes on");
                registry.notices.say(Topic::Configuration, vec![text]);
            }
            None => {}
        }
        let wanted = registry.configuration.load_full();
        if Arc::ptr_eq(&wanted, &self.configured) {
            return;
        }
        let before = std::mem::replace(&mut self.configured, wanted);
        let settings = registry.tool_settings();
        let plugins = self.plugins.values_mut();
        let currents = plugins.filter_map(|plugin| plugin.current.as_mut());
        let entries = currents.flat_map(|current| &mut current.entries);
        for entry in entries.chain(&mut self.statics) {
            if !self
                .configured
                .agrees_on(&before, &entry.tool().spec().name)
            {
                *entry = Arc::new(entry.again(&settings));
            }
        }
        self.publish(registry);
    }

    /// Says what a person should know of all plugins together.
    fn notice(&self, registry: &Inner) {
        let limit = self.configured.max_images.unwrap_or(limits::RETIRED_IMAGES);
        let images = self.plugins.iter().filter_map(|(name, plugin)| {
            let (count, bytes) = plugin.retired_images();
            (count > limit || bytes > limits::RETIRED_BYTES).then(|| {
                format!(
                    "{count} replaced libraries of plugin `{name}` stay mapped ({} MB): they are \
                     given back when this process ends",
                    bytes / 1_000_000
                )
            })
        });
        registry.notices.say(Topic::Images, images.collect());
        // While a plugin does not serve, nobody knows which tools it would have.
        let all_serve = self.plugins.values().all(|plugin| plugin.current.is_some());
        let unknown = match &self.file {
            Some(file) if all_serve => file
                .named
                .unknown(&self.plugins.keys(), &registry.table.load()),
            _ => Vec::new(),
        };
        registry.notices.say(Topic::Names, unknown);
    }

    /// Makes an index of the folder, takes out what is gone, and answers what is there.
    async fn look(&mut self, registry: &Inner) -> Result<Vec<(PluginName, Found)>, RegistryError> {
        let folder = registry.options.plugins.clone();
        let index = blocking(move || scan(&folder))
            .await
            .map_err(RegistryError::Scan)?;
        let known = self.plugins.iter();
        let known = known.map(|(name, plugin)| (name.clone(), plugin.path.clone()));
        let actions = plan::plan(&known.collect(), &index);
        self.index = index;
        let (mut there, mut gone) = (Vec::new(), Vec::new());
        for action in actions {
            match action {
                Action::Remove(name) => {
                    gone.extend(self.plugins.remove(&name).and_then(|plugin| plugin.current));
                }
                Action::Keep(name, reason) => {
                    self.fail(name, Failure::unreported(reason.clone(), reason));
                }
                Action::Ensure(name, found) => {
                    let plugin = self.plugins.entry(name.clone());
                    let plugin = plugin.or_insert_with(|| Plugin::new(&found));
                    found.path().clone_into(&mut plugin.path);
                    there.push((name, found));
                }
            }
        }
        self.publish(registry);
        retire(gone);
        Ok(there)
    }

    /// Makes sure that what serves is what these files and folders say.
    async fn ensure(
        &mut self,
        registry: &Inner,
        found: Vec<(PluginName, Found)>,
        forced: bool,
        progress: &dyn BuildProgress,
    ) {
        let mut ready = Vec::new();
        let mut stale = Vec::new();
        let writing = still_writing(registry, &found).await;
        for (name, found) in found {
            let Some(plugin) = self.plugins.get_mut(&name) else {
                continue;
            };
            if forced {
                plugin.failed_content = None;
            }
            match found {
                Found::Library(_) if !forced && writing.contains(&name) => {}
                Found::Library(library) => ready.push(Candidate::of_file(name, library, forced)),
                Found::Crate(manifest) => match plugin.at_hand(registry, &manifest).await {
                    Ok(Some(library)) => {
                        ready.push(Candidate::of_crate(name, library, &manifest, forced));
                    }
                    Ok(None) if registry.builder.is_some() => stale.push((name, manifest)),
                    Ok(None) => {
                        let reason = "not built yet, and building is switched off".to_owned();
                        self.fail(name, Failure::unreported(reason, String::new()));
                    }
                    Err(failure) => self.fail(name, failure),
                },
            }
        }
        self.take_over(registry, ready).await;
        for (name, manifest) in stale {
            self.build(registry, name, &manifest, forced, progress)
                .await;
        }
    }

    /// Brings in one tool, touching as few plugins as possible: those whose source or library
    /// mentions it, then the rest.
    async fn ensure_tool(
        &mut self,
        registry: &Inner,
        found: Vec<(PluginName, Found)>,
        tool: &str,
        progress: &dyn BuildProgress,
    ) {
        let wanted = tool.to_owned();
        let (likely, rest) = blocking(move || {
            let is_likely = |(_, found): &(PluginName, Found)| mentions(found, &wanted);
            found.into_iter().partition::<Vec<_>, _>(is_likely)
        })
        .await;
        for one in likely.into_iter().chain(rest) {
            self.ensure(registry, vec![one], false, progress).await;
            if registry.table.load().get(tool).is_some() {
                return;
            }
        }
    }

    async fn build(
        &mut self,
        registry: &Inner,
        name: PluginName,
        manifest: &CrateManifest,
        forced: bool,
        progress: &dyn BuildProgress,
    ) {
        let Some(plugin) = self.plugins.get_mut(&name) else {
            return;
        };
        let built = plugin.build(registry, &name, manifest, progress);
        match built.await {
            Ok(Some(library)) => {
                let candidate = Candidate::of_crate(name, library, manifest, forced);
                self.take_over(registry, vec![candidate]).await;
            }
            Ok(None) => plugin.settle(),
            Err(failure) => {
                if let Some(path) = Builder::library_of(&registry.options.state, manifest) {
                    let library = library_of(manifest, path);
                    plugin.fall_back(registry, &name, &library).await;
                }
                self.fail(name, failure);
                self.publish(registry);
            }
        }
    }

    /// Adds a tool of this program.
    pub(super) fn register(&mut self, registry: &Inner, tool: Arc<dyn HostTool>) {
        let settings = registry.tool_settings();
        let entry = ToolEntry::with(tool, Origin::Static, Isolation::None, None, &settings);
        self.statics.push(Arc::new(entry));
        self.publish(registry);
    }

    /// Adds tools that are linked into this program.
    pub(super) async fn register_linked(
        &mut self,
        registry: &Inner,
        packages: Vec<LinkedPackage>,
    ) -> Result<(), PluginError> {
        for package in packages {
            let LinkedPackage {
                package,
                tools,
                state,
            } = package;
            // More tools of a package share what is open.
            if self.linked.iter().all(|(known, _)| *known != package) {
                let shared = Shared::open(registry, &package, state).await?;
                self.linked.push((package, shared));
            }
            for tool in tools {
                self.register(registry, tool);
            }
        }
        Ok(())
    }

    /// Files and folders whose change should be noticed.
    pub(super) fn watched(&self) -> BTreeSet<PathBuf> {
        let inputs = self
            .plugins
            .values()
            .flat_map(|plugin| plugin.inputs.iter());
        let refused = self.index.refused.values().map(|refused| &refused.path);
        let paths = self.plugins.values().map(|plugin| &plugin.path);
        let file = self.file.as_ref().map(|file| file.path().to_owned());
        let all = inputs.chain(refused).chain(paths).cloned();
        all.chain(file).collect()
    }

    /// Remembers why a plugin's newest content does not serve, and tells it once, with the next
    /// table.
    fn fail(&mut self, name: PluginName, failure: Failure) {
        let Some(plugin) = self.plugins.get_mut(&name) else {
            return;
        };
        let Failure {
            reason,
            content,
            reported,
            state,
        } = failure;
        plugin.state = state;
        plugin.reason = Some(reason.clone());
        if plugin.failed_content.replace(content.clone()).as_ref() == Some(&content) {
            return;
        }
        if reported {
            tracing::info!(plugin = %name, reason, "not taken over");
        } else {
            tracing::warn!(plugin = %name, reason, "not taken over");
        }
        self.failed.push(FailedPlugin {
            plugin: name,
            reason,
        });
    }

    /// Swaps in a table of what serves now, and tells what changed.
    fn publish(&mut self, registry: &Inner) {
        let of_plugins = self
            .plugins
            .values()
            .filter_map(|plugin| plugin.current.as_ref());
        let entries = self
            .statics
            .iter()
            .chain(of_plugins.flat_map(|current| &current.entries));
        let entries: Vec<Arc<ToolEntry>> = entries.cloned().collect();
        let old = registry.table.load_full();
        if !old.holds(&entries) {
            registry.table.store(Arc::new(Table::new(entries)));
        }
        let new = registry.table.load_full();
        warn_of_conflicts(&old, &new);
        registry.statuses.store(Arc::new(self.statuses()));
        if let Some(event) = plan::changes(&old, &new, std::mem::take(&mut self.failed)) {
            registry.events.emit(|| event);
        }
    }

    fn statuses(&self) -> Vec<Status> {
        let known: BTreeSet<_> = self.plugins.values().map(|plugin| &plugin.path).collect();
        let refused = self.index.refused.iter();
        let refused = refused.filter(|(_, refused)| !known.contains(&refused.path));
        let refused = refused.map(|(name, refused)| Status {
            name: name.clone(),
            path: refused.path.clone(),
            state: if refused.conflict {
                PluginState::Conflicted
            } else {
                PluginState::Failed
            },
            reason: Some(refused.reason.clone()),
            generation: None,
            mapped_images: 0,
        });
        let known = self.plugins.iter().map(|(name, plugin)| Status {
            name: name.clone(),
            path: plugin.path.clone(),
            state: plugin.state,
            reason: plugin.reason.clone(),
            generation: plugin
                .current
                .as_ref()
                .map(|current| Arc::clone(&current.generation)),
            mapped_images: plugin.images,
        });
        let mut all: Vec<Status> = known.chain(refused).collect();
        all.sort_by(|a, b| a.name.cmp(&b.name));
        all
    }
}

/// Plugins whose library is not whole yet: it is left alone, half of it would be judged as broken.
async fn still_writing(registry: &Inner, found: &[(PluginName, Found)]) -> BTreeSet<PluginName> {
    let writing = || {
        let mut writing = registry.watch.writing();
        let is_there = |name: &PluginName| found.iter().any(|(there, _)| there == name);
        writing.retain(is_there);
        writing
    };
    // That one was closed a moment ago may be on its way to be told.
    for _ in 0..WRITING_CHECKS {
        if writing().is_empty() {
            break;
        }
        tokio::time::sleep(WRITING_PAUSE).await;
    }
    writing()
}

/// Retires what was replaced, now that the new table is there.
fn retire(replaced: Vec<Current>) {
    for current in replaced {
        current.generation.retire();
    }
}

/// R26: a tool that lost its name is never lost in silence.
fn warn_of_conflicts(old: &Table, new: &Table) {
    for conflict in new.conflicts() {
        let told = |known: &super::Conflict| Arc::ptr_eq(&known.entry, &conflict.entry);
        if !old.conflicts().iter().any(told) {
            let (tool, loser) = (&conflict.entry.spec().name, conflict.entry.plugin());
            let loser = loser.map_or("this program", PluginName::as_str);
            let winner = &conflict.winner;
            tracing::warn!("tool `{tool}` of `{loser}` can't be called: {winner} has that name");
        }
    }
}

/// Runs what blocks on a thread that may.
async fn blocking<R: Send + 'static>(work: impl FnOnce() -> R + Send + 'static) -> R {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) => std::panic::resume_unwind(error.into_panic()),
    }
}
