//! One plugin that is known: what of it serves, what failed, and how a new library takes over.

use std::path::PathBuf;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::super::Inner;
use super::super::scan::Found;
use super::super::status::PluginState;
use super::super::table::ToolEntry;
use super::blocking;
use super::report::{BuildOutcome, Reporter, short_reason};
use super::shared::{Shared, fingerprint_of_settings};
use crate::build::{BuildProgress, Builder, CrateManifest};
use crate::ids::{ContentHash, GenerationNumber, PluginName};
use crate::plugin::bridge::load_plugin;
use crate::plugin::store::StoredLibrary;
use crate::plugin::{Generation, LibrarySource, PluginError};
use crate::tool::{Isolation, Origin};

/// One plugin that is known.
#[derive(Debug)]
pub(super) struct Plugin {
    pub(super) path: PathBuf,
    pub(super) state: PluginState,
    pub(super) reason: Option<String>,
    /// What is known of the content that failed, so that it is not tried again.
    pub(super) failed_content: Option<String>,
    pub(super) current: Option<Current>,
    /// Number of the newest generation.
    pub(super) number: GenerationNumber,
    /// How many of its libraries are mapped, retired ones included.
    pub(super) images: usize,
    /// Files whose change concerns the plugin.
    pub(super) inputs: Vec<PathBuf>,
}

/// The generation that serves.
#[derive(Debug)]
pub(super) struct Current {
    pub(super) generation: Arc<Generation>,
    pub(super) entries: Vec<Arc<ToolEntry>>,
    pub(super) shared: Shared,
}

/// What became of a library that was taken over.
pub(super) enum TakenOver {
    /// It serves already, or is known not to.
    Nothing,
    /// It serves now, instead of this one.
    Replaced(Option<Box<Current>>),
}

/// Why a plugin's newest content does not serve.
pub(super) struct Failure {
    pub(super) reason: String,
    /// Stands for the content, so that the same is not tried and reported again (R29).
    pub(super) content: String,
    /// Whether an event of its own has told it.
    pub(super) reported: bool,
}

impl Failure {
    pub(super) fn unreported(reason: String, content: String) -> Self {
        Self {
            reason,
            content,
            reported: false,
        }
    }
}

impl Plugin {
    pub(super) fn new(found: &Found) -> Self {
        Self {
            path: found.path().to_owned(),
            state: PluginState::Building,
            reason: None,
            failed_content: None,
            current: None,
            number: GenerationNumber::default(),
            images: 0,
            inputs: Vec::new(),
        }
    }

    /// The crate's library; `None` when there is nothing to do.
    pub(super) async fn build(
        &mut self,
        registry: &Inner,
        name: &PluginName,
        manifest: &CrateManifest,
        progress: &dyn BuildProgress,
    ) -> Result<Option<LibrarySource>, Failure> {
        let library = |path| LibrarySource {
            path,
            package: Some(manifest.package.clone()),
        };
        let Some(builder) = &registry.builder else {
            let found = Builder::built_before(&registry.options.state, manifest);
            let reason = || "not built yet, and building is switched off".to_owned();
            return found
                .map(|path| Some(library(path)))
                .ok_or_else(|| Failure::unreported(reason(), String::new()));
        };
        if self.failed_content.is_some()
            && builder.inputs_hash(manifest).await == self.failed_content
        {
            return Ok(None);
        }
        loop {
            let reporter = Reporter::new(registry, name, progress);
            self.state = PluginState::Building;
            let never = CancellationToken::new();
            let built = tokio::select! {
                biased;
                built = builder.ensure(manifest, &reporter, &never) => built,
                // Newest wins: dropping the build's future ends cargo with all it has started.
                () = reporter.overtaken(builder, manifest) => {
                    reporter.ended(BuildOutcome::Superseded);
                    continue;
                }
            };
            return match built {
                Ok(built) => {
                    reporter.ended(BuildOutcome::Built);
                    self.inputs = built.inputs;
                    Ok(Some(library(built.library)))
                }
                Err(error) => {
                    reporter.ended(BuildOutcome::Failed(&error));
                    let content = match reporter.content() {
                        Some(content) => content.clone(),
                        None => builder.inputs_hash(manifest).await.unwrap_or_default(),
                    };
                    Err(Failure {
                        reason: short_reason(&error),
                        content,
                        reported: true,
                    })
                }
            };
        }
    }

    /// Nothing changed: what the state was before the look at the crate.
    pub(super) fn settle(&mut self) {
        if self.state == PluginState::Building {
            self.state = match self.reason {
                Some(_) => PluginState::Failed,
                None => PluginState::Live,
            };
        }
    }

