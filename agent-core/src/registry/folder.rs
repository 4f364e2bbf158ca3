//! A registry for a folder of plugins, with everything else where the command has it.
//!
//! Owns the usual places. Does not own what is done there.

use std::path::{Path, PathBuf};

use super::{Registry, RegistryError, RegistryOptions};
use crate::build::{Builder, BuilderOptions};
use crate::config::{Config, FILE_NAME};
use crate::event::Emitter;

/// The variable that names the folder in which crates are built.
const TARGET_VARIABLE: &str = "TOOLSMITH_TARGET";

impl Registry {
    /// A registry for the plugins of a folder, as the command opens it: crates are built, the
    /// `toolsmith.toml` beside the folder is followed, state is kept in `.toolsmith` beside it, or
    /// where the file or the environment says. There are no tools until
    /// [`refresh`](Self::refresh).
    ///
    /// # Errors
    /// The state folder can't be written. What is wrong in the file is in
    /// [`notices`](Self::notices).
    pub fn of_folder(plugins: impl AsRef<Path>, events: Emitter) -> Result<Self, RegistryError> {
        let plugins = std::path::absolute(plugins).map_err(RegistryError::Scan)?;
        let file = plugins.parent().unwrap_or(&plugins).join(FILE_NAME);
        let config = Config::load(&file).unwrap_or_default();
        let state = config.state_dir(&plugins, &|name| std::env::var(name).ok());
        let state = state.map_err(RegistryError::Unset)?;
        let target = target_folder(&plugins).join("trusted");
        let building = BuilderOptions::new(plugins.clone(), state.clone(), target);
        let builder = Builder::new(building.configured(&config)).map_err(RegistryError::Scan)?;
        let mut options = RegistryOptions::new(plugins, state);
        options.config = Some(file);
        Self::open(options, Some(builder), events)
    }
}

/// Where the crates of a folder are built, each class of trust in a folder of its own:
/// `target/toolsmith` beside the folder, or what `TOOLSMITH_TARGET` names.
pub fn target_folder(plugins: &Path) -> PathBuf {
    std::env::var_os(TARGET_VARIABLE).map_or_else(
        || plugins.parent().unwrap_or(plugins).join("target/toolsmith"),
        PathBuf::from,
    )
}
