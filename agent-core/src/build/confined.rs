//! How cargo runs for a crate that a model wrote and nobody vouches for.
//!
//! Owns what such a run may reach and what it is told. Does not own the sandbox
//! ([`crate::worker::sandbox`]), what the manifest may say ([`super::written`]), nor which crates these
//! are ([`super::trust`]).
//!
//! A compiler reads files and variables for the code that it compiles (`include_str!`, `env!`), and
//! runs other programs. So cargo runs with everything that it starts as a process that confined
//! itself first:
//!
//! | what | how |
//! |---|---|
//! | readable | the crate, the SDK, the toolchain, the registry's sources and index, the system's programs |
//! | writable | `target/toolsmith/written`, and a folder that is removed afterwards, which is home, too |
//! | network | none: cargo is offline |
//! | configuration | none of folders, nor the user's; only where its sources of crates lie |
//! | variables | none of the host's but `PATH`, and that without folders of people |
//! | limits | the time of a build, memory, size of files, processes |

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fs_err as fs;
use toml::{Table, Value};

use super::error::BuildError;
use super::manifest::{CrateManifest, is_workspace, workspace_above};
use super::process::Group;
use super::steps::blocking;
use super::{Builder, record, sdk};
use crate::limits::{BUILD_MEMORY, BUILD_TIME};
use crate::worker::sandbox::{Confinement, Limits, available};
use crate::worker::{HelperError, Helpers, Sandbox};

/// Folders of programs that a confined process may read. Others in `PATH` are a person's.
const PROGRAMS: [&str; 5] = ["/usr", "/bin", "/sbin", "/nix/store", "/gnu/store"];

/// Cargo as it runs for one crate.
#[derive(Debug)]
pub(super) struct ConfinedCargo {
    package: String,
    helpers: Helpers,
    sandbox: Sandbox,
    cargo: PathBuf,
}

impl ConfinedCargo {
    /// Starts it. It runs in an empty folder, since it looks for configuration in the folder that it
    /// runs in and those above.
    pub(super) async fn start(&self, mut arguments: Vec<OsString>) -> Result<Group, BuildError> {
        arguments.push("--offline".into());
        let program = self.cargo.clone();
        let running = self.helpers.run_confined(&self.sandbox, program, arguments);
        match running.await {
            Ok(running) => Ok(Group::of(running)),
            Err(error) => Err(self.not_confined(&error)),
        }
    }

    fn not_confined(&self, error: &HelperError) -> BuildError {
        BuildError::NotConfined {
            package: self.package.clone(),
            reason: error.to_string(),
        }
    }
}

impl Builder {
    /// How cargo runs for a crate, if it may not run freely. Refuses what may not be built.
    pub(super) async fn confined(
        self: &Arc<Self>,
        manifest: &CrateManifest,
    ) -> Result<Option<ConfinedCargo>, BuildError> {
        if !manifest.origin.is_confined() {
            return Ok(None);
        }
        let minimum = self.options.sandbox_minimum;
        available(minimum).map_err(|error| BuildError::NotConfined {
            package: manifest.package.clone(),
            reason: error.to_string(),
        })?;
        let sysroot = self.sysroot().await?;
        let (builder, manifest) = (Arc::clone(self), manifest.clone());
        blocking(move || Ok(Some(builder.confined_with(&manifest, &sysroot)?))).await
    }

