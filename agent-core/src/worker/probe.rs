//! Trying libraries out in a process that may die of it.
//!
//! New files of one scan share a process. If it dies or hangs, every one of them is tried again
//! alone, since it is not sure which of them is to blame.

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use fs_err as fs;
use tokio::sync::Mutex;

use super::client::{Helper, HelperError};
use super::program::HelperProgram;
use super::protocol::{Answer, Request};
use crate::fingerprint::Fingerprint;
use crate::ids::PluginName;
use crate::limits;
use crate::plugin::store::StoredLibrary;
use crate::plugin::verdict::Verdict;

/// How many processes a library may end before it is blamed for that.
const DEATHS: usize = 2;

/// The same where they were killed: by a person, by the library, or because memory ran out.
const KILLS: usize = 3;

/// How long a program that said nothing is not asked again, unless another file takes its place.
const SILENT_FOR: Duration = Duration::from_mins(1);

/// A library to try out.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// What it will be called.
    pub plugin: PluginName,
    /// The package whose tools it should serve.
    pub package: String,
    /// The library.
    pub library: StoredLibrary,
}

/// Tries libraries out. Clones share the helper process that waits for work.
#[derive(Clone, Debug)]
pub struct Prober(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    /// The program that the embedding program has chosen.
    given: Option<PathBuf>,
    /// Found at the first use, and again after it turned out to be of no use. A tokio mutex, since
    /// finding it may mean to wait for the disk.
    program: Mutex<Option<Arc<HelperProgram>>>,
    /// A program that said nothing. A mutex, held for moments only.
    silent: std::sync::Mutex<Option<Silent>>,
    /// A helper that has mapped nothing yet. A tokio mutex, since whoever needs one waits for the
    /// one that is starting.
    spare: Mutex<Option<Helper>>,
}

impl Prober {
    /// A prober whose helpers are this program, or the one that [`HelperProgram::find`] finds.
    pub fn new(given: Option<&Path>) -> Self {
        Self(Arc::new(Inner {
            given: given.map(Path::to_owned),
            program: Mutex::default(),
            silent: std::sync::Mutex::default(),
            spare: Mutex::default(),
        }))
    }

    /// Starts a helper ahead of its use, so that the next library need not wait for it.
    pub fn warm_up(&self) {
        let prober = self.clone();
        // Whether it works is told when it is needed.
        tokio::spawn(async move {
            if let Ok(mut spare) = prober.0.spare.try_lock()
                && spare.is_none()
            {
                *spare = prober.start().await.ok();
            }
        });
    }

    /// Tries the libraries out: for each of them a verdict, or why there is none.
    pub async fn probe(&self, candidates: &[Candidate]) -> Vec<Result<Verdict, String>> {
        if candidates.len() > 1 {
            match self.together(candidates).await {
                Ok(verdicts) => return verdicts.into_iter().map(Ok).collect(),
                Err(error) if error.is_of_a_candidate() => {}
                // The same would be said of each of them, and it may have taken a while.
                Err(error) => return vec![Err(error.to_string()); candidates.len()],
            }
        }
        let mut outcomes = Vec::with_capacity(candidates.len());
        for candidate in candidates {
            outcomes.push(self.alone(candidate).await);
        }
        outcomes
    }

    /// A process for one. One that dies is tried once more, in a fresh one: somebody may have ended
    /// the first. What is killed whenever it is tried is to blame for it, as a library is that takes
    /// all memory.
    async fn alone(&self, candidate: &Candidate) -> Result<Verdict, String> {
        let mut kills = 0;
        let mut deaths = 0;
        loop {
            let error = match self.together(std::slice::from_ref(candidate)).await {
                Ok(verdicts) => return verdicts.into_iter().next().ok_or_else(String::new),
                Err(error) => error,
            };
            match error {
                HelperError::Died { killed: true, .. } => kills += 1,
                HelperError::Died { .. } | HelperError::CutOff { .. } => deaths += 1,
                HelperError::TimedOut { .. } => return Ok(Verdict::timed_out(error.to_string())),
                _ => return Err(error.to_string()),
            }
            if deaths == DEATHS {
                return Ok(Verdict::crashed(error.to_string()));
            }
            if kills == KILLS {
                return Ok(Verdict::crashed(format!("{error}, {KILLS} times in a row")));
            }
        }
    }

    /// One process for all.
    async fn together(&self, candidates: &[Candidate]) -> Result<Vec<Verdict>, HelperError> {
        let mut helper = self.helper().await?;
        let mut verdicts = Vec::with_capacity(candidates.len());
        for candidate in candidates {
            let request = Request::Probe {
                library: candidate.library.path.clone().into_os_string(),
                plugin: candidate.plugin.as_str().to_owned(),
                package: candidate.package.clone(),
                markers: candidate.library.judgement.markers.clone(),
            };
            match helper.ask(&request, limits::PROBE_TIMEOUT).await? {
                Answer::Probed(verdict) => verdicts.push(verdict),
                Answer::Finished => return Err(out_of_turn()),
            }
        }
        // What the last one has started may have had no time yet to do harm.
        match helper.ask(&Request::Finish, limits::PROBE_TIMEOUT).await? {
            Answer::Finished => Ok(verdicts),
            Answer::Probed(_) => Err(out_of_turn()),
        }
    }

    /// A helper that has mapped nothing yet.
    async fn helper(&self) -> Result<Helper, HelperError> {
        let spare = self.0.spare.lock().await.take();
        match spare {
            Some(helper) => Ok(helper),
            None => self.start().await,
        }
    }

    async fn start(&self) -> Result<Helper, HelperError> {
        let mut kept = self.0.program.lock().await;
        let program = if let Some(program) = &*kept {
            Arc::clone(program)
        } else {
            let found = Arc::new(HelperProgram::find(self.0.given.as_deref())?);
            Arc::clone(kept.insert(found))
        };
        drop(kept);
        self.unless_silent(&program)?;
        let error = match Helper::start(&program).await {
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
                limit: limits::HELPER_START,
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

fn out_of_turn() -> HelperError {
    HelperError::Died {
        how: "it answered out of turn".to_owned(),
        killed: false,
    }
}
