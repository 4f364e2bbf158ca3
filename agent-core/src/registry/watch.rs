//! Events of the file system, and a sweep for those that got lost, → "look again".
//!
//! Folders are watched, never files: a file that is replaced takes a watch on it to its grave.
//! Each folder is watched by itself, so that build outputs are not, and folders of inputs outside
//! the plugins folder are. An event only says that it is time to look; what changed is seen by
//! looking. Whatever events miss — a full queue, a network file system, a folder that was
//! replaced — the sweep finds.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use notify::event::{AccessKind, AccessMode, EventKind, ModifyKind};
use notify::{RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::Notify;
use tokio_util::task::AbortOnDropHandle;

use super::{Registry, RegistryError, Scope};
use crate::build::BuildProgress;

/// How long the plugins folder may stay unlooked at.
const SWEEP: Duration = Duration::from_secs(2);

/// How long after an event nothing may come before the folder is looked at: several files are
/// often saved together.
const SETTLE: Duration = Duration::from_millis(4);

/// Looks at the plugins folder as long as it lives.
#[derive(Debug)]
pub struct Watch {
    _task: AbortOnDropHandle<()>,
}

pub(super) fn start(
    registry: Registry,
    progress: Arc<dyn BuildProgress>,
) -> Result<Watch, RegistryError> {
    let changed = Arc::new(Notify::new());
    let wake = Arc::clone(&changed);
    let inner = Arc::downgrade(&registry.0);
    let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        if event.map_or(true, |event| says_change(&event)) {
            wake.notify_one();
            if let Some(registry) = inner.upgrade() {
                registry.events_seen.send_modify(|count| *count += 1);
            }
        }
    });
    let mut folders = Folders {
        watcher: watcher.map_err(RegistryError::Watch)?,
        watched: BTreeSet::new(),
    };
    let task = async move {
        loop {
            folders.cover(&registry, &registry.watched().await);
            let swept = tokio::time::timeout(SWEEP, changed.notified())
                .await
                .is_err();
            if !swept {
                while tokio::time::timeout(SETTLE, changed.notified())
                    .await
                    .is_ok()
                {}
            }
            if let Err(error) = registry.refresh(Scope::All, &*progress).await {
                tracing::warn!(%error, "the plugins folder could not be looked at");
            }
        }
    };
    Ok(Watch {
        _task: AbortOnDropHandle::new(tokio::spawn(task)),
    })
}

/// Whether an event may mean that a file's content, name or existence changed. A write that goes
/// on is no news yet; its end is.
fn says_change(event: &notify::Event) -> bool {
    match event.kind {
        EventKind::Access(AccessKind::Close(AccessMode::Write)) => true,
        EventKind::Access(_) | EventKind::Modify(ModifyKind::Data(_)) => event.need_rescan(),
        _ => true,
    }
}

/// The folders that are watched.
struct Folders {
    watcher: RecommendedWatcher,
    watched: BTreeSet<PathBuf>,
}

impl Folders {
    /// Watches every folder in which one of these paths lies, and the folders below crates.
    fn cover(&mut self, registry: &Registry, paths: &BTreeSet<PathBuf>) {
        let mut wanted = BTreeSet::from([registry.plugins_folder().to_owned()]);
        wanted.extend(registry.plugins_folder().parent().map(Path::to_owned));
        for path in paths {
            if path.starts_with(registry.plugins_folder()) && path.is_dir() {
                add_tree(path, &mut wanted);
            } else if let Some(folder) = path.parent() {
                wanted.insert(folder.to_owned());
            }
        }
        wanted.retain(|folder| folder.is_dir());
        for gone in self.watched.difference(&wanted) {
            // The system ends the watch of a deleted folder by itself.
            drop(self.watcher.unwatch(gone));
        }
        let mut now: BTreeSet<PathBuf> = self.watched.intersection(&wanted).cloned().collect();
        for new in wanted.difference(&self.watched) {
            match self.watcher.watch(new, RecursiveMode::NonRecursive) {
                Ok(()) => _ = now.insert(new.clone()),
                Err(error) => {
                    tracing::warn!(folder = %new.display(), %error, "not watched; looked at every {SWEEP:?}");
                }
            }
        }
        self.watched = now;
    }
}

/// A folder and what lies in it, without build outputs and hidden folders.
fn add_tree(folder: &Path, wanted: &mut BTreeSet<PathBuf>) {
    wanted.insert(folder.to_owned());
    for entry in fs_err::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let skip = name.as_encoded_bytes().starts_with(b".") || name == "target";
        if !skip && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            add_tree(&entry.path(), wanted);
        }
    }
}
