//! Aborts at random points of random batches: whatever is going on, the conversation is one that
//! providers take, every start has its end, and the next run works.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use agent_core::agent::{Agent, AgentBuilder, ScriptedModel, Terminate};
use agent_core::config::ToolExecution;
use agent_core::event::{EndReason, Event};
use agent_core::message::{Block, Message, Reply, Role, StopReason};
use agent_core::tool::{Execution, FunctionTool};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use serde_json::{Value, json};
use tool_sdk::{ToolError, ToolResult};

use super::fixture::{asked, of_type, recorded};
use super::validity;
use crate::host::{Recorder, open_spec, within};

/// One run of a model's answers, and where it is ended.
#[derive(Clone, Debug)]
struct Case {
    /// Names and ids of the calls of each answer.
    answers: Vec<Vec<Call>>,
    mode: ToolExecution,
    all_terminate: bool,
    streams: bool,
    is_cut: bool,
    point: Point,
    is_dropped: bool,
}

#[derive(Clone, Debug)]
struct Call {
    id: usize,
    tool: &'static str,
    millis: u64,
}

/// When the run is ended.
#[derive(Clone, Debug)]
enum Point {
    Events(usize),
    Micros(u64),
}

const TOOLS: [&str; 9] = [
    "say", "sleep", "deaf", "fail", "panic", "stream", "lone", "end", "unknown",
];

fn cases() -> impl Strategy<Value = Case> {
    let call = (0..4_usize, select(&TOOLS[..]), 0..4_u64);
    let call = call.prop_map(|(id, tool, millis)| Call { id, tool, millis });
    let modes = [
        ToolExecution::PerTool,
        ToolExecution::Parallel,
        ToolExecution::Sequential,
    ];
    let point = prop_oneof![
        (1..40_usize).prop_map(Point::Events),
        (0..6000_u64).prop_map(Point::Micros),
    ];
    let flags = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    let parts = (
        vec(vec(call, 1..7), 1..4),
        select(modes.to_vec()),
        point,
        flags,
    );
    parts.prop_map(
        |(answers, mode, point, (all_terminate, streams, is_cut, is_dropped))| Case {
            answers,
            mode,
            all_terminate,
            streams,
            is_cut,
            point,
            is_dropped,
        },
    )
}

/// A tool of the case. Those but `lone` may overlap.
fn tool(name: &'static str) -> FunctionTool {
    let mut spec = open_spec(name);
    spec.parallel = Some(name != "lone");
    FunctionTool::new(spec, move |call: Execution<'_>| {
        let pause = Duration::from_millis(call.arguments["millis"].as_u64().unwrap());
        let (abort, progress) = (call.abort.clone(), Arc::clone(&call.progress));
        async move {
            match name {
                "say" => {}
                "deaf" => {
                    // Goes on, and reports, when nobody listens any more.
                    let work = tokio::spawn(async move {
                        tokio::time::sleep(pause).await;
                        progress(json!("late"));
                    });
                    work.await?;
                }
                "fail" => return Err(ToolError::new("no")),
                "panic" => panic!("boom"),
                "stream" => {
                    for step in 0..3 {
                        progress(json!({"step": step}));
                        tokio::task::yield_now().await;
                    }
                }
                "end" => return Ok(ToolResult::text("The end").terminate()),
                _ => tokio::select! {
                    () = abort.aborted() => return Err(ToolError::new("told to stop")),
                    () = tokio::time::sleep(pause) => {}
                },
            }
            Ok(ToolResult::text(if pause.is_zero() { "" } else { "Done!" }))
        }
    })
}

fn agent(case: &Case) -> (AgentBuilder, ScriptedModel, Recorder) {
    let model = ScriptedModel::default();
    for answer in &case.answers {
        let mut blocks = vec![Block::text(if case.streams { "I will see." } else { "" })];
        blocks.extend(answer.iter().map(|call| {
            let arguments = json!({"millis": call.millis});
            super::fixture::block(&format!("call_{}", call.id), call.tool, arguments)
        }));
        let stop = if case.is_cut {
            StopReason::Length
        } else {
            StopReason::ToolUse
        };
        model.then(Ok(Reply {
            stop,
            ..Reply::new(blocks)
        }));
    }
    // One for this run, one for the next.
    for _ in 0..2 {
        model.then(Ok(Reply::text("That is all.")));
    }
    let (mut agent, events) = recorded(model.clone());
    for name in TOOLS.into_iter().filter(|name| *name != "unknown") {
        agent = agent.tool(tool(name));
    }
    let terminate = if case.all_terminate {
        Terminate::All
    } else {
        Terminate::Any
    };
    let agent = agent
        .tool_execution(case.mode)
        .terminate(terminate)
        .stream(case.streams);
    (agent, model, events)
}

