//! Threads on which plain functions of plugins run.
//!
//! Not tokio's blocking pool: a tool that never returns would take a thread from it for ever, and
//! with it the host's own file and name lookups; and tokio waits for such threads when the process
//! ends. Here a call that is given up leaves its thread behind as *hung*: the thread no longer
//! counts as at work, and a plugin generation with too many of them takes no more calls.
//!
//! One mutex guards the queue and the counts. It is held for a few instructions at a time and
//! never while a tool runs.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

use crate::limits;

/// Whose calls are counted together: a loaded generation.
pub type OwnerId = u64;

/// How often an idle thread looks for a job before it sleeps.
const SNOOZES: u32 = 20;

/// Why a call could not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PoolError {
    /// Too many earlier calls of the same owner never returned.
    #[error("{hung} earlier calls of this plugin never returned")]
    TooManyHung {
        /// How many.
        hung: usize,
    },
    /// The system gave no thread, or the work ended without an answer.
    #[error("the call's thread ended without an answer")]
    NoAnswer,
}

/// The pool. Clones share it.
#[derive(Clone)]
pub struct ToolPool(Arc<Shared>);

struct Shared {
    state: Mutex<State>,
    /// Wakes one idle thread for each queued job.
    work: Condvar,
    limit: usize,
}

#[derive(Default)]
struct State {
    queue: VecDeque<Job>,
    idle: usize,
    /// Threads that run a job somebody waits for, and idle ones.
    threads: usize,
    hung: HashMap<OwnerId, usize>,
    next_job: u64,
    /// Jobs that run, by number; a job that was given up is not in it any more.
    running: HashMap<u64, OwnerId>,
}

struct Job {
    number: u64,
    owner: OwnerId,
    work: Box<dyn FnOnce() + Send>,
}

impl ToolPool {
    /// A pool of at most this many threads at work.
    pub fn new(limit: usize) -> Self {
        Self(Arc::new(Shared {
            state: Mutex::default(),
            work: Condvar::new(),
            limit: limit.max(1),
        }))
    }

    /// Runs `work` on a thread of the pool. Dropping the future gives the call up: it is taken
    /// out of the queue, or its thread counts as hung until it returns.
    pub async fn run<R: Send + 'static>(
        &self,
        owner: OwnerId,
        work: impl FnOnce() -> R + Send + 'static,
    ) -> Result<R, PoolError> {
        let (answer, answered) = oneshot::channel();
        let work = Box::new(move || drop(answer.send(work())));
        let mut ticket = self.submit(owner, work)?;
        let result = answered.await.map_err(|_| PoolError::NoAnswer);
        ticket.ended = true;
        result
    }

    /// How many threads are left behind by calls that were given up.
    pub fn hung(&self) -> usize {
        self.0.lock().hung.values().sum()
    }

    fn submit(&self, owner: OwnerId, work: Box<dyn FnOnce() + Send>) -> Result<Ticket, PoolError> {
        let mut state = self.0.lock();
        let hung = state.hung.get(&owner).copied().unwrap_or_default();
        if hung >= limits::HUNG_THREADS {
            return Err(PoolError::TooManyHung { hung });
        }
        let number = state.next_job;
        state.next_job += 1;
        state.queue.push_back(Job {
            number,
            owner,
            work,
        });
        if state.idle >= state.queue.len() {
            self.0.work.notify_one();
        } else if state.threads < self.0.limit {
            self.0.spawn(&mut state);
        }
        Ok(Ticket {
            shared: Arc::clone(&self.0),
            number,
            ended: false,
        })
    }
}

impl Default for ToolPool {
    fn default() -> Self {
        Self::new(limits::POOL_THREADS)
    }
}

impl fmt::Debug for ToolPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.0.lock();
        f.debug_struct("ToolPool")
            .field("threads", &state.threads)
            .field("queued", &state.queue.len())
            .finish_non_exhaustive()
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts one more thread. Where the system refuses, queued jobs wait for the others.
    fn spawn(self: &Arc<Self>, state: &mut State) {
        let shared = Arc::clone(self);
        let started = std::thread::Builder::new()
            .name("tool-call".to_owned())
            .spawn(move || shared.serve());
        match started {
            Ok(_) => state.threads += 1,
            Err(error) => tracing::warn!(%error, "no thread for a tool call"),
        }
    }

    /// Waits for a job: awake for a moment, since calls come in rows and waking a thread takes
    /// longer than most of them, then asleep. Says whether the wait was too long.
    fn wait_for_work<'s>(&'s self, state: MutexGuard<'s, State>) -> (MutexGuard<'s, State>, bool) {
        drop(state);
        for _ in 0..SNOOZES {
            std::thread::yield_now();
            let state = self.lock();
            if !state.queue.is_empty() {
                return (state, false);
            }
        }
        let state = self.lock();
        if !state.queue.is_empty() {
            return (state, false);
        }
        let waited = self.work.wait_timeout(state, limits::POOL_IDLE);
        let (state, waited) = waited.unwrap_or_else(PoisonError::into_inner);
        (state, waited.timed_out())
    }

    fn serve(&self) {
        let mut state = self.lock();
        loop {
            let Some(Job {
                number,
                owner,
                work,
            }) = state.queue.pop_front()
            else {
                state.idle += 1;
                let timed_out;
                (state, timed_out) = self.wait_for_work(state);
                state.idle -= 1;
                if timed_out && state.queue.is_empty() {
                    break;
                }
                continue;
            };
            state.running.insert(number, owner);
            drop(state);
            // The bridge catches a plugin's panics; a panic here is the host's own mistake and
            // must not cost the pool a thread.
            let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
            if outcome.is_err() {
                tracing::error!("a tool call's thread panicked");
            }
            state = self.lock();
            if state.running.remove(&number).is_none() {
                state.returned(owner);
                if state.threads >= self.limit {
                    return;
                }
                state.threads += 1;
            }
        }
        state.threads -= 1;
    }
}

