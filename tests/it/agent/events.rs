//! What a run tells: the same with and without streaming, exactly one end, whoever listens and how.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use agent_core::agent::{Agent, AgentBuilder, ModelError, ModelErrorKind, ScriptedModel};
use agent_core::event::Event;
use agent_core::message::{Reply, StopReason};
use serde_json::{Value, json};
use tool_sdk::ToolResult;

use super::fixture::{
    Slow, calls, of_type, parallel, recorded, registry, saying, terminating, types,
};
use crate::host::{Recorder, within};

type Replies = Vec<Result<Reply, ModelError>>;

/// Ends of runs, each by a model and a limit of iterations.
fn endings() -> Vec<(&'static str, Replies, usize)> {
    let say = || Ok(calls(&[("1", "say"), ("2", "nope")]));
    let error = || Err(ModelError::new(ModelErrorKind::Cut, "cut"));
    vec![
        ("final", vec![say(), Ok(Reply::text("That is all."))], 10),
        ("terminated", vec![say(), Ok(calls(&[("1", "end")]))], 10),
        ("maxIterations", vec![say(), say(), say()], 2),
        ("error", vec![say(), error()], 10),
        (
            "aborted",
            vec![say(), Ok(calls(&[("1", "abort"), ("2", "say")]))],
            10,
        ),
    ]
}

async fn told(replies: Replies, limit: usize, stream: bool) -> Vec<Value> {
    let model = ScriptedModel::default();
    for reply in replies {
        model.then(reply);
    }
    let (agent, events) = recorded(model);
    let slot: Arc<std::sync::OnceLock<Agent>> = Arc::default();
    let aborting = Arc::clone(&slot);
    let abort = agent_core::tool::FunctionTool::new(crate::host::open_spec("abort"), move |call| {
        aborting.get().unwrap().abort();
        let abort = call.abort.clone();
        async move {
            abort.aborted().await;
            std::future::pending().await
        }
    });
    let agent = agent
        .tool(saying("say", "Done!"))
        .tool(terminating("end", "The end"))
        .tool(abort)
        .max_iterations(limit)
        .stream(stream)
        .build()
        .unwrap();
    slot.set(agent.clone()).unwrap();
    // How it ended is in the events.
    within(agent.run("Hello")).await.ok();
    events.take_json()
}

/// g5.events-end: the same events with and without streaming, but for the pieces of the answer;
/// exactly one end, whatever ends the run.
#[tokio::test]
async fn g5_events_end_is_told_once_with_and_without_streaming() {
    for (reason, replies, limit) in endings() {
        let whole = told(replies.clone(), limit, false).await;
        let mut streamed = told(replies, limit, true).await;
        let pieces = of_type(&streamed, "messageUpdate").len();
        assert_eq!(pieces, if reason == "final" { 3 } else { 0 }, "{reason}");
        streamed.retain(|event| event["type"] != "messageUpdate");
        assert_eq!(whole, streamed, "{reason}");
        let ends = of_type(&whole, "agentEnd");
        assert_eq!((ends.len(), &ends[0]["reason"]), (1, &json!(reason)));
        assert_eq!(types(&whole).last(), Some(&"agentEnd"));
        for (start, end) in [
            ("turnStart", "turnEnd"),
            ("messageStart", "messageEnd"),
            ("toolExecutionStart", "toolExecutionEnd"),
        ] {
            let count = |kind: &str| of_type(&whole, kind).len();
            assert_eq!(count(start), count(end), "{reason}");
        }
    }
}

/// The sum of what answers and calls cost, of this run alone.
#[tokio::test]
async fn usage_of_answers_and_calls_is_summed_for_the_run() {
    let with = |reply: Reply, usage: Value| Reply {
        usage: Some(usage),
        ..reply
    };
    let model = ScriptedModel::new([
        with(
            calls(&[("1", "cost"), ("2", "cost")]),
            json!({"inputTokens": 10, "outputTokens": 2}),
        ),
        with(
            Reply::text("ok"),
            json!({"inputTokens": 20, "outputTokens": 3, "model": "m"}),
        ),
        with(Reply::text("ok"), json!({"inputTokens": 1})),
    ]);
    let (agent, events) = recorded(model);
    let tool = parallel("cost", |_| async {
        Ok(ToolResult::text("Done!").usage(json!({"dollars": 0.25})))
    });
    let agent = agent.tool(tool).build().unwrap();
    let sum = json!({"inputTokens": 30, "outputTokens": 5, "dollars": 0.5});
    assert_eq!(
        within(agent.run("Hello")).await.unwrap().usage,
        Some(sum.clone())
    );
    let told = events.take_json();
    assert_eq!(of_type(&told, "agentEnd")[0]["usage"], sum);
    let said = of_type(&told, "messageEnd");
    assert_eq!(
        said[1]["usage"],
        json!({"inputTokens": 10, "outputTokens": 2})
    );
    let sum = json!({"inputTokens": 1});
    assert_eq!(within(agent.run("Hello")).await.unwrap().usage, Some(sum));
}

