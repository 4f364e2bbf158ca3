//! Trying libraries out in a process that may die of it.
//!
//! New files of one scan share a process. If it dies or hangs, every one of them is tried again
//! alone, since it is not sure which of them is to blame.

use super::client::{Environment, HelperError};
use super::helpers::{Helpers, Restriction};
use super::protocol::{Answer, Request};
use crate::ids::PluginName;
use crate::limits;
use crate::plugin::store::StoredLibrary;
use crate::plugin::verdict::Verdict;

/// How many processes a library may end before it is blamed for that.
const DEATHS: usize = 2;

/// The same where they were killed: by a person, by the library, or because memory ran out.
const KILLS: usize = 3;

/// A library to try out.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// What it will be called.
    pub plugin: PluginName,
    /// The package whose tools it should serve.
    pub package: String,
    /// The library.
    pub library: StoredLibrary,
    /// How its process is restricted meanwhile, if it is.
    pub restriction: Option<Restriction>,
}

/// Tries libraries out. Clones share the helper process that waits for work.
#[derive(Clone, Debug)]
pub struct Prober(Helpers);

impl Prober {
    /// A prober that starts these helpers.
    pub fn new(helpers: Helpers) -> Self {
        Self(helpers)
    }

    /// Starts a helper ahead of its use, so that the next library need not wait for it.
    pub fn warm_up(&self) {
        self.0.warm_up(&Environment::Inherited);
    }

    /// Tries the libraries out: for each of them a verdict, or why there is none.
    pub async fn probe(&self, candidates: &[Candidate]) -> Vec<Result<Verdict, String>> {
        // Each restricted process holds one plugin.
        let free = candidates
            .iter()
            .all(|candidate| candidate.restriction.is_none());
        if candidates.len() > 1 && free {
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
        let first = candidates.first();
        let restriction = first.and_then(|first| first.restriction.as_ref());
        let (mut helper, _) = self.0.take_for(restriction).await?;
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
                _ => return Err(out_of_turn()),
            }
        }
        // What the last one has started may have had no time yet to do harm.
        match helper.ask(&Request::Finish, limits::PROBE_TIMEOUT).await? {
            Answer::Finished => Ok(verdicts),
            _ => Err(out_of_turn()),
        }
    }
}

fn out_of_turn() -> HelperError {
    HelperError::Died {
        how: "it answered out of turn".to_owned(),
        killed: false,
    }
}
