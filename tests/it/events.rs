//! Events: their order, their fields as JSON, and that nothing comes behind a call's end.

mod queued;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

use agent_core::call::{Arguments, Caller, ToolCall};
use agent_core::event::{Emitter, Event};
use agent_core::tool::{Execution, FunctionTool};
use serde_json::{Value, json};
use tool_sdk::{ToolError, ToolResult};

use crate::host::{Host, Signal, answering, open_spec, weather, weather_call, within};

#[tokio::test]
async fn y40_y42_events_of_a_call_as_json() {
    let tool = FunctionTool::new(open_spec("getWeather"), |call: Execution<'_>| {
        (call.progress)(json!({"status": "Fetching data..."}));
        async { Ok(ToolResult::text("Sunny")) }
    });
    let host = Host::with(tool).await;
    host.make(&host.caller(), weather_call(json!({"city": "Tokyo"})))
        .await;
    let call = json!({"toolCallId": "call_1", "toolName": "getWeather"});
    let with = |kind: &str, more: Value| {
        let mut event = json!({"type": kind});
        for part in [&call, &more] {
            event
                .as_object_mut()
                .unwrap()
                .extend(part.as_object().unwrap().clone());
        }
        event
    };
    let args = json!({"city": "Tokyo"});
    let expected = [
        with("toolExecutionStart", json!({"args": args, "generation": 0})),
        with(
            "toolExecutionUpdate",
            json!({"args": args, "partialResult": {"status": "Fetching data..."}}),
        ),
        with(
            "toolExecutionEnd",
            json!({"result": {
                "toolCallId": "call_1", "toolName": "getWeather",
                "content": [{"type": "text", "text": "Sunny"}],
                "details": {}, "usage": null, "terminate": false, "isError": false,
            }, "isError": false}),
        ),
    ];
    assert_eq!(host.events.take_json(), expected);
}

#[tokio::test]
async fn y40_end_event_of_a_failure_says_so() {
    let host = Host::with(answering("fail", || Err(ToolError::new("no")))).await;
    host.call("fail", "{}").await;
    let end = host.events.take_json().pop().unwrap();
    assert_eq!(
        (&end["type"], &end["isError"]),
        (&json!("toolExecutionEnd"), &json!(true))
    );
    assert_eq!(
        end["result"]["error"],
        json!({"kind": "toolError", "message": "no"})
    );
}

/// R10: what was changed is told where it is used, digits and all.
#[tokio::test]
async fn r10_start_event_tells_what_was_changed() {
    let host = Host::with(weather()).await;
    host.call("getWeather", r#"{"city": 1.10, "units": null}"#)
        .await;
    let start = &host.events.take_json()[0];
    assert_eq!(start["args"], json!({"city": "1.10", "units": "celsius"}));
    let changes = json!([
        {"pointer": "/units", "from": null},
        {"pointer": "/city", "from": 1.1, "to": "1.10"},
    ]);
    assert_eq!(start["changes"], changes);
    host.call("getWeather", r#"{"city": "Tokyo"}"#).await;
    assert_eq!(host.events.take_json()[0].get("changes"), None);
}

#[tokio::test]
async fn y37_updates_of_other_threads_lie_between_start_and_end() {
    const THREADS: u64 = 8;
    const UPDATES: u64 = 50;
    let tool = FunctionTool::new(open_spec("report"), |call: Execution<'_>| {
        let progress = call.progress;
        let threads = (0..THREADS).map(|thread| {
            let progress = Arc::clone(&progress);
            std::thread::spawn(move || (0..UPDATES).for_each(|n| progress(json!([thread, n]))))
        });
        let threads: Vec<_> = threads.collect();
        async move {
            let joined = tokio::task::spawn_blocking(|| {
                threads
                    .into_iter()
                    .try_for_each(std::thread::JoinHandle::join)
            });
            joined.await?.map_err(|_| "a thread panicked")?;
            Ok(ToolResult::text("Done!"))
        }
    });
    let host = Host::with(tool).await;
    host.call("report", "").await;
    let events = host.events.take_json();
    let types: Vec<&str> = events
        .iter()
        .map(|event| event["type"].as_str().unwrap())
        .collect();
    let count = usize::try_from(THREADS * UPDATES).unwrap();
    let mut expected = vec!["toolExecutionUpdate"; count];
    expected.insert(0, "toolExecutionStart");
    expected.push("toolExecutionEnd");
    assert_eq!(types, expected);
    for thread in 0..THREADS {
        let of_thread = events.iter().filter_map(|event| event.get("partialResult"));
        let of_thread: Vec<u64> = of_thread
            .filter(|pair| pair[0] == thread)
            .map(|pair| pair[1].as_u64().unwrap())
            .collect();
        assert_eq!(of_thread, (0..UPDATES).collect::<Vec<_>>());
    }
}

/// A thread that reports without a pause neither gets behind the end nor holds it up.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn y37_updates_that_come_too_late_are_dropped() {
    let stop = Arc::new(AtomicBool::new(false));
    let threads = Arc::new(Mutex::new(Vec::new()));
    let (stopped, started) = (Arc::clone(&stop), Arc::clone(&threads));
    let tool = FunctionTool::new(open_spec("chatter"), move |call: Execution<'_>| {
        let (progress, stopped, first) = (call.progress, Arc::clone(&stopped), Signal::default());
        let begun = first.clone();
        let thread = std::thread::spawn(move || {
            while !stopped.load(Ordering::SeqCst) {
                progress(json!(1));
                begun.raise();
            }
        });
        started.lock().unwrap().push(thread);
        async move {
            first.wait().await;
            Ok(ToolResult::text("Done!"))
        }
    });
    let host = Host::with(tool).await;
    for _ in 0..20 {
        let began = Instant::now();
        host.call("chatter", "").await;
        assert!(
            began.elapsed() < Duration::from_secs(5),
            "{:?}",
            began.elapsed()
        );
        // The thread reports on for as long as it takes to look at what it did.
        let types = host.events.take_types();
        assert_eq!(
            types.first().map(String::as_str),
            Some("toolExecutionStart")
        );
        assert_eq!(
            types.last().map(String::as_str),
            Some("toolExecutionEnd"),
            "{}",
            types.len()
        );
        stop.store(true, Ordering::SeqCst);
        threads.lock().unwrap().pop().unwrap().join().unwrap();
        stop.store(false, Ordering::SeqCst);
        assert_eq!(host.events.take_types(), Vec::<String>::new());
    }
}

