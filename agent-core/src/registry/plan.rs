//! What a change of the plugins folder and of the tool table means. Pure: no files, no time.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::compatibility::schema_change;
use super::scan::{Found, Index};
use super::table::Table;
use crate::event::{ChangedTool, EventKind, FailedPlugin};
use crate::ids::PluginName;

/// One step of a reload. Steps are taken in order, and plugins are ordered by name (R3).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// The plugin's file or folder is gone: its tools go.
    Remove(PluginName),
    /// The plugin's folder is there, but is no plugin at present: what serves goes on.
    Keep(PluginName, String),
    /// Make sure that what serves is what the file or folder says.
    Ensure(PluginName, Found),
}

/// The steps from what is known, and where it lies, to what was found.
pub(super) fn plan(known: &BTreeMap<PluginName, PathBuf>, index: &Index) -> Vec<Action> {
    let missing = known
        .iter()
        .filter(|(name, _)| !index.plugins.contains_key(*name));
    let missing = missing.map(|(name, path)| {
        let refused = index.refused.values().find(|refused| refused.path == *path);
        match refused.filter(|refused| !refused.conflict) {
            Some(refused) => Action::Keep(name.clone(), refused.reason.clone()),
            None => Action::Remove(name.clone()),
        }
    });
    let there = index.plugins.iter();
    let there = there.map(|(name, found)| Action::Ensure(name.clone(), found.clone()));
    missing.chain(there).collect()
}

/// The event for a new table; `None` when no tool changed and nothing failed.
pub(super) fn changes(old: &Table, new: &Table, failed: Vec<FailedPlugin>) -> Option<EventKind> {
    let names = |table: &Table, other: &Table| -> Vec<String> {
        let only = table
            .entries()
            .iter()
            .filter(|entry| other.get(&entry.spec().name).is_none());
        only.map(|entry| entry.spec().name.clone()).collect()
    };
    let (added, removed) = (names(new, old), names(old, new));
    let changed: Vec<ChangedTool> = new
        .entries()
        .iter()
        .filter_map(|entry| {
            let before = old.get(&entry.spec().name)?;
            let same = std::sync::Arc::ptr_eq(before, entry);
            (!same).then(|| ChangedTool {
                name: entry.spec().name.clone(),
                schema: schema_change(&before.spec().input_schema, &entry.spec().input_schema),
            })
        })
        .collect();
    let nothing = added.is_empty() && removed.is_empty() && changed.is_empty() && failed.is_empty();
    (!nothing).then_some(EventKind::ToolsChanged {
        added,
        removed,
        changed,
        failed,
    })
}

#[cfg(test)]
mod tests {
    use super::super::scan::Refused;
    use super::*;

    #[test]
    fn removed_plugins_go_first_then_all_by_name() {
        let mut index = Index::default();
        for name in ["c", "a"] {
            let source = crate::plugin::LibrarySource {
                path: name.into(),
                package: name.into(),
            };
            index
                .plugins
                .insert(PluginName::new(name), Found::Library(source));
        }
        let refused = |path: &str, conflict| Refused {
            path: path.into(),
            reason: "r".into(),
            conflict,
        };
        index
            .refused
            .insert(PluginName::new("broken"), refused("broken", false));
        index
            .refused
            .insert(PluginName::new("twin"), refused("twin", true));
        let known = ["b", "broken", "c", "twin"].map(|name| (PluginName::new(name), name.into()));
        let names: Vec<String> = plan(&known.into(), &index)
            .iter()
            .map(|action| match action {
                Action::Remove(name) => format!("-{name}"),
                Action::Keep(name, reason) => format!("={name} {reason}"),
                Action::Ensure(name, _) => format!("+{name}"),
            })
            .collect();
        assert_eq!(names, ["-b", "=broken r", "-twin", "+a", "+c"]);
    }
}
