//! Batches in which something fails or is aborted: nothing of it reaches the neighbours.

use std::sync::Arc;
use std::time::Duration;

use agent_core::abort::AbortSignal;
use agent_core::call::schedule::Batch;
use agent_core::call::{
    After, Approval, Before, CallView, Caller, Hooks, Permissions, Question, ToolCall,
};
use agent_core::config::ToolExecution::{self, Parallel, PerTool, Sequential};
use agent_core::tool::{Execution, FunctionTool, ToolCallResult, ToolSpec};
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tool_sdk::tool::Annotations;
use tool_sdk::{ErrorKind, ToolError, ToolResult};

use super::{ids, kinds, make, numbered};
use crate::host::{Host, Log, Signal, answering, endless, open_spec, within};

/// g5.partial-failure: the one that fails is told so, in its place; the others answer.
#[tokio::test(start_paused = true)]
async fn one_that_fails_takes_no_other_with_it() {
    let host = Host::new();
    let (hanging, _) = endless("hang");
    let tools = [
        answering("ok", || Ok(ToolResult::text("fine"))),
        answering("fail", || Err(ToolError::new("no"))),
        answering("panic", || panic!("boom")),
        FunctionTool::new(open_spec("late"), |_| async {
            tokio::task::yield_now().await;
            panic!("later")
        }),
        hanging,
    ];
    for tool in tools {
        host.add(tool).await;
    }
    let caller = host.caller().with_timeout(Duration::from_secs(1));
    let bad = [
        ("fail", "toolError"),
        ("panic", "panic"),
        ("late", "panic"),
        ("hang", "timeout"),
        ("nothing", "unknownTool"),
    ];
    for (tool, kind) in bad {
        for mode in [Parallel, Sequential, PerTool] {
            let calls = numbered(["ok", tool, "ok"].map(|tool| (tool, json!({}))));
            let batch = make(&caller, &calls, mode).await;
            assert_eq!(kinds(&batch), ["ok", kind, "ok"], "{mode:?}");
            assert_eq!(ids(&batch), "1 2 3");
        }
    }
}

/// R6: a call that fails in prepare is told by one event, and no hook hears of it.
#[tokio::test]
async fn r6_call_that_fails_in_prepare_is_rejected_once() {
    let host = Host::new();
    let log = Log::default();
    let schema = json!({
        "type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"],
    });
    let spec = ToolSpec::new("count", "Counts.", schema);
    host.add(FunctionTool::new(spec, |_| async {
        Ok(ToolResult::text("counted"))
    }))
    .await;
    let seen = log.clone();
    let hooks = Hooks {
        before_tool_call: Some(Arc::new(move |call: CallView| {
            seen.add(&*call.id);
            async { Ok(Before::Run) }
        })),
        ..Hooks::default()
    };
    let caller = host.caller().with_hooks(hooks);
    for mode in [Parallel, Sequential] {
        let arguments = [json!({"n": 1}), json!({"n": "many"}), json!({"n": 3})];
        let calls = numbered(arguments.map(|arguments| ("count", arguments)));
        let batch = make(&caller, &calls, mode).await;
        assert_eq!(kinds(&batch), ["ok", "invalidArguments", "ok"]);
        assert_eq!(log.take(), ["1", "3"]);
        let events = host.events.take_json();
        let of_second: Vec<&Value> = events
            .iter()
            .filter(|event| event["toolCallId"] == "2")
            .collect();
        assert_eq!(of_second.len(), 1);
        assert_eq!(of_second[0]["type"], "toolCallRejected");
        assert_eq!(of_second[0]["message"], batch.results[1].result.text());
    }
}

/// R15: a hook that fails for one call costs that call only.
#[tokio::test]
async fn r15_failing_hooks_cost_their_own_call() {
    let host = Host::with(answering("ok", || Ok(ToolResult::text("fine")))).await;
    let hooks = Hooks {
        before_tool_call: Some(Arc::new(|call: CallView| async move {
            match &*call.id {
                "2" => Err("not this one".to_owned()),
                "3" => panic!("boom"),
                _ => Ok(Before::Run),
            }
        })),
        after_tool_call: Some(Arc::new(
            |call: CallView, _: Arc<ToolCallResult>| async move {
                match &*call.id {
                    "4" => Err("the log is full".to_owned()),
                    _ => Ok(After::default()),
                }
            },
        )),
        ..Hooks::default()
    };
    let caller = host.caller().with_hooks(hooks);
    for mode in [Parallel, Sequential] {
        let calls = numbered(["ok"; 5].map(|tool| (tool, json!({}))));
        let batch = make(&caller, &calls, mode).await;
        let texts: Vec<_> = batch.results.iter().map(|one| one.result.text()).collect();
        let expected = [
            "fine",
            "not this one",
            "`before_tool_call` panicked: boom",
            "the log is full",
            "fine",
        ];
        assert_eq!(texts, expected);
        assert_eq!(
            batch.results[3].result.details["original"][0]["text"],
            "fine"
        );
    }
}

fn start(
    caller: &Caller,
    calls: Vec<ToolCall>,
    mode: ToolExecution,
    abort: &AbortSignal,
) -> JoinHandle<Batch> {
    let (caller, abort) = (caller.clone(), abort.clone());
    tokio::spawn(async move { caller.call_all(&calls, mode, &abort, &|_| ()).await })
}

