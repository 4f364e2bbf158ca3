//! Where helper processes come from: the program is found once, and one process of a kind waits
//! for work, so that whoever needs one need not wait for its start.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use fs_err as fs;
use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};
use tempfile::TempDir;
use tokio::sync::Mutex;

use super::client::{Environment, Helper, HelperError};
use super::program::HelperProgram;
use super::sandbox::{Confinement, Enforced};
use crate::fingerprint::Fingerprint;

/// How long a program that said nothing is not asked again, unless another file takes its place.
const SILENT_FOR: Duration = Duration::from_mins(1);

/// Starts helper processes. Clones share the program and the processes that wait for work.
#[derive(Clone, Debug)]
pub struct Helpers(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    /// The program that the embedding program has chosen.
    given: Option<PathBuf>,
    scratch: Scratch,
    /// Found at the first use, and again after it turned out to be of no use. A tokio mutex, since
    /// finding it may mean to wait for the disk.
    program: Mutex<Option<Arc<HelperProgram>>>,
    /// A program that said nothing. A mutex, held for moments only.
    silent: std::sync::Mutex<Option<Silent>>,
    /// Has mapped nothing yet, and has this process's environment. A tokio mutex, since whoever needs
    /// one waits for the one that is starting.
    open: Mutex<Option<Helper>>,
    /// The same, bare.
    bare: Mutex<Option<Helper>>,
}

/// What a process may not do, or not without limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Restriction {
    /// It uses no more memory than this, in bytes.
    Memory(u64),
    /// It is confined.
    Sandbox(Sandbox),
}

/// What a process may do that is confined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sandbox {
    /// Its environment variables, besides those that say where its folder is.
    pub variables: Vec<(OsString, OsString)>,
    /// What it may do. The folder for its own files is made for each process.
    pub confinement: Confinement,
}

impl Helpers {
    /// Helpers are this program, or the one that [`HelperProgram::find`] finds. Those that are
    /// confined have folders of their own in `scratch`.
    pub fn new(given: Option<&Path>, scratch: impl Into<PathBuf>) -> Self {
        Self(Arc::new(Inner {
            given: given.map(Path::to_owned),
            scratch: Scratch(scratch.into()),
            program: Mutex::default(),
            silent: std::sync::Mutex::default(),
            open: Mutex::default(),
            bare: Mutex::default(),
        }))
    }

    /// A helper that is restricted where that is asked for, with what is enforced then. The next one of
    /// its kind is started ahead of its use.
    pub(super) async fn take_for(
        &self,
        restriction: Option<&Restriction>,
    ) -> Result<(Helper, Option<Enforced>), HelperError> {
        let environment = match restriction {
            None | Some(Restriction::Memory(_)) => Environment::Inherited,
            Some(Restriction::Sandbox(sandbox)) => Environment::Bare {
                variables: sandbox.variables.clone(),
                scratch: self.0.scratch.clone(),
            },
        };
        let mut helper = self.take(&environment).await?;
        self.warm_up(&environment);
        let enforced = match restriction {
            None => None,
            Some(Restriction::Memory(bytes)) => Some(helper.limit_memory(*bytes).await?),
            Some(Restriction::Sandbox(sandbox)) => {
                Some(helper.confine(sandbox.confinement.clone()).await?)
            }
        };
        Ok((helper, enforced))
    }

    /// Starts a helper ahead of its use.
    pub(super) fn warm_up(&self, environment: &Environment) {
        let (helpers, environment) = (self.clone(), environment.clone());
        // Whether it works is told when it is needed.
        tokio::spawn(async move {
            if let Some(spare) = helpers.spare(&environment)
                && let Ok(mut spare) = spare.try_lock()
                && spare.is_none()
            {
                *spare = helpers.start(&environment).await.ok();
            }
        });
    }

    /// A helper that has mapped nothing yet.
    pub(super) async fn take(&self, environment: &Environment) -> Result<Helper, HelperError> {
        if let Some(spare) = self.spare(environment)
            && let Some(mut helper) = spare.lock().await.take()
            && helper.lives()
        {
            return Ok(helper);
        }
        self.start(environment).await
    }

