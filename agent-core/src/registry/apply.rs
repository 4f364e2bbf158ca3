//! Performs the steps of a reload, one after the other: build → judge → store → load → publish.
//!
//! Whatever fails leaves the plugin as it was: the generation that served goes on serving.

mod plugin;
mod report;
mod shared;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use self::plugin::{Failure, Plugin, TakenOver};
use self::shared::Shared;
use super::plan::{self, Action};
use super::scan::{Found, Index, scan};
use super::status::{PluginState, Status};
use super::table::{Table, ToolEntry};
use super::{Inner, RegistryError, Scope};
use crate::build::BuildProgress;
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
}

impl Reload {
    /// Looks at the folder and brings the table to what it says.
    pub(super) async fn run(
        &mut self,
        registry: &Inner,
        scope: Scope<'_>,
        progress: &dyn BuildProgress,
    ) -> Result<(), RegistryError> {
        let folder = registry.options.plugins.clone();
        let index = blocking(move || scan(&folder))
            .await
            .map_err(RegistryError::Scan)?;
        let known = self.plugins.iter();
        let known = known.map(|(name, plugin)| (name.clone(), plugin.path.clone()));
        let actions = plan::plan(&known.collect(), &index);
        self.index = index;
        for (name, found) in &self.index.plugins {
            self.plugins
                .entry(name.clone())
                .or_insert_with(|| Plugin::new(found));
        }
        registry.statuses.store(Arc::new(self.statuses()));
        for action in actions {
            match action {
                Action::Remove(name) => {
                    if let Some(current) =
                        self.plugins.remove(&name).and_then(|plugin| plugin.current)
                    {
                        self.publish(registry);
                        current.generation.retire();
                    }
                }
                Action::Keep(name, reason) => {
                    let failure = Failure::unreported(reason.clone(), reason);
                    self.fail(registry, name, failure);
                }
                Action::Ensure(name, found) if scope.covers(&name) => {
                    self.ensure(registry, name, found, progress, scope == Scope::Forced)
                        .await;
                }
                Action::Ensure(..) => {}
            }
        }
        for (package, shared) in &mut self.linked {
            if let Err(failure) = shared.follow(registry, package).await {
                let reason = failure.reason;
                tracing::warn!(%package, reason, "what was open goes on serving");
            }
        }
        registry.statuses.store(Arc::new(self.statuses()));
        Ok(())
    }

    /// Adds a tool of this program.
    pub(super) fn register(&mut self, registry: &Inner, tool: Arc<dyn HostTool>) {
        let settings = &registry.settings;
        let entry = ToolEntry::with(tool, Origin::Static, Isolation::None, None, settings);
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
        inputs.chain(refused).chain(paths).cloned().collect()
    }

    async fn ensure(
        &mut self,
        registry: &Inner,
        name: PluginName,
        found: Found,
        progress: &dyn BuildProgress,
        forced: bool,
    ) {
        let plugin = self
            .plugins
            .entry(name.clone())
            .or_insert_with(|| Plugin::new(&found));
        found.path().clone_into(&mut plugin.path);
        if forced {
            plugin.failed_content = None;
        }
        let uses_sdk = matches!(&found, Found::Crate(manifest) if manifest.sdk.is_some());
        let result = match &found {
            Found::Crate(manifest) => plugin.build(registry, &name, manifest, progress).await,
            Found::Library(library) => Ok(Some(library.clone())),
        };
        let result = match result {
            Ok(None) => Ok(TakenOver::Nothing),
            Ok(Some(library)) => plugin.take_over(registry, &name, library, uses_sdk).await,
            Err(failure) => Err(failure),
        };
        match result {
            Ok(TakenOver::Nothing) => plugin.settle(),
            Ok(TakenOver::Replaced(old)) => {
                self.publish(registry);
                if let Some(old) = old {
                    old.generation.retire();
                }
            }
            Err(failure) => {
                if let Found::Crate(manifest) = &found {
                    plugin.fall_back(registry, &name, manifest).await;
                }
                self.fail(registry, name, failure);
            }
        }
    }

    /// Remembers why a plugin's newest content does not serve, and tells it once.
    fn fail(&mut self, registry: &Inner, name: PluginName, failure: Failure) {
        let Some(plugin) = self.plugins.get_mut(&name) else {
            return;
        };
        let Failure {
            reason,
            content,
            reported,
        } = failure;
        plugin.state = PluginState::Failed;
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
        self.publish(registry);
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
        let new = Arc::new(Table::new(entries.cloned().collect()));
        let old = registry.table.swap(Arc::clone(&new));
        warn_of_conflicts(&old, &new);
        registry.statuses.store(Arc::new(self.statuses()));
        if let Some(event) = plan::changes(&old, &new, std::mem::take(&mut self.failed)) {
            registry.events.emit(|| event);
        }
    }

    fn statuses(&self) -> Vec<Status> {
        let known_by_path = |path| self.plugins.values().any(|plugin| plugin.path == path);
        let refused = self.index.refused.iter();
        let refused = refused.filter(|(_, refused)| !known_by_path(refused.path.as_path()));
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
