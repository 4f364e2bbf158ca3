//! One run of cargo for one crate.
//!
//! Owns the command line, the child process with everything it starts, and the reading of what it
//! says. Does not own the decision to run, nor the meaning of rustc's messages, which is
//! [`super::diagnostics`]'s.
//!
//! Cargo is started in a process group of its own: rustc, linkers and build scripts belong to it,
//! and end with it when the run is given up, be it by a call of its caller, by the time limit or
//! because nobody waits for it any longer.

use std::ffi::OsString;
use std::future::pending;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use cargo_metadata::{Artifact, Message, TargetKind};
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, BufReader};
use tokio::process::{Child, Command};
use tokio_util::sync::CancellationToken;

use super::BuildProgress;
use super::diagnostics::{Diagnostic, Level};
use super::environment::BuildEnvironment;
use super::error::BuildError;
use super::manifest::CrateManifest;
use crate::limits::{BUILD_OUTPUT_GRACE, BUILD_OUTPUT_LINE, BUILD_OUTPUT_LINES};

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
    pub(super) fn arguments(self) -> Vec<String> {
        let settings: &[&str] = match self {
            Self::Dev => &[
                "debug=0",
                "strip=\"none\"",
                "incremental=true",
                "overflow-checks=true",
                "panic=\"unwind\"",
            ],
            Self::Release => &["overflow-checks=true", "panic=\"unwind\""],
        };
        let name = self.as_str();
        let mut arguments = vec![format!("--profile={name}")];
        arguments.extend(
            settings
                .iter()
                .map(|setting| format!("--config=profile.{name}.{setting}")),
        );
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

/// Cargo with everything that it starts.
struct Group {
    child: Child,
    /// The group's number, until cargo has ended and been waited for: up to then no other process
    /// can have it.
    number: Option<rustix::process::Pid>,
}

impl Group {
    fn start(run: &Run<'_>, locked: bool) -> Result<Self, BuildError> {
        let program = run.environment.cargo();
        let mut command = Command::new(&program);
        command
            .args(arguments(run, locked))
            // A crate's own toolchain file and cargo configuration count, as they would for a
            // person who builds it.
            .current_dir(&run.manifest.folder)
            .env_clear()
            .envs(run.environment.variables())
            .env("CARGO_TERM_PROGRESS_WHEN", "never")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true);
        match command.spawn() {
            Ok(child) => {
                let number = child.id().and_then(|id| i32::try_from(id).ok());
                Ok(Self {
                    number: number.and_then(rustix::process::Pid::from_raw),
                    child,
                })
            }
            Err(error)
                if error.kind() == std::io::ErrorKind::NotFound && run.manifest.folder.is_dir() =>
            {
                Err(BuildError::CargoMissing { program })
            }
            Err(source) => Err(BuildError::CargoStart { program, source }),
        }
    }

    /// Ends cargo and everything it has started.
    fn kill(&self) {
        if let Some(number) = self.number {
            // Whatever has ended by itself needs no signal.
            _ = rustix::process::kill_process_group(number, rustix::process::Signal::KILL);
        }
    }

    /// Cargo has been waited for: its number may belong to another process from now on.
    fn ended(&mut self) {
        self.number = None;
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}

fn arguments(run: &Run<'_>, locked: bool) -> Vec<OsString> {
    let format = if run.colour {
        "json-diagnostic-rendered-ansi"
    } else {
        "json"
    };
    let mut arguments: Vec<OsString> = vec![
        "build".into(),
        "--manifest-path".into(),
        run.manifest.file().into(),
        "--lib".into(),
        "--target-dir".into(),
        run.target.into(),
        "--message-format".into(),
        format.into(),
        "--color=never".into(),
    ];
    arguments.extend(run.profile.arguments().into_iter().map(OsString::from));
    if locked {
        arguments.push("--locked".into());
    }
    arguments
}

/// Hands on each line without its end; a line beyond every measure is cut.
async fn each_line(pipe: Option<impl AsyncRead + Unpin>, mut hand_on: impl FnMut(&str)) {
    let Some(pipe) = pipe else {
        return pending().await;
    };
    let mut pipe = BufReader::new(pipe);
    let mut line = Vec::new();
    loop {
        line.clear();
        let mut limited = (&mut pipe).take(BUILD_OUTPUT_LINE as u64);
        match limited.read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => return,
            Ok(_) => hand_on(String::from_utf8_lossy(&line).trim_end_matches(['\n', '\r'])),
        }
    }
}

/// The crate of a line such as `   Compiling serde v1.0.0 (/path)`.
fn compiled_crate(line: &str) -> Option<&str> {
    let mut words = line.split_whitespace();
    match words.next() {
        Some("Compiling") => words.next(),
        _ => None,
    }
}

fn remember(last: &mut Vec<String>, line: &str) {
    if last.len() == BUILD_OUTPUT_LINES {
        last.remove(0);
    }
    last.push(line.to_owned());
}

/// What a run has said.
struct Output<'a> {
    manifest: &'a CrateManifest,
    artifacts: Vec<Artifact>,
    diagnostics: Vec<Diagnostic>,
    warnings: usize,
    last: Vec<String>,
}

