//! Performs the steps of a reload: build → judge → store → try out → load → publish.
//!
//! Libraries that are at hand go through together and are published in one step; crates that must
//! be built follow one after the other, each published when it is ready. Whatever fails leaves the
//! plugin as it was: the generation that served goes on serving.
//!
//! | module | what it owns |
//! |---|---|
//! | `configure` | what a person decided, and what should be noticed |
//! | `look` | what is there and what needs no build |
//! | `plugin` | one plugin: its build, its generation |
//! | `batch`, `loader` | how libraries take over |
//! | `publish` | the table, what failed, what `list` shows |
//! | `shared` | what the tools of a plugin share |
//! | `report` | how a build is told |

mod batch;
mod configure;
mod loader;
mod look;
mod plugin;
mod publish;
mod report;
mod shared;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use self::batch::Candidate;
pub(super) use self::loader::Loader;
use self::look::{look_at_crates, still_writing};
use self::plugin::{Failure, Plugin, library_of};
use self::shared::Shared;
use super::configuration::{Configuration, ConfigurationFile};
use super::scan::{Found, Index};
use super::status::PluginState;
use super::table::ToolEntry;
use super::{Inner, RegistryError, Scope, mentions};
use crate::build::{BuildProgress, Builder, CrateManifest};
use crate::event::FailedPlugin;
use crate::ids::PluginName;
use crate::plugin::PluginError;
use crate::plugin::linked::LinkedPackage;
use crate::tool::{HostTool, Isolation, Origin};

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
        registry.statuses.store(Arc::new(self.statuses(registry)));
        if let Err(error) = registry.store.save() {
            tracing::warn!(%error, "the next start has to look at every library again");
        }
        Ok(())
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
        let mut looks = look_at_crates(registry, &found).await;
        let names: Vec<PluginName> = found.iter().map(|(name, _)| name.clone()).collect();
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
                Found::Crate(manifest) => {
                    let library = match looks.remove(&name) {
                        Some(built) => Some(plugin.at_hand(&manifest, built)),
                        None if registry.builder.is_some() => None,
                        None => Builder::built_before(&registry.options.state, &manifest)
                            .map(|path| library_of(&manifest, path)),
                    };
                    match library {
                        Some(library) => {
                            ready.push(Candidate::of_crate(name, library, &manifest, forced));
                        }
                        None if registry.builder.is_some() => stale.push((name, manifest)),
                        None => {
                            let reason = "not built yet, and building is switched off".to_owned();
                            self.fail(name, Failure::unreported(reason, String::new()));
                        }
                    }
                }
            }
        }
        self.take_over(registry, ready).await;
        for (name, manifest) in stale {
            self.build(registry, name, &manifest, forced, progress)
                .await;
        }
        self.end_misplaced(registry, &names);
    }

    /// Takes out of service what does not run where it was decided that it runs, and could not be
    /// started there: a rule that was tightened holds, or the plugin does not run.
    fn end_misplaced(&mut self, registry: &Inner, names: &[PluginName]) {
        let mut ended = Vec::new();
        for name in names {
            let Some(plugin) = self.plugins.get_mut(name) else {
                continue;
            };
            let fits = |current: &plugin::Current| current.place.fits(registry.policy_of(name));
            if plugin
                .current
                .as_ref()
                .is_some_and(|current| !fits(current))
            {
                ended.extend(plugin.current.take());
            }
        }
        if !ended.is_empty() {
            self.publish(registry);
            publish::retire(ended);
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
}

/// Runs what blocks on a thread that may.
async fn blocking<R: Send + 'static>(work: impl FnOnce() -> R + Send + 'static) -> R {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) => std::panic::resume_unwind(error.into_panic()),
    }
}