/// Runs the case to the point and ends it there.
async fn run_to_the_point(case: &Case, agent: &Agent) {
    let reached = Arc::new(tokio::sync::Notify::new());
    if let Point::Events(events) = case.point {
        let (left, reached) = (AtomicUsize::new(events), Arc::clone(&reached));
        agent.events().add(move |_: &Arc<Event>| {
            if left.fetch_sub(1, Ordering::SeqCst) == 1 {
                reached.notify_one();
            }
        });
    }
    let point = async {
        match case.point {
            Point::Events(_) => reached.notified().await,
            Point::Micros(micros) => tokio::time::sleep(Duration::from_micros(micros)).await,
        }
    };
    let mut run = Box::pin(agent.run("Begin"));
    tokio::select! {
        biased;
        ended = &mut run => return drop(ended.unwrap()),
        () = point => {}
    }
    if case.is_dropped {
        return drop(run);
    }
    agent.abort();
    let ended = within(run).await.unwrap();
    assert!(
        matches!(ended.reason, EndReason::Aborted | EndReason::Final),
        "{ended:?}"
    );
}

/// Every start has one end, of the same call, and the run has one.
fn check_events(events: &[Value]) {
    let ids = |kind: &str| {
        let ids = of_type(events, kind)
            .into_iter()
            .map(|event| event["toolCallId"].to_string());
        let mut ids: Vec<String> = ids.collect();
        ids.sort();
        ids
    };
    assert_eq!(ids("toolExecutionStart"), ids("toolExecutionEnd"));
    let count = |kind: &str| of_type(events, kind).len();
    assert_eq!((count("agentStart"), count("agentEnd")), (1, 1));
    assert_eq!(count("turnStart"), count("turnEnd"));
    assert_eq!(count("messageStart"), count("messageEnd"));
    assert_eq!(
        events.last().unwrap()["type"],
        "agentEnd",
        "nothing comes behind the end"
    );
}

/// Every message of the history was told, in its order.
fn check_told(events: &[Value], agent: &Agent) {
    let told = of_type(events, "messageEnd")
        .into_iter()
        .map(|event| event["message"].clone());
    let told: Vec<Value> = told
        .filter(|message| message["content"] != json!([]))
        .collect();
    assert_eq!(json!(told), json!(agent.conversation()));
}

async fn check(case: &Case) {
    let (agent, model, events) = agent(case);
    let agent = agent.build().unwrap();
    run_to_the_point(case, &agent).await;
    // Whoever does not listen has time to speak.
    tokio::time::sleep(Duration::from_millis(5)).await;
    let first = events.take_json();
    check_events(&first);
    check_told(&first, &agent);
    let saved = serde_json::to_string(&agent.conversation()).unwrap();
    serde_json::from_str::<agent_core::agent::Conversation>(&saved).unwrap();

    let again = Agent::run(&agent, "Go on");
    within(again).await.unwrap();
    check_events(&events.take_json());
    for prompt in model.prompts() {
        let messages = asked(&prompt);
        validity::check(&messages).unwrap_or_else(|wrong| panic!("{wrong}\n{messages:#?}"));
    }
    let said = Message::text(Role::User, "Go on");
    assert!(agent.conversation().messages().contains(&said));
}

/// 100 points, 1,000 with `TOOLSMITH_LONG=1`. A failure names the smallest case and its seed.
#[test]
fn g5_abort_orphans_at_random_points_of_random_batches() {
    let long = std::env::var_os("TOOLSMITH_LONG").is_some();
    let config = Config {
        cases: if long { 1000 } else { 100 },
        failure_persistence: None,
        max_shrink_time: 20_000,
        ..Config::default()
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    let mut runner = TestRunner::new(config);
    let seed = format!("{:?}", runner.rng());
    let outcome = runner.run(&cases(), |case| {
        let checked = runtime.block_on(async {
            let checked = case.clone();
            tokio::spawn(async move { check(&checked).await }).await
        });
        checked.map_err(|error| TestCaseError::fail(error.to_string()))
    });
    outcome.unwrap_or_else(|failure| panic!("{failure}\nseed: {seed}"));
}