impl State {
    /// A thread that was counted as hung came back.
    fn returned(&mut self, owner: OwnerId) {
        if let Some(hung) = self.hung.get_mut(&owner) {
            *hung -= 1;
            if *hung == 0 {
                self.hung.remove(&owner);
            }
        }
    }
}

/// Somebody's wait for one job.
struct Ticket {
    shared: Arc<Shared>,
    number: u64,
    /// Set when the work ended: its thread answers before it takes itself out of the books.
    ended: bool,
}

impl Drop for Ticket {
    fn drop(&mut self) {
        if self.ended {
            return;
        }
        let mut state = self.shared.lock();
        if let Some(owner) = state.running.remove(&self.number) {
            *state.hung.entry(owner).or_default() += 1;
            state.threads -= 1;
            if !state.queue.is_empty() && state.idle == 0 && state.threads < self.shared.limit {
                self.shared.spawn(&mut state);
            }
        } else {
            state.queue.retain(|job| job.number != self.number);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    async fn work_runs_elsewhere_and_answers() {
        let pool = ToolPool::new(2);
        let here = std::thread::current().id();
        let there = pool
            .run(1, move || std::thread::current().id())
            .await
            .unwrap();
        assert_ne!(there, here);
    }

    #[tokio::test]
    async fn given_up_calls_count_as_hung_until_they_return() {
        let pool = ToolPool::new(2);
        let (release, released) = mpsc::channel::<()>();
        let released = Arc::new(Mutex::new(released));
        for _ in 0..limits::HUNG_THREADS {
            let released = Arc::clone(&released);
            let hanging = pool.run(1, move || released.lock().unwrap().recv());
            tokio::time::timeout(Duration::from_millis(20), hanging)
                .await
                .unwrap_err();
        }
        assert_eq!(pool.hung(), limits::HUNG_THREADS);
        let refused = pool.run(1, || ()).await.unwrap_err();
        assert_eq!(
            refused,
            PoolError::TooManyHung {
                hung: limits::HUNG_THREADS
            }
        );
        assert_eq!(
            pool.run(2, || 7).await,
            Ok(7),
            "another plugin is not affected"
        );
        for _ in 0..limits::HUNG_THREADS {
            release.send(()).unwrap();
        }
        while pool.hung() > 0 {
            tokio::task::yield_now().await;
        }
        assert_eq!(pool.run(1, || 7).await, Ok(7));
    }

    #[tokio::test]
    async fn queued_call_that_is_given_up_never_runs() {
        let pool = ToolPool::new(1);
        let (release, released) = mpsc::channel::<()>();
        let (ran, has_run) = mpsc::channel::<()>();
        let first = tokio::spawn({
            let pool = pool.clone();
            async move { pool.run(1, move || released.recv()).await }
        });
        while pool.0.lock().running.is_empty() {
            tokio::task::yield_now().await;
        }
        let second = pool.run(1, move || ran.send(()));
        tokio::time::timeout(Duration::from_millis(20), second)
            .await
            .unwrap_err();
        release.send(()).unwrap();
        first.await.unwrap().unwrap().unwrap();
        assert_eq!(pool.run(1, || 7).await, Ok(7));
        has_run.try_recv().unwrap_err();
    }

    #[tokio::test]
    async fn more_calls_than_threads_wait_their_turn() {
        let pool = ToolPool::new(2);
        let calls: Vec<_> = (0..50)
            .map(|number| {
                let pool = pool.clone();
                tokio::spawn(async move { pool.run(1, move || number).await })
            })
            .collect();
        for (number, call) in calls.into_iter().enumerate() {
            assert_eq!(call.await.unwrap(), Ok(number));
        }
        assert!(pool.0.lock().threads <= 2);
    }
}
