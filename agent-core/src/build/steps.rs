//! The steps of a build, one function each, in the order in which they are taken.
//!
//! Owns what the head of [`super`] tells. Does not own the mechanics of any step.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::{Instant, SystemTime};

use fs_err as fs;

use super::cargo::{self, Finished, Run, Stop};
use super::inputs::{Seen, Snapshot, Sources};
use super::record::{self, Conditions, Record};
use super::{BuildError, BuildProgress, Builder, Built, CrateManifest, dep_info, sdk};
use crate::fingerprint::Fingerprint;

/// The moment to look at what cargo has written: it never writes into a file that is there but
/// puts another in its place, so that no file is too young to be told from a later one.
const OUTPUT: i64 = i64::MAX;

/// What a look at a crate found.
pub(super) struct Look {
    conditions: Conditions,
    record: Option<Record>,
    /// The files as they are now.
    inputs: Snapshot,
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

    /// Files that cargo can't have noticed, if it took for new what it already had.
    fn unnoticed(
        &self,
        finished: &Finished,
        compiled: &BTreeSet<PathBuf>,
        artifact: &Seen,
        folder: &Path,
    ) -> Vec<PathBuf> {
        let known = self.record.as_ref().filter(|record| {
            record.conditions == self.conditions && record.artifact.hash == artifact.hash
        });
        let Some(known) = known else {
            // Nobody knows what this library was made from: an earlier record is lost, or another
            // package or toolchain wrote a file of the same name in between.
            return vec![finished.source.clone()];
        };
        let has_changed = |path: &&PathBuf| {
            // The hash of a file that could not be vouched for then is like no other.
            matches!((known.inputs.hash(path), self.inputs.hash(path)), (Some(then), Some(now)) if then != now)
        };
        let changed: Vec<PathBuf> = compiled.iter().filter(has_changed).cloned().collect();
        if !changed.is_empty() || self.inputs.has_content_of(&known.inputs) {
            return changed;
        }
        // Something else changed: what a build script reads, or where a link leads. Cargo knows the
        // crate by the files that it compiled.
        let of_crate = compiled.iter().filter(|path| path.starts_with(folder));
        of_crate.cloned().chain([finished.source.clone()]).collect()
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
            self.remember(&record, manifest, progress);
            return Some(built(manifest, record, false, begin));
        }
        Some(built(manifest, record.clone(), false, begin))
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
                || Sources::before_first_build(&manifest, builder.cargo_home().as_deref()),
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
            target: self.options.target_dir.clone(),
            profile: self.options.profile.arguments(),
            toolchain: self.toolchain(&manifest.folder).await,
        }
    }

    /// What `rustc -vV` says in a folder; nothing where there is no rustc, which cargo will tell.
    async fn toolchain(&self, folder: &Path) -> String {
        let file = folder.ancestors().find_map(|folder| {
            ["rust-toolchain.toml", "rust-toolchain"]
                .iter()
                .find_map(|name| {
                    let file = folder.join(name);
                    let metadata = fs::metadata(&file).ok()?;
                    Some((file, Fingerprint::of(&metadata)))
                })
        });
        let mut toolchains = self.toolchains.lock().await;
        if let Some(text) = toolchains.get(&file) {
            return text.clone();
        }
        let output = tokio::process::Command::new(self.environment.rustc())
            .arg("-vV")
            .current_dir(folder)
            .env_clear()
            .envs(self.environment.variables())
            // Whether a missing toolchain is fetched is for cargo to show.
            .env("RUSTUP_AUTO_INSTALL", "0")
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .output()
            .await;
        let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
        let Some(text) = text.ok().filter(|text| !text.is_empty()) else {
            return String::new();
        };
        toolchains.insert(file, text.clone());
        text
    }

    fn cargo_home(&self) -> Option<PathBuf> {
        let named = self.environment.get("CARGO_HOME").map(PathBuf::from);
        named.or_else(|| Some(Path::new(self.environment.get("HOME")?).join(".cargo")))
    }

    /// Cargo runs, and what came of it is remembered.
    pub(super) async fn build(
        self: &Arc<Self>,
        manifest: &CrateManifest,
        look: Look,
        progress: &dyn BuildProgress,
        stop: Stop<'_>,
        begin: Instant,
    ) -> Result<Built, BuildError> {
        let inputs_hash = look.digest(manifest);
        progress.started(&manifest.package, &inputs_hash);
        let run = Run {
            manifest,
            target: &self.options.target_dir,
            profile: self.options.profile,
            lock: self.options.lock,
            colour: self.options.colour,
            environment: &self.environment,
            limit: self.options.time_limit,
            inputs_hash: &inputs_hash,
        };
        let mut finished = cargo::build(&run, progress, stop).await?;
        let mut artifact = Self::artifact(&finished).await?;
        if finished.fresh {
            let mut compiled = compiled(&finished, &manifest.folder);
            compiled.extend(manifest.build_script.clone());
            let unnoticed = look.unnoticed(&finished, &compiled, &artifact, &manifest.folder);
            if let Some(changed) = unnoticed.first().cloned() {
                touch(&unnoticed)?;
                finished = cargo::build(&run, progress, stop).await?;
                if finished.fresh {
                    return Err(BuildError::NotRebuilt {
                        package: manifest.package.clone(),
                        changed,
                        target: self.options.target_dir.clone(),
                    });
                }
                artifact = Self::artifact(&finished).await?;
            }
        }
        let record = self.record(manifest, look, finished, artifact).await?;
        self.remember(&record, manifest, progress);
        Ok(built(manifest, record, true, begin))
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

    async fn artifact(finished: &Finished) -> Result<Seen, BuildError> {
        let library = finished.library.clone();
        let missing = std::io::Error::new(
            std::io::ErrorKind::NotFound,
            format!(
                "cargo named the library `{}`, which is not there",
                library.display()
            ),
        );
        blocking(move || Ok(Seen::look(&library, None, OUTPUT)?.ok_or(missing)?)).await
    }

    /// Looks again at everything, now by the compiler's own account of what it has read.
    async fn record(
        self: &Arc<Self>,
        manifest: &CrateManifest,
        before: Look,
        finished: Finished,
        artifact: Seen,
    ) -> Result<Record, BuildError> {
        let (builder, manifest) = (Arc::clone(self), manifest.clone());
        blocking(move || {
            let mut sources = Sources::of(&manifest, builder.cargo_home().as_deref());
            let compiled = compiled(&finished, &manifest.folder);
            sources.add_compiled(&compiled, &builder.options.target_dir);
            let mut inputs = Snapshot::take(&sources, Some(&before.inputs))?;
            inputs.doubt_what_changed_since(&before.inputs, &manifest.lock_file());
            let variables = variables(&finished.library, &manifest.library);
            Ok(Record::new(
                before.conditions,
                &builder.environment,
                variables,
                sources,
                inputs,
                finished.library,
                artifact,
                finished.warnings,
            ))
        })
        .await
    }

    /// A build that can't be remembered is a good build, and is done again the next time.
    fn remember(&self, record: &Record, manifest: &CrateManifest, progress: &dyn BuildProgress) {
        if let Err(error) = record.save(&self.record_file(&manifest.package)) {
            progress.line(&format!(
                "the build of `{}` can't be remembered: {error}",
                manifest.package
            ));
        }
    }
}

