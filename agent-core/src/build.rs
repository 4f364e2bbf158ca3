//! A crate becomes a library file.
//!
//! Owns the decision whether anything must be built, and the steps of a build. Does not own what
//! becomes of the library: it is copied, judged and loaded elsewhere, and a caller that wants to
//! keep it must copy it before it asks for the next build of the same crate.
//!
//! # Life of a build
//!
//! 1. **Look.** Everything the crate was made from the last time is looked at (`inputs`) and
//!    compared with what is remembered (`record`): files, toolchain, profile, environment, and
//!    the library itself. Where nothing differs, the library is there and no cargo runs.
//! 2. **Turn.** Otherwise the request waits for its turn (`queue`); an older request for the
//!    same crate is ended. Then it waits for other processes (`lock`), and looks again: one of
//!    them may have built just this.
//! 3. **Recall.** Where everything is as it was for an earlier build (`history`) and the store still
//!    has its library, that library is the answer: an undone edit needs no compiler.
//! 4. **Replay.** Where nothing has changed but the crate's own sources, the command by which cargo
//!    had the crate compiled runs alone (`replay`).
//! 5. **Run.** Otherwise, or if that failed, cargo runs once (`cargo`), in an environment cleaned of
//!    what an outer cargo left there (`environment`). Its messages become progress and diagnostics
//!    (`diagnostics`).
//! 6. **Doubt.** Cargo judges by times. If it takes a library or a dependency for new although
//!    contents differ from the remembered ones (`doubt`), it is made to forget the packages in
//!    question and runs again. The author's files are never touched.
//! 7. **Keep.** The library is put into the state folder (`place`), whoever made it.
//! 8. **Remember.** What the compiler has read, by its own account, is looked at again. A file
//!    that changed while the compiler ran is remembered as it was before, so that the next look
//!    finds the change.
//!
//! A failed, cancelled or superseded build changes nothing that is remembered.
//!
//! A crate that a model wrote and nobody vouches for ([`trust`]) goes the same way, but for this: its
//! manifest may say only what is needed (`written`), every run of cargo is confined (`confined`) and
//! has a target directory that is shared with such crates only, and nothing is replayed.
//!
//! Who may block: looking at files runs on tokio's blocking threads, everything else is awaited.
//! Dropping the future of [`Builder::ensure`] ends the compiler with all it has started and hands the
//! turn on. A host that ends in another way leaves cargo running to its end.

mod cargo;
mod confined;
mod dep_info;
mod diagnostics;
mod doubt;
mod environment;
mod error;
mod history;
mod inputs;
mod known;
mod lock;
mod make;
mod manifest;
mod place;
mod process;
mod queue;
mod record;
mod replay;
pub mod sdk;
mod steps;
pub mod template;
mod toolchain;
pub mod trust;
mod written;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use fs_err as fs;
use tokio_util::sync::CancellationToken;

pub use self::cargo::{LockPolicy, Profile};
pub use self::diagnostics::{Diagnostic, Level, Span, Suggestion};
pub use self::error::BuildError;
pub use self::manifest::{CrateManifest, CrateOrigin, ManifestError};
pub use self::trust::Trust;

use self::environment::BuildEnvironment;
use self::history::History;
use self::lock::BuildLock;
use self::make::Request;
use self::process::Stop;
use self::queue::Queue;
use self::toolchain::Toolchains;
use crate::config::{Config, Environment};
use crate::limits::BUILD_TIME;
use crate::worker::Helpers;
use crate::worker::sandbox::Minimum;

/// Hears how a build goes on. Every method may be left out.
pub trait BuildProgress: Send + Sync {
    /// A compiler is about to run for a package whose inputs have this hash; said once for each
    /// build.
    fn started(&self, package: &str, inputs_hash: &str) {
        _ = (package, inputs_hash);
    }

    /// A crate is being compiled: the package itself or one that it depends on.
    fn compiling(&self, crate_name: &str) {
        _ = crate_name;
    }

    /// A line of cargo's own words, or a remark on what is waited for.
    fn line(&self, line: &str) {
        _ = line;
    }
}

