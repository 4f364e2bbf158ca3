//! A look at the plugins folder: what is there, what is gone, and what needs no build.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;

use super::super::plan::{self, Action};
use super::super::scan::{Found, scan};
use super::super::{Inner, RegistryError};
use super::plugin::{Failure, Plugin};
use super::publish::retire;
use super::{Reload, blocking};
use crate::build::{Built, Trust};
use crate::ids::PluginName;

/// How often, and after what pause, it is asked whether a library is whole now.
const WRITING_CHECKS: u32 = 10;
const WRITING_PAUSE: Duration = Duration::from_millis(10);

impl Reload {
    /// Makes an index of the folder, takes out what is gone, and answers what is there.
    pub(super) async fn look(
        &mut self,
        registry: &Inner,
    ) -> Result<Vec<(PluginName, Found)>, RegistryError> {
        let folder = registry.options.plugins.clone();
        let trust = Trust::of(&registry.options.state);
        let index = blocking(move || scan(&folder, &trust))
            .await
            .map_err(RegistryError::Scan)?;
        registry.written.store(Arc::new(index.written()));
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
}

/// What is at hand of each crate that has not changed since it was built. They are looked at side by
/// side: a look is reading and hashing.
pub(super) async fn look_at_crates(
    registry: &Inner,
    found: &[(PluginName, Found)],
) -> BTreeMap<PluginName, Built> {
    let mut looks = JoinSet::new();
    if let Some(builder) = &registry.builder {
        for (name, found) in found {
            let Found::Crate(manifest) = found else {
                continue;
            };
            let (builder, name, manifest) = (Arc::clone(builder), name.clone(), manifest.clone());
            looks.spawn(async move { (name, builder.at_hand(&manifest, &()).await) });
        }
    }
    let mut at_hand = BTreeMap::new();
    while let Some(looked) = looks.join_next().await {
        match looked {
            // What is wrong with it is told by the build.
            Ok((name, Ok(Some(built)))) => drop(at_hand.insert(name, built)),
            Ok(_) => {}
            Err(error) => std::panic::resume_unwind(error.into_panic()),
        }
    }
    at_hand
}

/// Plugins whose library is not whole yet: it is left alone, half of it would be judged as broken.
pub(super) async fn still_writing(
    registry: &Inner,
    found: &[(PluginName, Found)],
) -> BTreeSet<PluginName> {
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
