//! What becomes of a reload's outcome: the table that calls read, the event that tells it, and what
//! `list` shows.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::super::status::{GivenUp, PluginState, Status};
use super::super::table::{Table, ToolEntry};
use super::super::{Conflict, Inner, plan};
use super::Reload;
use super::plugin::{Current, Failure};
use crate::event::FailedPlugin;
use crate::ids::PluginName;

impl Reload {
    /// Remembers why a plugin's newest content does not serve, and tells it once, with the next
    /// table.
    pub(super) fn fail(&mut self, name: PluginName, failure: Failure) {
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
    pub(super) fn publish(&mut self, registry: &Inner) {
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
        registry.statuses.store(Arc::new(self.statuses(registry)));
        if let Some(event) = plan::changes(&old, &new, std::mem::take(&mut self.failed)) {
            registry.events.emit(|| event);
        }
    }

    pub(super) fn statuses(&self, registry: &Inner) -> Vec<Status> {
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
            isolation: registry.isolation_of(name),
            serving: None,
            enforced: None,
            given_up: GivenUp::default(),
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
            isolation: match &plugin.current {
                Some(current) => current.place.policy.isolation(),
                None => registry.isolation_of(name),
            },
            serving: plugin.current.as_ref().map(Current::serving),
            enforced: plugin
                .current
                .as_ref()
                .and_then(|current| current.enforced.clone()),
            given_up: plugin
                .current
                .as_ref()
                .map(|current| Arc::clone(&current.given_up))
                .unwrap_or_default(),
        });
        let mut all: Vec<Status> = known.chain(refused).collect();
        all.sort_by(|a, b| a.name.cmp(&b.name));
        all
    }
}

/// Retires what was replaced, now that the new table is there.
pub(super) fn retire(replaced: Vec<Current>) {
    for current in replaced {
        current.generation.retire();
    }
}

/// R26: a tool that lost its name is never lost in silence.
fn warn_of_conflicts(old: &Table, new: &Table) {
    for conflict in new.conflicts() {
        let told = |known: &Conflict| Arc::ptr_eq(&known.entry, &conflict.entry);
        if !old.conflicts().iter().any(told) {
            let (tool, loser) = (&conflict.entry.spec().name, conflict.entry.plugin());
            let loser = loser.map_or("this program", PluginName::as_str);
            let winner = &conflict.winner;
            tracing::warn!("tool `{tool}` of `{loser}` can't be called: {winner} has that name");
        }
    }
}