/// Nobody listens.
impl BuildProgress for () {}

/// What a [`Builder`] works with.
#[derive(Debug, Clone)]
pub struct BuilderOptions {
    /// The folder whose crates are built.
    pub plugins_dir: PathBuf,
    /// The folder in which builds are remembered.
    pub state_dir: PathBuf,
    /// The folder that cargo builds in what a person wrote or vouches for.
    pub target_dir: PathBuf,
    /// The folder that cargo builds in what a model wrote. Crates of different trust never share one.
    pub written_dir: PathBuf,
    /// The configured folder of the SDK: one that crates which a model wrote may depend on.
    pub sdk: Option<PathBuf>,
    /// The program that confines itself and becomes cargo; where none is given,
    /// [`HelperProgram::find`](crate::worker::HelperProgram::find) says which it is.
    pub helper: Option<PathBuf>,
    /// What the kernel has to offer at least for a sandboxed build.
    pub sandbox_minimum: Minimum,
    /// How libraries are compiled.
    pub profile: Profile,
    /// Whether compiler messages are rendered for a terminal with colours.
    pub colour: bool,
    /// Whether lock files may be written.
    pub lock: LockPolicy,
    /// How long one run of cargo, and the wait for another process, may take.
    pub time_limit: Duration,
}

impl BuilderOptions {
    /// The usual options. What a model wrote is built in the folder `written` beside `target_dir`.
    pub fn new(plugins_dir: PathBuf, state_dir: PathBuf, target_dir: PathBuf) -> Self {
        Self {
            plugins_dir,
            state_dir,
            written_dir: target_dir.with_file_name("written"),
            target_dir,
            sdk: None,
            helper: None,
            sandbox_minimum: Minimum::default(),
            profile: Profile::default(),
            colour: false,
            lock: LockPolicy::default(),
            time_limit: BUILD_TIME,
        }
    }

    /// The same with what a configuration says of builds.
    #[must_use]
    pub fn configured(mut self, config: &Config) -> Self {
        let environment: Environment<'_> = &|name| std::env::var(name).ok();
        let sdk = config.sdk.path.as_ref();
        // Whoever makes a crate is told where a variable is not set.
        self.sdk = sdk.and_then(|path| path.resolve(environment).ok());
        if let Some(minimum) = config.sandbox_minimum {
            self.sandbox_minimum = Minimum(minimum);
        }
        self
    }
}

/// What a request had to do for its library.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum BuildWork {
    /// Nothing: everything was as it was.
    Nothing,
    /// The library of an earlier build of the same inputs was put back.
    Restored,
    /// The crate alone was compiled.
    Compiled,
    /// Cargo ran.
    Cargo,
}

/// A library that corresponds to its sources.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Built {
    /// The library file. The next build of the crate replaces it.
    pub library: PathBuf,
    /// The hash of the library's bytes (BLAKE3, hexadecimal).
    pub library_hash: String,
    /// The package.
    pub package: String,
    /// What had to be done for it.
    pub work: BuildWork,
    /// How long it took.
    pub duration: Duration,
    /// Warnings about the package.
    pub warnings: usize,
    /// One hash over everything that the library was made from.
    pub inputs_hash: String,
    /// The files that it was made from, for those who watch them; not what the build made itself.
    pub inputs: Vec<PathBuf>,
}

/// Builds the crates of one plugins folder.
#[derive(Debug)]
pub struct Builder {
    options: BuilderOptions,
    environment: BuildEnvironment,
    queue: Queue,
    toolchains: Toolchains,
    /// Where confined compilers come from.
    helpers: Helpers,
}

impl Builder {
    /// A builder with the present environment of this process.
    pub fn new(options: BuilderOptions) -> std::io::Result<Arc<Self>> {
        Self::with_environment(options, BuildEnvironment::of_this_process())
    }