/// The part of it that comes as messages.
struct Messages<'a> {
    manifest: &'a CrateManifest,
    artifacts: &'a mut Vec<Artifact>,
    diagnostics: &'a mut Vec<Diagnostic>,
    warnings: &'a mut usize,
}

impl Messages<'_> {
    /// Takes in a line of cargo's standard output, which build tools may write to as well.
    fn take(&mut self, line: &str) {
        if !line.starts_with('{') {
            return;
        }
        match serde_json::from_str(line) {
            Ok(Message::CompilerArtifact(artifact)) if self.is_ours(&artifact) => {
                self.artifacts.push(artifact);
            }
            Ok(Message::CompilerMessage(message)) => {
                let ours = message.target.src_path.as_std_path() == self.manifest.source;
                match Diagnostic::from_message(message.message) {
                    Some(diagnostic) if diagnostic.level == Level::Error => {
                        self.diagnostics.push(diagnostic);
                    }
                    Some(diagnostic) if diagnostic.level == Level::Warning && ours => {
                        *self.warnings += 1;
                    }
                    _ => {}
                }
            }
            // Other messages are of no use here, and later versions of cargo may have more.
            _ => {}
        }
    }

    fn is_ours(&self, artifact: &Artifact) -> bool {
        artifact.target.kind.contains(&TargetKind::CDyLib)
            && is_same_file(artifact.manifest_path.as_std_path(), &self.manifest.file())
    }
}

fn is_same_file(left: &Path, right: &Path) -> bool {
    left == right
        || matches!((left.canonicalize(), right.canonicalize()), (Ok(left), Ok(right)) if left == right)
}

impl<'a> Output<'a> {
    fn new(manifest: &'a CrateManifest) -> Self {
        Self {
            manifest,
            artifacts: Vec::new(),
            diagnostics: Vec::new(),
            warnings: 0,
            last: Vec::new(),
        }
    }

    /// Reads what cargo says until it has ended.
    async fn follow(
        &mut self,
        child: &mut Child,
        progress: &dyn BuildProgress,
    ) -> std::io::Result<ExitStatus> {
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let Self {
            manifest,
            artifacts,
            diagnostics,
            warnings,
            last,
        } = self;
        let mut messages = Messages {
            manifest,
            artifacts,
            diagnostics,
            warnings,
        };
        let reading = async {
            tokio::join!(
                each_line(stdout, |line| messages.take(line)),
                each_line(stderr, |line| {
                    if let Some(name) = compiled_crate(line) {
                        progress.compiling(name);
                    }
                    progress.line(line);
                    remember(last, line);
                }),
            )
        };
        tokio::pin!(reading);
        tokio::select! {
            biased;
            _ = &mut reading => child.wait().await,
            status = child.wait() => {
                // A process that a build script left behind may hold the pipes open for ever.
                // What cargo has said is in them already.
                _ = tokio::time::timeout(BUILD_OUTPUT_GRACE, &mut reading).await;
                status
            }
        }
    }

    fn finished(self, package: &str) -> Result<Finished, BuildError> {
        let expected = std::env::consts::DLL_SUFFIX;
        let is_library = |file: &PathBuf| file.to_string_lossy().ends_with(expected);
        let mut found = Vec::new();
        for artifact in self.artifacts {
            let files: Vec<PathBuf> = artifact
                .filenames
                .into_iter()
                .map(cargo_metadata::camino::Utf8PathBuf::into_std_path_buf)
                .collect();
            if let Some(library) = files.iter().find(|file| is_library(file)) {
                return Ok(Finished {
                    library: library.clone(),
                    fresh: artifact.fresh,
                    source: artifact.target.src_path.into_std_path_buf(),
                    warnings: self.warnings,
                });
            }
            found.extend(files);
        }
        Err(BuildError::NoArtifact {
            package: package.to_owned(),
            expected,
            found,
        })
    }

    fn failure(self, run: &Run<'_>, status: ExitStatus) -> BuildError {
        let package = run.manifest.package.clone();
        if !self.diagnostics.is_empty() {
            return BuildError::Compile {
                package,
                errors: self.diagnostics,
                warnings: self.warnings,
                inputs_hash: run.inputs_hash.to_owned(),
            };
        }
        let complaint = self
            .last
            .iter()
            .find_map(|line| line.strip_prefix("error: "));
        let reason = complaint.map_or_else(|| format!("cargo ended with {status}"), str::to_owned);
        if self.last.iter().any(|line| is_about_network(line)) {
            return BuildError::Dependencies {
                package,
                reason,
                output: self.last,
            };
        }
        BuildError::Cargo {
            package,
            reason,
            output: self.last,
        }
    }
}

/// Whether cargo complains about something that it could not fetch.
fn is_about_network(line: &str) -> bool {
    [
        "spurious network error",
        "failed to download",
        "download of ",
        "Could not resolve host",
        "Could not connect to server",
        "but --offline was specified",
        "you're using offline mode",
        "unable to update registry",
        "failed to fetch",
        "network failure",
    ]
    .iter()
    .any(|words| line.contains(words))
}

#[cfg(test)]
mod tests;
