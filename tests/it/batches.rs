//! The calls of one answer (R14): which overlap, which wait, and that each is answered once, in its
//! place.
//!
//! Order is told without a clock: a [`Stage`]'s tool takes as many steps as its call says, and all
//! calls that overlap go on step by step together.

mod endings;
mod plugins;

use std::sync::Arc;
use std::time::Duration;

use agent_core::abort::AbortSignal;
use agent_core::call::schedule::Batch;
use agent_core::call::{Arguments, Caller, ToolCall};
use agent_core::config::ToolExecution::{self, Parallel, PerTool, Sequential};
use agent_core::message::{Block, Message};
use agent_core::tool::{Execution, FunctionTool, ToolSpec};
use serde_json::{Value, json};
use tokio::time::Instant;
use tool_sdk::{ErrorKind, ToolError, ToolResult};

use crate::host::{Host, Log, answering, open_spec, within};

/// Calls with the ids `1`, `2`, …
fn numbered(calls: impl IntoIterator<Item = (&'static str, Value)>) -> Vec<ToolCall> {
    let calls = (1..).zip(calls);
    calls
        .map(|(number, (tool, arguments))| {
            ToolCall::new(tool, Arguments::Json(arguments)).with_id(number.to_string())
        })
        .collect()
}

/// Makes calls that must be answered within the deadline.
async fn make(caller: &Caller, calls: &[ToolCall], mode: ToolExecution) -> Batch {
    within(caller.call_all(calls, mode, &AbortSignal::new(), &|_| ())).await
}

/// The ids of the results, in their order.
fn ids(batch: &Batch) -> String {
    let ids = batch.results.iter();
    let ids = ids.map(|one| &*one.result.tool_call_id);
    ids.collect::<Vec<_>>().join(" ")
}

/// How each call ended; `ok` where it did not fail.
fn kinds(batch: &Batch) -> Vec<String> {
    let errors = batch.results.iter().map(|one| &one.result.error);
    let kind = errors.map(|error| {
        error
            .as_ref()
            .map_or("ok".to_owned(), |e| e.kind.to_string())
    });
    kind.collect()
}

/// Tools `yes`, `no` and `unset`, by what they say of overlapping, that tell what happens to them.
struct Stage {
    host: Host,
    log: Log,
}

impl Stage {
    async fn new() -> Self {
        let stage = Self {
            host: Host::new(),
            log: Log::default(),
        };
        for (name, parallel) in [("yes", Some(true)), ("no", Some(false)), ("unset", None)] {
            let spec = ToolSpec {
                parallel,
                ..open_spec(name)
            };
            stage.host.add(stage.tool(spec)).await;
        }
        stage
    }

    /// Tells `p`, `s` and `e` with the number in its arguments: prepared, started, ended.
    fn tool(&self, spec: ToolSpec) -> FunctionTool {
        let (prepared, log) = (self.log.clone(), self.log.clone());
        let tool = FunctionTool::new(spec, move |call: Execution<'_>| {
            let (log, id) = (log.clone(), call.call_id.to_owned());
            let steps = call.arguments["steps"].as_u64().unwrap();
            async move {
                log.add(format!("s{id}"));
                for _ in 0..steps {
                    tokio::task::yield_now().await;
                }
                log.add(format!("e{id}"));
                Ok(ToolResult::text(id))
            }
        });
        tool.with_prepare(move |arguments| {
            prepared.add(format!("p{}", arguments["number"]));
            Ok(arguments)
        })
    }

    /// Makes calls of these tools with so many steps; gives what was told.
    async fn play(&self, mode: ToolExecution, calls: &[(&'static str, u64)]) -> (Batch, String) {
        let calls = (1..).zip(calls).map(|(number, (tool, steps))| {
            let number: u64 = number;
            (*tool, json!({"number": number, "steps": steps}))
        });
        let batch = make(&self.host.caller(), &numbered(calls), mode).await;
        (batch, self.log.take().join(" "))
    }

    /// The ids of the end events, in their order.
    fn ends(&self) -> Vec<Value> {
        let events = self.host.events.take_json();
        let ends = events
            .iter()
            .filter(|event| event["type"] == "toolExecutionEnd");
        ends.map(|event| event["toolCallId"].clone()).collect()
    }
}

/// R14, Y45, Y46: in each mode, each call is prepared, starts and ends where the rule says.
#[tokio::test]
async fn r14_y45_y46_modes_decide_what_overlaps() {
    let stage = Stage::new().await;
    let check = async |mode, calls: &[&'static str], expected: &str| {
        let calls: Vec<_> = calls.iter().map(|tool| (*tool, 3)).collect();
        let (batch, told) = stage.play(mode, &calls).await;
        assert_eq!(told, expected, "{mode:?} {calls:?}");
        assert_eq!(batch.results.len(), calls.len());
    };
    // Neighbours overlap; all of them are prepared before the first starts.
    check(PerTool, &["yes", "yes"], "p1 p2 s1 s2 e1 e2").await;
    // A barrier waits for what is before it, and what is behind it waits for it.
    let one_by_one = "p1 s1 e1 p2 s2 e2 p3 s3 e3";
    for barrier in ["unset", "no"] {
        check(PerTool, &["yes", barrier, "yes"], one_by_one).await;
        check(PerTool, &[barrier, barrier, "yes"], one_by_one).await;
    }
    let calls = ["yes", "yes", "unset", "yes", "yes"];
    let behind = "p1 p2 s1 s2 e1 e2 p3 s3 e3 p4 p5 s4 s5 e4 e5";
    check(PerTool, &calls, behind).await;
    check(Parallel, &["yes", "unset", "no", "unset", "yes"], behind).await;
    check(Parallel, &["no", "no"], "p1 s1 e1 p2 s2 e2").await;
    check(
        Parallel,
        &["unset", "unset", "yes"],
        "p1 p2 p3 s1 s2 s3 e1 e2 e3",
    )
    .await;
    check(Sequential, &["yes", "unset", "yes"], one_by_one).await;
    check(Sequential, &["no"], "p1 s1 e1").await;
}

/// R14: a barrier waits for the slowest before it, and whoever is behind does not overtake it.
#[tokio::test]
async fn r14_barrier_waits_for_all_before_it() {
    let stage = Stage::new().await;
    let calls = [("yes", 9), ("yes", 1), ("no", 5), ("yes", 1)];
    let (batch, told) = stage.play(PerTool, &calls).await;
    assert_eq!(told, "p1 p2 s1 s2 e2 e1 p3 s3 e3 p4 s4 e4");
    assert_eq!(ids(&batch), "1 2 3 4");
    assert_eq!(stage.ends(), ["2", "1", "3", "4"]);
}

/// R14, Y28, g5.result-order: results come in call order, end events in the order of the ends;
/// also for more calls than a joined future polls one by one.
#[tokio::test]
async fn r14_y28_results_in_call_order_and_end_events_in_completion_order() {
    let stage = Stage::new().await;
    for count in [2_u64, 40] {
        let calls: Vec<_> = (0..count).map(|at| ("yes", 4 * (count - at))).collect();
        let (batch, _) = stage.play(PerTool, &calls).await;
        let texts: Vec<String> = batch.results.iter().map(|one| one.result.text()).collect();
        let numbers: Vec<String> = (1..=count).map(|number| number.to_string()).collect();
        assert_eq!(texts, numbers);
        assert_eq!(ids(&batch), numbers.join(" "));
        let backwards: Vec<&String> = numbers.iter().rev().collect();
        assert_eq!(stage.ends(), json!(backwards).as_array().unwrap().clone());
    }
}

/// R14: a call behind a barrier sees what the barrier did; one that overlaps it does not.
#[tokio::test]
async fn r14_call_behind_a_barrier_is_prepared_when_it_has_ended() {
    let check = async |mode, expected: [&str; 2]| {
        let host = Host::new();
        let registry = host.registry.clone();
        let tool = FunctionTool::new(open_spec("install"), move |_| {
            let registry = registry.clone();
            async move {
                let tool = answering("installed", || Ok(ToolResult::text("here")));
                registry.register(Arc::new(tool)).await?;
                Ok(ToolResult::text("done"))
            }
        });
        host.add(tool).await;
        let calls = numbered([("install", json!({})), ("installed", json!({}))]);
        assert_eq!(kinds(&make(&host.caller(), &calls, mode).await), expected);
    };
    check(PerTool, ["ok", "ok"]).await;
    check(Sequential, ["ok", "ok"]).await;
    check(Parallel, ["ok", "unknownTool"]).await;
}

/// Y45, Y46: two tools of 300 ms need 300 ms together, and 600 ms one after the other.
#[tokio::test(start_paused = true)]
async fn y46_two_tools_of_300_ms_end_in_less_than_500_ms() {
    let check = async |mode, parallel, expected: u64| {
        let spec = ToolSpec {
            parallel,
            ..open_spec("sleep")
        };
        let host = Host::with(FunctionTool::new(spec, |_| async {
            tokio::time::sleep(Duration::from_millis(300)).await;
            Ok(ToolResult::text("slept"))
        }))
        .await;
        let calls = numbered([("sleep", json!({})), ("sleep", json!({}))]);
        let began = Instant::now();
        let batch = make(&host.caller(), &calls, mode).await;
        assert_eq!(kinds(&batch), ["ok", "ok"]);
        assert_eq!(began.elapsed(), Duration::from_millis(expected), "{mode:?}");
    };
    check(Parallel, None, 300).await;
    check(PerTool, Some(true), 300).await;
    check(PerTool, None, 600).await;
    check(Parallel, Some(false), 600).await;
    check(Sequential, Some(true), 600).await;
}

/// Y30, Y31, g5.result-order: as many messages as calls, each with its own id and name.
#[tokio::test]
async fn y30_y31_every_call_has_its_own_message() {
    let host = Host::new();
    for (name, steps) in [("slow", 9), ("fast", 1)] {
        let spec = ToolSpec {
            parallel: Some(true),
            ..open_spec(name)
        };
        let tool = FunctionTool::new(spec, move |call: Execution<'_>| {
            let city = call.arguments["city"].as_str().unwrap().to_owned();
            async move {
                for _ in 0..steps {
                    tokio::task::yield_now().await;
                }
                Ok(ToolResult::text(city))
            }
        });
        host.add(tool).await;
    }
    let calls = numbered([
        ("slow", json!({"city": "SF"})),
        ("fast", json!({"city": "Tokyo"})),
        ("nothing", json!({})),
    ]);
    let batch = make(&host.caller(), &calls, PerTool).await;
    let answer = |message: &Message| match message.content.as_slice() {
        [
            Block::ToolResult {
                tool_call_id,
                tool_name,
                content,
                is_error,
            },
        ] => {
            let text = content[0].as_text().unwrap().lines().next().unwrap();
            format!("{tool_call_id} {tool_name} {text} {is_error}")
        }
        other => panic!("{other:?}"),
    };
    let answers: Vec<_> = batch
        .results
        .iter()
        .map(|one| answer(&one.message()))
        .collect();
    let expected = [
        "1 slow SF false",
        "2 fast Tokyo false",
        "3 nothing Tool nothing not found true",
    ];
    assert_eq!(answers, expected);
    let none = make(&host.caller(), &[], Parallel).await;
    assert_eq!(none, Batch::default());
}

/// Whoever listens hears of each call once, when it has ended.
#[tokio::test]
async fn listener_hears_of_each_call_as_it_ends() {
    let stage = Stage::new().await;
    let arguments = |steps: u64| json!({"number": 0, "steps": steps});
    let calls = numbered([
        ("yes", arguments(9)),
        ("yes", arguments(1)),
        ("nothing", json!({})),
        ("no", arguments(1)),
    ]);
    let heard = Log::default();
    let answered = |one: &agent_core::call::Finalized| heard.add(&*one.result.tool_call_id);
    let caller = stage.host.caller();
    let abort = AbortSignal::new();
    within(caller.call_all(&calls, Parallel, &abort, &answered)).await;
    assert_eq!(heard.take(), ["3", "2", "1", "4"]);
}

/// R5: whether one or all end the loop is known of the whole batch, and every call is answered.
#[tokio::test]
async fn r5_batch_knows_whether_any_or_all_end_the_loop() {
    let host = Host::new();
    let tools = [
        answering("goOn", || Ok(ToolResult::text("on"))),
        answering("stop", || Ok(ToolResult::text("stop").terminate())),
        answering("fail", || Err(ToolError::new("no"))),
    ];
    for tool in tools {
        host.add(tool).await;
    }
    let check = async |tools: &[&'static str], any: bool, all: bool| {
        for mode in [Parallel, Sequential, PerTool] {
            let calls = numbered(tools.iter().map(|tool| (*tool, json!({}))));
            let batch = make(&host.caller(), &calls, mode).await;
            assert_eq!(batch.results.len(), tools.len());
            assert_eq!(
                (batch.any_terminates(), batch.all_terminate()),
                (any, all),
                "{tools:?}"
            );
            let types = host.events.take_types();
            let ends = types.iter().filter(|kind| *kind == "toolExecutionEnd");
            assert_eq!(ends.count(), tools.len());
        }
    };
    check(&[], false, false).await;
    check(&["goOn", "fail"], false, false).await;
    check(&["stop", "goOn"], true, false).await;
    check(&["fail", "stop"], true, false).await;
    check(&["stop", "stop"], true, true).await;
    check(&["stop"], true, true).await;
}

/// R22: ids are a model's affair: two calls of one id are two calls, each answered in its place.
#[tokio::test]
async fn r22_equal_ids_in_a_batch_are_two_calls() {
    let host = Host::with(FunctionTool::new(
        open_spec("say"),
        |call: Execution<'_>| {
            let word = call.arguments["word"].as_str().unwrap().to_owned();
            async { Ok(ToolResult::text(word)) }
        },
    ))
    .await;
    let call =
        |word: &str| ToolCall::new("say", Arguments::Json(json!({"word": word}))).with_id("1");
    for mode in [Parallel, Sequential] {
        let batch = make(&host.caller(), &[call("a"), call("b")], mode).await;
        assert_eq!(ids(&batch), "1 1");
        let texts: Vec<_> = batch.results.iter().map(|one| one.result.text()).collect();
        assert_eq!(texts, ["a", "b"]);
        let types = host.events.take_types();
        let ends = types.iter().filter(|kind| *kind == "toolExecutionEnd");
        assert_eq!(ends.count(), 2);
    }
}