    fn confined_with(
        &self,
        manifest: &CrateManifest,
        sysroot: &Path,
    ) -> Result<ConfinedCargo, BuildError> {
        let cargo = sysroot.join("bin/cargo");
        if !cargo.is_file() {
            return Err(BuildError::CargoMissing { program: cargo });
        }
        let target = self.target_of(manifest);
        fs::create_dir_all(target)?;
        let home = self.private_home()?;
        let mut read = vec![manifest.folder.clone(), sysroot.to_owned(), home.clone()];
        read.extend(self.registry());
        read.extend(manifest.sdk.as_deref().into_iter().flat_map(sdk_files));
        let confinement = Confinement {
            read,
            write: vec![target.to_owned()],
            exec: true,
            limits: Limits {
                memory: Some(BUILD_MEMORY),
                cpu_seconds: Some(BUILD_TIME.as_secs()),
                ..Limits::default()
            },
            minimum: self.options.sandbox_minimum,
            ..Confinement::of(PathBuf::new())
        };
        let variables = vec![
            ("PATH".into(), self.search_path(sysroot)?),
            ("CARGO_HOME".into(), home.into_os_string()),
            ("CARGO_TERM_PROGRESS_WHEN".into(), "never".into()),
        ];
        Ok(ConfinedCargo {
            package: manifest.package.clone(),
            helpers: self.helpers.clone(),
            sandbox: Sandbox {
                variables,
                confinement,
            },
            cargo,
        })
    }

    /// The toolchain's own folder and those folders of programs that are no person's.
    fn search_path(&self, sysroot: &Path) -> io::Result<OsString> {
        let path = self.environment.get("PATH").unwrap_or_default();
        let is_systems = |folder: &PathBuf| PROGRAMS.iter().any(|place| folder.starts_with(place));
        let systems = std::env::split_paths(path).filter(is_systems);
        let folders = std::iter::once(sysroot.join("bin")).chain(systems);
        std::env::join_paths(folders).map_err(io::Error::other)
    }

    /// Where the sources and the index of crates lie.
    fn registry(&self) -> Option<PathBuf> {
        let registry = self.environment.cargo_home()?.join("registry");
        fs::canonicalize(registry).ok()
    }

    /// A home for cargo without secrets and without anybody's settings: a link to the registry, and
    /// where else crates come from. It lies beside the target directory and for all who build there,
    /// since its path is part of what cargo remembers of the crates that it has compiled.
    fn private_home(&self) -> io::Result<PathBuf> {
        let home = self.options.written_dir.with_file_name("cargo-home");
        fs::create_dir_all(&home)?;
        if let Some(registry) = self.registry() {
            let link = home.join("registry");
            let is_right = || fs::read_link(&link).ok().as_ref() == Some(&registry);
            if !is_right() {
                drop(fs::remove_file(&link));
                let made = std::os::unix::fs::symlink(&registry, &link);
                // Another process may be at it.
                made.or_else(|error| if is_right() { Ok(()) } else { Err(error) })?;
            }
        }
        let config = self.sources_of_crates();
        let file = home.join("config.toml");
        let is_right = || fs::read_to_string(&file).ok().as_ref() == Some(&config);
        if !is_right() {
            let made = record::replace(&file, config.as_bytes());
            made.or_else(|error| if is_right() { Ok(()) } else { Err(error) })?;
        }
        Ok(home)
    }

    /// What the user's configuration says of mirrors and registries; the credentials lie elsewhere.
    fn sources_of_crates(&self) -> String {
        let file = self
            .environment
            .cargo_home()
            .map(|home| home.join("config.toml"));
        let text = file.and_then(|file| fs::read_to_string(file).ok());
        let all: Table = text.and_then(|text| text.parse().ok()).unwrap_or_default();
        let mut kept = Table::new();
        if let Some(sources) = all.get("source") {
            kept.insert("source".to_owned(), sources.clone());
        }
        if let Some(registries) = all.get("registries").and_then(Value::as_table) {
            let index = |registry: &Value| {
                let index = registry.get("index")?.clone();
                Some(Value::Table(Table::from_iter([(
                    "index".to_owned(),
                    index,
                )])))
            };
            let named = registries.iter();
            let named = named.filter_map(|(name, value)| Some((name.clone(), index(value)?)));
            kept.insert("registries".to_owned(), Value::Table(named.collect()));
        }
        kept.to_string()
    }
}

/// What cargo reads of the SDK: both crates, and the manifest of their workspace.
fn sdk_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = vec![folder.to_owned(), folder.with_file_name(sdk::MACROS)];
    if !is_workspace(&folder.join("Cargo.toml")) {
        files.extend(workspace_above(folder).map(|folder| folder.join("Cargo.toml")));
    }
    files.retain(|file| file.exists());
    files
}