    /// The one that waits for work, where one of this kind may.
    fn spare(&self, environment: &Environment) -> Option<&Mutex<Option<Helper>>> {
        match environment {
            Environment::Inherited => Some(&self.0.open),
            Environment::Bare { variables, .. } => variables.is_empty().then_some(&self.0.bare),
        }
    }

    /// The folder in which the folders of confined processes are made.
    pub(super) fn scratch(&self) -> &Scratch {
        &self.0.scratch
    }

    /// The executable that helpers are.
    pub(super) async fn program(&self) -> Result<Arc<HelperProgram>, HelperError> {
        let mut kept = self.0.program.lock().await;
        if let Some(program) = &*kept {
            return Ok(Arc::clone(program));
        }
        let found = Arc::new(HelperProgram::find(self.0.given.as_deref())?);
        Ok(Arc::clone(kept.insert(found)))
    }

    async fn start(&self, environment: &Environment) -> Result<Helper, HelperError> {
        let program = self.program().await?;
        self.unless_silent(&program)?;
        let error = match Helper::start(&program, environment).await {
            Ok(helper) => return Ok(helper),
            Err(error) => error,
        };
        // Somebody may put another in its place.
        let mut kept = self.0.program.lock().await;
        if kept
            .as_ref()
            .is_some_and(|kept| Arc::ptr_eq(kept, &program))
        {
            *kept = None;
        }
        if let HelperError::Silent { .. } = &error {
            let mut silent = self.0.silent.lock().unwrap_or_else(PoisonError::into_inner);
            *silent = Silent::now(&program);
        }
        Err(error)
    }

    /// Waiting for a program that says nothing holds up all reloads: it is not asked again at once.
    fn unless_silent(&self, program: &HelperProgram) -> Result<(), HelperError> {
        let silent = self.0.silent.lock().unwrap_or_else(PoisonError::into_inner);
        match &*silent {
            Some(silent) if silent.is(program) => Err(HelperError::Silent {
                path: program.path().to_owned(),
                limit: crate::limits::HELPER_START,
            }),
            _ => Ok(()),
        }
    }
}

/// Where the folders of confined processes are made.
#[derive(Clone, Debug)]
pub struct Scratch(PathBuf);

impl Scratch {
    const PREFIX: &str = "scratch-";

    /// A new folder, which is removed when what is returned is dropped. Folders that hosts which were
    /// killed have left are removed as well.
    pub(super) fn make(&self) -> io::Result<TempDir> {
        fs::create_dir_all(&self.0)?;
        self.tidy_up();
        let prefix = format!("{}{}-", Self::PREFIX, std::process::id());
        // Links on the way to it would not be what the kernel's rules are about.
        let root = fs::canonicalize(&self.0)?;
        tempfile::Builder::new().prefix(&prefix).tempdir_in(root)
    }

    fn tidy_up(&self) {
        let entries = fs::read_dir(&self.0).into_iter().flatten().flatten();
        let is_left = |entry: &fs::DirEntry| {
            let name = entry.file_name();
            let owner = name.to_str().and_then(|name| {
                let (owner, _) = name.strip_prefix(Self::PREFIX)?.split_once('-')?;
                Pid::from_raw(owner.parse().ok()?)
            });
            owner.is_some_and(|owner| test_kill_process(owner) == Err(Errno::SRCH))
        };
        for entry in entries.filter(is_left) {
            // Another host may be at it.
            drop(fs::remove_dir_all(entry.path()));
        }
    }
}

/// A helper program that said nothing.
#[derive(Debug)]
struct Silent {
    path: PathBuf,
    fingerprint: Fingerprint,
    since: Instant,
}

impl Silent {
    fn now(program: &HelperProgram) -> Option<Self> {
        let metadata = fs::metadata(program.path()).ok()?;
        Some(Self {
            path: program.path().to_owned(),
            fingerprint: Fingerprint::of(&metadata),
            since: Instant::now(),
        })
    }

    /// Whether it was this one, as it is now, a short while ago.
    fn is(&self, program: &HelperProgram) -> bool {
        let now = Self::now(program);
        now.is_some_and(|now| {
            self.path == now.path
                && self.fingerprint == now.fingerprint
                && now.since.duration_since(self.since) < SILENT_FOR
        })
    }
}
