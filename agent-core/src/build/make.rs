//! The steps of a build, one function each: a compiler runs, and what came of it is remembered.
//!
//! Owns what the head of [`super`] tells of them. Does not own the mechanics of any step, nor the
//! decision that something must be built, which is [`super::steps`]'.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use fs_err as fs;

use super::cargo::{self, Finished, LockPolicy, Run};
use super::doubt::Doubt;
use super::history::{History, Recalled};
use super::inputs::{Seen, Snapshot, Sources};
use super::place;
use super::process::{Bounds, Stop};
use super::record::Record;
use super::replay::{self, Reads, Recipe};
use super::steps::{Look, OUTPUT, blocking};
use super::{BuildError, BuildProgress, BuildWork, Builder, Built, CrateManifest, dep_info};

/// What a compiler has made, and from what.
struct Made {
    library: PathBuf,
    artifact: Seen,
    warnings: usize,
    /// Every file that was read, also for the crates it depends on.
    compiled: BTreeSet<PathBuf>,
    variables: BTreeMap<String, Option<String>>,
    recipe: Option<Recipe>,
    work: BuildWork,
}

/// One request for a build.
#[derive(Clone, Copy)]
pub(super) struct Request<'a> {
    pub(super) manifest: &'a CrateManifest,
    pub(super) progress: &'a dyn BuildProgress,
    pub(super) stop: Stop<'a>,
    pub(super) begin: Instant,
}

impl Builder {
    /// A compiler runs, and what came of it is remembered.
    pub(super) async fn build(
        self: &Arc<Self>,
        request: Request<'_>,
        look: Look,
        recalled: Option<Recalled>,
    ) -> Result<Built, BuildError> {
        let Request {
            manifest, progress, ..
        } = request;
        let inputs_hash = look.digest(manifest);
        progress.started(&manifest.package, &inputs_hash);
        let made = match self.replay(request, &look).await? {
            Some(made) => made,
            None => {
                self.run_cargo(request, &look, recalled.as_ref(), &inputs_hash)
                    .await?
            }
        };
        let work = made.work;
        let (record, is_sure) = self.record(manifest, look, made).await?;
        self.remember(&record, is_sure, manifest, progress);
        Ok(built(manifest, record, work, request.begin))
    }

    /// The crate's compiler alone runs, where that is enough; nothing where cargo must.
    async fn replay(
        self: &Arc<Self>,
        request: Request<'_>,
        look: &Look,
    ) -> Result<Option<Made>, BuildError> {
        let Request {
            manifest,
            progress,
            stop,
            ..
        } = request;
        let Some(recipe) = look.recipe(manifest, &self.environment) else {
            return Ok(None);
        };
        progress.compiling(&manifest.package);
        let bounds = Bounds {
            package: &manifest.package,
            limit: self.options.time_limit,
            stop,
        };
        let own = self.place_of(manifest);
        let folder = own.parent().unwrap_or(&own);
        let replayed = replay::run(recipe, &self.environment, folder, bounds).await?;
        let Some(replayed) = replayed else {
            return Ok(None);
        };
        let mut compiled = replayed.reads.files;
        compiled.extend(replayed.recipe.dependencies.iter().cloned());
        Ok(Some(Made {
            artifact: seen(&replayed.library).await?,
            library: replayed.library,
            warnings: replayed.warnings,
            compiled,
            variables: replayed.reads.variables,
            recipe: Some(replayed.recipe),
            work: BuildWork::Compiled,
        }))
    }

    /// Cargo runs, a second time where it took for new what is not.
    async fn run_cargo(
        self: &Arc<Self>,
        request: Request<'_>,
        look: &Look,
        recalled: Option<&Recalled>,
        inputs_hash: &str,
    ) -> Result<Made, BuildError> {
        let Request { manifest, stop, .. } = request;
        let confined = self.confined(manifest).await?;
        let run = Run {
            manifest,
            target: self.target_of(manifest),
            profile: self.options.profile,
            // In a sandbox nobody writes into the crate.
            lock: match confined {
                None => self.options.lock,
                Some(_) => LockPolicy::Keep,
            },
            confined: confined.as_ref(),
            colour: self.options.colour,
            environment: &self.environment,
            limit: self.options.time_limit,
            inputs_hash,
        };
        let mut finished = self.cargo(&run, request).await?;
        let mut artifact = seen(&finished.library).await?;
        if recalled.is_none_or(|recalled| recalled.past.library.to_string() != artifact.hash) {
            let doubt = Doubt {
                look,
                manifest,
                local: &finished.local,
                compiled: &compiled(&finished, &manifest.folder),
            };
            let packages = if finished.fresh {
                doubt.about_old_library(&artifact.hash)
            } else {
                doubt.about_new_library()
            };
            if !packages.is_empty() {
                cargo::forget(&run, &packages, stop).await?;
                finished = self.cargo(&run, request).await?;
                if finished.fresh {
                    return Err(BuildError::NotRebuilt {
                        package: manifest.package.clone(),
                        target: run.target.to_owned(),
                    });
                }
                artifact = seen(&finished.library).await?;
            }
        }
        let mut made = self.made(manifest, finished, artifact);
        let (library, place) = (made.library.clone(), self.place_of(manifest));
        let to = place.clone();
        // One that can't be put in place is used where it is.
        let kept = blocking(move || Ok(place::copy(&library, &to)?)).await;
        if let Ok(Some(kept)) = kept
            && kept.hash == made.artifact.hash
        {
            (made.library, made.artifact) = (place, kept);
        }
        Ok(made)
    }

