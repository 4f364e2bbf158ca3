//! What a person gives to plugins: for each of them one table, from which its state is opened.
//!
//! Nothing here shows a value: not `Debug`, not an error.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Map, Value};

use crate::config::{Config, Environment, Unset};
use crate::ids::PluginName;
use crate::plugin::PluginError;

/// The settings of every plugin, by its name.
///
/// ```
/// use agent_core::registry::Settings;
/// use serde_json::json;
///
/// let settings = Settings::default().with("search-wine", "cellar", json!("north"));
/// assert!(!format!("{settings:?}").contains("north"));
/// ```
#[derive(Clone, Default)]
pub struct Settings(BTreeMap<String, BTreeMap<String, Result<Value, Unset>>>);

impl Settings {
    /// What a configuration says, its variables replaced. A variable that is not set costs only the
    /// plugin that needs it.
    pub fn read(config: &Config, environment: Environment<'_>) -> Self {
        let plugins = config.plugins.iter().map(|(name, plugin)| {
            let values = plugin.settings.iter();
            let values = values.map(|(name, value)| (name.clone(), value.expand(environment)));
            (name.clone(), values.collect())
        });
        Self(plugins.collect())
    }

    /// The same settings and one more.
    #[must_use]
    pub fn with(
        mut self,
        plugin: impl Into<String>,
        setting: impl Into<String>,
        value: Value,
    ) -> Self {
        let plugin = self.0.entry(plugin.into()).or_default();
        plugin.insert(setting.into(), Ok(value));
        self
    }

    /// The table of one plugin.
    pub(super) fn of(&self, plugin: &PluginName) -> Result<Map<String, Value>, PluginError> {
        // A finished library is called by its file, in which every `-` is `_`.
        let is_it = |name: &str| name.replace('-', "_") == plugin.as_str().replace('-', "_");
        let given = self.0.iter().filter(|(name, _)| is_it(name));
        let given = given.flat_map(|(_, table)| table);
        let values = given.map(|(name, value)| match value {
            Ok(value) => Ok((name.clone(), value.clone())),
            Err(Unset { variable }) => Err(PluginError::Settings(format!(
                "the setting `{name}` of plugin `{plugin}` needs the environment variable \
                 `{variable}`, which is not set: set it, or change \
                 `[plugins.{plugin}.settings] {name}`"
            ))),
        });
        values.collect()
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plugins = self.0.iter();
        let names = plugins.map(|(plugin, values)| (plugin, values.keys().collect::<Vec<_>>()));
        f.debug_map().entries(names).finish()
    }
}
