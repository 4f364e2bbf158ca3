//! The steps before a compiler runs, one function each: the look, and the answers that need none.
//!
//! Owns what the head of [`super`] tells of them. Does not own the mechanics of any step, nor the
//! steps of a build, which are [`super::make`]'s.

use std::sync::Arc;
use std::time::Instant;

use super::environment::BuildEnvironment;
use super::history::{self, History, Recalled};
use super::inputs::{Seen, Snapshot, Sources};
use super::make::built;
use super::place;
use super::record::{self, Conditions, Record};
use super::replay::Recipe;
use super::{
    BuildError, BuildProgress, BuildWork, Builder, BuilderOptions, Built, CrateManifest, sdk,
    written,
};

/// The moment to look at what cargo has written: it never writes into a file that is there but
/// puts another in its place, so that no file is too young to be told from a later one.
pub(super) const OUTPUT: i64 = i64::MAX;

/// What a look at a crate found.
pub(super) struct Look {
    pub(super) conditions: Conditions,
    pub(super) record: Option<Record>,
    /// The files as they are now.
    pub(super) inputs: Snapshot,
    /// The library as it is now, where one is remembered and its inputs are as they were.
    artifact: Option<Seen>,
}

impl Look {
    /// The remembered build, if everything is as it was.
    fn unchanged(&self, builder: &Builder) -> Option<&Record> {
        let record = self.record.as_ref()?;
        let is_same = self
            .artifact
            .as_ref()
            .is_some_and(|now| now.hash == record.artifact.hash)
            && record.conditions == self.conditions
            && record.has_environment(&builder.environment)
            && self.inputs.has_content_of(&record.inputs);
        is_same.then_some(record)
    }

    pub(super) fn digest(&self, manifest: &CrateManifest) -> String {
        record::digest(&self.conditions, &self.inputs, &manifest.folder)
    }

    /// How to compile without cargo, if nothing has changed but what the crate's own compiler
    /// reads.
    pub(super) fn recipe(
        &self,
        manifest: &CrateManifest,
        environment: &BuildEnvironment,
    ) -> Option<&Recipe> {
        let record = self.record.as_ref()?;
        let recipe = record.recipe.as_ref()?;
        let is_same = record.conditions == self.conditions && record.has_environment(environment);
        (is_same && recipe.fits(&self.inputs, manifest, environment)).then_some(recipe)
    }
}

impl Builder {
    /// The library of the last build, if everything is as it was then.
    pub(super) fn unchanged(
        &self,
        look: &Look,
        manifest: &CrateManifest,
        progress: &dyn BuildProgress,
        begin: Instant,
    ) -> Option<Built> {
        let record = look.unchanged(self)?;
        let artifact = look.artifact.as_ref()?;
        // Contents are the same, yet times or inodes may have changed, or may have been too young
        // to be trusted. As they are now they spare the next look the reading.
        if look.inputs.moved || *artifact != record.artifact {
            let record = record.refreshed(look.inputs.clone(), artifact.clone());
            self.remember_look(&record, manifest, progress);
            return Some(built(manifest, record, BuildWork::Nothing, begin));
        }
        Some(built(manifest, record.clone(), BuildWork::Nothing, begin))
    }

    /// Looks at everything that the crate was made from the last time, or would be made from.
    pub(super) async fn look(
        self: &Arc<Self>,
        manifest: &CrateManifest,
    ) -> Result<Look, BuildError> {
        let conditions = self.conditions(manifest).await;
        let (builder, manifest) = (Arc::clone(self), manifest.clone());
        blocking(move || {
            let record = Record::load(&builder.record_file(&manifest.package))
                .filter(|record| record.conditions.manifest == conditions.manifest);
            let sources = record.as_ref().map_or_else(
                || {
                    Sources::before_first_build(
                        &manifest,
                        builder.environment.cargo_home().as_deref(),
                    )
                },
                |record| record.sources.clone(),
            );
            let known = record.as_ref().map(|record| &record.inputs);
            let inputs = Snapshot::take(&sources, known)?;
            // The library is only worth a look where nothing else asks for a build.
            let artifact = match &record {
                Some(record) if inputs.has_content_of(&record.inputs) => {
                    Seen::look(&record.library, Some(&record.artifact), OUTPUT)?
                }
                _ => None,
            };
            Ok(Look {
                conditions,
                record,
                inputs,
                artifact,
            })
        })
        .await
    }

