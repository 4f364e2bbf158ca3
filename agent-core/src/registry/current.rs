//! Whether what serves of a plugin is its newest content under what is decided now, told without the
//! lock that a reload holds: a plugin that takes long to build, or hangs while it is tried out, holds
//! up no other one's calls. A change of the configuration does: it is brought in by a reload alone.

use std::sync::Arc;

use super::configuration::ConfigurationFile;
use super::{Inner, PluginState, Scope};
use crate::build::{CrateManifest, Trust};
use crate::ids::{ContentHash, PluginName};
use crate::plugin::LibrarySource;

impl Inner {
    /// Whether there is nothing to do in this scope but to look again.
    pub(super) async fn is_current(&self, scope: Scope<'_>) -> bool {
        match scope {
            Scope::Only(plugin) => {
                self.serves_as_decided(plugin).await
                    && self.serves_newest(plugin).await.unwrap_or(false)
            }
            Scope::All | Scope::Forced | Scope::Tool(_) => false,
        }
    }

    /// Whether a reload has brought in all that is decided about the plugin.
    async fn serves_as_decided(&self, plugin: &PluginName) -> bool {
        let applied = self.applied.load_full();
        if !Arc::ptr_eq(&applied.configuration, &self.configuration.load()) {
            return false;
        }
        if let Some(path) = self.options.config.clone() {
            let read = tokio::task::spawn_blocking(move || ConfigurationFile::content_of(&path));
            if read.await.ok() != Some(applied.file) {
                return false;
            }
        }
        let statuses = self.statuses.load();
        let mut known = statuses.iter();
        let serving = known.find(|status| status.name == *plugin);
        let serving = serving.and_then(|status| status.serving.as_ref());
        serving.is_some_and(|serving| serving.is_as_decided(&applied.configuration, plugin))
    }

    async fn serves_newest(&self, plugin: &PluginName) -> Option<bool> {
        let (path, hash) = {
            let statuses = self.statuses.load();
            let status = statuses.iter().find(|status| status.name == *plugin)?;
            let is_live = status.state == PluginState::Live;
            let generation = status.generation.as_ref().filter(|_| is_live)?;
            (status.path.clone(), generation.hash())
        };
        let newest = if path.is_dir() {
            let builder = self.builder.as_ref()?;
            let manifest = CrateManifest::read(&path).ok()?;
            let manifest = Trust::of(&self.options.state).judged(manifest);
            let built = builder.at_hand(&manifest, &()).await.ok()??;
            ContentHash::from_hex(&built.library_hash)?
        } else {
            let package = plugin.as_str().to_owned();
            let (store, source) = (Arc::clone(&self.store), LibrarySource { path, package });
            let admit = move || store.admit(&source);
            let admitted = tokio::task::spawn_blocking(admit).await;
            admitted.ok()?.ok()?.hash
        };
        Some(newest == hash)
    }
}
