//! What is remembered of a build, so that the next start can do without it.
//!
//! Owns the file `STATE/builds/PACKAGE.json`. Does not own the judgement whether a build is
//! needed beyond "is everything as it was".

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use fs_err as fs;
use serde::{Deserialize, Serialize};

use super::cargo::Profile;
use super::environment::BuildEnvironment;
use super::inputs::{Seen, Snapshot, Sources};
use super::replay::Recipe;

/// The shape of the file; a file of another shape is as good as none.
const SHAPE: u32 = 2;

/// What a build was told, apart from files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Conditions {
    /// The manifest that was built.
    pub(super) manifest: PathBuf,
    /// The target directory.
    pub(super) target: PathBuf,
    /// The arguments that choose the profile.
    pub(super) profile: Vec<String>,
    /// What `rustc -vV` says.
    pub(super) toolchain: String,
}

/// One successful build.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Record {
    shape: u32,
    /// What it was told.
    pub(super) conditions: Conditions,
    /// A hash of the variables that compilers and build scripts read.
    pub(super) environment: String,
    /// Variables that the crate itself read at compile time, with hashes of their values.
    pub(super) variables: BTreeMap<String, Option<String>>,
    /// Which files count.
    pub(super) sources: Sources,
    /// The files as they were.
    pub(super) inputs: Snapshot,
    /// What was built.
    pub(super) library: PathBuf,
    /// The library as it was.
    pub(super) artifact: Seen,
    /// Warnings about the crate.
    pub(super) warnings: usize,
    /// How an edit of the crate's own sources is compiled without cargo.
    pub(super) recipe: Option<Recipe>,
}

impl Record {
    #[expect(clippy::too_many_arguments, reason = "each is one field of the record")]
    pub(super) fn new(
        conditions: Conditions,
        environment: &BuildEnvironment,
        variables: impl IntoIterator<Item = String>,
        sources: Sources,
        inputs: Snapshot,
        library: PathBuf,
        artifact: Seen,
        warnings: usize,
        recipe: Option<Recipe>,
    ) -> Self {
        let variables = variables
            .into_iter()
            .map(|name| (name.clone(), hash_of(environment, &name)))
            .collect();
        let environment = environment.fingerprint();
        Self {
            shape: SHAPE,
            conditions,
            environment,
            variables,
            sources,
            inputs,
            library,
            artifact,
            warnings,
            recipe,
        }
    }

    /// The same build, with its files as they are now.
    pub(super) fn refreshed(&self, inputs: Snapshot, artifact: Seen) -> Self {
        Self {
            inputs,
            artifact,
            ..self.clone()
        }
    }

    /// The file that holds the record of a package.
    pub(super) fn file(state: &Path, package: &str, profile: Profile) -> PathBuf {
        let file = match profile {
            Profile::Dev => format!("{package}.json"),
            Profile::Release => format!("{package}.{}.json", profile.as_str()),
        };
        state.join("builds").join(file)
    }

    /// The record of a package; a broken file is as good as none.
    pub(super) fn load(file: &Path) -> Option<Self> {
        let text = fs::read(file).ok()?;
        serde_json::from_slice(&text)
            .ok()
            .filter(|record: &Self| record.shape == SHAPE)
    }

    /// Writes the record in one step: whoever reads it sees the old one or the new one.
    pub(super) fn save(&self, file: &Path) -> io::Result<()> {
        replace(file, &serde_json::to_vec(self)?)
    }

    /// Whether the variables are as they were.
    pub(super) fn has_environment(&self, environment: &BuildEnvironment) -> bool {
        self.environment == environment.fingerprint() && are_same(&self.variables, environment)
    }

    /// One hash over everything that the library was made from.
    pub(super) fn digest(&self, folder: &Path) -> String {
        digest(&self.conditions, &self.inputs, folder)
    }
}

/// Replaces a file in one step.
pub(super) fn replace(file: &Path, content: &[u8]) -> io::Result<()> {
    fs::create_dir_all(file.parent().unwrap_or(file))?;
    let unfinished = file.with_extension(format!("{}.tmp", std::process::id()));
    fs::write(&unfinished, content)
        .and_then(|()| fs::rename(&unfinished, file))
        .inspect_err(|_| drop(fs::remove_file(&unfinished)))
}

/// Whether variables have the values of these hashes.
pub(super) fn are_same(
    variables: &BTreeMap<String, Option<String>>,
    environment: &BuildEnvironment,
) -> bool {
    let mut variables = variables.iter();
    variables.all(|(name, hash)| hash_of(environment, name) == *hash)
}

/// One hash over everything that a library is made from.
pub(super) fn digest(conditions: &Conditions, inputs: &Snapshot, folder: &Path) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in conditions.profile.iter().chain([&conditions.toolchain]) {
        hasher
            .update(&(part.len() as u64).to_le_bytes())
            .update(part.as_bytes());
    }
    inputs.digest(folder, &mut hasher);
    hasher.finalize().to_hex().to_string()
}

fn hash_of(environment: &BuildEnvironment, name: &str) -> Option<String> {
    let value = environment.get(name)?;
    Some(blake3::hash(value.as_encoded_bytes()).to_hex().to_string())
}
