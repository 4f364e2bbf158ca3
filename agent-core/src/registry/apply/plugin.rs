//! One plugin that is known: what of it serves, what failed, and how a new library takes over.

use std::path::PathBuf;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::super::Inner;
use super::super::policies::Place;
use super::super::scan::Found;
use super::super::status::{GivenUp, PluginState, Serving};
use super::super::table::ToolEntry;
use super::report::{BuildOutcome, Reporter, short_reason};
use super::shared::Shared;
use crate::build::{BuildProgress, Built, CrateManifest};
use crate::event::{EventKind, FailedPlugin};
use crate::ids::{GenerationNumber, PluginName};
use crate::limits::RETIRED_BYTES;
use crate::plugin::bridge::{LoadedPlugin, load_plugin};
use crate::plugin::store::StoredLibrary;
use crate::plugin::verdict::{Introduced, Tried, Verdict};
use crate::plugin::{Generation, LibrarySource, PluginError};
use crate::tool::{Isolation, Origin};
use crate::worker::sandbox::Enforced;
use crate::worker::start_plugin;
use crate::worker::supervisor::{Launch, OnGivenUp};

/// One plugin that is known.
#[derive(Debug)]
pub(super) struct Plugin {
    pub(super) path: PathBuf,
    pub(super) state: PluginState,
    /// Its state before its crate was built.
    before: PluginState,
    pub(super) reason: Option<String>,
    /// What is known of the content that failed, so that it is not tried again.
    pub(super) failed_content: Option<String>,
    pub(super) current: Option<Current>,
    /// Number of the newest generation.
    pub(super) number: GenerationNumber,
    /// How many of its libraries are mapped, retired ones included.
    pub(super) images: usize,
    /// Their sizes together, in bytes.
    image_bytes: u64,
    /// Files whose change concerns the plugin.
    pub(super) inputs: Vec<PathBuf>,
}

/// The generation that serves.
#[derive(Debug)]
pub(super) struct Current {
    pub(super) generation: Arc<Generation>,
    pub(super) entries: Vec<Arc<ToolEntry>>,
    pub(super) shared: Shared,
    /// Who wrote it.
    pub(super) origin: Origin,
    /// Where it runs and what it may do there.
    pub(super) place: Place,
    /// What of that is enforced, where it is confined.
    pub(super) enforced: Option<Enforced>,
    /// Why its process is not started again, once that is so.
    pub(super) given_up: GivenUp,
    /// Size of the library that it has mapped into this process, in bytes.
    image_size: Option<u64>,
}

impl Current {
    /// What it serves under.
    pub(super) fn serving(&self) -> Serving {
        Serving {
            place: self.place.clone(),
            settings: self.shared.fingerprint(),
        }
    }
}

/// Why a plugin's newest content does not serve.
pub(super) struct Failure {
    pub(super) reason: String,
    /// Stands for the content, so that the same is not tried and reported again (R29).
    pub(super) content: String,
    /// Whether an event of its own has told it.
    pub(super) reported: bool,
    pub(super) state: PluginState,
}

impl Failure {
    pub(super) fn unreported(reason: String, content: String) -> Self {
        Self {
            reason,
            content,
            reported: false,
            state: PluginState::Failed,
        }
    }
}

impl Plugin {
    pub(super) fn new(found: &Found) -> Self {
        Self {
            path: found.path().to_owned(),
            state: PluginState::Building,
            before: PluginState::Building,
            reason: None,
            failed_content: None,
            current: None,
            number: GenerationNumber::default(),
            images: 0,
            image_bytes: 0,
            inputs: Vec::new(),
        }
    }

    /// The library that is at hand for a crate, as a look at it has found.
    pub(super) fn at_hand(&mut self, manifest: &CrateManifest, built: Built) -> LibrarySource {
        self.inputs = built.inputs;
        library_of(manifest, built.library)
    }