fn built(manifest: &CrateManifest, record: Record, ran_cargo: bool, begin: Instant) -> Built {
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
        ran_cargo,
        duration: begin.elapsed(),
        warnings: record.warnings,
        inputs_hash,
        inputs: present.map(|(path, _)| path).collect(),
    }
}

/// What the compiler has read of this crate and of those it depends on by path. Without dep-info
/// only the crate's own folder is known.
fn compiled(finished: &Finished, folder: &Path) -> BTreeSet<PathBuf> {
    let text = fs::read_to_string(finished.library.with_extension("d"));
    dep_info::files(&text.unwrap_or_default(), folder)
}

/// Variables that the crate read at compile time, as far as rustc's own dep-info is where cargo
/// has long put it. Where it is not, cargo still follows them when it runs.
fn variables(library: &Path, name: &str) -> BTreeSet<String> {
    let file = library
        .parent()
        .map(|folder| folder.join("deps").join(format!("{name}.d")));
    let text = file.and_then(|file| fs::read_to_string(file).ok());
    dep_info::variables(&text.unwrap_or_default())
}

/// Gives files the present time, which is all that cargo asks for.
fn touch(files: &[PathBuf]) -> std::io::Result<()> {
    files
        .iter()
        .try_for_each(|path| fs::File::open(path)?.set_modified(SystemTime::now()))
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, BuildError> + Send + 'static,
) -> Result<T, BuildError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(outcome) => outcome,
        Err(error) => Err(std::io::Error::other(error).into()),
    }
}
