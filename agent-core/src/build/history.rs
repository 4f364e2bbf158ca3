//! Libraries that were built before, by what they were built from.
//!
//! Owns the file `STATE/builds/PACKAGE.history.json`, and the return to an earlier library: an
//! undone edit, another branch and back. Does not own the libraries, which are the store's
//! ([`crate::plugin::store`]): one that is gone from there is built again.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use fs_err as fs;
use serde::{Deserialize, Serialize};

use super::cargo::Profile;
use super::environment::BuildEnvironment;
use super::inputs::{Snapshot, Sources};
use super::record::{self, Conditions, Record};
use crate::ids::ContentHash;
use crate::limits::BUILD_HISTORY;

/// The shape of the file; a file of another shape is as good as none.
const SHAPE: u32 = 1;

/// Builds of one package, oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct History {
    shape: u32,
    builds: Vec<Past>,
    /// Which files counted for them: most builds of a crate share one set.
    sources: Vec<Sources>,
}

/// One of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Past {
    /// A hash over conditions, environment and inputs.
    key: String,
    /// Variables that the crate read at compile time, with hashes of their values.
    pub(super) variables: BTreeMap<String, Option<String>>,
    /// The place of its files among the sets.
    sources: usize,
    /// The library's hash.
    pub(super) library: ContentHash,
    /// Warnings about the crate.
    pub(super) warnings: usize,
}

/// An earlier build whose inputs are those of now.
#[derive(Debug)]
pub(super) struct Recalled {
    pub(super) past: Past,
    pub(super) sources: Sources,
    pub(super) inputs: Snapshot,
}

impl History {
    pub(super) fn file(state: &Path, package: &str, profile: Profile) -> PathBuf {
        Record::file(state, package, profile).with_extension("history.json")
    }

    /// The history in a file; a broken file is as good as none.
    pub(super) fn load(file: &Path) -> Self {
        let read = fs::read(file).ok();
        read.and_then(|text| serde_json::from_slice(&text).ok())
            .filter(|history: &Self| history.shape == SHAPE)
            .unwrap_or_default()
    }

    pub(super) fn save(&self, file: &Path) -> io::Result<()> {
        record::replace(file, &serde_json::to_vec(self)?)
    }

    /// Adds a build as the newest, unless its inputs are not sure.
    pub(super) fn add(&mut self, record: &Record) {
        let Some(library) = ContentHash::from_hex(&record.artifact.hash) else {
            return;
        };
        if !record.inputs.is_sure() {
            return;
        }
        let key = key(&record.conditions, &record.environment, &record.inputs);
        let known = self
            .sources
            .iter()
            .position(|known| *known == record.sources);
        let sources = known.unwrap_or_else(|| {
            self.sources.push(record.sources.clone());
            self.sources.len() - 1
        });
        self.shape = SHAPE;
        self.builds
            .retain(|past| past.key != key || past.variables != record.variables);
        self.builds.push(Past {
            key,
            variables: record.variables.clone(),
            sources,
            library,
            warnings: record.warnings,
        });
        let surplus = self.builds.len().saturating_sub(BUILD_HISTORY);
        self.builds.drain(..surplus);
        self.forget_unused_sources();
    }

    fn forget_unused_sources(&mut self) {
        let all = std::mem::take(&mut self.sources);
        for (place, sources) in all.into_iter().enumerate() {
            let mut users = self
                .builds
                .iter_mut()
                .filter(|past| past.sources == place)
                .peekable();
            if users.peek().is_some() {
                let new = self.sources.len();
                users.for_each(|past| past.sources = new);
                self.sources.push(sources);
            }
        }
    }

    /// The newest build whose inputs are what they are now. What is known from the look just taken
    /// is not read again.
    pub(super) fn recall(
        &self,
        conditions: &Conditions,
        environment: &BuildEnvironment,
        look: &Snapshot,
    ) -> io::Result<Option<Recalled>> {
        let fingerprint = environment.fingerprint();
        for (place, sources) in self.sources.iter().enumerate() {
            let inputs = Snapshot::take(sources, Some(look))?;
            if !inputs.is_sure() {
                continue;
            }
            let key = key(conditions, &fingerprint, &inputs);
            let past = self.builds.iter().rev().find(|past| {
                past.sources == place
                    && past.key == key
                    && record::are_same(&past.variables, environment)
            });
            if let Some(past) = past {
                return Ok(Some(Recalled {
                    past: past.clone(),
                    sources: sources.clone(),
                    inputs,
                }));
            }
        }
        Ok(None)
    }
}

fn key(conditions: &Conditions, environment: &str, inputs: &Snapshot) -> String {
    let mut hasher = blake3::Hasher::new();
    let places = [&conditions.manifest, &conditions.target].map(|path| path.as_os_str());
    let texts = conditions.profile.iter().chain([&conditions.toolchain]);
    let parts = texts.map(String::as_bytes).chain([environment.as_bytes()]);
    for part in parts.chain(places.map(std::ffi::OsStr::as_encoded_bytes)) {
        hasher
            .update(&(part.len() as u64).to_le_bytes())
            .update(part);
    }
    inputs.digest(Path::new(""), &mut hasher);
    hasher.finalize().to_hex().to_string()
}

/// The library that the store has under a hash.
pub(super) fn stored(state: &Path, hash: ContentHash) -> Option<PathBuf> {
    let stored = state.join("store").join(format!("{hash}.so"));
    (stored.is_file() && stored.with_extension("json").is_file()).then_some(stored)
}
