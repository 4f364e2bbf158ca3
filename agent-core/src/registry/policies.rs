//! Where plugins run and what they may do there, as a person decided it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::Inner;
use crate::config::{self, Config, ConfigPath, Environment, Grants, PluginLimits, Unset};
use crate::ids::{PluginName, is_same_plugin};
use crate::plugin::PluginError;
use crate::plugin::store::StoredLibrary;
use crate::plugin::verdict::Tried;
use crate::tool::{Isolation, Origin};
use crate::worker::Sandbox;
use crate::worker::sandbox::{Confinement, Minimum};

/// What was decided about every plugin, by its name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Policies(BTreeMap<String, Policy>);

/// Where one plugin runs and what it may do there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    /// What stands between its code and the host, where it was said.
    pub isolation: Option<config::Isolation>,
    /// What it may reach, where it is restricted.
    pub grants: Grants,
    /// What it may use up, where it has a process of its own.
    pub limits: PluginLimits,
}

impl Policies {
    /// What a configuration says.
    pub fn read(config: &Config) -> Self {
        let plugins = config.plugins.iter().map(|(name, plugin)| {
            let policy = Policy {
                isolation: plugin.isolation,
                grants: plugin.grants.clone(),
                limits: plugin.limits.clone(),
            };
            (name.clone(), policy)
        });
        Self(plugins.collect())
    }

    /// The same and this one.
    #[must_use]
    pub fn with(mut self, plugin: impl Into<String>, policy: Policy) -> Self {
        self.0.insert(plugin.into(), policy);
        self
    }

    /// What was decided about a plugin.
    pub fn of(&self, plugin: &PluginName) -> Policy {
        let mut all = self.0.iter();
        let found = all.find(|(name, _)| is_same_plugin(name, plugin.as_str()));
        found.map(|(_, policy)| policy.clone()).unwrap_or_default()
    }
}

impl Policy {
    /// What stands between the plugin's code and the host.
    pub fn isolation(&self) -> Isolation {
        match self.isolation {
            None | Some(config::Isolation::InProcess) => Isolation::InProcess,
            Some(config::Isolation::Worker) => Isolation::Worker,
            Some(config::Isolation::Sandbox) => Isolation::Sandbox,
        }
    }

    /// Whether a plugin that runs under this policy has to be loaded anew for that one to hold. Which
    /// servers it may reach is asked for every request.
    pub(super) fn differs(&self, other: &Self) -> bool {
        let isolation = self.isolation();
        let without_network = |policy: &Self| {
            let grants = Grants {
                network: None,
                ..policy.grants.clone()
            };
            (grants, policy.limits.clone())
        };
        isolation != other.isolation()
            || (isolation == Isolation::Sandbox && without_network(self) != without_network(other))
    }
}

impl Inner {
    /// What is decided about a plugin now: by a person, else by who wrote it.
    pub(super) fn policy_of(&self, plugin: &PluginName) -> Policy {
        let policy = self.configuration.load().policies.of(plugin);
        policy.by_default(self.origin_of(plugin))
    }

    /// Who wrote a plugin, as the last look at the folder has found.
    pub(super) fn origin_of(&self, plugin: &PluginName) -> Origin {
        if self.written.load().contains(plugin) {
            Origin::Written
        } else {
            Origin::Plugin
        }
    }

    /// How a library is confined, if it is.
    pub(super) fn sandbox_for(
        &self,
        policy: &Policy,
        library: &StoredLibrary,
    ) -> Result<Option<Sandbox>, PluginError> {
        policy.sandbox(library, self.configuration.load().minimum())
    }

    pub(super) fn isolation_of(&self, plugin: &PluginName) -> Isolation {
        self.policy_of(plugin).isolation()
    }
}

impl Policy {
    /// The same; a plugin of which no person has said where it runs, and which none has written, runs
    /// in a sandbox.
    #[must_use]
    pub fn by_default(mut self, origin: Origin) -> Self {
        if origin == Origin::Written {
            self.isolation.get_or_insert(config::Isolation::Sandbox);
        }
        self
    }

    /// How the library is tried out before it runs.
    pub fn tried(&self) -> Tried {
        match self.isolation() {
            Isolation::Sandbox => Tried::Confined,
            _ => Tried::Free,
        }
    }

    /// How a library is confined, if it is.
    ///
    /// # Errors
    ///
    /// A grant names a variable that is not set.
    pub fn sandbox(
        &self,
        library: &StoredLibrary,
        minimum: Minimum,
    ) -> Result<Option<Sandbox>, PluginError> {
        if self.isolation() != Isolation::Sandbox {
            return Ok(None);
        }
        let Self { grants, limits, .. } = self;
        let environment: Environment<'_> = &|name| std::env::var(name).ok();
        let resolved = |paths: &[ConfigPath]| {
            let paths = paths.iter().map(|path| path.resolve(environment));
            let paths: Result<Vec<PathBuf>, Unset> = paths.collect();
            paths.map_err(|unset| PluginError::NotStarted(format!("its grants: {unset}")))
        };
        let mut confinement = Confinement::of(PathBuf::new());
        confinement.read = resolved(&grants.read)?;
        confinement.write = resolved(&grants.write)?;
        confinement.libraries = vec![library.path.clone()];
        confinement.exec = grants.exec;
        confinement.raw_sockets = grants.sockets;
        if let Some(memory) = limits.memory {
            confinement.limits.memory = Some(memory);
        }
        confinement.minimum = minimum;
        let granted = |name: &String| Some((name.into(), std::env::var_os(name)?));
        Ok(Some(Sandbox {
            variables: grants.env.iter().filter_map(granted).collect(),
            confinement,
        }))
    }
}
