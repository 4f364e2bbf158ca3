//! What a change of the plugins folder and of the tool table means. Pure: no files, no time.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde_json::{Map, Value};

use super::scan::{Found, Index};
use super::table::Table;
use crate::event::{ChangedTool, EventKind, FailedPlugin, SchemaChange};
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

/// Whether calls that were valid for the old schema are valid for the new one. Careful: what is
/// not surely compatible is breaking.
pub(super) fn schema_change(old: &Value, new: &Value) -> SchemaChange {
    if old == new {
        return SchemaChange::Same;
    }
    if accepts_all(&essence(old), &essence(new)) {
        SchemaChange::Compatible
    } else {
        SchemaChange::Breaking
    }
}

fn accepts_all(old: &Value, new: &Value) -> bool {
    if old == new {
        return true;
    }
    let (Some(old), Some(new)) = (old.as_object(), new.as_object()) else {
        return false;
    };
    let part =
        |schema: &Map<String, Value>, key: &str| schema.get(key).cloned().unwrap_or_default();
    let rest = |schema: &Map<String, Value>| {
        let mut rest = schema.clone();
        rest.retain(|key, _| !matches!(key.as_str(), "properties" | "required" | "enum"));
        rest
    };
    let set = |value: Value| -> BTreeSet<String> {
        value
            .as_array()
            .into_iter()
            .flatten()
            .map(ToString::to_string)
            .collect()
    };
    let enums = match (old.get("enum"), new.get("enum")) {
        (Some(old), Some(new)) => set(old.clone()).is_subset(&set(new.clone())),
        (_, new) => new.is_none(),
    };
    let properties = |schema: &Map<String, Value>| -> BTreeMap<String, Value> {
        part(schema, "properties")
            .as_object()
            .cloned()
            .unwrap_or_default()
            .into_iter()
            .collect()
    };
    let after = properties(new);
    let kept = properties(old).iter().all(|(name, schema)| {
        after
            .get(name)
            .is_some_and(|after| accepts_all(schema, after))
    });
    let demands = set(part(new, "required")).is_subset(&set(part(old, "required")));
    rest(old) == rest(new) && enums && kept && demands
}

/// A schema without the keywords that refuse nothing.
fn essence(schema: &Value) -> Value {
    match schema {
        Value::Object(keywords) => {
            let kept = keywords.iter().filter(|(key, value)| {
                let words = matches!(
                    key.as_str(),
                    "description" | "title" | "default" | "examples"
                );
                // An argument may have such a name; then its value is a schema.
                !words || value.is_object()
            });
            kept.map(|(key, value)| (key.clone(), essence(value)))
                .collect::<Map<_, _>>()
                .into()
        }
        Value::Array(items) => items.iter().map(essence).collect::<Vec<_>>().into(),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::scan::Refused;
    use super::*;

    fn object(properties: &Value, required: &[&str]) -> Value {
        json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
    }

    #[test]
    fn schema_change_is_compatible_only_if_every_old_call_still_fits() {
        let old = object(&json!({"a": {"type": "string", "enum": ["x"]}}), &["a"]);
        let check = |new: Value, expected: SchemaChange| {
            assert_eq!(schema_change(&old, &new), expected, "{new}");
        };
        check(old.clone(), SchemaChange::Same);
        let described = json!({"a": {"type": "string", "description": "d", "enum": ["x"]}});
        check(object(&described, &["a"]), SchemaChange::Compatible);
        let wider = json!({"a": {"type": "string", "enum": ["x", "y"]}, "b": {"type": "integer"}});
        check(object(&wider.clone(), &[]), SchemaChange::Compatible);
        check(object(&wider, &["a", "b"]), SchemaChange::Breaking);
        check(
            object(&json!({"a": {"type": "integer"}}), &["a"]),
            SchemaChange::Breaking,
        );
        check(object(&json!({}), &[]), SchemaChange::Breaking);
    }

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
