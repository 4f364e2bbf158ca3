//! Crates and libraries → what they hold, and every reason why they may not serve.
//!
//! Owns the way there: build, judge, keep a private copy, try out in a helper process. Nothing is
//! mapped into this process and nothing is published. Does not own what is made of it: `check`
//! tells it, `build` hands libraries on.

mod place;
mod reasons;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::output;
use super::progress::Bar;
use crate::build::{BuildError, BuildProgress, BuildWork, Builder, CrateManifest};
use crate::ids::PluginName;
use crate::plugin::store::StoredLibrary;
use crate::plugin::verdict::{Introduced, Verdict};
use crate::plugin::{LibrarySource, PluginError, Reason, Store};
use crate::registry::{Found, Policies};
use crate::tool::Origin;
use crate::worker::{Candidate, Helpers, Prober};

pub(super) use place::Options;
pub(super) use reasons::of_manifest;

/// What is needed to inspect the plugins of one place.
pub(super) struct Inspector {
    options: Options,
    store: Arc<Store>,
    prober: Prober,
    policies: Policies,
    bar: Bar,
}

/// Something to inspect.
#[derive(Clone, Debug)]
pub(super) struct Subject {
    pub(super) plugin: PluginName,
    pub(super) found: Found,
    /// Whether its crate may be built; else it is looked at as it was last built, if it was.
    pub(super) build: bool,
}

/// What came of it.
#[derive(Debug)]
pub(super) struct Inspected {
    pub(super) plugin: PluginName,
    /// The library or the crate's folder.
    pub(super) path: PathBuf,
    /// Who wrote it.
    origin: Origin,
    /// Its library, if it got as far as that.
    pub(super) library: Option<StoredLibrary>,
    /// What it says of itself, if it may serve.
    pub(super) introduced: Option<Arc<Introduced>>,
    /// Why it may not serve.
    pub(super) reasons: Vec<Reason>,
    /// Whether it corresponds to a crate's present sources.
    pub(super) is_built: bool,
    /// A crate that declares no tool: nothing is wrong with it, and it has no library to speak of.
    pub(super) is_empty: bool,
}

impl Inspector {
    /// Opens the store of the place.
    pub(super) fn open(options: Options) -> Result<Self, PluginError> {
        Ok(Self {
            store: Arc::new(Store::open(&options.state)?),
            prober: Prober::new(Helpers::new(None, std::env::temp_dir())),
            policies: Policies::read(&options.config),
            bar: Bar::new(options.shows_progress()),
            options,
        })
    }

    /// Inspects them: builds one after the other, and tries out together what has to be.
    pub(super) async fn inspect(&self, subjects: Vec<Subject>) -> Vec<Inspected> {
        let mut all = Vec::with_capacity(subjects.len());
        for subject in subjects {
            // What is built will have to be tried out.
            self.prober.warm_up();
            all.push(self.admit(subject).await);
        }
        self.try_out(&mut all).await;
        let them = all.into_iter();
        them.map(|(_, inspected)| inspected).collect()
    }

    /// As far as its bytes alone tell. Answers the package that it should serve, too.
    async fn admit(&self, subject: Subject) -> (String, Inspected) {
        let Subject {
            plugin,
            found,
            build,
        } = subject;
        let mut inspected = Inspected {
            plugin,
            path: found.path().to_owned(),
            origin: match &found {
                Found::Crate(manifest) if manifest.origin.is_confined() => Origin::Written,
                _ => Origin::Plugin,
            },
            library: None,
            introduced: None,
            reasons: Vec::new(),
            is_built: false,
            is_empty: false,
        };
        let uses_sdk = matches!(&found, Found::Crate(manifest) if manifest.sdk.is_some());
        let source = match found {
            Found::Library(source) => source,
            Found::Crate(manifest) => match self.library_of(&manifest, build).await {
                Ok(library) => {
                    inspected.is_built = build;
                    LibrarySource {
                        path: library,
                        package: manifest.package,
                    }
                }
                Err(reasons) => {
                    inspected.reasons = reasons;
                    return (manifest.package, inspected);
                }
            },
        };
        let package = source.package.clone();
        let store = Arc::clone(&self.store);
        match tokio::task::spawn_blocking(move || store.admit(&source)).await {
            Ok(Ok(stored)) => inspected.library = Some(stored),
            Ok(Err(PluginError::NoStamp { .. })) if uses_sdk => inspected.is_empty = true,
            Ok(Err(error)) => inspected.reasons = error.reasons(),
            Err(error) => {
                inspected.reasons = vec![Reason::new("unreadable", error.to_string())];
            }
        }
        (package, inspected)
    }