/// R25: the last call of an answer that was cut off is refused although it can be read; those
/// before it run.
#[tokio::test]
async fn r25_call_that_was_cut_off_is_refused_and_earlier_ones_run() {
    let stage = Stage::new().await;
    let sent = [r#"{"number": 2, "steps": 1}"#, r#"{"number": 2, "st"#];
    for (sent, args) in [
        (sent[0], json!({"number": 2, "steps": 1})),
        (sent[1], Value::Null),
    ] {
        for mode in [Parallel, Sequential, PerTool] {
            let mut calls = numbered([("yes", json!({"number": 1, "steps": 1}))]);
            let last = ToolCall::new("yes", Arguments::Text(sent.to_owned())).with_id("2");
            calls.push(last.cut_off());
            let batch = make(&stage.host.caller(), &calls, mode).await;
            assert_eq!(
                stage.log.take().join(" "),
                "p1 s1 e1",
                "nothing of the last call ran"
            );
            assert_eq!(ids(&batch), "1 2");
            let error = batch.results[1].result.error.as_ref().unwrap();
            let text = "The answer was cut off by the limit of tokens inside of this call; nothing \
                        was run. Make the call again, with shorter arguments";
            assert_eq!(
                (error.kind, error.message.as_str()),
                (ErrorKind::InvalidJson, text)
            );
            let events = stage.host.events.take_json();
            let rejected = events
                .iter()
                .find(|event| event["type"] == "toolCallRejected");
            let rejected = rejected.unwrap();
            assert_eq!(
                (&rejected["toolCallId"], &rejected["args"]),
                (&json!("2"), &args)
            );
            assert_eq!(events.len(), 3);
        }
    }
}
