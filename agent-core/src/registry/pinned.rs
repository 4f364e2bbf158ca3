//! The tools as one turn of a model sees them: taken at one moment, and in service until the turn is
//! over.
//!
//! Owns which tools are shown and under which names. Does not own who decides that.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Registry, Table, ToolEntry};
use crate::ids::PluginName;
use crate::plugin::Lease;

/// Tools that stay as they are while it lives, whatever is reloaded. Their plugins' older
/// generations are not retired before.
#[derive(Debug, Default)]
pub struct Pinned {
    table: Arc<Table>,
    /// One for each generation that a tool belongs to.
    _leases: Vec<Lease>,
}

impl Registry {
    /// Pins all tools that exist now.
    pub fn pin(&self) -> Pinned {
        loop {
            let table = self.table();
            if let Some(leases) = leases(&table) {
                return Pinned {
                    table,
                    _leases: leases,
                };
            }
            // A generation closed between the look at the table and the lease: it was replaced.
            std::hint::spin_loop();
        }
    }
}

/// A lease for each generation; `None` if one has closed.
fn leases(table: &Table) -> Option<Vec<Lease>> {
    let mut leases: BTreeMap<&PluginName, Lease> = BTreeMap::new();
    for entry in table.entries() {
        let Some(plugin) = entry.plugin() else {
            continue;
        };
        if !leases.contains_key(plugin)
            && let Some(lease) = entry.lease().ok()?
        {
            leases.insert(plugin, lease);
        }
    }
    Some(leases.into_values().collect())
}

impl Pinned {
    /// The tools, in R3's order.
    pub fn table(&self) -> &Arc<Table> {
        &self.table
    }

    /// With these tools beside those that there are. A name that is taken stays with who has it by
    /// R26.
    #[must_use]
    pub fn with(self, tools: impl IntoIterator<Item = Arc<ToolEntry>>) -> Self {
        let entries = self.table.entries().iter().cloned().chain(tools).collect();
        self.of(entries)
    }

    /// Without the tools that this refuses.
    #[must_use]
    pub fn only(self, shown: impl Fn(&ToolEntry) -> bool) -> Self {
        let entries = self.table.entries().iter();
        let shown = entries.filter(|entry| shown(entry)).cloned().collect();
        self.of(shown)
    }

    /// With this in front of every tool's name. A name that would break the rule for tool names
    /// (R20) is left as it is.
    #[must_use]
    pub fn prefixed(self, prefix: &str) -> Self {
        if prefix.is_empty() {
            return self;
        }
        let named = self.table.entries().iter().map(|entry| {
            let name = format!("{prefix}{}", entry.spec().name);
            if crate::ids::is_tool_name(&name) {
                Arc::new(entry.named(name))
            } else {
                Arc::clone(entry)
            }
        });
        let named = named.collect();
        self.of(named)
    }

    fn of(self, entries: Vec<Arc<ToolEntry>>) -> Self {
        Self {
            table: Arc::new(Table::new(entries)),
            ..self
        }
    }
}
