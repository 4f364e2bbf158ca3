//! Trying libraries out in a process that may die of it.
//!
//! New files of one scan share a process. If it dies or hangs, every one of them is tried again
//! alone, since it is not sure which of them is to blame.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::sync::Mutex;

use super::client::{Helper, HelperError};
use super::program::HelperProgram;
use super::protocol::{Answer, Request};
use crate::ids::PluginName;
use crate::limits;
use crate::plugin::store::StoredLibrary;
use crate::plugin::verdict::Verdict;

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
    /// Found at the first use.
    program: tokio::sync::OnceCell<HelperProgram>,
    /// A helper that has mapped nothing yet. A tokio mutex, since whoever needs one waits for the
    /// one that is starting.
    spare: Mutex<Option<Helper>>,
}

impl Prober {
    /// A prober whose helpers are this program, or the one that [`HelperProgram::find`] finds.
    pub fn new(given: Option<&Path>) -> Self {
        Self(Arc::new(Inner {
            given: given.map(Path::to_owned),
            program: tokio::sync::OnceCell::new(),
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
        if candidates.len() > 1
            && let Ok(verdicts) = self.together(candidates).await
        {
            return verdicts.into_iter().map(Ok).collect();
        }
        let mut outcomes = Vec::with_capacity(candidates.len());
        for candidate in candidates {
            outcomes.push(self.alone(candidate).await);
        }
        outcomes
    }

    /// A process for one. One that dies is tried once more, in a fresh one: somebody may have ended
    /// the first.
    async fn alone(&self, candidate: &Candidate) -> Result<Verdict, String> {
        let mut error = None;
        for _ in 0..2 {
            match self.together(std::slice::from_ref(candidate)).await {
                Ok(verdicts) => return verdicts.into_iter().next().ok_or_else(String::new),
                Err(HelperError::Died { how, killed }) => {
                    error = Some(HelperError::Died { how, killed });
                }
                Err(error @ HelperError::TimedOut { .. }) => {
                    return Ok(Verdict::timed_out(error.to_string()));
                }
                Err(error) => return Err(error.to_string()),
            }
        }
        match error {
            // By a person, or because memory ran out: that says nothing of the library.
            Some(error @ HelperError::Died { killed: true, .. }) => Err(error.to_string()),
            Some(error) => Ok(Verdict::crashed(error.to_string())),
            None => Err(String::new()),
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
        let find = async || HelperProgram::find(self.0.given.as_deref());
        let program = self.0.program.get_or_try_init(find).await?;
        Helper::start(program).await
    }
}

fn out_of_turn() -> HelperError {
    HelperError::Died {
        how: "it answered out of turn".to_owned(),
        killed: false,
    }
}
