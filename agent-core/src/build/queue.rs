//! Whose turn it is to build.
//!
//! Owns the order: one build at a time, a newer request for a crate replaces an older one, other
//! crates wait in the order of their names. Does not build, and does not know other processes,
//! which are [`super::lock`]'s.
//!
//! A request that was replaced ends with [`BuildError::Superseded`] and not with the newer one's
//! outcome: whoever made the newer request gets that, and two callers that publish one outcome
//! would have to agree on who does.
//!
//! Nothing here runs by itself. A turn belongs to the request that waited for it, and is handed on
//! when the request drops it, however it ended.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::error::BuildError;

/// The order in which requests get their turns.
#[derive(Debug, Clone, Default)]
pub(super) struct Queue {
    /// A std mutex, because nothing is awaited while it is held.
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    running: Option<Running>,
    /// At most one request for each name; a newer one takes the place of an older one.
    waiting: BTreeMap<String, oneshot::Sender<Turn>>,
}

#[derive(Debug)]
struct Running {
    name: String,
    superseded: CancellationToken,
}

/// The right to build, until it is dropped.
#[derive(Debug)]
pub(super) struct Turn {
    queue: Queue,
    superseded: CancellationToken,
    /// Whether dropping it hands the turn on; a turn that nobody took is handed on by the giver.
    held: bool,
}

impl Turn {
    /// Ends when a newer request for the same name has come.
    pub(super) fn superseded(&self) -> &CancellationToken {
        &self.superseded
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        if self.held {
            self.queue.hand_on();
        }
    }
}

impl Queue {
    /// Whether a request for the name runs or waits.
    pub(super) fn holds(&self, name: &str) -> bool {
        let state = self.state();
        state
            .running
            .as_ref()
            .is_some_and(|running| running.name == name)
            || state.waiting.contains_key(name)
    }

    /// Waits for the right to build `name`, and makes every older request for it end.
    pub(super) async fn turn(
        &self,
        name: &str,
        cancel: &CancellationToken,
    ) -> Result<Turn, BuildError> {
        let receiver = match self.enter(name) {
            Entered::Now(turn) => return Ok(turn),
            Entered::Waits(receiver) => receiver,
        };
        tokio::select! {
            biased;
            () = cancel.cancelled() => Err(BuildError::Cancelled { package: name.to_owned() }),
            // The sender of a replaced request is dropped without having sent anything.
            turn = receiver => turn.map_err(|_| BuildError::Superseded { package: name.to_owned() }),
        }
    }

    fn enter(&self, name: &str) -> Entered {
        let mut state = self.state();
        let Some(running) = &state.running else {
            return Entered::Now(self.start(&mut state, name.to_owned()));
        };
        let superseded = (running.name == name).then(|| running.superseded.clone());
        let (sender, receiver) = oneshot::channel();
        let replaced = state.waiting.insert(name.to_owned(), sender);
        // Both wake other tasks, which may ask for the state at once.
        drop(state);
        drop(replaced);
        if let Some(superseded) = superseded {
            superseded.cancel();
        }
        Entered::Waits(receiver)
    }

    fn start(&self, state: &mut State, name: String) -> Turn {
        let superseded = CancellationToken::new();
        state.running = Some(Running {
            name,
            superseded: superseded.clone(),
        });
        Turn {
            queue: self.clone(),
            superseded,
            held: true,
        }
    }