/// Each call is in the events once: as a pair of start and end, or as a rejection.
fn told(events: &[Value]) -> Vec<String> {
    let told = events.iter().map(|event| {
        let kind = match event["type"].as_str().unwrap() {
            "toolExecutionStart" => "start",
            "toolExecutionEnd" => "end",
            "toolCallRejected" => "rejected",
            other => other,
        };
        format!("{kind} {}", event["toolCallId"].as_str().unwrap())
    });
    told.collect()
}

/// g5.cancel: those that run get the signal, those that wait are refused, each is answered once.
#[tokio::test]
async fn abort_reaches_those_that_run_and_refuses_those_that_wait() {
    let host = Host::new();
    let signalled = Log::default();
    let started = Arc::new(tokio::sync::Semaphore::new(0));
    let (log, running) = (signalled.clone(), Arc::clone(&started));
    let spec = ToolSpec {
        parallel: Some(true),
        ..open_spec("wait")
    };
    let tool = FunctionTool::new(spec, move |call: Execution<'_>| {
        let (abort, id) = (call.abort.clone(), call.call_id.to_owned());
        let (log, running) = (log.clone(), Arc::clone(&running));
        // Work that was handed out sees the signal, although the tool's future is dropped.
        tokio::spawn(async move {
            running.add_permits(1);
            abort.aborted().await;
            log.add(id);
            running.add_permits(1);
        });
        std::future::pending()
    });
    host.add(tool).await;
    host.add(answering("next", || Ok(ToolResult::text("never"))))
        .await;
    let calls = numbered(["wait", "wait", "next", "wait", "nothing"].map(|tool| (tool, json!({}))));
    let abort = AbortSignal::new();
    let batch = start(&host.caller(), calls, PerTool, &abort);
    within(started.acquire_many(2)).await.unwrap().forget();
    abort.abort();
    let batch = within(batch).await.unwrap();
    within(started.acquire_many(2)).await.unwrap().forget();
    let mut heard = signalled.take();
    heard.sort();
    assert_eq!(heard, ["1", "2"]);
    assert_eq!(ids(&batch), "1 2 3 4 5");
    let expected = ["aborted", "aborted", "aborted", "aborted", "unknownTool"];
    assert_eq!(kinds(&batch), expected);
    assert_eq!(batch.results[0].result.text(), "The call was aborted");
    let refused = "The call was aborted before it started";
    assert_eq!(batch.results[2].result.text(), refused);
    let expected = [
        "start 1",
        "start 2",
        "end 1",
        "end 2",
        "rejected 3",
        "rejected 4",
        "rejected 5",
    ];
    assert_eq!(told(&host.events.take_json()), expected);
}

/// g5.cancel: a call that was ready, and waited only for the question about its neighbour, does
/// nothing any more.
#[tokio::test]
async fn abort_while_a_person_thinks_starts_nothing() {
    let host = Host::new();
    let log = Log::default();
    let ran = log.clone();
    host.add(answering("write", move || {
        ran.add("written");
        Ok(ToolResult::text("written"))
    }))
    .await;
    let mut spec = open_spec("erase");
    spec.annotations = Annotations {
        destructive: Some(true),
        ..Annotations::NONE
    };
    host.add(FunctionTool::new(spec, |_| async {
        Ok(ToolResult::text("erased"))
    }))
    .await;
    let asked = Signal::default();
    let raise = asked.clone();
    let permissions = Permissions::default().asking(move |_: Question| {
        raise.raise();
        std::future::pending::<Approval>()
    });
    let caller = host.caller().with_permissions(permissions);
    let abort = AbortSignal::new();
    let calls = numbered(["write", "erase", "write"].map(|tool| (tool, json!({}))));
    let batch = start(&caller, calls, Parallel, &abort);
    asked.wait().await;
    abort.abort();
    let batch = within(batch).await.unwrap();
    assert_eq!(kinds(&batch), ["aborted"; 3]);
    assert_eq!(log.take(), Vec::<String>::new());
    let rejected = ["rejected 1", "rejected 2", "rejected 3"];
    assert_eq!(told(&host.events.take_json()), rejected);
}

/// A batch that is aborted before it begins runs nothing and answers everything.
#[tokio::test]
async fn batch_that_was_aborted_before_runs_nothing() {
    let host = Host::with(answering("ok", || Ok(ToolResult::text("never")))).await;
    let abort = AbortSignal::new();
    abort.abort();
    for mode in [Parallel, Sequential, PerTool] {
        let batch = start(
            &host.caller(),
            numbered(["ok"; 3].map(|tool| (tool, json!({})))),
            mode,
            &abort,
        );
        let batch = within(batch).await.unwrap();
        for one in &batch.results {
            assert_eq!(one.result.error.as_ref().unwrap().kind, ErrorKind::Aborted);
        }
        let rejected = ["rejected 1", "rejected 2", "rejected 3"];
        assert_eq!(told(&host.events.take_json()), rejected);
    }
}

/// Whoever stops waiting for a batch leaves no start without an end.
#[tokio::test]
async fn batch_that_nobody_waits_for_ends_what_it_started() {
    let (tool, started) = endless("wait");
    let host = Host::with(tool).await;
    let calls = numbered(["wait"; 3].map(|tool| (tool, json!({}))));
    let batch = start(&host.caller(), calls, Parallel, &AbortSignal::new());
    started.wait().await;
    batch.abort();
    assert!(within(batch).await.unwrap_err().is_cancelled());
    let mut told = told(&host.events.take_json());
    told.sort();
    let expected = ["end 1", "end 2", "end 3", "start 1", "start 2", "start 3"];
    assert_eq!(told, expected);
}
