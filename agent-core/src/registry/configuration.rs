//! What a person decided about plugins and tools, and how it follows its file.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::{Policies, Presets, Settings, Table};
use crate::config::{Config, ConfigError, Environment, FILE_NAME, Permission};
use crate::fingerprint::{Fingerprint, now};
use crate::ids::{ContentHash, PluginName, is_same_plugin};
use crate::tool::problem::closest;

/// What a person decided about plugins and tools, by their names.
///
/// ```
/// use agent_core::registry::Configuration;
/// use serde_json::json;
///
/// let mut configuration = Configuration::default();
/// configuration.presets = configuration.presets.with("bing_search", "api_key", json!("secret"));
/// assert!(!format!("{configuration:?}").contains("secret"));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Configuration {
    /// Values of arguments that no model sees.
    pub presets: Presets,
    /// What the state of plugins is opened from.
    pub settings: Settings,
    /// Time limits of tools, instead of their own.
    pub timeouts: BTreeMap<String, Duration>,
    /// Whether calls of tools run, are asked for, or are refused, instead of what the tool says.
    pub permissions: BTreeMap<String, Permission>,
    /// Where plugins run and what they may do there.
    pub policies: Policies,
    /// How many retired libraries of one plugin may stay mapped before it runs in a process of its own.
    pub max_images: Option<usize>,
}

impl Configuration {
    /// What a file says, its variables replaced. A variable that is not set costs only the tool or
    /// plugin that needs it.
    pub fn read(config: &Config, environment: Environment<'_>) -> Self {
        let tools = config.tools.iter();
        let permissions = tools.clone();
        let permissions =
            permissions.filter_map(|(name, tool)| Some((name.clone(), tool.permission?)));
        let timeouts = tools.filter_map(|(name, tool)| Some((name.clone(), tool.timeout?)));
        Self {
            presets: Presets::read(config, environment),
            settings: Settings::read(config, environment),
            timeouts: timeouts.collect(),
            permissions: permissions.collect(),
            policies: Policies::read(config),
            max_images: config.max_images,
        }
    }

    /// Whether the same is decided about a tool.
    pub(super) fn agrees_on(&self, other: &Self, tool: &str) -> bool {
        self.presets.of(tool) == other.presets.of(tool)
            && self.timeouts.get(tool) == other.timeouts.get(tool)
            && self.permissions.get(tool) == other.permissions.get(tool)
    }
}

/// A configuration file that is read again whenever it changes.
#[derive(Debug)]
pub(super) struct ConfigurationFile {
    path: PathBuf,
    /// The file when it was last read.
    seen: Option<Seen>,
    /// Names of sections, to be compared with what there is.
    pub(super) named: Named,
}

/// What the tools in the table were made with.
#[derive(Debug, Default)]
pub(super) struct Applied {
    /// The content of the configuration file, if there was one.
    pub(super) file: Option<ContentHash>,
    pub(super) configuration: Arc<Configuration>,
}

/// A file when it was read; without fingerprint and content where there was none.
#[derive(Clone, Copy, Debug)]
struct Seen {
    fingerprint: Option<Fingerprint>,
    /// When the look began.
    taken: i64,
    content: Option<ContentHash>,
}

/// Plugins and tools that a file names.
#[derive(Clone, Debug, Default)]
pub(super) struct Named {
    plugins: BTreeSet<String>,
    tools: BTreeSet<String>,
}

impl ConfigurationFile {
    pub(super) fn new(path: PathBuf) -> Self {
        Self {
            path,
            seen: None,
            named: Named::default(),
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// What the file held when it was last read.
    pub(super) fn content(&self) -> Option<ContentHash> {
        self.seen.and_then(|seen| seen.content)
    }

    /// What such a file holds now.
    pub(super) fn content_of(path: &Path) -> Option<ContentHash> {
        fs_err::read(path).ok().map(|text| ContentHash::of(&text))
    }

    /// What the file says, if it has changed since the last time.
    pub(super) fn read_if_new(&mut self) -> Option<Result<Configuration, ConfigError>> {
        let taken = now();
        let fingerprint = fs_err::metadata(&self.path).ok();
        let fingerprint = fingerprint.map(|metadata| Fingerprint::of(&metadata));
        let is_old = self.seen.is_some_and(|seen| {
            let young = fingerprint.is_some_and(|fingerprint| fingerprint.is_fresh_at(seen.taken));
            seen.fingerprint == fingerprint && !young
        });
        if is_old {
            return None;
        }
        let seen = Seen {
            fingerprint,
            taken,
            content: Self::content_of(&self.path),
        };
        if self.seen.replace(seen).map(|seen| seen.content) == Some(seen.content) {
            return None;
        }
        // A file that is taken away takes back what it said.
        let config = match fingerprint {
            None => Ok(Config::default()),
            Some(_) => Config::load(&self.path),
        };
        Some(config.map(|config| {
            self.named = Named {
                plugins: config.plugins.keys().cloned().collect(),
                tools: config.tools.keys().cloned().collect(),
            };
            Configuration::read(&config, &|name| std::env::var(name).ok())
        }))
    }
}

impl Named {
    /// Sections that name nothing there is: probably slips of the pen.
    pub(super) fn unknown<'a>(
        &self,
        plugins: &(impl Iterator<Item = &'a PluginName> + Clone),
        table: &Table,
    ) -> Vec<String> {
        let is_plugin = |name: &&String| {
            let mut known = plugins.clone();
            known.any(|known| is_same_plugin(known.as_str(), name))
        };
        let tools = || {
            let lost = table.conflicts().iter().map(|conflict| &conflict.entry);
            table.entries().iter().chain(lost)
        };
        let names = || tools().map(|entry| entry.spec().name.as_str());
        let is_tool = |name: &&String| names().any(|known| known == name.as_str());
        let notice = |section: &str, what: &str, name: &str, closest: Option<String>| {
            let hint = closest.map_or_else(String::new, |name| format!("; did you mean `{name}`?"));
            format!("`[{section}.{name}]` in {FILE_NAME} names no {what} that there is{hint}")
        };
        let unknown = self.plugins.iter().filter(|name| !is_plugin(name));
        let unknown_plugins = unknown.map(|name| {
            let close = closest(name, plugins.clone().map(PluginName::as_str));
            notice("plugins", "plugin", name, close)
        });
        let unknown = self.tools.iter().filter(|name| !is_tool(name));
        let unknown_tools =
            unknown.map(|name| notice("tools", "tool", name, closest(name, names())));
        unknown_plugins.chain(unknown_tools).collect()
    }
}
