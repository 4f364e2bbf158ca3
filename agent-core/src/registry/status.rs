//! How plugins stand, as `list` shows it.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use serde::Serialize;

use super::Configuration;
use super::policies::Place;
use crate::ids::{ContentHash, GenerationNumber, PluginName};
use crate::plugin::Generation;
use crate::tool::Isolation;
use crate::worker::sandbox::Enforced;

/// How a plugin stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum PluginState {
    /// Its crate is being built.
    Building,
    /// Its newest content serves.
    Live,
    /// Its newest content does not serve; what served before goes on.
    Failed,
    /// Another plugin has its name.
    Conflicted,
    /// Its content is not tried again.
    Quarantined,
}

/// A plugin as `list` shows it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PluginStatus {
    /// Its name.
    pub name: PluginName,
    /// Its file or folder. In JSON, what is no UTF-8 in it is replaced.
    #[serde(serialize_with = "lossy")]
    pub path: PathBuf,
    /// How it stands.
    pub state: PluginState,
    /// Why it does not serve.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Number of the generation that serves, 0 if none does.
    pub generation: GenerationNumber,
    /// Hash of the library that serves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hash: Option<ContentHash>,
    /// What stands between its code and this process.
    pub isolation: Isolation,
    /// What of its isolation the system really enforces; a list of rules in JSON.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "rules")]
    pub enforced: Option<Enforced>,
    /// How many of its libraries are mapped into this process.
    pub mapped_images: usize,
    /// How many calls run on the generation that serves.
    pub in_flight: u64,
}

fn lossy<S: serde::Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&path.display())
}

#[expect(clippy::ref_option, reason = "serde's interface")]
fn rules<S: serde::Serializer>(
    enforced: &Option<Enforced>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(enforced.iter().flat_map(Enforced::lines))
}

/// What is stored of a plugin's state; counters are read when it is shown.
#[derive(Debug)]
pub(super) struct Status {
    pub(super) name: PluginName,
    pub(super) path: PathBuf,
    pub(super) state: PluginState,
    pub(super) reason: Option<String>,
    pub(super) generation: Option<Arc<Generation>>,
    pub(super) mapped_images: usize,
    pub(super) isolation: Isolation,
    /// What the generation serves under.
    pub(super) serving: Option<Serving>,
    pub(super) enforced: Option<Enforced>,
    /// Why the process of the generation that serves is not started again, once that is so.
    pub(super) given_up: GivenUp,
}

/// Why a plugin's process is not started again, once that is so. Clones share it.
pub(super) type GivenUp = Arc<OnceLock<String>>;

/// What a generation serves under.
#[derive(Debug)]
pub(super) struct Serving {
    pub(super) place: Place,
    /// Stands for the settings that its state was opened from.
    pub(super) settings: String,
}

impl Serving {
    /// Whether that is what is decided of the plugin.
    pub(super) fn is_as_decided(&self, decided: &Configuration, plugin: &PluginName) -> bool {
        self.place.fits(decided.policies.of(plugin))
            && self.settings == decided.settings.fingerprint(plugin)
    }
}

impl Status {
    pub(super) fn show(&self) -> PluginStatus {
        let generation = self.generation.as_ref();
        let (state, reason) = match self.given_up.get() {
            Some(reason) if self.state == PluginState::Live => {
                (PluginState::Quarantined, Some(reason.clone()))
            }
            _ => (self.state, self.reason.clone()),
        };
        PluginStatus {
            name: self.name.clone(),
            path: self.path.clone(),
            state,
            reason,
            generation: generation.map_or_else(GenerationNumber::default, |one| one.number()),
            hash: generation.map(|one| one.hash()),
            isolation: self.isolation,
            enforced: self.enforced.clone(),
            mapped_images: self.mapped_images,
            in_flight: generation.map_or(0, |one| one.in_flight()),
        }
    }
}
