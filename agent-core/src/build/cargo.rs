//! One run of cargo for one crate.
//!
//! Owns what a run is told and what it brings. Does not own the process (`process`), the meaning of
//! what it says (`output`), nor the decision to run.
//!
//! Cargo is started in a process group of its own: rustc, linkers and build scripts belong to it,
//! and end with it when the run is given up, be it by a call of its caller, by the time limit or
//! because nobody waits for it any longer.

mod output;
mod process;

use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use self::output::Output;
use self::process::Group;
use super::BuildProgress;
use super::environment::BuildEnvironment;
use super::error::BuildError;
use super::manifest::CrateManifest;

/// Packages that are linked into every plugin and much smaller with a little optimisation. They are
/// compiled once; every edit links them, and linking is half of what an edit takes.
const LIGHTER: [&str; 7] = [
    "abi_stable",
    "hashbrown",
    "indexmap",
    "schemars",
    "serde_json",
    "tokio",
    "tool-sdk",
];

/// How a library is compiled. The host chooses, so that a crate's own profile can't turn off what
/// the host relies on: unwinding panics and checked arithmetic.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Profile {
    /// Quick to build: for the edit loop.
    #[default]
    Dev,
    /// Quick to run: for libraries that are handed on.
    Release,
}

impl Profile {
    /// The profile's name in cargo.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Dev => "dev",
            Self::Release => "release",
        }
    }

    /// The arguments that make cargo use it.
    pub fn arguments(self) -> Vec<String> {
        let settings: &[&str] = match self {
            Self::Dev => &[
                "debug=0",
                "strip=\"debuginfo\"",
                "incremental=true",
                "overflow-checks=true",
                "panic=\"unwind\"",
            ],
            Self::Release => &["overflow-checks=true", "panic=\"unwind\""],
        };
        let name = self.as_str();
        let setting = |setting: String| format!("--config=profile.{name}.{setting}");
        let mut arguments = vec![format!("--profile={name}")];
        arguments.extend(settings.iter().map(|text| setting((*text).to_owned())));
        if self == Self::Dev {
            let lighter = LIGHTER.iter();
            arguments.extend(lighter.map(|name| setting(format!("package.{name}.opt-level=1"))));
        }
        arguments
    }
}

/// Whether cargo may write a crate's lock file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum LockPolicy {
    /// A lock file that fits is kept as it is; one that is missing or does not fit the manifest any
    /// longer is written, and the progress says so.
    #[default]
    Follow,
    /// A lock file that is missing or does not fit is an error.
    Keep,
}

/// What a run needs to know.
#[derive(Debug)]
pub(super) struct Run<'a> {
    pub(super) manifest: &'a CrateManifest,
    pub(super) target: &'a Path,
    pub(super) profile: Profile,
    pub(super) lock: LockPolicy,
    pub(super) colour: bool,
    pub(super) environment: &'a BuildEnvironment,
    pub(super) limit: Duration,
    /// What the crate is made of, for the failure's sake.
    pub(super) inputs_hash: &'a str,
}

/// Who may end a run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stop<'a> {
    /// The caller.
    pub(super) cancel: &'a CancellationToken,
    /// A newer request.
    pub(super) superseded: &'a CancellationToken,
}

impl Stop<'_> {
    /// Ends when someone wants the run to end, and says who.
    pub(super) async fn wanted(self, package: &str) -> BuildError {
        let package = package.to_owned();
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => BuildError::Cancelled { package },
            () = self.superseded.cancelled() => BuildError::Superseded { package },
        }
    }
}

/// What a successful run brought.
#[derive(Debug)]
pub(super) struct Finished {
    /// The library.
    pub(super) library: PathBuf,
    /// Whether cargo took the library for new already and compiled nothing.
    pub(super) fresh: bool,
    /// The root file of the library.
    pub(super) source: PathBuf,
    /// Warnings about the package.
    pub(super) warnings: usize,
}

/// Builds, and writes the lock file only where that is allowed and never without a word.
///
/// Cargo itself rewrites a lock file in silence when the manifest asks for something else. A run
/// therefore begins with `--locked`, which costs nothing where the file fits. Refusing to go on
/// where it does not would make a person who adds a dependency run cargo by hand first, so by
/// default the run is repeated without it, and the progress tells what is being changed.
pub(super) async fn build(
    run: &Run<'_>,
    progress: &dyn BuildProgress,
    stop: Stop<'_>,
) -> Result<Finished, BuildError> {
    let package = &run.manifest.package;
    let lock = run.manifest.lock_file();
    let missing = !lock.is_file();
    if missing && run.lock == LockPolicy::Keep {
        return Err(BuildError::LockMissing {
            package: package.clone(),
            lock,
        });
    }
    if !missing {
        match once(run, true, progress, stop).await? {
            Outcome::Finished(finished) => return Ok(finished),
            Outcome::LockRefused if run.lock == LockPolicy::Keep => {
                return Err(BuildError::LockOutOfDate {
                    package: package.clone(),
                    lock,
                });
            }
            Outcome::LockRefused => {}
        }
    }
    let why = if missing {
        "does not exist"
    } else {
        "does not fit the manifest"
    };
    progress.line(&format!(
        "the lock file `{}` {why}, cargo writes it now",
        lock.display()
    ));
    match once(run, false, progress, stop).await? {
        Outcome::Finished(finished) => Ok(finished),
        Outcome::LockRefused => Err(BuildError::LockOutOfDate {
            package: package.clone(),
            lock,
        }),
    }
}

enum Outcome {
    Finished(Finished),
    LockRefused,
}

async fn once(
    run: &Run<'_>,
    locked: bool,
    progress: &dyn BuildProgress,
    stop: Stop<'_>,
) -> Result<Outcome, BuildError> {
    let package = &run.manifest.package;
    let mut output = Output::new(run.manifest);
    let mut group = Group::start(run, locked)?;
    let ended = tokio::select! {
        biased;
        wanted = stop.wanted(package) => Err(wanted),
        () = tokio::time::sleep(run.limit) => {
            Err(BuildError::TimedOut { package: package.clone(), limit: run.limit })
        }
        status = output.follow(&mut group.child, progress) => status.map_err(BuildError::Io),
    };
    if ended.is_err() {
        group.kill();
        // Whoever builds next finds nothing of this run at work.
        drop(group.child.wait().await);
    }
    group.ended();
    let status = ended?;
    if status.success() {
        return output.finished(package).map(Outcome::Finished);
    }
    if locked
        && output
            .last
            .iter()
            .any(|line| line.contains("--locked was passed"))
    {
        return Ok(Outcome::LockRefused);
    }
    Err(output.failure(run, status))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_profile_is_the_hosts_choice() {
        assert_eq!(
            Profile::Dev.arguments()[..6],
            [
                "--profile=dev",
                "--config=profile.dev.debug=0",
                "--config=profile.dev.strip=\"debuginfo\"",
                "--config=profile.dev.incremental=true",
                "--config=profile.dev.overflow-checks=true",
                "--config=profile.dev.panic=\"unwind\"",
            ]
        );
        let tokio = "--config=profile.dev.package.tokio.opt-level=1".to_owned();
        assert!(Profile::Dev.arguments().contains(&tokio));
        assert_eq!(
            Profile::Release.arguments(),
            [
                "--profile=release",
                "--config=profile.release.overflow-checks=true",
                "--config=profile.release.panic=\"unwind\"",
            ]
        );
    }
}