    /// The crate's library; `None` when there is nothing to do.
    pub(super) async fn build(
        &mut self,
        registry: &Inner,
        name: &PluginName,
        manifest: &CrateManifest,
        progress: &dyn BuildProgress,
    ) -> Result<Option<LibrarySource>, Failure> {
        let Some(builder) = &registry.builder else {
            return Ok(None);
        };
        if self.failed_content.is_some()
            && builder.inputs_hash(manifest).await == self.failed_content
        {
            return Ok(None);
        }
        // What is built will have to be tried out.
        registry.prober.warm_up();
        loop {
            let reporter = Reporter::new(registry, name, progress);
            self.is_built();
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
                    Ok(Some(library_of(manifest, built.library)))
                }
                Err(error) => {
                    let reason = short_reason(&error);
                    let content = match reporter.content() {
                        Some(content) => Some(content.clone()),
                        None => builder.inputs_hash(manifest).await,
                    };
                    // What can't be read is looked at each time, and told once.
                    if content.is_some() || self.reason.as_ref() != Some(&reason) {
                        reporter.ended(BuildOutcome::Failed(&error));
                    }
                    Err(Failure {
                        reason,
                        content: content.unwrap_or_default(),
                        reported: true,
                        state: PluginState::Failed,
                    })
                }
            };
        }
    }

    fn is_built(&mut self) {
        if self.state != PluginState::Building {
            self.before = self.state;
        }
        self.state = PluginState::Building;
    }

    /// Nothing changed: what the state was before the look at the crate.
    pub(super) fn settle(&mut self) {
        if self.state == PluginState::Building {
            self.state = self.before;
        }
    }

    /// The newest content serves.
    pub(super) fn serves(&mut self) {
        self.state = PluginState::Live;
        self.reason = None;
        self.failed_content = None;
    }

    /// Makes a generation the current one. Answers the one before.
    pub(super) fn replace(&mut self, current: Current) -> Option<Current> {
        self.number = current.generation.number();
        self.images += usize::from(current.image_size.is_some());
        self.image_bytes += current.image_size.unwrap_or_default();
        self.current.replace(current)
    }

    /// How many replaced libraries stay mapped, and their sizes together in bytes.
    pub(super) fn retired_images(&self) -> (usize, u64) {
        match self.current.as_ref().and_then(|current| current.image_size) {
            Some(size) => (self.images - 1, self.image_bytes - size),
            None => (self.images, self.image_bytes),
        }
    }

    /// Where its next generation will run. What serves now will be a replaced library then.
    pub(super) fn next_place(&self, registry: &Inner, name: &PluginName) -> Place {
        let is_full = self.images >= registry.most_images() || self.image_bytes >= RETIRED_BYTES;
        Place::of(registry.policy_of(name), is_full)
    }

    /// What a person should know of its replaced libraries, once they are as many as may stay mapped.
    pub(super) fn told_of_images(&self, registry: &Inner, name: &PluginName) -> Option<String> {
        let (count, bytes) = self.retired_images();
        if count < registry.most_images() && bytes < RETIRED_BYTES {
            return None;
        }
        let consequence = match &self.current {
            Some(current) if current.place.moved => {
                "its newer versions run in a process of their own, where they can be unloaded; write \
                 `isolation` under `[plugins.NAME]` to say where it runs"
            }
            _ if registry.policy_of(name).isolation.is_none() => {
                "its next version runs in a process of its own, where it can be unloaded"
            }
            _ => "",
        };
        let consequence = consequence.replace("NAME", name.as_str());
        Some(format!(
            "{count} replaced libraries of plugin `{name}` stay mapped ({} MB): they are given back \
             when this process ends{}{consequence}",
            bytes / 1_000_000,
            if consequence.is_empty() { "" } else { "; " },
        ))
    }

    /// Where nothing serves and the newest content can't, what served last from there does: a broken
    /// edit does no more harm at the start of the host than while it runs.
    pub(super) async fn fall_back(
        &mut self,
        registry: &Inner,
        name: &PluginName,
        library: &LibrarySource,
    ) {
        if self.current.is_some() {
            return;
        }
        // It has served, so it was tried out.
        let served = registry.store.served(library);
        let tried = registry.policy_of(name).tried();
        let served = served.and_then(|stored| Some((stored.verdict(tried).cloned()?, stored)));
        let Some((verdict, stored)) = served else {
            return;
        };
        let Ok(introduced) = verdict.introduced() else {
            return;
        };
        let Ok(mapped) = self.map(registry, name, &stored, introduced).await else {
            return;
        };
        if let Ok(current) = mapped.open(registry, name).await {
            self.replace(current);
        }
    }

    /// Takes over the tools of a library that was tried out: maps it here, or starts a process that
    /// does.
    pub(super) async fn map(
        &self,
        registry: &Inner,
        name: &PluginName,
        stored: &StoredLibrary,
        introduced: &Arc<Introduced>,
    ) -> Result<Mapped, PluginError> {
        let number = GenerationNumber(self.number.0 + 1);
        let (place, origin) = (self.next_place(registry, name), registry.origin_of(name));
        let isolation = place.policy.isolation();
        let given_up = GivenUp::default();
        let http = registry.network.of(name, isolation);
        let (loaded, enforced) = if isolation == Isolation::InProcess {
            let (stored, plugin, pool) = (stored.clone(), name.clone(), registry.pool.clone());
            let introduced = Arc::clone(introduced);
            let map = move || load_plugin(&stored, &introduced, &plugin, number, &pool, http);
            (registry.loader.run(map).await?, None)
        } else {
            let tried = place.policy.tried();
            let hears = gives_up(registry, name, stored, introduced, tried, &given_up);
            let restriction = place.policy.restriction(stored)?;
            let launch = Launch {
                helpers: registry.helpers.clone(),
                plugin: name.clone(),
                library: stored.clone(),
                restriction,
                http,
            };
            Box::pin(start_plugin(launch, introduced, number, hears)).await?
        };
        let LoadedPlugin {
            generation,
            tools,
            state,
            image_size,
        } = loaded;
        let (settings, of_tools) = (registry.tool_settings(), Arc::clone(&generation));
        // Schemas are compiled while the next library is mapped.
        let entries = tokio::task::spawn_blocking(move || {
            let entries = tools.into_iter().map(|tool| {
                let generation = Some(Arc::clone(&of_tools));
                Arc::new(ToolEntry::with(
                    tool, origin, isolation, generation, &settings,
                ))
            });
            entries.collect()
        });
        Ok(Mapped {
            generation,
            entries,
            state,
            place,
            origin,
            enforced,
            given_up,
            image_size,
        })
    }
}