    fn with_environment(
        mut options: BuilderOptions,
        environment: BuildEnvironment,
    ) -> std::io::Result<Arc<Self>> {
        // Cargo runs in the folder of the crate, and everything remembered outlives this process.
        for folder in [
            &mut options.plugins_dir,
            &mut options.state_dir,
            &mut options.target_dir,
            &mut options.written_dir,
        ] {
            *folder = std::path::absolute(&*folder)?;
        }
        let scratch = options.state_dir.join("scratch");
        Ok(Arc::new(Self {
            helpers: Helpers::new(options.helper.as_deref(), scratch),
            options,
            environment,
            queue: Queue::default(),
            toolchains: Toolchains::default(),
        }))
    }

    /// What the builder works with.
    pub fn options(&self) -> &BuilderOptions {
        &self.options
    }

    /// Where a crate is built.
    fn target_of(&self, manifest: &CrateManifest) -> &Path {
        if manifest.origin.is_confined() {
            &self.options.written_dir
        } else {
            &self.options.target_dir
        }
    }

    /// The library that corresponds to a crate's present sources, if it is there already.
    pub async fn at_hand(
        self: &Arc<Self>,
        manifest: &CrateManifest,
        progress: &dyn BuildProgress,
    ) -> Result<Option<Built>, BuildError> {
        let begin = Instant::now();
        // While a build of the crate runs, its library is about to be replaced.
        if self.queue.holds(&manifest.package) {
            return Ok(None);
        }
        let look = self.look(manifest).await?;
        Ok(self.unchanged(&look, manifest, progress, begin))
    }

    /// Makes sure that there is a library which corresponds to a crate's present sources.
    ///
    /// A request for a crate that is being built already ends the older one.
    pub async fn ensure(
        self: &Arc<Self>,
        manifest: &CrateManifest,
        progress: &dyn BuildProgress,
        cancel: &CancellationToken,
    ) -> Result<Built, BuildError> {
        let begin = Instant::now();
        let package = &manifest.package;
        self.provide_sdk(manifest).await?;
        self.check_written(manifest).await?;
        // While a build of the crate runs, its library is about to be replaced.
        if !self.queue.holds(package) {
            let look = self.look(manifest).await?;
            if let Some(built) = self.unchanged(&look, manifest, progress, begin) {
                return Ok(built);
            }
        }
        let turn = self.queue.turn(package, cancel).await?;
        let stop = Stop {
            cancel,
            superseded: turn.superseded(),
        };
        let _lock = tokio::select! {
            biased;
            wanted = stop.wanted(package) => return Err(wanted),
            lock = self.lock(self.target_of(manifest), progress) => lock?,
        };
        let look = self.look(manifest).await?;
        if let Some(built) = self.unchanged(&look, manifest, progress, begin) {
            return Ok(built);
        }
        let (look, recalled) = self.recall(look, manifest).await?;
        if let Some(recalled) = &recalled
            && let Some(built) = self
                .restored(&look, recalled, manifest, progress, begin)
                .await
        {
            return Ok(built);
        }
        let request = Request {
            manifest,
            progress,
            stop,
            begin,
        };
        // On the heap, so that who only asks is not made large by what a build needs.
        Box::pin(self.build(request, look, recalled)).await
    }

    /// Forgets what is remembered of a package, so that the next request builds it anew.
    pub fn forget(&self, package: &str) -> std::io::Result<()> {
        for file in [self.record_file(package), self.history_file(package)] {
            match fs::remove_file(file) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }

    async fn lock(
        &self,
        target: &Path,
        progress: &dyn BuildProgress,
    ) -> Result<BuildLock, BuildError> {
        let target = target.file_name().unwrap_or_default().to_string_lossy();
        let file = self.options.state_dir.join(format!("build-{target}.lock"));
        BuildLock::acquire(&file, self.options.time_limit, progress).await
    }

    fn record_file(&self, package: &str) -> PathBuf {
        record::Record::file(&self.options.state_dir, package, self.options.profile)
    }

    fn history_file(&self, package: &str) -> PathBuf {
        History::file(&self.options.state_dir, package, self.options.profile)
    }
}

#[cfg(test)]
mod tests;
