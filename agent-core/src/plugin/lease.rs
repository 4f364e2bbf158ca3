//! Keeps a generation in service while calls run on it, and tells when it has drained.
//!
//! One atomic number holds the count of leases and two flags, so a call takes no lock: *retired*
//! means that a newer generation was published, *closed* that the last lease is gone as well.
//! Whoever sets *closed* runs what retires the generation, once. After that no lease is given.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::ids::{ContentHash, GenerationNumber, PluginName};

const RETIRED: u64 = 1 << 62;
const CLOSED: u64 = 1 << 63;
const COUNT: u64 = RETIRED - 1;

/// Runs once, when a replaced generation has no call left.
type OnDrained = Box<dyn FnOnce() + Send>;

/// One loaded version of a plugin.
pub struct Generation {
    plugin: PluginName,
    number: GenerationNumber,
    hash: ContentHash,
    state: AtomicU64,
    /// A mutex, since it is taken out once; never touched by a call that is not the last.
    on_drained: Mutex<Option<OnDrained>>,
}

impl Generation {
    /// A generation in service. `on_drained` runs on the thread that ends its last call.
    pub fn new(
        plugin: PluginName,
        number: GenerationNumber,
        hash: ContentHash,
        on_drained: impl FnOnce() + Send + 'static,
    ) -> Arc<Self> {
        Arc::new(Self {
            plugin,
            number,
            hash,
            state: AtomicU64::new(0),
            on_drained: Mutex::new(Some(Box::new(on_drained))),
        })
    }

    /// The plugin.
    pub fn plugin(&self) -> &PluginName {
        &self.plugin
    }

    /// Its number.
    pub fn number(&self) -> GenerationNumber {
        self.number
    }

    /// Hash of the library.
    pub fn hash(&self) -> ContentHash {
        self.hash
    }

    /// How many calls run on it.
    pub fn in_flight(&self) -> u64 {
        self.state.load(Ordering::Acquire) & COUNT
    }

    /// Keeps the generation in service for one call. `None` when it is closed: a newer one is
    /// published, so look again.
    pub fn lease(self: &Arc<Self>) -> Option<Lease> {
        let taken = self
            .state
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, |state| {
                (state & CLOSED == 0).then_some(state + 1)
            });
        taken.is_ok().then(|| Lease(Arc::clone(self)))
    }

    /// Says that a newer generation is published. Running calls go on.
    pub fn retire(&self) {
        self.state.fetch_or(RETIRED, Ordering::AcqRel);
        self.close_if_drained();
    }

    fn close_if_drained(&self) {
        let drained = self.state.compare_exchange(
            RETIRED,
            RETIRED | CLOSED,
            Ordering::AcqRel,
            Ordering::Acquire,
        );
        if drained.is_ok() {
            let on_drained = self
                .on_drained
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take();
            if let Some(on_drained) = on_drained {
                on_drained();
            }
        }
    }
}

impl fmt::Debug for Generation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Generation")
            .field("plugin", &self.plugin)
            .field("number", &self.number)
            .field("in_flight", &self.in_flight())
            .finish_non_exhaustive()
    }
}

/// One call's hold on a generation.
#[derive(Debug)]
pub struct Lease(Arc<Generation>);

impl Lease {
    /// The generation.
    pub fn generation(&self) -> &Arc<Generation> {
        &self.0
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.0.state.fetch_sub(1, Ordering::AcqRel);
        self.0.close_if_drained();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;

    fn counted() -> (Arc<Generation>, Arc<AtomicUsize>) {
        let drained = Arc::new(AtomicUsize::new(0));
        let seen = Arc::clone(&drained);
        let hash = ContentHash::of(b"");
        let generation =
            Generation::new(PluginName::new("p"), GenerationNumber(1), hash, move || {
                seen.fetch_add(1, Ordering::SeqCst);
            });
        (generation, drained)
    }

    #[test]
    fn drains_once_when_retired_and_the_last_call_ends() {
        let (generation, drained) = counted();
        let first = generation.lease().unwrap();
        drop(generation.lease().unwrap());
        generation.retire();
        let late = generation.lease().unwrap();
        drop(first);
        assert_eq!(
            (generation.in_flight(), drained.load(Ordering::SeqCst)),
            (1, 0)
        );
        drop(late);
        assert_eq!(drained.load(Ordering::SeqCst), 1);
        assert!(generation.lease().is_none());
        generation.retire();
        assert_eq!(drained.load(Ordering::SeqCst), 1);
    }

    #[test]
    fn idle_generation_drains_at_once() {
        let (generation, drained) = counted();
        generation.retire();
        assert_eq!(drained.load(Ordering::SeqCst), 1);
    }

    #[test]
    fn many_threads_drain_it_once() {
        let (generation, drained) = counted();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| while generation.lease().is_some() {});
            }
            scope.spawn(|| generation.retire());
        });
        assert_eq!(drained.load(Ordering::SeqCst), 1);
    }
}
