//! Libraries that are at hand, taken over together: stored and judged, tried out in one helper
//! process, loaded in the order of their names, published in one step.

use std::sync::Arc;

use super::plugin::{Current, Failure, Mapped};
use super::publish::retire;
use super::{PluginState, Reload, blocking};
use crate::build::CrateManifest;
use crate::ids::PluginName;
use crate::plugin::store::StoredLibrary;
use crate::plugin::verdict::{Tried, Verdict};
use crate::plugin::{LibrarySource, PluginError, Store};
use crate::registry::Inner;
use crate::worker::{self, Restriction};

/// A library that may take over.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    name: PluginName,
    library: LibrarySource,
    /// Whether it was built from a crate that uses the SDK.
    uses_sdk: bool,
    /// Whether others write it.
    is_file: bool,
    /// Whether it is tried again although it failed before.
    forced: bool,
}

/// A candidate that is stored.
struct Admitted {
    candidate: Candidate,
    stored: StoredLibrary,
    /// How its process is restricted, if it is.
    restriction: Option<Restriction>,
    tried: Tried,
    /// Stands for the library and its settings where failures are remembered.
    content: String,
}

impl Admitted {
    /// Why it does not serve.
    fn failure(&self, error: &PluginError) -> Failure {
        Failure {
            state: match error {
                PluginError::Quarantined(_) => PluginState::Quarantined,
                _ => PluginState::Failed,
            },
            ..Failure::unreported(error.to_string(), self.content.clone())
        }
    }
}

impl Candidate {
    pub(super) fn of_file(name: PluginName, library: LibrarySource, forced: bool) -> Self {
        Self {
            name,
            library,
            uses_sdk: false,
            is_file: true,
            forced,
        }
    }

    pub(super) fn of_crate(
        name: PluginName,
        library: LibrarySource,
        manifest: &CrateManifest,
        forced: bool,
    ) -> Self {
        Self {
            name,
            library,
            uses_sdk: manifest.sdk.is_some(),
            is_file: false,
            forced,
        }
    }
}

impl Reload {
    /// Takes the libraries over, as far as they may serve and do not yet.
    pub(super) async fn take_over(&mut self, registry: &Inner, candidates: Vec<Candidate>) {
        let store = Arc::clone(&registry.store);
        let admitted = blocking(move || admit_all(&store, candidates)).await;
        let mut replaced: Vec<Current> = Vec::new();
        let mut new = Vec::new();
        for (candidate, stored) in admitted {
            match stored {
                Ok(stored) => new.extend(self.if_new(registry, candidate, stored).await),
                // A crate that declares no tool does not link the SDK's part that is looked for.
                Err(PluginError::NoStamp { .. }) if candidate.uses_sdk => {
                    if let Some(plugin) = self.plugins.get_mut(&candidate.name) {
                        plugin.serves();
                        replaced.extend(plugin.current.take());
                    }
                }
                // A file that was not even stored has no hash: its reason stands for its content.
                Err(error) => {
                    let reason = error.to_string();
                    let failure = Failure::unreported(reason.clone(), reason);
                    self.refuse(registry, candidate, failure).await;
                }
            }
        }
        let mut mapped = Vec::new();
        for (admitted, verdict) in try_out(registry, new).await {
            match self.map(registry, &admitted, verdict).await {
                Ok(one) => mapped.push((admitted, one)),
                Err(failure) => self.refuse(registry, admitted.candidate, failure).await,
            }
        }
        for (admitted, mapped) in mapped {
            let Candidate { name, library, .. } = &admitted.candidate;
            match mapped.open(registry, name).await {
                Ok(current) => {
                    registry.store.serves(&library.path);
                    if let Some(plugin) = self.plugins.get_mut(name) {
                        plugin.serves();
                        replaced.extend(plugin.replace(current));
                    }
                }
                Err(error) => {
                    let failure = admitted.failure(&error);
                    self.refuse(registry, admitted.candidate, failure).await;
                }
            }
        }
        self.publish(registry);
        retire(replaced);
    }

    async fn refuse(&mut self, registry: &Inner, candidate: Candidate, failure: Failure) {
        let Candidate {
            name,
            library,
            is_file,
            ..
        } = candidate;
        if is_file && registry.watch.writing().contains(&name) {
            // Somebody has begun to write it while it was looked at.
            return;
        }
        if let Some(plugin) = self.plugins.get_mut(&name) {
            plugin.fall_back(registry, &name, &library).await;
        }
        self.fail(name, failure);
    }

