//! Events of the file system, and a sweep for those that got lost, → "look again".
//!
//! Folders are watched, never files: a file that is replaced takes a watch on it to its grave.
//! Each folder is watched by itself, so that build outputs are not, and folders of inputs outside
//! the plugins folder are. An event only says that it is time to look; what changed is seen by
//! looking. Whatever events miss — a full queue, a network file system, a folder that was
//! replaced, no watcher at all — the sweep finds.
//!
//! | module | what it owns |
//! |---|---|
//! | `events` | what an event means |
//! | `pace` | when to look |
//! | `intake` | the way of events from the watcher's thread to the loop |
//! | `tree` | which folders should be watched |
//! | `folders` | that they are |
//! | `backend` | the watcher and its end |
//! | `shared` | what the registry may know: libraries that are being written |

mod backend;
mod events;
mod folders;
mod intake;
mod pace;
mod shared;
mod tree;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::{Instant, sleep, sleep_until};
use tokio_util::task::AbortOnDropHandle;

use self::events::Source;
use self::folders::Folders;
use self::intake::Intake;
use self::pace::{Pace, SETTLE};
use self::tree::Wish;
use super::notices::Topic;
use super::{PluginStatus, Registry, Scope};
use crate::build::BuildProgress;

pub(super) use self::shared::Shared;

/// How long the plugins folder may stay unlooked at.
const SWEEP: Duration = Duration::from_secs(2);

/// How long after a running build was told of events it is not told of the next.
const TELL_BUILD: Duration = Duration::from_millis(50);

/// Looks at the plugins folder as long as it lives.
#[derive(Debug)]
pub struct Watch {
    _task: AbortOnDropHandle<()>,
    looks: Arc<AtomicU64>,
}

impl Watch {
    /// How often the folder was looked at.
    pub fn looks(&self) -> u64 {
        self.looks.load(Ordering::Relaxed)
    }
}

/// Starts to watch. What happens in the plugins folder from now on is seen.
pub(super) fn start(registry: Registry, progress: Arc<dyn BuildProgress>) -> Watch {
    let shared = Arc::clone(&registry.0.watch);
    let places = Places::of(&registry);
    let intake = Arc::new(Intake::new(shared));
    let mut watcher = Watcher {
        folders: Some(Folders::new(Box::new(backend::Notify), Arc::clone(&intake))),
        intake,
        pace: Pace::default(),
        looks: Arc::default(),
        progress: Arc::new(Counting {
            progress,
            started: AtomicBool::new(false),
        }),
        places: places.clone(),
        registry,
    };
    if let Some(folders) = &mut watcher.folders {
        let covered = folders.cover(&places.wish(&BTreeSet::new()));
        watcher.say(covered.problems);
    }
    let looks = Arc::clone(&watcher.looks);
    Watch {
        _task: AbortOnDropHandle::new(tokio::spawn(watcher.run())),
        looks,
    }
}

/// Folders by absolute paths: events name no others.
#[derive(Clone)]
struct Places {
    plugins: PathBuf,
    state: PathBuf,
}

impl Places {
    fn of(registry: &Registry) -> Self {
        Self {
            plugins: absolute(registry.plugins_folder()),
            state: absolute(&registry.0.options.state),
        }
    }

    fn wish<'a>(&'a self, paths: &'a BTreeSet<PathBuf>) -> Wish<'a> {
        Wish {
            plugins: &self.plugins,
            state: &self.state,
            paths,
        }
    }
}

/// Without a working folder a path stays what it is.
fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

struct Watcher {
    registry: Registry,
    places: Places,
    progress: Arc<Counting>,
    /// `None` only while a thread that may block works with it.
    folders: Option<Folders>,
    intake: Arc<Intake>,
    pace: Pace,
    looks: Arc<AtomicU64>,
}

impl Watcher {
    async fn run(mut self) {
        let telling = tell_builds(self.registry.clone(), Arc::clone(&self.intake));
        let rounds = async {
            loop {
                self.cover().await;
                self.wait().await;
                self.look().await;
            }
        };
        tokio::select! {
            () = rounds => {}
            () = telling => {}
        }
    }

    /// Watches what the last look has found to matter. What happened in a folder before it was
    /// watched made no event, so a new one is a reason to look.
    async fn cover(&mut self) {
        let paths = self.registry.watched().await;
        let places = self.places.clone();
        let intake = Arc::clone(&self.intake);
        let mut folders = self
            .folders
            .take()
            .unwrap_or_else(|| Folders::new(Box::new(backend::Notify), intake));
        let covered = tokio::task::spawn_blocking(move || {
            let paths = paths.iter().map(|path| absolute(path)).collect();
            let covered = folders.cover(&places.wish(&paths));
            (folders, covered)
        });
        match covered.await {
            Ok((folders, covered)) => {
                self.folders = Some(folders);
                self.say(covered.problems);
                self.intake.add(covered.new.into_iter().map(Source::Folder));
            }
            // The watcher's thread ended between two questions to it: the next round makes another.
            Err(error) => tracing::debug!(%error, "the watcher does not answer"),
        }
    }

    /// Waits until it is time to look.
    async fn wait(&self) {
        let sweep = Instant::now() + SWEEP;
        let mut arrived = self.intake.arrived();
        loop {
            let due = self.intake.due(&self.pace);
            let at = due.map_or(sweep, |due| due.min(sweep));
            if at <= Instant::now() {
                return;
            }
            tokio::select! {
                () = sleep_until(at) => {}
                // A storm of events does not make this spin.
                _ = arrived.changed() => sleep(SETTLE).await,
            }
        }
    }

    fn say(&self, problems: Vec<String>) {
        self.registry.0.notices.say(Topic::Watching, problems);
    }

    async fn look(&mut self) {
        let after = self.intake.take_pending();
        let before = stand(&self.registry);
        let began = Instant::now();
        self.progress.started.store(false, Ordering::Relaxed);
        let looked = self.registry.refresh(Scope::All, &*self.progress).await;
        self.looks.fetch_add(1, Ordering::Relaxed);
        // What hinders a look is a notice, and logged as one.
        let notices = self.registry.notices();
        if let Err(error) = looked {
            tracing::debug!(%error, ?notices, "the plugins folder could not be looked at");
        }
        let found =
            self.progress.started.load(Ordering::Relaxed) || stand(&self.registry) != before;
        self.pace.looked(after, began, Instant::now(), found);
    }
}

/// Tells builds that run, whoever asked for them, that their inputs may have changed.
async fn tell_builds(registry: Registry, intake: Arc<Intake>) {
    let mut arrived = intake.arrived();
    while arrived.changed().await.is_ok() {
        sleep(SETTLE).await;
        arrived.mark_unchanged();
        registry.0.events_seen.send_modify(|count| *count += 1);
        sleep(TELL_BUILD).await;
    }
}

/// What a look may change. Running calls are none of it.
fn stand(registry: &Registry) -> Vec<PluginStatus> {
    let still = |status: PluginStatus| PluginStatus {
        in_flight: 0,
        ..status
    };
    registry.plugins().into_iter().map(still).collect()
}

/// Passes a build's progress on, and remembers that there was a build.
struct Counting {
    progress: Arc<dyn BuildProgress>,
    started: AtomicBool,
}

impl BuildProgress for Counting {
    fn started(&self, package: &str, inputs_hash: &str) {
        self.started.store(true, Ordering::Relaxed);
        self.progress.started(package, inputs_hash);
    }

    fn compiling(&self, package: &str) {
        self.progress.compiling(package);
    }

    fn line(&self, line: &str) {
        self.progress.line(line);
    }
}
