//! The library that watches, behind a seam: tests refuse watches and end its thread.

use std::panic::{AssertUnwindSafe, catch_unwind};
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
        self.ask(|watcher| watcher.watch(folder))
    }

    pub(super) fn unwatch(&mut self, folder: &Path) -> notify::Result<()> {
        self.ask(|watcher| watcher.unwatch(folder))
    }

    /// notify panics where its thread does not answer, which may have ended this very moment.
    fn ask(
        &mut self,
        question: impl FnOnce(&mut dyn FolderWatcher) -> notify::Result<()>,
    ) -> notify::Result<()> {
        let ended = || notify::Error::generic("the watcher's thread has ended");
        let watcher = self.watcher.as_mut().ok_or_else(ended)?;
        if self.ended.load(Ordering::Acquire) {
            return Err(ended());
        }
        let asked = AssertUnwindSafe(|| question(&mut **watcher));
        catch_unwind(asked).unwrap_or_else(|_| {
            self.ended.store(true, Ordering::Release);
            Err(ended())
        })
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        let Some(watcher) = self.watcher.take() else {
            return;
        };
        // notify tells its thread to end, and panics where there is none.
        if self.has_ended() {
            // A few bytes are lost instead.
            _ = std::mem::ManuallyDrop::new(watcher);
        } else if catch_unwind(AssertUnwindSafe(|| drop(watcher))).is_err() {
            tracing::debug!("the watcher's thread had ended before it was told to");
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
