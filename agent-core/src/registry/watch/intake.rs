//! Where events arrive: from the watcher's thread to the loop that looks.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arc_swap::ArcSwap;
use tokio::sync::watch;
use tokio::time::Instant;

use super::events::{self, Rules, Source};
use super::pace::{Pace, Pending};
use super::shared::Shared;

/// How many paths may be in doubt before all are.
const DOUBTED: usize = 1024;

/// What came since the last look.
#[derive(Debug)]
pub(super) struct Intake {
    rules: ArcSwap<Rules>,
    /// A mutex, held for a few map operations only.
    come: Mutex<Come>,
    /// Rises with every event that matters.
    arrived: watch::Sender<u64>,
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Come {
    pending: Pending,
    doubt: Doubt,
}

/// Watches that may have ended.
#[derive(Debug, Default)]
pub(super) struct Doubt {
    /// All of them.
    pub(super) all: bool,
    /// Those at and below these paths.
    pub(super) below: BTreeSet<PathBuf>,
}

impl Intake {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self {
            rules: ArcSwap::default(),
            come: Mutex::default(),
            arrived: watch::Sender::default(),
            shared,
        }
    }

    /// Takes an event, on the watcher's thread.
    pub(super) fn take(&self, event: notify::Result<notify::Event>) {
        let event = match event {
            Ok(event) => event,
            Err(error) => {
                tracing::debug!(%error, "the watcher reports an error");
                return self.lost();
            }
        };
        let meaning = events::meaning(&self.rules.load(), &event);
        if meaning.sources.contains(&Source::Lost) {
            return self.lost();
        }
        if let Some(writing) = &meaning.writing {
            self.shared.note(writing);
        }
        if let Some(path) = meaning.ended {
            let mut come = self.come();
            come.doubt.below.insert(path);
            come.doubt.all |= come.doubt.below.len() > DOUBTED;
        }
        self.add(meaning.sources);
    }

    /// Events were lost: anything may have changed, and any watch may have ended.
    pub(super) fn lost(&self) {
        self.shared.forget_writing();
        self.come().doubt.all = true;
        self.add([Source::Lost]);
    }

    /// Something else is a reason to look.
    pub(super) fn add(&self, sources: impl IntoIterator<Item = Source>) {
        let now = Instant::now();
        let mut added = false;
        let mut come = self.come();
        for source in sources {
            come.pending.add(source, now);
            added = true;
        }
        drop(come);
        if added {
            self.arrived.send_modify(|count| *count += 1);
        }
    }

    /// When to look after what has come.
    pub(super) fn due(&self, pace: &Pace) -> Option<Instant> {
        self.come().pending.due(pace)
    }

    pub(super) fn take_pending(&self) -> Pending {
        std::mem::take(&mut self.come().pending)
    }

    pub(super) fn take_doubt(&self) -> Doubt {
        std::mem::take(&mut self.come().doubt)
    }

    pub(super) fn set_rules(&self, rules: Rules) {
        self.rules.store(Arc::new(rules));
    }

    pub(super) fn arrived(&self) -> watch::Receiver<u64> {
        self.arrived.subscribe()
    }

    fn come(&self) -> MutexGuard<'_, Come> {
        self.come.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
