//! Why a build brought no library.
//!
//! Owns the sentences and the advice. Facts are fields; advice is [`BuildError::hint`]'s.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use super::diagnostics::Diagnostic;
use super::written;

/// Why a build brought no library.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// A newer request for the same crate took over; its outcome is the one that counts.
    #[error("a newer build of `{package}` took over")]
    Superseded {
        /// The package.
        package: String,
    },
    /// The caller gave the build up.
    #[error("the build of `{package}` was cancelled")]
    Cancelled {
        /// The package.
        package: String,
    },
    /// Cargo did not end in time and was ended.
    #[error("the build of `{package}` took longer than {} s", .limit.as_secs())]
    TimedOut {
        /// The package.
        package: String,
        /// The time that was allowed.
        limit: Duration,
    },
    /// Another process did not finish its builds in time.
    #[error("{} still builds in the same folder after {} s", named(*.holder), .limit.as_secs())]
    Busy {
        /// The other process, if it could be told.
        holder: Option<u32>,
        /// The time that was waited.
        limit: Duration,
    },
    /// There is no cargo.
    #[error("the program `{}` was not found", .program.display())]
    CargoMissing {
        /// What was looked for.
        program: PathBuf,
    },
    /// Cargo is there and can't be started.
    #[error("`{}` can't be started", .program.display())]
    CargoStart {
        /// The program.
        program: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The compiler refused the code.
    #[error("`{package}` does not compile: {}", first(.errors))]
    Compile {
        /// The package.
        package: String,
        /// What the compiler said; errors only, never empty.
        errors: Vec<Diagnostic>,
        /// Warnings about the package.
        warnings: usize,
        /// One hash over everything that was compiled, to tell whether it is the same failure.
        inputs_hash: String,
    },
    /// Dependencies are not on this machine and could not be fetched.
    #[error("the dependencies of `{package}` could not be fetched: {reason}")]
    Dependencies {
        /// The package.
        package: String,
        /// Cargo's first complaint.
        reason: String,
        /// Cargo's last words.
        output: Vec<String>,
    },
    /// The lock file must not be written and does not exist.
    #[error("`{package}` has no lock file `{}`", .lock.display())]
    LockMissing {
        /// The package.
        package: String,
        /// The file that is missing.
        lock: PathBuf,
    },
    /// The lock file must not be written and does not fit the manifest.
    #[error("the lock file `{}` does not fit the manifest of `{package}`", .lock.display())]
    LockOutOfDate {
        /// The package.
        package: String,
        /// The file.
        lock: PathBuf,
    },
    /// A model wrote the crate, and its manifest says more than it may.
    #[error(
        "`{package}` was written by a model and is not built: its manifest may not have {}",
        .reasons.join(", nor ")
    )]
    NotAllowed {
        /// The package.
        package: String,
        /// What it may not have; never empty.
        reasons: Vec<String>,
    },
    /// A model wrote the crate, and there is no sandbox to build it in.
    #[error("`{package}` was written by a model and is built in a sandbox only: {reason}")]
    NotConfined {
        /// The package.
        package: String,
        /// Why there is none.
        reason: String,
    },
    /// A model wrote the crate, and its dependencies are not on this machine.
    #[error(
        "the dependencies of `{package}` are not on this machine, and it is built offline: {reason}"
    )]
    Offline {
        /// The package.
        package: String,
        /// Its manifest.
        manifest: PathBuf,
        /// Cargo's first complaint.
        reason: String,
        /// Cargo's last words.
        output: Vec<String>,
    },
    /// Cargo failed for another reason.
    #[error("cargo could not build `{package}`: {reason}")]
    Cargo {
        /// The package.
        package: String,
        /// Cargo's first complaint, else how it ended.
        reason: String,
        /// Cargo's last words.
        output: Vec<String>,
    },
    /// Cargo succeeded and named no library of the package.
    #[error("cargo built `{package}` and reported no cdylib, expected {expected}, found {}", listed(.found))]
    NoArtifact {
        /// The package.
        package: String,
        /// The file name's expected ending.
        expected: &'static str,
        /// The files that cargo reported.
        found: Vec<PathBuf>,
    },
    /// Cargo takes what it has for new although it was made from something else.
    #[error("cargo did not build `{package}` again although its sources have changed")]
    NotRebuilt {
        /// The package.
        package: String,
        /// The target directory that holds the old library.
        target: PathBuf,
    },
    /// The SDK that a crate depends on is not there, and it is not the one that this program has.
    #[error("the SDK of `{package}` is missing: expected `{}`, this program has `{}`", .expected.display(), .found.display())]
    SdkMissing {
        /// The package.
        package: String,
        /// The folder that the manifest names.
        expected: PathBuf,
        /// The folder of the program's own SDK.
        found: PathBuf,
    },
    /// The configured folder of the SDK holds something else.
    #[error("`{}` is no `tool-sdk` crate", .path.display())]
    SdkPath {
        /// The folder.
        path: PathBuf,
    },
    /// A file can't be read or written; the message names it.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl BuildError {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::TimedOut { .. } => {
                "a build script or a lock held by another cargo may hang; the lines above say what it did last".to_owned()
            }
            Self::Busy { holder: Some(holder), .. } => format!("end process {holder} or wait for it"),
            Self::CargoMissing { .. } => {
                "install Rust (https://rustup.rs), name cargo's path in TOOLSMITH_CARGO, or use finished libraries with --no-build".to_owned()
            }
            Self::Compile { errors, .. } if errors.iter().any(lacks_linker) => {
                "install a C toolchain: rustc links with `cc` (on Debian: apt install build-essential)".to_owned()
            }
            Self::Dependencies { .. } => {
                "the first build of a crate fetches its dependencies and needs a network; afterwards none is needed".to_owned()
            }
            Self::NotAllowed { package, .. } => format!(
                "take it out, or read the crate and run `toolsmith trust {package}`; a crate that a model wrote may depend on tool-sdk, {}",
                written::dependencies()
            ),
            Self::NotConfined { package, .. } => format!(
                "read the crate and run `toolsmith trust {package}`: then it is built and runs as one of your own"
            ),
            Self::Offline { manifest, .. } => format!(
                "run `cargo fetch --manifest-path {}` once",
                manifest.display()
            ),
            Self::LockMissing { lock, .. } => {
                format!("run `cargo generate-lockfile` in `{}`", folder(lock).display())
            }
            Self::LockOutOfDate { lock, .. } => format!(
                "run `cargo update --workspace` in `{}` and look at what it changes",
                folder(lock).display()
            ),
            Self::NoArtifact { .. } => {
                "the manifest needs `crate-type = [\"cdylib\", \"rlib\"]` under `[lib]`, and the target must be able to build it".to_owned()
            }
            Self::NotRebuilt { target, .. } => format!("remove `{}`", target.display()),
            Self::SdkMissing { found, .. } => {
                format!("set the path of `tool-sdk` in the crate's Cargo.toml to `{}`", found.display())
            }
            Self::SdkPath { .. } => {
                "set `path` under `[sdk]` in toolsmith.toml to the folder with the SDK's Cargo.toml".to_owned()
            }
            _ => return None,
        };
        Some(hint)
    }

    /// Everything there is to show of the failure besides the sentence: the compiler's messages,
    /// else cargo's last words.
    pub fn details(&self) -> Vec<&str> {
        match self {
            Self::Compile { errors, .. } => errors
                .iter()
                .map(|error| error.rendered.as_deref().unwrap_or(&error.message))
                .collect(),
            Self::Dependencies { output, .. }
            | Self::Offline { output, .. }
            | Self::Cargo { output, .. } => output.iter().map(String::as_str).collect(),
            _ => Vec::new(),
        }
    }
}

fn folder(file: &std::path::Path) -> &std::path::Path {
    file.parent().unwrap_or(file)
}

fn lacks_linker(error: &Diagnostic) -> bool {
    error.message.starts_with("linker `") && error.message.ends_with("` not found")
}

fn first(errors: &[Diagnostic]) -> String {
    let Some(error) = errors.first() else {
        return "unknown error".to_owned();
    };
    let place = error
        .span
        .as_ref()
        .map(|span| format!("{}:{}:{}: ", span.file, span.line, span.column));
    let more = match errors.len() {
        1 => String::new(),
        count => format!(" (and {} more)", count - 1),
    };
    format!("{}{}{more}", place.unwrap_or_default(), error.message)
}

fn named(holder: Option<u32>) -> String {
    holder.map_or_else(
        || "another process".to_owned(),
        |holder| format!("process {holder}"),
    )
}

fn listed(files: &[PathBuf]) -> String {
    let files: Vec<String> = files
        .iter()
        .map(|file| format!("`{}`", file.display()))
        .collect();
    if files.is_empty() {
        "nothing".to_owned()
    } else {
        files.join(", ")
    }
}