    /// One run of cargo, whose library lies where it was told to put it. What a confined one says may
    /// be anything, and what it names is read outside of the sandbox.
    async fn cargo(&self, run: &Run<'_>, request: Request<'_>) -> Result<Finished, BuildError> {
        let finished = cargo::build(run, request.progress, request.stop).await?;
        let is_inside = || {
            let (library, target) = (finished.library.canonicalize(), run.target.canonicalize());
            matches!((library, target), (Ok(library), Ok(target)) if library.starts_with(&target))
        };
        if run.confined.is_none() || is_inside() {
            return Ok(finished);
        }
        Err(BuildError::NoArtifact {
            package: run.manifest.package.clone(),
            expected: std::env::consts::DLL_SUFFIX,
            found: vec![finished.library],
        })
    }

    fn made(&self, manifest: &CrateManifest, finished: Finished, artifact: Seen) -> Made {
        let compiled = compiled(&finished, &manifest.folder);
        let others = finished.local.into_iter();
        let others = others.filter(|package| package.folder != manifest.folder);
        let followed = finished
            .leaf
            .and_then(|command| Some((Reads::of_command(&command)?, command)));
        let mut made = Made {
            variables: variables(&finished.library, &manifest.library),
            library: finished.library,
            artifact,
            warnings: finished.warnings,
            compiled,
            recipe: None,
            work: BuildWork::Cargo,
        };
        if let Some((reads, command)) = followed {
            let fixed = Sources::of(manifest, self.environment.cargo_home().as_deref());
            let recipe = Recipe::new(
                command,
                &reads,
                &made.compiled,
                &fixed,
                manifest,
                &self.environment,
            );
            let others = others.map(|package| package.library);
            made.recipe = recipe.and_then(|recipe| recipe.linking(others));
            made.variables = reads.variables;
        }
        made
    }

    /// Looks again at everything, now by the compiler's own account of what it has read. Says
    /// whether the library is sure to be made from just that.
    async fn record(
        self: &Arc<Self>,
        manifest: &CrateManifest,
        before: Look,
        made: Made,
    ) -> Result<(Record, bool), BuildError> {
        let (builder, manifest) = (Arc::clone(self), manifest.clone());
        blocking(move || {
            let mut sources = Sources::of(&manifest, builder.environment.cargo_home().as_deref());
            let target = builder.target_of(&manifest);
            sources.add_compiled(&made.compiled, target, &manifest);
            let mut inputs = Snapshot::take(&sources, Some(&before.inputs))?;
            let is_sure = inputs.doubt_what_changed_since(&before.inputs, &manifest.lock_file());
            let recipe = made
                .recipe
                .and_then(|recipe| recipe.based_on(&inputs, &manifest));
            let record = Record::new(
                before.conditions,
                &builder.environment,
                made.variables.into_keys(),
                sources,
                inputs,
                made.library,
                made.artifact,
                made.warnings,
                recipe,
            );
            Ok((record, is_sure))
        })
        .await
    }

    /// A build that can't be remembered is a good build, and is done again the next time.
    pub(super) fn remember(
        &self,
        record: &Record,
        is_sure: bool,
        manifest: &CrateManifest,
        progress: &dyn BuildProgress,
    ) {
        self.remember_look(record, manifest, progress);
        if is_sure {
            let file = self.history_file(&manifest.package);
            let mut history = History::load(&file);
            history.add(record);
            tell(history.save(&file), manifest, progress);
        }
    }

    pub(super) fn remember_look(
        &self,
        record: &Record,
        manifest: &CrateManifest,
        progress: &dyn BuildProgress,
    ) {
        let saved = record.save(&self.record_file(&manifest.package));
        tell(saved, manifest, progress);
    }
}

pub(super) fn built(
    manifest: &CrateManifest,
    record: Record,
    work: BuildWork,
    begin: Instant,
) -> Built {
    let inputs_hash = record.digest(&manifest.folder);
    let present = record
        .inputs
        .files
        .into_iter()
        .filter(|(_, seen)| seen.is_some());
    Built {
        library: record.library,
        library_hash: record.artifact.hash,
        package: manifest.package.clone(),
        work,
        duration: begin.elapsed(),
        warnings: record.warnings,
        inputs_hash,
        inputs: present.map(|(path, _)| path).collect(),
    }
}

fn tell(saved: std::io::Result<()>, manifest: &CrateManifest, progress: &dyn BuildProgress) {
    if let Err(error) = saved {
        progress.line(&format!(
            "the build of `{}` can't be remembered: {error}",
            manifest.package
        ));
    }
}

async fn seen(library: &Path) -> Result<Seen, BuildError> {
    let library = library.to_path_buf();
    let missing = std::io::Error::new(
        std::io::ErrorKind::NotFound,
        format!(
            "the compiler named the library `{}`, which is not there",
            library.display()
        ),
    );
    blocking(move || Ok(Seen::look(&library, None, OUTPUT)?.ok_or(missing)?)).await
}

/// What the compiler has read of this crate and of those it depends on by path. Without dep-info
/// only the crate's own folder is known.
fn compiled(finished: &Finished, folder: &Path) -> BTreeSet<PathBuf> {
    let text = fs::read_to_string(finished.library.with_extension("d"));
    dep_info::files(&text.unwrap_or_default(), folder)
}

/// Variables that the crate read at compile time, as far as rustc's own dep-info is where cargo
/// has long put it. Where it is not, cargo still follows them when it runs.
fn variables(library: &Path, name: &str) -> BTreeMap<String, Option<String>> {
    let file = library
        .parent()
        .map(|folder| folder.join("deps").join(format!("{name}.d")));
    let text = file.and_then(|file| fs::read_to_string(file).ok());
    dep_info::variables(&text.unwrap_or_default())
}
