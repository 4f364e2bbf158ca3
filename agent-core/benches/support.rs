//! What the benches share: plugins in a temporary folder, and the comparison of two things that
//! are measured in turn, so that a machine whose speed drifts hits both alike.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use agent_core::build::{Builder, BuilderOptions, Profile};
use agent_core::event::Emitter;
use agent_core::registry::{Registry, RegistryOptions};
use fs_err as fs;

/// The repository.
pub(crate) fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the package lies in it")
        .to_owned()
}

/// A project of plugins in a temporary folder.
pub(crate) struct Project {
    folder: tempfile::TempDir,
}

impl Project {
    /// A project without plugins.
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("there is a temporary folder");
        fs::create_dir(folder.path().join("plugins")).expect("writable");
        Self { folder }
    }

    /// Its folder.
    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Writes a plugin crate.
    pub(crate) fn plugin(&self, name: &str, source: &str) {
        let sdk = repository().join("tool-sdk");
        let lock = fs::read_to_string(sdk.join("template/Cargo.lock")).expect("a template lock");
        let lock = lock.replace("name = \"template\"", &format!("name = {name:?}"));
        let dependency = format!("tool-sdk = {{ path = {:?} }}", sdk.display().to_string());
        write_crate(
            &self.path().join("plugins").join(name),
            name,
            &dependency,
            source,
        );
        fs::write(
            self.path().join("plugins").join(name).join("Cargo.lock"),
            lock,
        )
        .expect("writable");
    }

    /// A builder with this profile. All benches share a target directory.
    pub(crate) fn builder(&self, profile: Profile) -> Arc<Builder> {
        let (plugins, state) = (self.path().join("plugins"), self.path().join("state"));
        let target = repository().join("target/toolsmith-bench");
        let mut options = BuilderOptions::new(plugins, state, target);
        options.profile = profile;
        Builder::new(options).expect("absolute folders")
    }

    /// A registry that builds with this profile.
    pub(crate) fn registry(&self, profile: Profile, events: Emitter) -> Registry {
        let (plugins, state) = (self.path().join("plugins"), self.path().join("state"));
        let builder = self.builder(profile);
        Registry::open(RegistryOptions::new(plugins, state), Some(builder), events)
            .expect("writable")
    }
}

/// Writes a crate that builds a cdylib.
pub(crate) fn write_crate(folder: &Path, name: &str, dependencies: &str, source: &str) {
    fs::create_dir_all(folder.join("src")).expect("writable");
    let manifest = format!(
        "[package]\nname = {name:?}\nversion = \"0.1.0\"\nedition = \"2024\"\n\n\
         [lib]\ncrate-type = [\"cdylib\", \"rlib\"]\n\n[dependencies]\n{dependencies}\n\n[workspace]\n"
    );
    fs::write(folder.join("Cargo.toml"), manifest).expect("writable");
    fs::write(folder.join("src/lib.rs"), source).expect("writable");
}

/// Prints a row: what was measured, its limit, and the ratio against the goal.
pub(crate) fn report(
    row: &str,
    what: &str,
    ours: &mut [Duration],
    limit: &mut [Duration],
    goal: f64,
) {
    let (ours, limit) = (median(ours), median(limit));
    let ratio = ours.as_secs_f64() / limit.as_secs_f64();
    let verdict = if ratio <= goal { "met" } else { "MISSED" };
    println!(
        "{row:>3} {what}: {ours:?} against {limit:?} = {ratio:.2} x (goal {goal:.1} x, {verdict})"
    );
}

/// The median.
pub(crate) fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}
