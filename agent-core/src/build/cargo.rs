//! One run of cargo for one crate.
//!
//! Owns what a run is told and what it brings. Does not own the process ([`super::process`]), the
//! meaning of what it says (`output`, `verbose`), nor the decision to run.
//!
//! A crate is built as a cdylib alone, whatever other kinds its manifest names: nobody here uses an
//! rlib, and cargo leaves link-time optimisation out in silence where there is to be one.

mod output;
mod verbose;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::process::Command;

use self::output::Output;
use super::BuildProgress;
use super::confined::ConfinedCargo;
use super::environment::BuildEnvironment;
use super::error::BuildError;
use super::manifest::CrateManifest;
use super::process::{Bounds, Group, Stop};
use super::replay::LeafCommand;

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
            // Handed on once and loaded often: smaller by a quarter, for half a minute of linking.
            // Names of functions stay, so that a panic's backtrace can be read.
            Self::Release => &[
                "lto=\"fat\"",
                "codegen-units=1",
                "strip=\"debuginfo\"",
                "overflow-checks=true",
                "panic=\"unwind\"",
            ],
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
    /// How it runs, if not freely.
    pub(super) confined: Option<&'a ConfinedCargo>,
    pub(super) limit: Duration,
    /// What the crate is made of, for the failure's sake.
    pub(super) inputs_hash: &'a str,
}

impl<'a> Run<'a> {
    fn bounds(&self, stop: Stop<'a>) -> Bounds<'a> {
        Bounds {
            package: &self.manifest.package,
            limit: self.limit,
            stop,
        }
    }

    /// Whether the compiler's own command is of use: later edits are compiled by it alone. A build
    /// script has its say in every build, and libraries that are handed on are worth cargo's. What runs
    /// in a sandbox may tell of any command.
    fn follows_leaf(&self) -> bool {
        self.confined.is_none()
            && self.profile == Profile::Dev
            && self.manifest.build_script.is_none()
    }
}

/// What a successful run brought.
#[derive(Debug)]
pub(super) struct Finished {
    /// The library.
    pub(super) library: PathBuf,
    /// Whether cargo took the library for new already and compiled nothing.
    pub(super) fresh: bool,
    /// Warnings about the package.
    pub(super) warnings: usize,
    /// The packages of the build whose sources lie in folders of this machine's people.
    pub(super) local: Vec<LocalPackage>,
    /// How cargo had the crate compiled, if it did and its words could be read.
    pub(super) leaf: Option<LeafCommand>,
}

/// A package that cargo compiles from a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LocalPackage {
    /// What cargo calls it.
    pub(super) id: String,
    /// Its folder.
    pub(super) folder: PathBuf,
    /// What its library was compiled to.
    pub(super) library: PathBuf,
    /// Whether cargo took that for new.
    pub(super) fresh: bool,
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

/// Makes cargo forget what it has compiled of these packages, so that it compiles them again.
pub(super) async fn forget(
    run: &Run<'_>,
    packages: &[LocalPackage],
    stop: Stop<'_>,
) -> Result<(), BuildError> {
    let mut arguments: Vec<OsString> = vec!["clean".into()];
    for package in packages {
        arguments.extend(["--package".into(), OsString::from(&package.id)]);
    }
    arguments.extend(place(run));
    let mut last = Vec::new();
    let status = start(run, arguments)
        .await?
        .run(
            run.bounds(stop),
            |_| {},
            |line| output::remember(&mut last, line),
        )
        .await?;
    if status.success() {
        return Ok(());
    }
    Err(output::cargo_failure(run, status, last))
}

async fn start(run: &Run<'_>, arguments: Vec<OsString>) -> Result<Group, BuildError> {
    if let Some(confined) = run.confined {
        return confined.start(arguments).await;
    }
    Group::start(command(run, arguments)).map_err(|source| {
        let program = run.environment.cargo();
        if source.kind() == std::io::ErrorKind::NotFound && run.manifest.folder.is_dir() {
            return BuildError::CargoMissing { program };
        }
        BuildError::CargoStart { program, source }
    })
}

fn command(run: &Run<'_>, arguments: Vec<OsString>) -> Command {
    let mut command = Command::new(run.environment.cargo());
    command
        .args(arguments)
        // A crate's own toolchain file and cargo configuration count, as they would for a person
        // who builds it.
        .current_dir(&run.manifest.folder)
        .env_clear()
        .envs(run.environment.variables())
        .env("CARGO_TERM_PROGRESS_WHEN", "never");
    command
}

/// The arguments that say where what is built, and how.
fn place(run: &Run<'_>) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = vec![
        "--manifest-path".into(),
        run.manifest.file().into(),
        "--target-dir".into(),
        run.target.into(),
        "--color=never".into(),
    ];
    arguments.extend(run.profile.arguments().into_iter().map(OsString::from));
    arguments
}

fn arguments(run: &Run<'_>, locked: bool) -> Vec<OsString> {
    let format = if run.colour {
        "json-diagnostic-rendered-ansi"
    } else {
        "json"
    };
    let mut arguments: Vec<OsString> = vec!["rustc".into(), "--lib".into()];
    arguments.extend(["--crate-type", "cdylib", "--message-format", format].map(OsString::from));
    arguments.extend(place(run));
    if locked {
        arguments.push("--locked".into());
    }
    if run.follows_leaf() {
        // The only way in which cargo tells how it has a crate compiled, the environment included.
        // It changes nothing of what is compiled.
        arguments.push("-vv".into());
    }
    arguments
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
    let mut output = Output::new(run.manifest, run.follows_leaf());
    let (messages, mut words) = output.parts(progress);
    let status = start(run, arguments(run, locked))
        .await?
        .run(
            run.bounds(stop),
            |line| messages.take(line),
            |line| words.take(line),
        )
        .await?;
    if status.success() {
        return output.finished(package).map(Outcome::Finished);
    }
    if locked
        && output
            .last()
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
                "--config=profile.release.lto=\"fat\"",
                "--config=profile.release.codegen-units=1",
                "--config=profile.release.strip=\"debuginfo\"",
                "--config=profile.release.overflow-checks=true",
                "--config=profile.release.panic=\"unwind\"",
            ]
        );
    }
}
