//! Performs the steps of a reload, one after the other: build → judge → store → load → publish.
//!
//! Whatever fails leaves the plugin as it was: the generation that served goes on serving.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use serde::Serialize;
use tokio_util::sync::CancellationToken;

use super::plan::{self, Action};
use super::scan::{Found, Index, scan};
use super::table::{Table, ToolEntry};
use super::{Inner, RegistryError, Scope};
use crate::build::{BuildError, BuildProgress, CrateManifest};
use crate::event::{EventKind, FailedPlugin};
use crate::ids::{ContentHash, GenerationNumber, PluginName};
use crate::plugin::bridge::load_plugin;
use crate::plugin::store::StoredLibrary;
use crate::plugin::{Generation, LibrarySource, PluginError};
use crate::tool::{HostTool, Isolation, Origin};

/// Everything that only a reload changes. One reload at a time owns it.
#[derive(Debug, Default)]
pub(super) struct Reload {
    plugins: BTreeMap<PluginName, Plugin>,
    index: Index,
    statics: Vec<Arc<ToolEntry>>,
    /// Plugins whose failure is not yet in an event.
    failed: Vec<FailedPlugin>,
}

/// One plugin that is known.
#[derive(Debug)]
struct Plugin {
    path: PathBuf,
    state: PluginState,
    reason: Option<String>,
    /// What is known of the content that failed, so that it is not tried again.
    failed_content: Option<String>,
    current: Option<Current>,
    /// Number of the newest generation.
    number: GenerationNumber,
    /// How many of its libraries are mapped, retired ones included.
    images: usize,
    /// Files whose change concerns the plugin.
    inputs: Vec<PathBuf>,
}

/// The generation that serves.
#[derive(Debug)]
struct Current {
    generation: Arc<Generation>,
    entries: Vec<Arc<ToolEntry>>,
}

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
    /// Its file or folder.
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
    /// What of its isolation the system really enforces.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enforced: Option<Vec<String>>,
    /// How many of its libraries are mapped into this process.
    pub mapped_images: usize,
    /// How many calls run on the generation that serves.
    pub in_flight: u64,
}

impl Reload {
    /// Looks at the folder and brings the table to what it says.
    pub(super) async fn run(
        &mut self,
        registry: &Inner,
        scope: Scope<'_>,
        progress: &dyn BuildProgress,
    ) -> Result<(), RegistryError> {
        let folder = registry.options.plugins.clone();
        let index = blocking(move || scan(&folder))
            .await
            .map_err(RegistryError::Scan)?;
        let known = self.plugins.keys().cloned().collect();
        let actions = plan::plan(&known, &index);
        self.index = index;
        for (name, found) in &self.index.plugins {
            self.plugins
                .entry(name.clone())
                .or_insert_with(|| Plugin::new(found));
        }
        registry.statuses.store(Arc::new(self.statuses()));
        for action in actions {
            match action {
                Action::Remove(name) => {
                    if let Some(current) =
                        self.plugins.remove(&name).and_then(|plugin| plugin.current)
                    {
                        self.publish(registry);
                        current.generation.retire();
                    }
                }
                Action::Ensure(name, found) if scope.covers(&name) => {
                    self.ensure(registry, name, found, progress, scope == Scope::Forced)
                        .await;
                }
                Action::Ensure(..) => {}
            }
        }
        self.publish(registry);
        Ok(())
    }

    /// Adds a tool of this program.
    pub(super) fn register(&mut self, registry: &Inner, tool: Arc<dyn HostTool>) {
        self.statics.push(Arc::new(ToolEntry::new(
            tool,
            Origin::Static,
            Isolation::None,
            None,
        )));
        self.publish(registry);
    }

    /// Files and folders whose change should be noticed.
    pub(super) fn watched(&self) -> BTreeSet<PathBuf> {
        let inputs = self
            .plugins
            .values()
            .flat_map(|plugin| plugin.inputs.iter());
        let refused = self.index.refused.values().map(|refused| &refused.path);
        let paths = self.plugins.values().map(|plugin| &plugin.path);
        inputs.chain(refused).chain(paths).cloned().collect()
    }

    async fn ensure(
        &mut self,
        registry: &Inner,
        name: PluginName,
        found: Found,
        progress: &dyn BuildProgress,
        forced: bool,
    ) {
        let plugin = self
            .plugins
            .entry(name.clone())
            .or_insert_with(|| Plugin::new(&found));
        found.path().clone_into(&mut plugin.path);
        if forced {
            plugin.failed_content = None;
        }
        let result = match &found {
            Found::Crate(manifest) => plugin.build(registry, &name, manifest, progress).await,
            Found::Library(library) => Ok(Some(library.clone())),
        };
        let result = match result {
            Ok(None) => return,
            Ok(Some(library)) => plugin.take_over(registry, &name, library).await,
            Err(failure) => Err(failure),
        };
        match result {
            Ok(None) => {}
            Ok(Some(old)) => {
                self.publish(registry);
                if let Some(old) = old {
                    old.generation.retire();
                }
            }
            Err(Failure {
                reason,
                content,
                reported,
            }) => {
                if reported {
                    tracing::info!(plugin = %name, reason, "not taken over");
                } else {
                    tracing::warn!(plugin = %name, reason, "not taken over");
                }
                plugin.state = PluginState::Failed;
                plugin.reason = Some(reason.clone());
                plugin.failed_content = Some(content);
                self.failed.push(FailedPlugin {
                    plugin: name,
                    reason,
                });
                self.publish(registry);
            }
        }
    }

