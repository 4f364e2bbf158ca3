//! What stands around the execution of a tool: it may look on, try again, or answer in its place.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use agent_core::abort::AbortSignal;
use agent_core::call::hook::Answer;
use agent_core::call::{
    self, After, Arguments, Around, Before, CallView, Caller, Finalized, Hooks, Next, ToolCall,
};
use agent_core::registry::Configuration;
use agent_core::tool::{BoxFuture, CallError, Execution, FunctionTool, ToolCallResult, ToolSpec};
use serde_json::{Value, json};
use tool_sdk::{ErrorKind, ToolError, ToolResult};

use crate::host::{Host, Log, Signal, answering, endless, open_spec, within};

/// A closure around a tool.
fn around<F>(closure: F) -> Arc<dyn Around>
where
    F: for<'a> Fn(CallView, Next<'a>) -> BoxFuture<'a, Answer> + Send + Sync + 'static,
{
    Arc::new(call::around(closure))
}

fn hooks(around: impl IntoIterator<Item = Arc<dyn Around>>) -> Hooks {
    Hooks {
        around: around.into_iter().collect(),
        ..Hooks::default()
    }
}

/// Tells when a call passes, and how it ended.
fn telling(name: &'static str, log: &Log) -> Arc<dyn Around> {
    let log = log.clone();
    around(move |call, next| {
        let log = log.clone();
        Box::pin(async move {
            log.add(format!("{name} {} {}", call.tool.name, call.arguments));
            let answer = next.run().await;
            let kind = answer
                .as_ref()
                .map_or_else(|error| error.kind.to_string(), |_| "ok".to_owned());
            log.add(format!("{name} {kind}"));
            answer
        })
    })
}

/// Tries so many times as long as the tool fails.
fn trying(times: usize) -> Arc<dyn Around> {
    around(move |_, next| {
        Box::pin(async move {
            let mut answer = next.run().await;
            for _ in 1..times {
                if answer.is_ok() {
                    break;
                }
                answer = next.run().await;
            }
            answer
        })
    })
}

/// A tool that fails until it was tried so often.
fn flaky(name: &str, fails: usize, log: &Log) -> FunctionTool {
    let (tried, log) = (AtomicUsize::new(0), log.clone());
    let spec = ToolSpec {
        input_schema: json!({"type": "object", "properties": {"key": {"type": "string"}}}),
        ..open_spec(name)
    };
    FunctionTool::new(spec, move |call: Execution<'_>| {
        let at = tried.fetch_add(1, Ordering::SeqCst);
        log.add(format!("try {at} {}", call.arguments));
        (call.progress)(json!(at));
        async move {
            if at < fails {
                Err(ToolError::new(format!("failure {at}")))
            } else {
                Ok(ToolResult::text(format!("success {at}")))
            }
        }
    })
}

fn call_of(tool: &str) -> ToolCall {
    ToolCall::new(tool, Arguments::Json(json!({}))).with_id("call_1")
}

async fn call_within(host: &Host, around: impl IntoIterator<Item = Arc<dyn Around>>) -> Finalized {
    let caller = host.caller().with_hooks(hooks(around));
    host.make(&caller, call_of("tool")).await
}

const PAIR: [&str; 2] = ["toolExecutionStart", "toolExecutionEnd"];

#[tokio::test]
async fn first_stands_outermost_and_each_sees_the_final_call() {
    let log = Log::default();
    let host = Host::new();
    let spec = ToolSpec {
        input_schema: json!({
            "type": "object", "properties": {"n": {"type": "integer", "default": 7}},
        }),
        ..open_spec("tool")
    };
    let ran = log.clone();
    host.add(FunctionTool::new(spec, move |call: Execution<'_>| {
        ran.add(format!("tool {}", call.arguments));
        async { Ok(ToolResult::text("done")) }
    }))
    .await;
    let finalized = call_within(
        &host,
        [telling("a", &log), telling("b", &log), telling("c", &log)],
    )
    .await;
    assert_eq!(finalized.result.text(), "done");
    let expected = [
        r#"a tool {"n":7}"#,
        r#"b tool {"n":7}"#,
        r#"c tool {"n":7}"#,
        r#"tool {"n":7}"#,
        "c ok",
        "b ok",
        "a ok",
    ];
    assert_eq!(log.take(), expected);
    assert_eq!(host.events.take_types(), PAIR);
}