    /// The library, unless it serves already or is known not to.
    async fn if_new(
        &mut self,
        registry: &Inner,
        candidate: Candidate,
        stored: StoredLibrary,
    ) -> Option<Admitted> {
        let Candidate { name, .. } = &candidate;
        let plugin = self.plugins.get_mut(name)?;
        let next = plugin.next_place(registry, name);
        if let Some(current) = plugin.current.as_mut()
            && current.generation.hash() == stored.hash
            && current.place.fits(registry.policy_of(name))
            && current.origin == registry.origin_of(name)
            && !(candidate.forced && current.given_up.get().is_some())
        {
            match current.shared.follow(registry, name).await {
                Ok(()) => plugin.serves(),
                Err(failure) => self.fail(candidate.name, failure),
            }
            return None;
        }
        if candidate.forced {
            stored.forgive();
        }
        let settings = registry.configuration.load().settings.fingerprint(name);
        let content = format!("{} with {settings} under {:?}", stored.hash, next.policy);
        if plugin.failed_content.as_ref() == Some(&content) {
            plugin.settle();
            return None;
        }
        match next.policy.restriction(&stored) {
            Ok(restriction) => Some(Admitted {
                candidate,
                stored,
                restriction,
                tried: next.policy.tried(),
                content,
            }),
            Err(error) => {
                let failure = Failure::unreported(error.to_string(), content);
                self.fail(candidate.name, failure);
                None
            }
        }
    }

    /// Maps what was tried out.
    async fn map(
        &self,
        registry: &Inner,
        admitted: &Admitted,
        verdict: Result<Verdict, String>,
    ) -> Result<Mapped, Failure> {
        // Nothing is wrong with the library; it may be tried as soon as there is a helper.
        let not_tried = |reason: String| Failure::unreported(reason.clone(), reason);
        let verdict = verdict.map_err(not_tried)?;
        let failure = |error: PluginError| admitted.failure(&error);
        let introduced = verdict.introduced().map_err(failure)?;
        let name = &admitted.candidate.name;
        let plugin = self.plugins.get(name);
        let plugin = plugin.ok_or_else(|| Failure::unreported(String::new(), String::new()))?;
        let mapped = plugin.map(registry, name, &admitted.stored, introduced);
        mapped.await.map_err(failure)
    }
}

/// Judges and stores; on as many threads as there are cores, since most of it is reading and
/// hashing.
fn admit_all(
    store: &Store,
    candidates: Vec<Candidate>,
) -> Vec<(Candidate, Result<StoredLibrary, PluginError>)> {
    let admit = |candidates: &[Candidate]| -> Vec<Result<StoredLibrary, PluginError>> {
        let candidates = candidates.iter();
        candidates
            .map(|candidate| store.admit(&candidate.library))
            .collect()
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let share = candidates.len().div_ceil(threads).max(1);
    let results: Vec<_> = if candidates.len() < threads {
        admit(&candidates)
    } else {
        std::thread::scope(|scope| {
            let parts = candidates.chunks(share);
            let running: Vec<_> = parts.map(|part| scope.spawn(move || admit(part))).collect();
            let ended = running.into_iter().flat_map(|thread| match thread.join() {
                Ok(results) => results,
                Err(panic) => std::panic::resume_unwind(panic),
            });
            ended.collect()
        })
    };
    candidates.into_iter().zip(results).collect()
}

/// Every library with its verdict: the one that is kept, else a new one. An error says why it
/// could not be tried.
async fn try_out(
    registry: &Inner,
    admitted: Vec<Admitted>,
) -> Vec<(Admitted, Result<Verdict, String>)> {
    let kept = |one: &Admitted| {
        let verdict = one.stored.verdict(one.tried).cloned()?;
        let again = one.candidate.forced && !matches!(verdict, Verdict::Fit(_));
        (!again).then_some(verdict)
    };
    let candidate = |one: &Admitted| worker::Candidate {
        plugin: one.candidate.name.clone(),
        package: one.candidate.library.package.clone(),
        library: one.stored.clone(),
        restriction: one.restriction.clone(),
    };
    let untried = admitted.iter().filter(|one| kept(one).is_none());
    let untried: Vec<worker::Candidate> = untried.map(candidate).collect();
    let mut outcomes = registry.prober.probe(&untried).await.into_iter();
    let with_verdict = admitted.into_iter().map(|one| {
        if let Some(verdict) = kept(&one) {
            return (one, Ok(verdict));
        }
        let outcome = outcomes.next();
        let outcome = outcome.unwrap_or_else(|| Err("it was not tried out".to_owned()));
        if let Ok(verdict) = &outcome {
            let package = &one.candidate.library.package;
            let store = &registry.store;
            let kept = store.keep_verdict(one.stored.hash, package, one.tried, verdict.clone());
            if let Err(error) = kept {
                tracing::warn!(%error, "it has to be tried out again after a restart");
            }
        }
        (one, outcome)
    });
    with_verdict.collect()
}