    async fn conditions(&self, manifest: &CrateManifest) -> Conditions {
        Conditions {
            manifest: manifest.file(),
            target: self.target_of(manifest).to_owned(),
            profile: self.options.profile.arguments(),
            toolchain: self.toolchain_of(manifest).await.version,
        }
    }

    /// A crate that was made for the SDK in the state folder finds it there, even if the folder
    /// was removed since.
    pub(super) async fn provide_sdk(
        self: &Arc<Self>,
        manifest: &CrateManifest,
    ) -> Result<(), BuildError> {
        let Some(expected) = manifest.sdk.clone() else {
            return Ok(());
        };
        let state = self.options.state_dir.clone();
        if expected.is_dir() || !expected.starts_with(sdk::folder(&state)) {
            return Ok(());
        }
        let found = blocking(move || Ok(sdk::unpack(&state)?)).await?;
        if expected.is_dir() {
            return Ok(());
        }
        Err(BuildError::SdkMissing {
            package: manifest.package.clone(),
            expected,
            found,
        })
    }

    /// Refuses a crate that a model wrote and whose manifest says more than it may.
    pub(super) async fn check_written(
        self: &Arc<Self>,
        manifest: &CrateManifest,
    ) -> Result<(), BuildError> {
        if !manifest.origin.is_confined() {
            return Ok(());
        }
        let (builder, manifest) = (Arc::clone(self), manifest.clone());
        let check = move || {
            let BuilderOptions {
                sdk,
                plugins_dir,
                state_dir,
                ..
            } = &builder.options;
            written::check(&manifest, |folder| {
                sdk::is_known(folder, sdk.as_deref(), plugins_dir, state_dir)
            })
        };
        blocking(check).await
    }

    /// The earlier build whose inputs are those of now.
    pub(super) async fn recall(
        self: &Arc<Self>,
        look: Look,
        manifest: &CrateManifest,
    ) -> Result<(Look, Option<Recalled>), BuildError> {
        let builder = Arc::clone(self);
        let file = self.history_file(&manifest.package);
        blocking(move || {
            let history = History::load(&file);
            let recalled = history.recall(&look.conditions, &builder.environment, &look.inputs)?;
            Ok((look, recalled))
        })
        .await
    }

    /// The library of an earlier build, if the store still has it.
    pub(super) async fn restored(
        self: &Arc<Self>,
        look: &Look,
        recalled: &Recalled,
        manifest: &CrateManifest,
        progress: &dyn BuildProgress,
        begin: Instant,
    ) -> Option<Built> {
        let hash = recalled.past.library;
        let library = self.place_of(manifest);
        let (state, to) = (self.options.state_dir.clone(), library.clone());
        // A library that can't be restored is built.
        let artifact = blocking(move || {
            let Some(stored) = history::stored(&state, hash) else {
                return Ok(None);
            };
            Ok(place::link(&stored, &to)?)
        });
        let artifact = artifact.await.ok()??;
        if artifact.hash != hash.to_string() {
            return None;
        }
        let recipe = look.recipe(manifest, &self.environment).cloned();
        let record = Record::new(
            look.conditions.clone(),
            &self.environment,
            recalled.past.variables.keys().cloned(),
            recalled.sources.clone(),
            recalled.inputs.clone(),
            library,
            artifact,
            recalled.past.warnings,
            recipe.and_then(|recipe| recipe.based_on(&recalled.inputs, manifest)),
        );
        self.remember(&record, true, manifest, progress);
        Some(built(manifest, record, BuildWork::Restored, begin))
    }
}

pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, BuildError> + Send + 'static,
) -> Result<T, BuildError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(outcome) => outcome,
        Err(error) => Err(std::io::Error::other(error).into()),
    }
}