/// What happens when a plugin's process ends whenever it is started: its content is not tried again,
/// and that is told.
fn gives_up(
    registry: &Inner,
    name: &PluginName,
    stored: &StoredLibrary,
    introduced: &Introduced,
    tried: Tried,
    given_up: &GivenUp,
) -> OnGivenUp {
    let (store, events) = (Arc::clone(&registry.store), registry.events.clone());
    let (plugin, hash) = (name.clone(), stored.hash);
    let (package, given_up) = (introduced.package.clone(), Arc::clone(given_up));
    Box::new(move |reason| {
        let verdict = Verdict::crashed(reason);
        if let Err(error) = store.keep_verdict(hash, &package, tried, verdict) {
            tracing::warn!(%error, "it will be started again after a restart");
        }
        tracing::warn!(%plugin, reason, "not started again");
        let reason = PluginError::Quarantined(reason.to_owned()).to_string();
        if given_up.set(reason.clone()).is_ok() {
            events.emit(|| EventKind::ToolsChanged {
                added: Vec::new(),
                removed: Vec::new(),
                changed: Vec::new(),
                failed: vec![FailedPlugin {
                    plugin: plugin.clone(),
                    reason,
                }],
            });
        }
    })
}

/// A library whose tools are taken over and do not serve yet.
pub(super) struct Mapped {
    generation: Arc<Generation>,
    entries: tokio::task::JoinHandle<Vec<Arc<ToolEntry>>>,
    state: crate::plugin::PluginState,
    place: Place,
    origin: Origin,
    enforced: Option<Enforced>,
    given_up: GivenUp,
    image_size: Option<u64>,
}

impl Mapped {
    /// Opens what its tools share. After that it can serve.
    pub(super) async fn open(
        self,
        registry: &Inner,
        name: &PluginName,
    ) -> Result<Current, PluginError> {
        let Self {
            generation,
            entries,
            state,
            place,
            origin,
            enforced,
            given_up,
            image_size,
        } = self;
        let entries = match entries.await {
            Ok(entries) => entries,
            Err(error) => std::panic::resume_unwind(error.into_panic()),
        };
        match Shared::open(registry, name, state).await {
            Ok(shared) => Ok(Current {
                generation,
                entries,
                shared,
                origin,
                place,
                enforced,
                given_up,
                image_size,
            }),
            Err(error) => {
                // It never served, so it has drained.
                generation.retire();
                Err(error)
            }
        }
    }
}

pub(super) fn library_of(manifest: &CrateManifest, path: PathBuf) -> LibrarySource {
    LibrarySource {
        path,
        package: manifest.package.clone(),
    }
}
