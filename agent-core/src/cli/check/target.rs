//! What is checked, and the project around it.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::super::context::Place;
use super::super::contract::Finding;
use super::super::inspect::{Inspected, Inspector, Options, Subject, library_at, of_manifest};
use super::super::{CommandError, Global, log};
use super::{about, error};
use crate::build::{CrateManifest, ManifestError, Trust};
use crate::config::{Config, Unset, find_project};
use crate::ids::{PluginName, is_same_plugin};
use crate::plugin::state::check_settings;
use crate::plugin::{PluginError, Reason};
use crate::registry::{Found, Index, scan};

/// What a path stands for.
pub(super) enum Target {
    /// A library or a crate.
    Subject(Subject),
    /// A folder that is no plugin crate.
    Unfit { path: PathBuf, reason: Reason },
    /// Nothing.
    Missing(PathBuf),
}

impl Target {
    /// What lies at the path, as the plugin that it is in the project where it is one.
    pub(super) fn of(path: &Path, index: &Index) -> Result<Self, CommandError> {
        let mut path = std::path::absolute(path).map_err(CommandError::usage)?;
        if !path.exists() {
            return Ok(Self::Missing(path));
        }
        if path.is_file() && path.file_name().is_some_and(|name| name == "Cargo.toml") {
            path.pop();
        }
        let real = path.canonicalize().ok();
        let mut plugins = index.plugins.iter();
        let known =
            plugins.find(|(_, found)| real.is_some() && found.path().canonicalize().ok() == real);
        if let Some((name, found)) = known {
            return Ok(Self::Subject(Subject {
                plugin: name.clone(),
                found: found.clone(),
                build: true,
            }));
        }
        if !path.is_dir() {
            return Ok(Self::Subject(library_at(&path)));
        }
        Ok(match CrateManifest::read(&path) {
            Ok(manifest) => Self::Subject(Subject {
                plugin: PluginName::new(manifest.package.as_str()),
                found: Found::Crate(manifest),
                build: true,
            }),
            Err(error) => Self::Unfit {
                reason: of_folder(&error),
                path,
            },
        })
    }
}

/// A folder may be meant as a folder of plugins.
fn of_folder(error: &ManifestError) -> Reason {
    let reason = of_manifest(error);
    if matches!(error, ManifestError::NoManifest { .. }) {
        let more = "`toolsmith check --plugins DIR` checks a folder of plugins";
        return Reason::new(&reason.code, format!("{}, {more}", reason.message));
    }
    reason
}

/// The project that is checked, or that something would be taken over by.
pub(super) struct Around {
    pub(super) options: Options,
    pub(super) config: Config,
    /// What belongs to no project leaves nothing behind.
    _temporary: Option<tempfile::TempDir>,
}

impl Around {
    /// The project that the flags name, that the current folder lies in, or that the path lies in.
    /// Without a path there must be one.
    pub(super) fn find(global: &Global, path: Option<&Path>) -> Result<Self, CommandError> {
        let here = std::env::current_dir().map_err(CommandError::failed)?;
        let is_known = global.plugins.is_some() || find_project(&here).is_some();
        let place = match path {
            Some(path) if !is_known => {
                let folder = path.parent().unwrap_or(path);
                let Some(project) = find_project(folder) else {
                    return Self::nowhere(global);
                };
                Place::find(&Global {
                    plugins: Some(project.plugins),
                    config: global.config.clone().or(project.config),
                    ..global.clone()
                })?
            }
            _ => Place::find(global)?,
        };
        if path.is_none() && !place.plugins.is_dir() {
            let text = format!("there is no plugins folder `{}`", place.plugins.display());
            let hint = "`toolsmith new NAME` makes one with a first plugin, --plugins DIR names \
                        another, `toolsmith check PATH` checks a library or a crate anywhere";
            return Err(CommandError::usage(text).with_hint(hint.to_owned()));
        }
        let index =
            scan::scan(&place.plugins, &Trust::of(&place.state)).map_err(CommandError::failed)?;
        let options = Options::new(place.plugins, place.state, index);
        Ok(Self::of(global, options, place.config, None))
    }

    fn nowhere(global: &Global) -> Result<Self, CommandError> {
        let folder = tempfile::tempdir().map_err(CommandError::failed)?;
        let options = Options::temporary(folder.path());
        let config = Place::find(global)?.config;
        Ok(Self::of(global, options, config, Some(folder)))
    }

    fn of(
        global: &Global,
        mut options: Options,
        config: Config,
        temporary: Option<tempfile::TempDir>,
    ) -> Self {
        options.quiet = global.quiet;
        options.config = config.clone();
        log::start(&options.state, global.quiet, global.verbose);
        Self {
            options,
            config,
            _temporary: temporary,
        }
    }

    pub(super) fn inspector(&self) -> Result<Inspector, CommandError> {
        Inspector::open(self.options.clone()).map_err(CommandError::failed)
    }

    /// What a plugin of the project has against the settings that it is given.
    pub(super) fn settings(&self, this: &Inspected) -> Option<Finding> {
        let mut plugins = self.options.index.plugins.values();
        let introduced = this.introduced.as_ref()?;
        if !plugins.any(|found| found.path() == this.path) {
            return None;
        }
        let wrong = match given(&self.config, &this.plugin) {
            Ok(settings) => check_settings(introduced, &settings).err()?,
            Err(text) => PluginError::Settings(text),
        };
        let reason = Reason::new(wrong.code(), wrong.to_string());
        Some(about(&this.plugin, error(reason)))
    }
}

/// The settings of a plugin, or the variable that they lack.
fn given(config: &Config, plugin: &PluginName) -> Result<Map<String, Value>, String> {
    let is_it = |name: &str| is_same_plugin(name, plugin.as_str());
    let sections = config.plugins.iter().filter(|(name, _)| is_it(name));
    let settings = sections.flat_map(|(_, section)| &section.settings);
    let values = settings.map(|(name, value)| {
        let value = value.expand(&|name| std::env::var(name).ok());
        match value {
            Ok(value) => Ok((name.clone(), value)),
            Err(Unset { variable }) => Err(format!(
                "the setting `{name}` needs the environment variable `{variable}`, which is not \
                 set: set it, or change `[plugins.{plugin}.settings] {name}`"
            )),
        }
    });
    values.collect()
}
