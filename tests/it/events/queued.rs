//! A sink behind a queue: it sees everything in order, and slows nobody.

use std::future::Future;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agent_core::call::Caller;
use agent_core::event::{Emitter, Event, EventKind, Queued};
use serde_json::json;
use toolsmith_tests::DEADLINE;

use crate::host::{Host, Log, Recorder, weather, weather_call};

/// A queue before a sink that takes one event for each message it gets, and tells each.
fn gated() -> (Arc<Queued>, Sender<()>, Receiver<u64>) {
    let (go, wait) = channel();
    let (tell, told) = channel();
    // A sink is shared by threads, which a channel's end is not.
    let ends = Mutex::new((wait, tell));
    let sink = move |event: &Arc<Event>| {
        let (wait, tell) = &*ends.lock().unwrap();
        // Whoever has gone does not care.
        let _gone = wait.recv();
        let _gone = tell.send(event.seq);
    };
    (Arc::new(Queued::new(sink).unwrap()), go, told)
}

fn emit(emitter: &Emitter, times: usize) {
    for _ in 0..times {
        emitter.emit(|| EventKind::TurnStart);
    }
}

#[tokio::test]
async fn sink_that_blocks_slows_no_call_and_sees_everything_in_order() {
    let host = Host::with(weather()).await;
    let (queued, go, told) = gated();
    let emitter = Emitter::default();
    emitter.add(Arc::clone(&queued));
    let caller = Caller::new(host.registry.clone(), emitter);
    for _ in 0..50 {
        let finalized = host
            .make(&caller, weather_call(json!({"city": "Tokyo"})))
            .await;
        assert!(!finalized.result.is_error);
    }
    assert!(told.try_recv().is_err(), "the sink has seen nothing yet");
    assert!(!queued.caught_up(Duration::ZERO).await);
    for _ in 0..100 {
        go.send(()).unwrap();
    }
    assert!(queued.caught_up(DEADLINE).await);
    assert_eq!(
        told.try_iter().collect::<Vec<_>>(),
        (1..=100).collect::<Vec<_>>()
    );
}

#[tokio::test]
async fn catching_up_is_about_what_was_queued_before() {
    let (queued, go, told) = gated();
    assert!(queued.caught_up(Duration::ZERO).await, "nothing is queued");
    let emitter = Emitter::default();
    emitter.add(Arc::clone(&queued));
    emit(&emitter, 2);
    let mut waiting = Box::pin(queued.caught_up(DEADLINE));
    let at_once = now(&mut waiting).await;
    assert!(at_once.is_none());
    emit(&emitter, 1);
    go.send(()).unwrap();
    go.send(()).unwrap();
    // The third event is still waiting.
    assert!(waiting.await);
    assert!(!queued.caught_up(Duration::from_millis(1)).await);
    go.send(()).unwrap();
    assert!(queued.caught_up(DEADLINE).await);
    assert_eq!(told.iter().take(3).collect::<Vec<_>>(), [1, 2, 3]);
}

/// Looks once whether a future is ready.
async fn now<T>(future: &mut (impl Future<Output = T> + Unpin)) -> Option<T> {
    tokio::select! {
        biased;
        ready = future => Some(ready),
        () = std::future::ready(()) => None,
    }
}

#[tokio::test]
async fn sink_that_panics_sees_the_next_event() {
    let log = Log::default();
    let seen = log.clone();
    let queued = Arc::new(
        Queued::new(move |event: &Arc<Event>| {
            assert_ne!(event.seq, 2, "boom");
            seen.add(event.seq.to_string());
        })
        .unwrap(),
    );
    let emitter = Emitter::default();
    emitter.add(Arc::clone(&queued));
    emit(&emitter, 3);
    assert!(queued.caught_up(DEADLINE).await, "a panic counts as seen");
    assert_eq!(log.take(), ["1", "3"]);
}

/// What is queued is handed out, also when nobody emits any more; then the sink is dropped.
#[test]
fn sink_sees_the_rest_when_the_queue_is_dropped() {
    let (tell, told) = channel();
    let tell = Mutex::new(tell);
    let (go, wait) = channel::<()>();
    let wait = Mutex::new(wait);
    let queued = Queued::new(move |event: &Arc<Event>| {
        let _gone = wait.lock().unwrap().recv();
        tell.lock().unwrap().send(event.seq).unwrap();
    });
    let emitter = Emitter::default();
    emitter.add(Arc::new(queued.unwrap()));
    emit(&emitter, 3);
    drop(emitter);
    drop(go);
    let mut seen = Vec::new();
    // Ends when the sink, which has the other end, is dropped.
    while let Ok(seq) = told.recv_timeout(DEADLINE) {
        seen.push(seq);
    }
    assert_eq!(seen, [1, 2, 3]);
}

/// A sink that is added later sees what happens from then on, with the emitter's numbers.
#[test]
fn sink_that_is_added_later_sees_what_happens_from_then_on() {
    let first = Recorder::default();
    let emitter = first.emitter();
    emit(&emitter, 2);
    let log = Log::default();
    let seen = log.clone();
    emitter
        .clone()
        .add(move |event: &Arc<Event>| seen.add(event.seq.to_string()));
    emit(&emitter, 2);
    assert_eq!(log.take(), ["3", "4"]);
    assert_eq!(first.take().len(), 4);
}