    /// The library of a crate.
    async fn library_of(
        &self,
        manifest: &CrateManifest,
        build: bool,
    ) -> Result<PathBuf, Vec<Reason>> {
        let options = self.options.builder_for(manifest);
        if !build {
            return Builder::built_before(&options.state_dir, manifest).ok_or_else(|| {
                let text = format!(
                    "the crate `{}` was not built yet and building is switched off: leave out \
                     --no-build",
                    manifest.package
                );
                vec![Reason::new("build", text)]
            });
        }
        let builder = Builder::new(options).map_err(|error| reasons::of_build(&error.into()))?;
        let teller = Teller { inspector: self };
        let cancel = CancellationToken::new();
        let outcome = builder.ensure(manifest, &teller, &cancel).await;
        self.bar.clear();
        match outcome {
            Ok(done) => {
                let is_new = matches!(done.work, BuildWork::Compiled | BuildWork::Cargo);
                if is_new && !self.options.quiet {
                    let (package, time) = (&done.package, done.duration.as_millis());
                    output::say(&format!("built {package} in {time} ms"));
                }
                Ok(done.library)
            }
            Err(error) => {
                self.show(&error);
                Err(reasons::of_build(&error))
            }
        }
    }

    /// The compiler's messages with source lines, for people.
    fn show(&self, error: &BuildError) {
        if !self.options.quiet {
            for text in error.details() {
                output::say(text.trim_end());
            }
        }
    }

    /// In a helper process, all that was not found fit before.
    async fn try_out(&self, all: &mut [(String, Inspected)]) {
        let mut untried = Vec::new();
        let mut candidates = Vec::new();
        for (package, inspected) in all {
            let Some(library) = &inspected.library else {
                continue;
            };
            let policy = self.policies.of(&inspected.plugin);
            let policy = policy.by_default(inspected.origin);
            let tried = policy.tried();
            if let Some(Verdict::Fit(introduced)) = library.verdict(tried) {
                inspected.introduced = Some(Arc::clone(introduced));
                continue;
            }
            let restriction = match policy.restriction(library) {
                Ok(restriction) => restriction,
                Err(error) => {
                    inspected.reasons = error.reasons();
                    continue;
                }
            };
            // What was found unfit is tried again: whoever asks wants to know how it is now.
            candidates.push(Candidate {
                plugin: inspected.plugin.clone(),
                package: package.clone(),
                library: library.clone(),
                restriction,
            });
            untried.push((inspected, tried));
        }
        let outcomes = self.prober.probe(&candidates).await;
        for (((inspected, tried), candidate), outcome) in
            untried.into_iter().zip(candidates).zip(outcomes)
        {
            match outcome {
                Ok(verdict) => {
                    let (hash, package) = (candidate.library.hash, &candidate.package);
                    let kept = self
                        .store
                        .keep_verdict(hash, package, tried, verdict.clone());
                    if let Err(error) = kept {
                        tracing::warn!(%error, "it has to be tried out again the next time");
                    }
                    match verdict {
                        Verdict::Fit(introduced) => inspected.introduced = Some(introduced),
                        Verdict::Unfit(reasons) => inspected.reasons = reasons,
                        Verdict::Fatal(reason) => inspected.reasons = vec![reason],
                    }
                }
                Err(reason) => inspected.reasons = vec![Reason::new("notTried", reason)],
            }
        }
    }
}

/// Tells on stderr what is being built.
struct Teller<'a> {
    inspector: &'a Inspector,
}

impl BuildProgress for Teller<'_> {
    fn started(&self, package: &str, inputs_hash: &str) {
        let Options {
            quiet, terminal, ..
        } = &self.inspector.options;
        // On a terminal there is a line that shows the progress.
        if !quiet && !terminal {
            output::say(&format!("building {package} …"));
        }
        self.inspector.bar.started(package, inputs_hash);
    }

    fn compiling(&self, crate_name: &str) {
        self.inspector.bar.compiling(crate_name);
    }

    fn line(&self, line: &str) {
        self.inspector.bar.line(line);
    }
}

/// A library file as a plugin: called by its file, without `lib` and suffix.
pub(super) fn library_at(path: &Path) -> Subject {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let prefix = std::env::consts::DLL_PREFIX;
    let package = stem.strip_prefix(prefix).unwrap_or(&stem).to_owned();
    Subject {
        plugin: PluginName::new(package.as_str()),
        found: Found::Library(LibrarySource {
            path: path.to_owned(),
            package,
        }),
        build: false,
    }
}