    /// Swaps in a table of what serves now, and tells what changed.
    fn publish(&mut self, registry: &Inner) {
        let of_plugins = self
            .plugins
            .values()
            .filter_map(|plugin| plugin.current.as_ref());
        let entries = self
            .statics
            .iter()
            .chain(of_plugins.flat_map(|current| &current.entries));
        let new = Arc::new(Table::new(entries.cloned().collect()));
        let old = registry.table.swap(Arc::clone(&new));
        registry.statuses.store(Arc::new(self.statuses()));
        if let Some(event) = plan::changes(&old, &new, std::mem::take(&mut self.failed)) {
            registry.events.emit(|| event);
        }
    }

    fn statuses(&self) -> Vec<Status> {
        let refused = self.index.refused.iter().map(|(name, refused)| Status {
            name: name.clone(),
            path: refused.path.clone(),
            state: if refused.conflict {
                PluginState::Conflicted
            } else {
                PluginState::Failed
            },
            reason: Some(refused.reason.clone()),
            generation: None,
            mapped_images: 0,
        });
        let known = self.plugins.iter().map(|(name, plugin)| Status {
            name: name.clone(),
            path: plugin.path.clone(),
            state: plugin.state,
            reason: plugin.reason.clone(),
            generation: plugin
                .current
                .as_ref()
                .map(|current| Arc::clone(&current.generation)),
            mapped_images: plugin.images,
        });
        let mut all: Vec<Status> = known.chain(refused).collect();
        all.sort_by(|a, b| a.name.cmp(&b.name));
        all
    }
}

/// What is stored of a plugin's state; counters are read when it is shown.
#[derive(Debug)]
pub(super) struct Status {
    name: PluginName,
    path: PathBuf,
    state: PluginState,
    reason: Option<String>,
    generation: Option<Arc<Generation>>,
    mapped_images: usize,
}

impl Status {
    pub(super) fn show(&self) -> PluginStatus {
        let generation = self.generation.as_ref();
        PluginStatus {
            name: self.name.clone(),
            path: self.path.clone(),
            state: self.state,
            reason: self.reason.clone(),
            generation: generation.map_or_else(GenerationNumber::default, |one| one.number()),
            hash: generation.map(|one| one.hash()),
            isolation: Isolation::InProcess,
            enforced: None,
            mapped_images: self.mapped_images,
            in_flight: generation.map_or(0, |one| one.in_flight()),
        }
    }
}

/// Why a plugin's newest content does not serve.
struct Failure {
    reason: String,
    /// Stands for the content, so that the same is not tried and reported again (R29).
    content: String,
    /// Whether an event of its own has told it.
    reported: bool,
}

impl Failure {
    fn quiet(reason: String, content: String) -> Self {
        Self {
            reason,
            content,
            reported: false,
        }
    }
}