/// The outer one sees one call where the inner one makes several tries; so do events.
#[tokio::test]
async fn second_try_is_the_affair_of_who_makes_it() {
    let log = Log::default();
    let host = Host::with(flaky("tool", 2, &log)).await;
    let finalized = call_within(
        &host,
        [telling("outer", &log), trying(3), telling("inner", &log)],
    )
    .await;
    assert_eq!(finalized.result.text(), "success 2");
    let expected = [
        "outer tool {}",
        "inner tool {}",
        "try 0 {}",
        "inner toolError",
        "inner tool {}",
        "try 1 {}",
        "inner toolError",
        "inner tool {}",
        "try 2 {}",
        "inner ok",
        "outer ok",
    ];
    assert_eq!(log.take(), expected);
    let events = host.events.take_json();
    let types: Vec<&Value> = events.iter().map(|event| &event["type"]).collect();
    let update = "toolExecutionUpdate";
    assert_eq!(types, [PAIR[0], update, update, update, PAIR[1]]);
    let partial: Vec<&Value> = events[1..4]
        .iter()
        .map(|event| &event["partialResult"])
        .collect();
    assert_eq!(partial, [0, 1, 2]);
    assert_eq!(events[4]["result"]["content"][0]["text"], "success 2");
}

/// Tries that all fail leave the last failure.
#[tokio::test]
async fn last_failure_is_the_answer() {
    let host = Host::with(flaky("tool", 5, &Log::default())).await;
    let result = call_within(&host, [trying(3)]).await.result;
    let error = CallError::new(ErrorKind::ToolError, "failure 2");
    assert_eq!(*result, ToolCallResult::of_error("call_1", "tool", error));
}

#[tokio::test]
async fn answer_in_the_tools_place_is_the_result() {
    let log = Log::default();
    let host = Host::with(flaky("tool", 0, &log)).await;
    let cached = around(|call, _| {
        Box::pin(async move {
            let result = ToolResult::text(format!("cached for {}", call.id));
            Ok(result.details(json!({"cached": true})).terminate())
        })
    });
    let after = Log::default();
    let seen = after.clone();
    let hooks = Hooks {
        after_tool_call: Some(Arc::new(move |_: CallView, result: Arc<ToolCallResult>| {
            seen.add(result.text());
            async { Ok(After::default()) }
        })),
        ..hooks([cached])
    };
    let caller = host.caller().with_hooks(hooks);
    let finalized = host.make(&caller, call_of("tool")).await;
    let expected = ToolResult::text("cached for call_1")
        .details(json!({"cached": true}))
        .terminate();
    let expected = ToolCallResult::of_tool("call_1", "tool", expected);
    assert_eq!(*finalized.result, expected);
    assert_eq!(log.take(), Vec::<String>::new());
    assert_eq!(after.take(), ["cached for call_1"]);
    let events = host.events.take_json();
    assert_eq!(events.len(), 2);
    assert_eq!(events[1]["result"], json!(expected));
}

#[tokio::test]
async fn error_in_the_tools_place_is_told_as_it_is() {
    let host = Host::with(flaky("tool", 0, &Log::default())).await;
    let error = CallError::new(ErrorKind::Denied, "too many calls today");
    let told = error.clone();
    let refusing = around(move |_, _| {
        let error = told.clone();
        Box::pin(async { Err(error) })
    });
    let finalized = call_within(&host, [refusing]).await;
    assert_eq!(
        *finalized.result,
        ToolCallResult::of_error("call_1", "tool", error)
    );
    assert_eq!(host.events.take_types(), PAIR);
}

#[tokio::test]
async fn panic_around_a_tool_is_its_calls_error() {
    let host = Host::with(flaky("tool", 0, &Log::default())).await;
    let at_once = around(|call, _| panic!("boom {}", call.id));
    let before = around(|call, _| Box::pin(async move { panic!("boom {}", call.id) }));
    let behind = around(|call, next| {
        Box::pin(async move {
            next.run().await.ok();
            panic!("boom {}", call.id)
        })
    });
    for panicking in [at_once, before, behind] {
        for all in [vec![Arc::clone(&panicking)], vec![trying(1), panicking]] {
            let finalized = call_within(&host, all).await;
            let text = "What stands around the tool panicked: boom call_1";
            let error = CallError::new(ErrorKind::Panic, text);
            assert_eq!(
                *finalized.result,
                ToolCallResult::of_error("call_1", "tool", error)
            );
        }
    }
    let types = host.events.take_types();
    let ends = types.iter().filter(|kind| *kind == PAIR[1]);
    assert_eq!(ends.count(), 6);
}

/// A tool that panics is an error to who stands around it, and may be tried again.
#[tokio::test]
async fn panic_of_the_tool_may_be_tried_again() {
    let tried = AtomicUsize::new(0);
    let host = Host::with(answering("tool", move || {
        assert!(tried.fetch_add(1, Ordering::SeqCst) > 0, "not yet");
        Ok(ToolResult::text("now"))
    }))
    .await;
    let log = Log::default();
    let finalized = call_within(&host, [trying(2), telling("inner", &log)]).await;
    assert_eq!(finalized.result.text(), "now");
    assert_eq!(
        log.take(),
        ["inner tool {}", "inner panic", "inner tool {}", "inner ok"]
    );
}

