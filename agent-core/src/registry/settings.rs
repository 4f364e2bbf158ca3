//! What a person gives to plugins: for each of them one table, from which its state is opened.
//!
//! Nothing here shows a value: not `Debug`, not an error.

use serde_json::{Map, Value};

use super::secrets::SecretTables;
use crate::config::{Config, Environment, Unset};
use crate::ids::{ContentHash, PluginName, is_same_plugin};
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
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings(SecretTables);

impl Settings {
    /// What a configuration says, its variables replaced. A variable that is not set costs only the
    /// plugin that needs it.
    pub fn read(config: &Config, environment: Environment<'_>) -> Self {
        let plugins = config.plugins.iter();
        let tables = plugins.map(|(name, plugin)| (name, &plugin.settings));
        Self(SecretTables::read(tables, environment))
    }

    /// The same settings and one more.
    #[must_use]
    pub fn with(
        mut self,
        plugin: impl Into<String>,
        setting: impl Into<String>,
        value: Value,
    ) -> Self {
        self.0.insert(plugin.into(), setting.into(), value);
        self
    }

    /// Stands for a plugin's settings where they are compared and remembered, and tells nothing of
    /// them.
    pub(super) fn fingerprint(&self, plugin: &PluginName) -> String {
        self.of(plugin)
            .map_or_else(|error| error.to_string(), |settings| fingerprint(&settings))
    }

    /// The table of one plugin.
    pub(super) fn of(&self, plugin: &PluginName) -> Result<Map<String, Value>, PluginError> {
        let given = self.0.iter();
        let given = given.filter(|(name, _)| is_same_plugin(name, plugin.as_str()));
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

/// Stands for these settings.
pub(super) fn fingerprint(settings: &Map<String, Value>) -> String {
    let text = serde_json::to_vec(settings).unwrap_or_default();
    ContentHash::of(&text).to_string()
}
