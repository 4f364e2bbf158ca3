//! Where helper processes come from: the program is found once, and one process of a kind waits
//! for work, so that whoever needs one need not wait for its start.

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use fs_err as fs;
use tokio::sync::Mutex;

use super::client::{Environment, Helper, HelperError};
use super::program::HelperProgram;
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
    /// Found at the first use, and again after it turned out to be of no use. A tokio mutex, since
    /// finding it may mean to wait for the disk.
    program: Mutex<Option<Arc<HelperProgram>>>,
    /// A program that said nothing. A mutex, held for moments only.
    silent: std::sync::Mutex<Option<Silent>>,
    /// Has mapped nothing yet, and has this process's environment. A tokio mutex, since whoever needs
    /// one waits for the one that is starting.
    open: Mutex<Option<Helper>>,
    /// The same without any variable.
    bare: Mutex<Option<Helper>>,
}

impl Helpers {
    /// Helpers are this program, or the one that [`HelperProgram::find`] finds.
    pub fn new(given: Option<&Path>) -> Self {
        Self(Arc::new(Inner {
            given: given.map(Path::to_owned),
            program: Mutex::default(),
            silent: std::sync::Mutex::default(),
            open: Mutex::default(),
            bare: Mutex::default(),
        }))
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
            Environment::Only(variables) => variables.is_empty().then_some(&self.0.bare),
        }
    }

    async fn start(&self, environment: &Environment) -> Result<Helper, HelperError> {
        let mut kept = self.0.program.lock().await;
        let program = if let Some(program) = &*kept {
            Arc::clone(program)
        } else {
            let found = Arc::new(HelperProgram::find(self.0.given.as_deref())?);
            Arc::clone(kept.insert(found))
        };
        drop(kept);
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
