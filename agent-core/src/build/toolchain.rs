//! Which toolchain compiles in a folder.
//!
//! Owns the question to rustc, and what decides on the answer. Does not own what follows from another
//! one.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use fs_err as fs;

use super::{BuildError, Builder, CrateManifest};
use crate::fingerprint::Fingerprint;

/// The answers of rustc; a tokio mutex, because rustc is awaited while it is held, so that it is
/// asked only once.
pub(super) type Toolchains = tokio::sync::Mutex<HashMap<Choice, Toolchain>>;

/// What decides on the toolchain.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Choice {
    /// The toolchain file in effect.
    file: Option<(PathBuf, Fingerprint)>,
    /// The settings of rustup.
    settings: Option<Fingerprint>,
}

/// What rustc says of itself.
#[derive(Debug, Clone, Default)]
pub(super) struct Toolchain {
    /// What `rustc -vV` says; empty where there is no rustc, which cargo will tell.
    pub(super) version: String,
    /// The folder that it lies in.
    sysroot: PathBuf,
}

impl Builder {
    /// The toolchain that compiles a crate. A file in the crate has a say in it, unless a model wrote
    /// the crate: it could name any program.
    pub(super) async fn toolchain_of(&self, manifest: &CrateManifest) -> Toolchain {
        if manifest.origin.is_confined() {
            self.toolchain(&self.options.plugins_dir).await
        } else {
            self.toolchain(&manifest.folder).await
        }
    }

    /// The folder of the toolchain that compiles what a model wrote.
    pub(super) async fn sysroot(&self) -> Result<PathBuf, BuildError> {
        let sysroot = self.toolchain(&self.options.plugins_dir).await.sysroot;
        fs::canonicalize(sysroot).map_err(|_| BuildError::CargoMissing {
            program: self.environment.rustc(),
        })
    }

    async fn toolchain(&self, folder: &Path) -> Toolchain {
        let file = folder.ancestors().find_map(|folder| {
            ["rust-toolchain.toml", "rust-toolchain"]
                .iter()
                .find_map(|name| {
                    let file = folder.join(name);
                    let metadata = fs::metadata(&file).ok()?;
                    Some((file, Fingerprint::of(&metadata)))
                })
        });
        let settings = self.environment.rustup_settings();
        let settings = settings.and_then(|file| fs::metadata(file).ok());
        let asked = Choice {
            file,
            settings: settings.map(|metadata| Fingerprint::of(&metadata)),
        };
        let mut toolchains = self.toolchains.lock().await;
        if let Some(known) = toolchains.get(&asked) {
            return known.clone();
        }
        let version = self.ask_rustc(folder, &["-vV"]).await;
        let Some(version) = version.filter(|text| !text.is_empty()) else {
            return Toolchain::default();
        };
        let sysroot = self.ask_rustc(folder, &["--print", "sysroot"]).await;
        let toolchain = Toolchain {
            version,
            sysroot: PathBuf::from(sysroot.unwrap_or_default().trim_end()),
        };
        toolchains.insert(asked, toolchain.clone());
        toolchain
    }

    async fn ask_rustc(&self, folder: &Path, arguments: &[&str]) -> Option<String> {
        let output = tokio::process::Command::new(self.environment.rustc())
            .args(arguments.iter().map(OsStr::new))
            .current_dir(folder)
            .env_clear()
            .envs(self.environment.variables())
            // Whether a missing toolchain is fetched is for cargo to show.
            .env("RUSTUP_AUTO_INSTALL", "0")
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .output()
            .await;
        output
            .map(|output| String::from_utf8_lossy(&output.stdout).into_owned())
            .ok()
    }
}
