//! The library that watches, behind a seam: tests refuse watches and end its thread.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use notify::{Event, RecommendedWatcher, RecursiveMode, Watcher};

use super::intake::Intake;

/// What is called with each event, on the watcher's thread.
pub(super) type Handler = Box<dyn FnMut(notify::Result<Event>) + Send>;

/// Makes watchers.
pub(super) trait Backend: Send + Sync {
    /// A watcher that calls the handler. The handler is dropped when the watcher's thread ends.
    fn start(&self, handler: Handler) -> notify::Result<Box<dyn FolderWatcher>>;
}

/// Watches folders, one level each.
pub(super) trait FolderWatcher: Send + Sync {
    /// Watches a folder.
    fn watch(&mut self, folder: &Path) -> notify::Result<()>;
    /// Ends a watch.
    fn unwatch(&mut self, folder: &Path) -> notify::Result<()>;
}

/// The system's own way to watch.
pub(super) struct Notify;

impl Backend for Notify {
    fn start(&self, handler: Handler) -> notify::Result<Box<dyn FolderWatcher>> {
        Ok(Box::new(notify::recommended_watcher(handler)?))
    }
}

impl FolderWatcher for RecommendedWatcher {
    fn watch(&mut self, folder: &Path) -> notify::Result<()> {
        Watcher::watch(self, folder, RecursiveMode::NonRecursive)
    }

    fn unwatch(&mut self, folder: &Path) -> notify::Result<()> {
        Watcher::unwatch(self, folder)
    }
}

/// A watcher whose end is noticed.
pub(super) struct Live {
    /// `None` only while it is dropped.
    watcher: Option<Box<dyn FolderWatcher>>,
    ended: Arc<AtomicBool>,
}

impl Live {
    /// Starts a watcher whose events go to `intake`.
    pub(super) fn start(backend: &dyn Backend, intake: &Arc<Intake>) -> notify::Result<Self> {
        let ended = Arc::new(AtomicBool::new(false));
        let on_thread = OnThread {
            intake: Arc::clone(intake),
            ended: Arc::clone(&ended),
        };
        let handler = Box::new(move |event| on_thread.intake.take(event));
        Ok(Self {
            watcher: Some(backend.start(handler)?),
            ended,
        })
    }

    /// Whether its thread has ended, by a panic say.
    pub(super) fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Acquire)
    }

    pub(super) fn watch(&mut self, folder: &Path) -> notify::Result<()> {
        self.running()?.watch(folder)
    }

    pub(super) fn unwatch(&mut self, folder: &Path) -> notify::Result<()> {
        self.running()?.unwatch(folder)
    }

    /// notify panics where its thread does not answer.
    fn running(&mut self) -> notify::Result<&mut dyn FolderWatcher> {
        let ended = self.has_ended();
        match &mut self.watcher {
            Some(watcher) if !ended => Ok(&mut **watcher),
            _ => Err(notify::Error::generic("the watcher's thread has ended")),
        }
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        if let Some(watcher) = self.watcher.take()
            && self.has_ended()
        {
            // notify tells its thread to end, and panics where there is none: a few bytes are lost
            // instead.
            _ = std::mem::ManuallyDrop::new(watcher);
        }
    }
}

/// What the watcher's thread holds, and drops when it ends.
struct OnThread {
    intake: Arc<Intake>,
    ended: Arc<AtomicBool>,
}

impl Drop for OnThread {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Release);
        self.intake.lost();
    }
}