    /// Gives the turn to the first name that somebody still waits for.
    fn hand_on(&self) {
        loop {
            let mut state = self.state();
            state.running = None;
            let Some((name, sender)) = state.waiting.pop_first() else {
                return;
            };
            let turn = self.start(&mut state, name);
            drop(state);
            match sender.send(turn) {
                Ok(()) => return,
                // Whoever waited has gone; dropping the turn must not hand it on a second time.
                Err(mut turn) => turn.held = false,
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // No code that can panic runs while the lock is held.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

enum Entered {
    Now(Turn),
    Waits(oneshot::Receiver<Turn>),
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    /// Polls a request once, which is enough: every hand-over is done when the turn is dropped.
    fn poll<F: Future>(future: std::pin::Pin<&mut F>) -> Poll<F::Output> {
        future.poll(&mut Context::from_waker(Waker::noop()))
    }

    fn never() -> CancellationToken {
        CancellationToken::new()
    }

    fn taken(outcome: Poll<Result<Turn, BuildError>>) -> Turn {
        match outcome {
            Poll::Ready(Ok(turn)) => turn,
            other => panic!("no turn: {other:?}"),
        }
    }

    #[test]
    fn other_crates_wait_in_the_order_of_their_names() {
        let (queue, cancel) = (Queue::default(), never());
        let first = taken(poll(pin!(queue.turn("m", &cancel))));
        let (mut b, mut a) = (
            pin!(queue.turn("b", &cancel)),
            pin!(queue.turn("a", &cancel)),
        );
        assert!(poll(b.as_mut()).is_pending() && poll(a.as_mut()).is_pending());
        assert!(queue.holds("m") && queue.holds("a") && !queue.holds("c"));

        drop(first);
        assert!(poll(b.as_mut()).is_pending());
        let second = taken(poll(a.as_mut()));
        assert!(poll(b.as_mut()).is_pending());
        drop(second);
        drop(taken(poll(b.as_mut())));
        assert!(!queue.holds("b"));
    }

    #[test]
    fn a_newer_request_ends_the_running_and_the_waiting_one() {
        let (queue, cancel) = (Queue::default(), never());
        let running = taken(poll(pin!(queue.turn("a", &cancel))));
        let mut older = pin!(queue.turn("a", &cancel));
        assert!(poll(older.as_mut()).is_pending());
        assert!(running.superseded().is_cancelled());

        let mut newer = pin!(queue.turn("a", &cancel));
        assert!(poll(newer.as_mut()).is_pending());
        assert!(matches!(
            poll(older.as_mut()),
            Poll::Ready(Err(BuildError::Superseded { package })) if package == "a"
        ));
        drop(running);
        let newest = taken(poll(newer.as_mut()));
        assert!(!newest.superseded().is_cancelled());
    }

    #[test]
    fn a_request_for_another_crate_ends_nothing() {
        let (queue, cancel) = (Queue::default(), never());
        let running = taken(poll(pin!(queue.turn("a", &cancel))));
        let mut other = pin!(queue.turn("b", &cancel));
        assert!(poll(other.as_mut()).is_pending());
        assert!(!running.superseded().is_cancelled());
    }

    #[test]
    fn requests_that_went_away_are_passed_over() {
        let (queue, cancel) = (Queue::default(), never());
        let first = taken(poll(pin!(queue.turn("m", &cancel))));
        let mut gone = Box::pin(queue.turn("a", &cancel));
        let mut stays = pin!(queue.turn("b", &cancel));
        assert!(poll(gone.as_mut()).is_pending() && poll(stays.as_mut()).is_pending());
        drop(gone);
        drop(first);
        drop(taken(poll(stays.as_mut())));
        assert!(poll(pin!(queue.turn("c", &cancel))).is_ready());
    }

    #[test]
    fn a_turn_that_was_given_and_never_taken_is_handed_on() {
        let (queue, cancel) = (Queue::default(), never());
        let first = taken(poll(pin!(queue.turn("m", &cancel))));
        let mut given = Box::pin(queue.turn("a", &cancel));
        let mut next = pin!(queue.turn("b", &cancel));
        assert!(poll(given.as_mut()).is_pending() && poll(next.as_mut()).is_pending());
        drop(first);
        drop(given);
        assert!(poll(next.as_mut()).is_ready());
    }

    #[test]
    fn a_cancelled_request_does_not_wait() {
        let (queue, cancel) = (Queue::default(), never());
        let _running = taken(poll(pin!(queue.turn("m", &cancel))));
        let mut waiting = pin!(queue.turn("a", &cancel));
        assert!(poll(waiting.as_mut()).is_pending());
        cancel.cancel();
        assert!(matches!(
            poll(waiting.as_mut()),
            Poll::Ready(Err(BuildError::Cancelled { package })) if package == "a"
        ));
    }
}
