//! What the tools of one plugin share, opened from its settings, and opened anew when those change.

use std::fmt;

use serde_json::{Map, Value};

use super::super::{Inner, settings};
use super::plugin::Failure;
use crate::ids::PluginName;
use crate::plugin::{PluginError, PluginState};

/// State that is open.
pub(super) struct Shared {
    state: PluginState,
    /// What it was opened from.
    settings: Map<String, Value>,
}

impl Shared {
    /// Opens the state of a plugin for the first time.
    pub(super) async fn open(
        registry: &Inner,
        plugin: &PluginName,
        state: PluginState,
    ) -> Result<Self, PluginError> {
        let settings = registry.configuration.load().settings.of(plugin)?;
        state.open(&settings).await?;
        Ok(Self { state, settings })
    }

    /// Stands for what it was opened from.
    pub(super) fn fingerprint(&self) -> String {
        settings::fingerprint(&self.settings)
    }

    /// Opens it anew if its settings changed. If that fails, what was open stays.
    pub(super) async fn follow(
        &mut self,
        registry: &Inner,
        plugin: &PluginName,
    ) -> Result<(), Failure> {
        let wanted = registry.configuration.load().settings.of(plugin);
        let opened = match wanted {
            Ok(settings) if settings == self.settings => return Ok(()),
            Ok(settings) => self.state.open(&settings).await.map(|()| settings),
            Err(error) => Err(error),
        };
        match opened {
            Ok(settings) => {
                self.settings = settings;
                Ok(())
            }
            Err(error) => {
                let content = registry.configuration.load().settings.fingerprint(plugin);
                Err(Failure::unreported(error.to_string(), content))
            }
        }
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared")
            .field("state", &self.state)
            .finish_non_exhaustive()
    }
}
