//! Where plugins run and what they may do there, as a person decided it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::Inner;
use crate::config::{self, Config, ConfigPath, Environment, Grants, PluginLimits, Unset};
use crate::ids::{PluginName, is_same_plugin};
use crate::limits;
use crate::plugin::PluginError;
use crate::plugin::store::StoredLibrary;
use crate::plugin::verdict::Tried;
use crate::tool::{Isolation, Origin};
use crate::worker::sandbox::{Confinement, Minimum};
use crate::worker::{Restriction, Sandbox};

/// What was decided about every plugin, by its name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Policies {
    /// The least that a kernel has to offer for a sandbox, where that was said.
    pub sandbox_minimum: Option<u32>,
    by_name: BTreeMap<String, Policy>,
}

/// Where one plugin runs and what it may do there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    /// What stands between its code and the host, where it was said.
    pub isolation: Option<config::Isolation>,
    /// What it may reach, where it is restricted.
    pub grants: Grants,
    /// What it may use up, where it has a process of its own.
    pub limits: PluginLimits,
    /// The least that a kernel has to offer for its sandbox, where that was said.
    pub sandbox_minimum: Option<u32>,
}

impl Policies {
    /// What a configuration says.
    pub fn read(config: &Config) -> Self {
        let plugins = config.plugins.iter().map(|(name, plugin)| {
            let policy = Policy {
                isolation: plugin.isolation,
                grants: plugin.grants.clone(),
                limits: plugin.limits.clone(),
                sandbox_minimum: None,
            };
            (name.clone(), policy)
        });
        Self {
            sandbox_minimum: config.sandbox_minimum,
            by_name: plugins.collect(),
        }
    }

    /// The same and this one.
    #[must_use]
    pub fn with(mut self, plugin: impl Into<String>, policy: Policy) -> Self {
        self.by_name.insert(plugin.into(), policy);
        self
    }

    /// What was decided about a plugin.
    pub fn of(&self, plugin: &PluginName) -> Policy {
        let mut all = self.by_name.iter();
        let found = all.find(|(name, _)| is_same_plugin(name, plugin.as_str()));
        let policy = found.map(|(_, policy)| policy.clone()).unwrap_or_default();
        Policy {
            sandbox_minimum: policy.sandbox_minimum.or(self.sandbox_minimum),
            ..policy
        }
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
            (grants, policy.limits.clone(), policy.sandbox_minimum)
        };
        isolation != other.isolation()
            || match isolation {
                Isolation::Sandbox => without_network(self) != without_network(other),
                Isolation::Worker => self.limits != other.limits,
                _ => false,
            }
    }
}

/// Where a plugin runs, and what it may do there.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) policy: Policy,
    /// Whether it runs in a process of its own because too many replaced libraries of it stay mapped
    /// in this one.
    pub(super) moved: bool,
}

impl Place {
    /// The place that was decided; where nothing was said, a process of its own for a plugin that has
    /// filled this one.
    pub(super) fn of(mut policy: Policy, is_full: bool) -> Self {
        let moved = is_full && policy.isolation.is_none();
        if moved {
            policy.isolation = Some(config::Isolation::Worker);
        }
        Self { policy, moved }
    }

    /// Whether what is decided now means this place. One that has moved stays where it is.
    pub(super) fn fits(&self, decided: Policy) -> bool {
        let wanted = Self::of(decided, self.moved);
        !self.policy.differs(&wanted.policy)
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

    /// How many replaced libraries of one plugin may stay mapped.
    pub(super) fn most_images(&self) -> usize {
        let configured = self.configuration.load().max_images;
        configured.unwrap_or(limits::RETIRED_IMAGES)
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

    /// What of it has no effect where the plugin runs, in words.
    pub(super) fn without_effect(&self) -> Option<String> {
        let isolation = self.isolation();
        let Grants {
            read,
            write,
            env,
            exec,
            sockets,
            network: _,
        } = &self.grants;
        let grants = !(read.is_empty() && write.is_empty() && env.is_empty()) || *exec || *sockets;
        let words = match isolation {
            Isolation::InProcess if self.limits.memory.is_some() => "`limits`",
            Isolation::InProcess | Isolation::Worker if grants => "`grants` but `network`",
            _ => return None,
        };
        let wanted = match words {
            "`limits`" => "`isolation = \"worker\"` or `\"sandbox\"`",
            _ => "`isolation = \"sandbox\"`",
        };
        Some(format!("{words} have no effect without {wanted}"))
    }

    /// How the library is tried out before it runs.
    pub fn tried(&self) -> Tried {
        match self.isolation() {
            Isolation::Sandbox => Tried::Confined,
            _ => Tried::Free,
        }
    }

    /// How the process of a library is restricted, if it is.
    ///
    /// # Errors
    ///
    /// A grant names a variable that is not set.
    pub fn restriction(&self, library: &StoredLibrary) -> Result<Option<Restriction>, PluginError> {
        Ok(match self.isolation() {
            Isolation::Sandbox => Some(Restriction::Sandbox(self.sandbox(library)?)),
            Isolation::Worker => self.limits.memory.map(Restriction::Memory),
            _ => None,
        })
    }

    fn sandbox(&self, library: &StoredLibrary) -> Result<Sandbox, PluginError> {
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
        let minimum = self.sandbox_minimum;
        confinement.minimum = minimum.map_or_else(Minimum::default, Minimum);
        let granted = |name: &String| Some((name.into(), std::env::var_os(name)?));
        Ok(Sandbox {
            variables: grants.env.iter().filter_map(granted).collect(),
            confinement,
        })
    }
}