    /// Where nothing serves and the crate can't be built, what was built of it last serves: a
    /// broken edit does no more harm at the start of the host than while it runs.
    pub(super) async fn fall_back(
        &mut self,
        registry: &Inner,
        name: &PluginName,
        manifest: &CrateManifest,
    ) {
        let held = Builder::library_of(&registry.options.state, manifest)
            .filter(|_| self.current.is_none())
            .and_then(|path| Some((registry.store.served(&path)?, path)));
        let Some((stored, path)) = held else { return };
        let package = Some(manifest.package.clone());
        let loaded = self
            .load(registry, name, &stored, &LibrarySource { path, package })
            .await;
        if let Ok(current) = loaded {
            self.number = current.generation.number();
            self.images += 1;
            self.current = Some(current);
        }
    }

    /// Loads the library and makes it the current generation.
    pub(super) async fn take_over(
        &mut self,
        registry: &Inner,
        name: &PluginName,
        library: LibrarySource,
        from_crate: bool,
    ) -> Result<TakenOver, Failure> {
        let store = Arc::clone(&registry.store);
        let source = library.clone();
        let stored = match blocking(move || store.admit(&source)).await {
            Ok(stored) => stored,
            // A crate that declares no tool does not link the SDK's part that is looked for.
            Err(PluginError::NoStamp { .. }) if from_crate => {
                return Ok(self.without_tools());
            }
            // A file that was not even stored has no hash: its reason stands for its content.
            Err(error) => {
                let reason = error.to_string();
                return Err(Failure::unreported(reason.clone(), reason));
            }
        };
        if self.serves(stored.hash) {
            if let Some(current) = &mut self.current {
                current.shared.follow(registry, name).await?;
            }
            self.state = PluginState::Live;
            self.reason = None;
            self.failed_content = None;
            return Ok(TakenOver::Nothing);
        }
        let settings = fingerprint_of_settings(registry, name);
        let content = format!("{} with {settings}", stored.hash);
        if self.failed_content.as_ref() == Some(&content) {
            return Ok(TakenOver::Nothing);
        }
        let loaded = self.load(registry, name, &stored, &library).await;
        let current = loaded.map_err(|error| Failure::unreported(error.to_string(), content))?;
        if let Err(error) = registry.store.serves(&library.path) {
            tracing::warn!(plugin = %name, %error, "it could not be remembered that this serves");
        }
        self.number = current.generation.number();
        self.images += 1;
        self.state = PluginState::Live;
        self.reason = None;
        self.failed_content = None;
        Ok(TakenOver::Replaced(
            self.current.replace(current).map(Box::new),
        ))
    }

    /// The newest content has no tools: those of the one before go.
    fn without_tools(&mut self) -> TakenOver {
        self.state = PluginState::Live;
        self.reason = None;
        self.failed_content = None;
        match self.current.take() {
            Some(old) => TakenOver::Replaced(Some(Box::new(old))),
            None => TakenOver::Nothing,
        }
    }

    fn serves(&self, hash: ContentHash) -> bool {
        self.current
            .as_ref()
            .is_some_and(|current| current.generation.hash() == hash)
    }

    async fn load(
        &self,
        registry: &Inner,
        name: &PluginName,
        stored: &StoredLibrary,
        library: &LibrarySource,
    ) -> Result<Current, PluginError> {
        let number = GenerationNumber(self.number.0 + 1);
        let (stored, plugin, pool) = (stored.clone(), name.clone(), registry.pool.clone());
        let settings = registry.settings.clone();
        let package = library
            .package
            .clone()
            .unwrap_or_else(|| name.as_str().to_owned());
        let (generation, entries, state) = blocking(move || {
            let loaded = load_plugin(&stored, &plugin, &package, number, &pool)?;
            let entries = loaded.tools.into_iter().map(|tool| {
                let generation = Some(Arc::clone(&loaded.generation));
                Arc::new(ToolEntry::with(
                    tool,
                    Origin::Plugin,
                    Isolation::InProcess,
                    generation,
                    &settings,
                ))
            });
            let entries: Vec<Arc<ToolEntry>> = entries.collect();
            Ok::<_, PluginError>((loaded.generation, entries, loaded.state))
        })
        .await?;
        match Shared::open(registry, name, state).await {
            Ok(shared) => Ok(Current {
                generation,
                entries,
                shared,
            }),
            Err(error) => {
                // It never served, so it has drained.
                generation.retire();
                Err(error)
            }
        }
    }
}