impl Plugin {
    fn new(found: &Found) -> Self {
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
    async fn build(
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
            let found = registry.built_before(manifest);
            let reason = || "not built yet, and building is switched off".to_owned();
            return found
                .map(|path| Some(library(path)))
                .ok_or_else(|| Failure::quiet(reason(), String::new()))
                .or_else(|failure| self.unless_known(failure));
        };
        loop {
            let content = builder.inputs_hash(manifest).await;
            if content.is_some() && content == self.failed_content {
                return Ok(None);
            }
            let reporter = Reporter::new(registry, name, progress);
            self.state = PluginState::Building;
            let never = CancellationToken::new();
            let built = tokio::select! {
                biased;
                built = builder.ensure(manifest, &reporter, &never) => built,
                // Newest wins: dropping the build's future ends cargo with all it has started.
                () = registry.edited(builder, manifest, content.as_ref()) => {
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
                    // The compiler may have read a file that was saved after the look at it.
                    let content = match &error {
                        BuildError::Compile { inputs_hash, .. } => inputs_hash.clone(),
                        _ => content.unwrap_or_default(),
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

    fn unless_known(&self, failure: Failure) -> Result<Option<LibrarySource>, Failure> {
        if self.failed_content.as_ref() == Some(&failure.content) {
            Ok(None)
        } else {
            Err(failure)
        }
    }

    /// Loads the library and makes it the current generation; answers the one before. `None`
    /// when the library serves already.
    #[expect(
        clippy::option_option,
        reason = "whether something changed, and what it replaced"
    )]
    async fn take_over(
        &mut self,
        registry: &Inner,
        name: &PluginName,
        library: LibrarySource,
    ) -> Result<Option<Option<Current>>, Failure> {
        let store = Arc::clone(&registry.store);
        let source = library.clone();
        let stored = match blocking(move || store.admit(&source)).await {
            Ok(stored) => stored,
            Err(error) => return self.refused(&error, &library).map(|()| None),
        };
        let content = stored.hash.to_string();
        if self.serves(stored.hash) {
            self.state = PluginState::Live;
            self.reason = None;
            self.failed_content = None;
            return Ok(None);
        }
        if self.failed_content.as_ref() == Some(&content) {
            return Ok(None);
        }
        let loaded = self.load(registry, name, &stored, &library).await;
        let (generation, entries) =
            loaded.map_err(|error| Failure::quiet(error.to_string(), content))?;
        self.number = generation.number();
        self.images += 1;
        self.state = PluginState::Live;
        self.reason = None;
        self.failed_content = None;
        Ok(Some(self.current.replace(Current {
            generation,
            entries,
        })))
    }

    fn serves(&self, hash: ContentHash) -> bool {
        self.current
            .as_ref()
            .is_some_and(|current| current.generation.hash() == hash)
    }

    /// A file that was not even stored: it has no hash, so its reason stands for its content.
    fn refused(&mut self, error: &PluginError, library: &LibrarySource) -> Result<(), Failure> {
        let reason = error.to_string();
        let content = format!("{}: {reason}", library.path.display());
        if self.failed_content.as_ref() == Some(&content) {
            return Ok(());
        }
        Err(Failure::quiet(reason, content))
    }

    async fn load(
        &self,
        registry: &Inner,
        name: &PluginName,
        stored: &StoredLibrary,
        library: &LibrarySource,
    ) -> Result<(Arc<Generation>, Vec<Arc<ToolEntry>>), PluginError> {
        let number = GenerationNumber(self.number.0 + 1);
        let (stored, name, pool) = (stored.clone(), name.clone(), registry.pool.clone());
        let package = library
            .package
            .clone()
            .unwrap_or_else(|| name.as_str().to_owned());
        blocking(move || {
            let loaded = load_plugin(&stored, &name, &package, number, &pool)?;
            let entries = loaded.tools.into_iter().map(|tool| {
                let generation = Some(Arc::clone(&loaded.generation));
                Arc::new(ToolEntry::new(
                    tool,
                    Origin::Plugin,
                    Isolation::InProcess,
                    generation,
                ))
            });
            let entries = entries.collect();
            Ok((loaded.generation, entries))
        })
        .await
    }
}

/// Reports one crate's build as events, and passes its progress on.
struct Reporter<'a> {
    registry: &'a Inner,
    name: &'a PluginName,
    progress: &'a dyn BuildProgress,
    begin: Instant,
    /// Set when cargo starts: a look that finds everything as it was is no build.
    started: AtomicBool,
}

impl<'a> Reporter<'a> {
    fn new(registry: &'a Inner, name: &'a PluginName, progress: &'a dyn BuildProgress) -> Self {
        let (begin, started) = (Instant::now(), AtomicBool::new(false));
        Self {
            registry,
            name,
            progress,
            begin,
            started,
        }
    }

    /// The build ended: with a library, with an error, or because a newer one takes its place.
    fn ended(&self, outcome: BuildOutcome<'_>) {
        let failed = !matches!(outcome, BuildOutcome::Built);
        if !self.started.load(Ordering::Relaxed) && !failed {
            return;
        }
        self.registry.events.emit(|| EventKind::BuildEnd {
            plugin: self.name.clone(),
            ok: !failed,
            duration_ms: u64::try_from(self.begin.elapsed().as_millis()).unwrap_or(u64::MAX),
            diagnostics: match outcome {
                BuildOutcome::Failed(error) => Some(full_text(error)),
                BuildOutcome::Built | BuildOutcome::Superseded => None,
            },
        });
    }
}

/// How a build ended.
#[derive(Clone, Copy)]
enum BuildOutcome<'a> {
    Built,
    Failed(&'a BuildError),
    Superseded,
}

impl BuildProgress for Reporter<'_> {
    fn started(&self, package: &str) {
        self.started.store(true, Ordering::Relaxed);
        self.registry.events.emit(|| EventKind::BuildStart {
            plugin: self.name.clone(),
        });
        self.progress.started(package);
    }

    fn compiling(&self, package: &str) {
        self.progress.compiling(package);
    }

    fn line(&self, line: &str) {
        self.progress.line(line);
    }
}

/// The first line that says what is wrong; the whole output is in the event.
fn short_reason(error: &BuildError) -> String {
    let text = error.to_string();
    text.lines().next().unwrap_or_default().to_owned()
}

/// What the compiler or cargo said, else the error itself; then what to do.
fn full_text(error: &BuildError) -> String {
    let mut parts: Vec<String> = error.details().into_iter().map(str::to_owned).collect();
    if parts.is_empty() {
        parts.push(error.to_string());
    }
    parts.extend(error.hint());
    parts.join("\n")
}

/// Runs what blocks on a thread that may.
async fn blocking<R: Send + 'static>(work: impl FnOnce() -> R + Send + 'static) -> R {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) => std::panic::resume_unwind(error.into_panic()),
    }
}
