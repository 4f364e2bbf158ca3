//! A sink behind a queue: whoever reads slowly, or blocks, slows nobody else.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use tokio::sync::watch;

use super::{Event, EventSink};

/// Hands events to a sink on a thread of its own, in their order. The queue has no limit: a sink
/// that never comes back keeps in memory what happens meanwhile. The thread ends when the queue is
/// dropped and the sink has seen everything.
pub struct Queued {
    sender: Sender<Arc<Event>>,
    /// How many events the sink has seen.
    seen: watch::Receiver<u64>,
    /// How many were taken.
    taken: AtomicU64,
}

impl Queued {
    /// Puts a sink behind a queue.
    pub fn new(sink: impl EventSink) -> std::io::Result<Self> {
        let (sender, events) = channel();
        let (has_seen, seen) = watch::channel(0);
        let thread = thread::Builder::new().name("toolsmith-events".to_owned());
        thread.spawn(move || hand_out(&events, &sink, &has_seen))?;
        Ok(Self {
            sender,
            seen,
            taken: AtomicU64::new(0),
        })
    }

    /// Waits until the sink has seen what was queued so far, but not longer than this. Whether it
    /// has.
    pub async fn caught_up(&self, limit: Duration) -> bool {
        let taken = self.taken.load(Ordering::Acquire);
        let mut seen = self.seen.clone();
        let caught_up = seen.wait_for(|seen| *seen >= taken);
        matches!(tokio::time::timeout(limit, caught_up).await, Ok(Ok(_)))
    }
}

fn hand_out(events: &Receiver<Arc<Event>>, sink: &dyn EventSink, seen: &watch::Sender<u64>) {
    for event in events {
        if let Err(report) = tool_sdk::panic::catch(|| sink.event(&event)) {
            tracing::error!(%report, "an event sink panicked");
        }
        seen.send_modify(|seen| *seen += 1);
    }
}

impl EventSink for Arc<Queued> {
    fn event(&self, event: &Arc<Event>) {
        // The thread lives as long as the queue.
        self.sender.send(Arc::clone(event)).unwrap_or_default();
        self.taken.fetch_add(1, Ordering::Release);
    }
}

impl fmt::Debug for Queued {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queued").finish_non_exhaustive()
    }
}
