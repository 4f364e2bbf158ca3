//! Tables of values that nobody may see, one for each name: not `Debug`, not an error shows them.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::Value;

use crate::config::{Environment, SecretValue, Unset};

/// A value, or the variable that it lacks.
pub(super) type Resolved = Result<Value, Unset>;

/// The values of one table by their names.
pub(super) type Table = BTreeMap<String, Resolved>;

/// Tables by what they are for.
#[derive(Clone, Default, PartialEq)]
pub(super) struct SecretTables(BTreeMap<String, Table>);

impl SecretTables {
    /// What a configuration says, its variables replaced. A variable that is not set costs only what
    /// its table is for.
    pub(super) fn read<'c>(
        tables: impl Iterator<Item = (&'c String, &'c BTreeMap<String, SecretValue>)>,
        environment: Environment<'_>,
    ) -> Self {
        let tables = tables.map(|(owner, table)| {
            let values = table.iter();
            let values = values.map(|(name, value)| (name.clone(), value.expand(environment)));
            (owner.clone(), values.collect())
        });
        Self(tables.collect())
    }

    /// Adds a value.
    pub(super) fn insert(&mut self, owner: String, name: String, value: Value) {
        self.0.entry(owner).or_default().insert(name, Ok(value));
    }

    /// The table for this name.
    pub(super) fn get(&self, owner: &str) -> Option<&Table> {
        self.0.get(owner)
    }

    /// Every table with what it is for.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&String, &Table)> {
        self.0.iter()
    }
}

impl fmt::Debug for SecretTables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tables = self.0.iter();
        let names = tables.map(|(owner, table)| (owner, table.keys().collect::<Vec<_>>()));
        f.debug_map().entries(names).finish()
    }
}