/// Y51: an update is there before the tool ends.
#[tokio::test]
async fn y51_first_update_is_seen_while_the_tool_runs() {
    let (seen, go) = (Signal::default(), Signal::default());
    let (told, proceed) = (seen.clone(), go.clone());
    let tool = FunctionTool::new(open_spec("steps"), move |call: Execution<'_>| {
        let (progress, proceed) = (call.progress, proceed.clone());
        async move {
            progress(json!({"status": "Step 1: Fetching data..."}));
            proceed.wait().await;
            progress(json!({"status": "Step 2: Processing..."}));
            Ok(ToolResult::text("Done!"))
        }
    });
    let host = Host::with(tool).await;
    let events = Arc::new(Mutex::new(Vec::new()));
    let list = Arc::clone(&events);
    let emitter = Emitter::new(vec![Box::new(move |event: &Arc<Event>| {
        let json = serde_json::to_value(&**event).unwrap();
        if let Some(partial) = json.get("partialResult") {
            list.lock().unwrap().push(partial["status"].clone());
            told.raise();
        }
    })]);
    let caller = Caller::new(host.registry.clone(), emitter);
    let call = tokio::spawn(async move {
        let call = ToolCall::new("steps", Arguments::Text(String::new()));
        caller
            .call(call, &agent_core::abort::AbortSignal::new())
            .await
    });
    seen.wait().await;
    assert_eq!(*events.lock().unwrap(), ["Step 1: Fetching data..."]);
    go.raise();
    assert_eq!(within(call).await.unwrap().result.text(), "Done!");
    assert_eq!(
        *events.lock().unwrap(),
        ["Step 1: Fetching data...", "Step 2: Processing..."]
    );
}

#[tokio::test]
async fn events_are_numbered_from_one_and_dated() {
    let host = Host::with(weather()).await;
    let caller = host.caller();
    let began = SystemTime::now();
    for arguments in [json!({"city": "Tokyo"}), json!({})] {
        host.make(&caller, weather_call(arguments)).await;
    }
    let events = host.events.take();
    assert_eq!(
        events.iter().map(|event| event.seq).collect::<Vec<_>>(),
        [1, 2, 3]
    );
    assert!(
        events
            .iter()
            .all(|event| event.time >= began && event.time <= SystemTime::now())
    );
    let mut event = Event::clone(&events[0]);
    event.time = SystemTime::UNIX_EPOCH + Duration::from_millis(1_234_567_890_123);
    assert_eq!(
        serde_json::to_value(&event).unwrap()["time"],
        "2009-02-13T23:31:30.123Z"
    );
}

/// A sink is the embedding program's; its panic is not the call's.
#[tokio::test]
async fn panic_of_a_sink_hurts_neither_the_call_nor_other_sinks() {
    let host = Host::with(weather()).await;
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    let caller = Caller::new(
        host.registry.clone(),
        Emitter::new(vec![
            Box::new(|event: &Arc<Event>| panic!("boom {}", event.seq)),
            Box::new(move |_: &Arc<Event>| {
                counted.fetch_add(1, Ordering::SeqCst);
            }),
        ]),
    );
    let finalized = host
        .make(&caller, weather_call(json!({"city": "Tokyo"})))
        .await;
    assert!(!finalized.result.is_error);
    assert_eq!(count.load(Ordering::SeqCst), 2);
}
