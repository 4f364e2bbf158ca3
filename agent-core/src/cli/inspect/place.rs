//! Where things are inspected: whose state and target folders are used.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use crate::build::{BuilderOptions, CrateManifest, Profile};
use crate::config::Config;
use crate::registry::{Found, Index, target_folder};

/// Whose folders are used, and how it is built and told.
#[derive(Clone, Debug)]
pub(in crate::cli) struct Options {
    pub(in crate::cli) plugins: PathBuf,
    pub(in crate::cli) state: PathBuf,
    /// What lies in the plugins folder.
    pub(in crate::cli) index: Index,
    pub(in crate::cli) profile: Profile,
    pub(in crate::cli) quiet: bool,
    /// Whether a person sees stderr on a terminal.
    pub(in crate::cli) terminal: bool,
    /// What a person decided.
    pub(in crate::cli) config: Config,
    target: PathBuf,
}

impl Options {
    /// The folders of a project; `state` may lie elsewhere, and the target folder beside it then.
    pub(in crate::cli) fn new(plugins: PathBuf, state: PathBuf, index: Index) -> Self {
        Self {
            target: target_folder(&plugins),
            plugins,
            state,
            index,
            config: Config::default(),
            profile: Profile::Dev,
            quiet: false,
            terminal: std::io::stderr().is_terminal(),
        }
    }

    /// For what belongs to no project: everything in one folder that is removed afterwards.
    pub(in crate::cli) fn temporary(folder: &Path) -> Self {
        let plugins = folder.join("plugins");
        Self::new(plugins, folder.join("state"), Index::default())
    }

    pub(super) fn shows_progress(&self) -> bool {
        !self.quiet && self.terminal
    }

    /// How a crate is built. One that is no plugin of the project and whose library is called as
    /// that of another crate that is would take that library's place, so it has folders of its own.
    pub(super) fn builder_for(&self, manifest: &CrateManifest) -> BuilderOptions {
        let crates = || {
            let found = self.index.plugins.values();
            found.filter_map(|found| match found {
                Found::Crate(known) => Some(known),
                Found::Library(_) => None,
            })
        };
        let is_taken = crates().all(|known| known.folder != manifest.folder)
            && crates().any(|known| known.library == manifest.library);
        let (state, trusted, written) = if is_taken {
            (self.state.join("check"), "check", "check-written")
        } else {
            (self.state.clone(), "trusted", "written")
        };
        let target = self.target.join(trusted);
        let options = BuilderOptions::new(self.plugins.clone(), state, target);
        let mut options = options.configured(&self.config);
        options.written_dir = self.target.join(written);
        options.profile = self.profile;
        options.colour = self.terminal;
        options
    }
}