/// The time limit is for all tries together, and for what waits between them.
#[tokio::test(start_paused = true)]
async fn time_limit_is_for_all_of_it() {
    let host = Host::with(FunctionTool::new(open_spec("tool"), |_| async {
        tokio::time::sleep(Duration::from_secs(4)).await;
        Err(ToolError::new("not yet"))
    }))
    .await;
    let log = Log::default();
    let caller = host.caller().with_timeout(Duration::from_secs(10));
    let caller = caller.with_hooks(hooks([trying(5), telling("try", &log)]));
    let began = tokio::time::Instant::now();
    let finalized = host.make(&caller, call_of("tool")).await;
    let text = "Tool tool did not answer within 10s";
    let error = CallError::new(ErrorKind::Timeout, text);
    assert_eq!(
        *finalized.result,
        ToolCallResult::of_error("call_1", "tool", error)
    );
    assert_eq!(began.elapsed(), Duration::from_secs(10));
    let tries = ["try tool {}", "try toolError"];
    assert_eq!(
        log.take(),
        [tries[0], tries[1], tries[0], tries[1], tries[0]]
    );

    let waiting = around(|_, _| Box::pin(std::future::pending()));
    let finalized = host
        .make(&caller.with_hooks(hooks([waiting])), call_of("tool"))
        .await;
    assert_eq!(
        finalized.result.error.as_ref().unwrap().kind,
        ErrorKind::Timeout
    );
}

async fn aborted(host: &Host, caller: Caller, started: &Signal) -> Finalized {
    let abort = AbortSignal::new();
    let signal = abort.clone();
    let call = tokio::spawn(async move { caller.call(call_of("tool"), &signal).await });
    started.wait().await;
    abort.abort();
    let finalized = within(call).await.unwrap();
    assert_eq!(host.events.take_types(), PAIR);
    finalized
}

/// An abort ends what stands around the tool as well, wherever it is.
#[tokio::test]
async fn abort_ends_all_of_it() {
    let error = CallError::new(ErrorKind::Aborted, "The call was aborted");
    let expected = ToolCallResult::of_error("call_1", "tool", error);
    let (tool, started) = endless("tool");
    let host = Host::with(tool).await;
    let caller = host.caller().with_hooks(hooks([trying(5)]));
    assert_eq!(*aborted(&host, caller, &started).await.result, expected);

    let begun = Signal::default();
    let raise = begun.clone();
    let waiting = around(move |_, _| {
        raise.raise();
        Box::pin(std::future::pending())
    });
    let caller = host.caller().with_hooks(hooks([trying(5), waiting]));
    assert_eq!(*aborted(&host, caller, &begun).await.result, expected);
}

/// R6: nothing stands around a call that is refused.
#[tokio::test]
async fn r6_refused_call_has_nothing_around_it() {
    let log = Log::default();
    let host = Host::with(flaky("tool", 0, &log)).await;
    let hooks = Hooks {
        before_tool_call: Some(Arc::new(|_: CallView| async { Ok(Before::Block(None)) })),
        ..hooks([telling("around", &log)])
    };
    let caller = host.caller().with_hooks(hooks);
    for tool in ["tool", "nothing"] {
        host.make(&caller, call_of(tool)).await;
        assert_eq!(host.events.take_types(), ["toolCallRejected"]);
    }
    assert_eq!(log.take(), Vec::<String>::new());
}

/// R13: presets reach the tool at every try, and nobody around it.
#[tokio::test]
async fn r13_presets_pass_by_what_stands_around() {
    let (host, log) = (Host::new(), Log::default());
    let mut configuration = Configuration::default();
    configuration.presets = configuration.presets.with("tool", "key", json!("hunter2"));
    host.registry.configure(configuration);
    host.add(flaky("tool", 1, &log)).await;
    let seen = Log::default();
    call_within(&host, [trying(2), telling("around", &seen)]).await;
    let key = r#"{"key":"hunter2"}"#;
    assert_eq!(log.take(), [format!("try 0 {key}"), format!("try 1 {key}")]);
    for told in seen.take() {
        assert!(!told.contains("key"), "{told}");
    }
}

/// Each try waits for its turn, and gives it back before the next.
#[tokio::test]
async fn try_has_its_turn_only_while_it_runs() {
    let spec = ToolSpec {
        max_concurrent: Some(1),
        ..open_spec("tool")
    };
    let host = Host::with(FunctionTool::new(spec, |_| async {
        Err(ToolError::new("no"))
    }))
    .await;
    let finalized = call_within(&host, [trying(3)]).await;
    assert_eq!(finalized.result.text(), "no");
}