/// What a failed run cost is told, too.
#[tokio::test]
async fn usage_of_a_failed_run_is_in_its_end() {
    let first = Reply {
        usage: Some(json!({"inputTokens": 10})),
        stop: StopReason::ToolUse,
        ..calls(&[("1", "say")])
    };
    let model = ScriptedModel::new([first]);
    model.then(Err(ModelError::new(ModelErrorKind::Cut, "cut")));
    let (agent, events) = recorded(model);
    let agent = agent.tool(saying("say", "Done!")).build().unwrap();
    within(agent.run("Hello")).await.unwrap_err();
    let events = events.take_json();
    let end = of_type(&events, "agentEnd")[0];
    assert_eq!(
        (&end["usage"], &end["error"]),
        (&json!({"inputTokens": 10}), &json!("cut"))
    );
}

fn talkative() -> (AgentBuilder, Recorder) {
    let model = ScriptedModel::new([calls(&[("1", "say")]), Reply::text("one two three")]);
    let (agent, events) = recorded(model);
    (agent.tool(saying("say", "Done!")).stream(true), events)
}

/// A sink that is slow sees everything, in order, by the end of the run.
#[tokio::test]
async fn slow_sink_sees_every_event_before_the_run_returns() {
    let slow = Slow {
        pause: Duration::from_millis(2),
        ..Slow::default()
    };
    let (agent, events) = talkative();
    let agent = agent.sink(slow.clone()).build().unwrap();
    within(agent.run("Hello")).await.unwrap();
    let seen: Vec<Value> = slow
        .events
        .lock()
        .unwrap()
        .iter()
        .map(|event| crate::host::steady(event))
        .collect();
    assert_eq!(seen, events.take_json());
}

/// A sink that never returns, and one that panics: the run does its work all the same, and waits
/// for no longer than it says.
#[tokio::test]
async fn sinks_that_block_or_panic_neither_slow_nor_end_the_loop() {
    let (agent, events) = talkative();
    let seen = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&seen);
    // Held until the test is over, and longer than the run.
    let (release, held) = std::sync::mpsc::channel::<()>();
    let held = std::sync::Mutex::new(held);
    let agent = agent
        .sink(move |_: &Arc<Event>| {
            held.lock().unwrap().recv().ok();
        })
        .sink(move |event: &Arc<Event>| {
            count.fetch_add(1, Ordering::SeqCst);
            panic!("boom {}", event.seq);
        })
        .build()
        .unwrap();
    let since = Instant::now();
    let run = within(agent.run("Hello")).await.unwrap();
    assert!(
        since.elapsed() < Duration::from_secs(3),
        "{:?}",
        since.elapsed()
    );
    assert_eq!(run.iterations, 2);
    assert_eq!(seen.load(Ordering::SeqCst), events.take().len());
    drop(release);
}

/// Two agents over the same tools: each sees its own events, the registry's sinks those of both.
#[tokio::test]
async fn agents_of_one_registry_do_not_hear_each_other() {
    let (registry, all) = registry();
    registry
        .register(Arc::new(saying("say", "Done!")))
        .await
        .unwrap();
    let agent = |text: &str| {
        let model = ScriptedModel::new([calls(&[("1", "say")]), Reply::text(text)]);
        let sink = Slow::default();
        let agent = Agent::builder(model)
            .tools(registry.clone())
            .sink(sink.clone());
        (agent.build().unwrap(), sink)
    };
    let ((one, its), (other, others)) = (agent("one"), agent("other"));
    within(one.run("Hello")).await.unwrap();
    within(other.run("Hello")).await.unwrap();
    for sink in [its, others] {
        let events: Vec<Value> = sink
            .events
            .lock()
            .unwrap()
            .iter()
            .map(|event| json!(**event))
            .collect();
        assert_eq!(of_type(&events, "agentEnd").len(), 1);
        let numbers: Vec<u64> = events
            .iter()
            .map(|event| event["seq"].as_u64().unwrap())
            .collect();
        assert_eq!(numbers, (1..=events.len() as u64).collect::<Vec<_>>());
    }
    assert_eq!(of_type(&all.take_json(), "agentEnd").len(), 2);
}
