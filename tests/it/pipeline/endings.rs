//! How a call can end besides an answer: time limit, abort, panic, nobody waiting any more. There
//! is one result each time.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use agent_core::abort::AbortSignal;
use agent_core::call::{Arguments, ToolCall};
use agent_core::registry::Configuration;
use agent_core::tool::{Execution, FunctionTool, ToolSpec};
use serde_json::json;
use tool_sdk::{ErrorKind, ToolError, ToolResult};

use super::check_error;
use crate::host::{
    Host, SHORT, Signal, answering, endless, open_spec, weather, weather_call, within,
};

#[tokio::test]
async fn y6_signal_cancels_work_that_the_tool_handed_out() {
    let (started, stopped) = (Signal::default(), Signal::default());
    let (begin, end) = (started.clone(), stopped.clone());
    let tool = FunctionTool::new(open_spec("wait"), move |call: Execution<'_>| {
        let (abort, begin, end) = (call.abort.clone(), begin.clone(), end.clone());
        tokio::spawn(async move {
            begin.raise();
            abort.aborted().await;
            end.raise();
        });
        std::future::pending()
    });
    let host = Host::with(tool).await;
    let caller = host.caller();

    let abort = AbortSignal::new();
    let signal = abort.clone();
    let call = tokio::spawn(async move {
        let call = ToolCall::new("wait", Arguments::Text(String::new()));
        caller.call(call, &signal).await
    });
    started.wait().await;
    abort.abort();
    stopped.wait().await;
    check_error(
        &within(call).await.unwrap(),
        ErrorKind::Aborted,
        "The call was aborted",
    );

    // The time limit raises it too, for this call alone.
    let abort = AbortSignal::new();
    let caller = host.caller().with_timeout(SHORT);
    let call = ToolCall::new("wait", Arguments::Text(String::new()));
    let finalized = within(caller.call(call, &abort)).await;
    check_error(
        &finalized,
        ErrorKind::Timeout,
        "Tool wait did not answer within 20ms",
    );
    stopped.wait().await;
    assert!(!abort.is_aborted());
}

/// What a tool started in the background goes on when it has answered.
#[tokio::test]
async fn signal_of_a_call_that_was_answered_is_not_raised() {
    let (sender, mut receiver) = tokio::sync::mpsc::channel(1);
    let tool = FunctionTool::new(open_spec("start"), move |call: Execution<'_>| {
        sender.try_send(call.abort.clone()).unwrap();
        async { Ok(ToolResult::text("started")) }
    });
    let host = Host::with(tool).await;
    host.call("start", "").await;
    assert!(!receiver.recv().await.unwrap().is_aborted());
}

/// The same tool, limited by the caller, by itself, by configuration: the last of them wins.
#[tokio::test(start_paused = true)]
async fn tool_that_never_ends_is_answered_at_its_time_limit() {
    let own = FunctionTool::new(
        ToolSpec {
            timeout: Some(Duration::from_secs(7)),
            ..open_spec("own")
        },
        |_| std::future::pending(),
    );
    let host = Host::new();
    let mut configuration = Configuration::default();
    let limit = ("configured".to_owned(), Duration::from_millis(1500));
    configuration.timeouts = BTreeMap::from([limit]);
    host.registry.configure(configuration);
    host.add(own).await;
    host.add(endless("plain").0).await;
    host.add(FunctionTool::new(
        ToolSpec {
            timeout: Some(Duration::from_secs(7)),
            ..open_spec("configured")
        },
        |_| std::future::pending(),
    ))
    .await;
    let caller = host.caller().with_timeout(Duration::from_secs(3));
    for (name, limit, text) in [
        ("plain", 3000, "3s"),
        ("own", 7000, "7s"),
        ("configured", 1500, "1.5s"),
    ] {
        let began = tokio::time::Instant::now();
        let call = ToolCall::new(name, Arguments::Text(String::new()));
        let finalized = caller.call(call, &AbortSignal::new()).await;
        let text = format!("Tool {name} did not answer within {text}");
        check_error(&finalized, ErrorKind::Timeout, &text);
        assert_eq!(began.elapsed().as_millis(), limit);
        assert_eq!(
            host.events.take_types(),
            ["toolExecutionStart", "toolExecutionEnd"]
        );
    }
    // The usual limit is a minute.
    let began = tokio::time::Instant::now();
    let call = ToolCall::new("plain", Arguments::Text(String::new()));
    host.caller().call(call, &AbortSignal::new()).await;
    assert_eq!(began.elapsed(), Duration::from_mins(1));
}

#[tokio::test]
async fn call_that_is_aborted_before_it_starts_is_rejected() {
    let host = Host::with(weather()).await;
    let abort = AbortSignal::new();
    abort.abort();
    let finalized = within(
        host.caller()
            .call(weather_call(json!({"city": "Tokyo"})), &abort),
    )
    .await;
    check_error(
        &finalized,
        ErrorKind::Aborted,
        "The call was aborted before it started",
    );
    let rejected = json!({
        "type": "toolCallRejected", "toolCallId": "call_1", "toolName": "getWeather",
        "args": {"city": "Tokyo"}, "kind": "aborted",
        "message": "The call was aborted before it started",
    });
    assert_eq!(host.events.take_json(), [rejected]);
}

#[tokio::test]
async fn call_that_is_aborted_while_its_tool_runs_is_answered_at_once() {
    let (tool, started) = endless("wait");
    let host = Host::with(tool).await;
    let abort = AbortSignal::new();
    let (caller, signal) = (host.caller(), abort.child());
    let call = tokio::spawn(async move {
        caller
            .call(
                ToolCall::new("wait", Arguments::Text(String::new())),
                &signal,
            )
            .await
    });
    started.wait().await;
    abort.abort();
    check_error(
        &within(call).await.unwrap(),
        ErrorKind::Aborted,
        "The call was aborted",
    );
    assert_eq!(
        host.events.take_types(),
        ["toolExecutionStart", "toolExecutionEnd"]
    );
}

#[tokio::test]
async fn call_whose_waiting_ends_has_its_end_event_and_nothing_behind_it() {
    let started = Signal::default();
    let (sender, mut receiver) = tokio::sync::mpsc::channel(1);
    let begin = started.clone();
    let tool = FunctionTool::new(open_spec("wait"), move |call: Execution<'_>| {
        sender
            .try_send((Arc::clone(&call.progress), call.abort.clone()))
            .unwrap();
        begin.raise();
        std::future::pending()
    });
    let host = Host::with(tool).await;
    let caller = host.caller();
    let call = tokio::spawn(async move {
        let call = ToolCall::new("wait", Arguments::Text(String::new())).with_id("call_1");
        caller.call(call, &AbortSignal::new()).await
    });
    started.wait().await;
    call.abort();
    assert!(within(call).await.unwrap_err().is_cancelled());
    let (progress, abort) = receiver.recv().await.unwrap();
    progress(json!("late"));
    assert!(abort.is_aborted());
    let events = host.events.take_json();
    assert_eq!(events.len(), 2, "{events:?}");
    assert_eq!(events[1]["type"], "toolExecutionEnd");
    assert_eq!(events[1]["result"]["error"]["kind"], "aborted");
}

#[tokio::test]
async fn panic_of_a_tool_is_its_result_and_the_caller_lives() {
    let host = Host::with(FunctionTool::new(open_spec("later"), |_| async {
        tokio::task::yield_now().await;
        panic!("boom {}", 1)
    }))
    .await;
    host.add(FunctionTool::new(
        open_spec("at_once"),
        |call: Execution<'_>| {
            assert!(call.arguments.is_array(), "boom at once");
            async { Ok(ToolResult::text("never")) }
        },
    ))
    .await;
    for (name, text) in [
        ("later", "The tool panicked: boom 1"),
        ("at_once", "The tool panicked: boom at once"),
    ] {
        check_error(&host.call(name, "{}").await, ErrorKind::Panic, text);
        assert_eq!(
            host.events.take_types(),
            ["toolExecutionStart", "toolExecutionEnd"]
        );
    }
    host.add(weather()).await;
    host.check_weather().await;
}

#[tokio::test]
async fn panic_of_a_tool_that_is_given_up_is_its_own() {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("boom in drop");
        }
    }
    let host = Host::with(FunctionTool::new(open_spec("bomb"), |_| {
        let bomb = Bomb;
        async move {
            std::future::pending::<()>().await;
            drop(bomb);
            Ok(ToolResult::text("never"))
        }
    }))
    .await;
    let caller = host.caller().with_timeout(SHORT);
    let call = ToolCall::new("bomb", Arguments::Text(String::new()));
    let text = "Tool bomb did not answer within 20ms";
    check_error(&host.make(&caller, call).await, ErrorKind::Timeout, text);
    assert_eq!(
        host.events.take_types(),
        ["toolExecutionStart", "toolExecutionEnd"]
    );
}

#[tokio::test]
async fn panic_of_a_tools_hook_is_answered_as_panic() {
    let host = Host::with(weather().with_prepare(|_| panic!("boom"))).await;
    let text = "The tool's `prepare` hook panicked: boom";
    check_error(&host.call("getWeather", "{}").await, ErrorKind::Panic, text);
    let host = Host::with(weather().with_validate(|_| panic!("boom"))).await;
    let text = "The tool's `validate` hook panicked: boom";
    check_error(
        &host.call("getWeather", r#"{"city": "x"}"#).await,
        ErrorKind::Panic,
        text,
    );
    assert_eq!(host.events.take_types(), ["toolCallRejected"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn ten_thousand_calls_at_once_are_each_answered_once_with_their_own() {
    const CALLS: usize = 10_000;
    let schema =
        json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
    let gate = Arc::new(tokio::sync::Semaphore::new(0));
    let wait = Arc::clone(&gate);
    let running = Arc::new(AtomicUsize::new(0));
    let (count, all_run) = (Arc::clone(&running), Signal::default());
    let ready = all_run.clone();
    let tool = FunctionTool::new(
        ToolSpec::new("echo", "Echo.", schema),
        move |call: Execution<'_>| {
            let answer = format!("{} {}", call.call_id, call.arguments["n"]);
            (call.progress)(call.arguments["n"].clone());
            let wait = Arc::clone(&wait);
            if count.fetch_add(1, Ordering::SeqCst) + 1 == CALLS {
                ready.raise();
            }
            async move {
                let _permit = wait.acquire().await?;
                Ok(ToolResult::text(answer))
            }
        },
    );
    let host = Host::with(tool).await;
    let caller = host.caller();
    let calls = (0..CALLS).map(|n| {
        let caller = caller.clone();
        let call = ToolCall::new("echo", Arguments::Json(json!({"n": n.to_string()})));
        tokio::spawn(async move {
            caller
                .call(call.with_id(format!("call_{n}")), &AbortSignal::new())
                .await
        })
    });
    let calls: Vec<_> = calls.collect();
    all_run.wait().await;
    gate.add_permits(CALLS);
    for (n, call) in calls.into_iter().enumerate() {
        let result = within(call).await.unwrap().result;
        assert_eq!(result.text(), format!("call_{n} {n}"));
    }
    let mut seqs = Vec::new();
    let mut by_call: HashMap<String, Vec<String>> = HashMap::new();
    for event in host.events.take() {
        let json = serde_json::to_value(&*event).unwrap();
        let id = json["toolCallId"].as_str().unwrap().to_owned();
        by_call
            .entry(id)
            .or_default()
            .push(json["type"].as_str().unwrap().to_owned());
        seqs.push(event.seq);
    }
    seqs.sort_unstable();
    assert_eq!(seqs, (1..=3 * CALLS as u64).collect::<Vec<_>>());
    assert_eq!(by_call.len(), CALLS);
    let one = [
        "toolExecutionStart",
        "toolExecutionUpdate",
        "toolExecutionEnd",
    ];
    assert!(by_call.values().all(|types| types == &one));
}

/// Every way a call can end gives one result and one closing event.
#[tokio::test]
async fn every_outcome_is_told_exactly_once() {
    let host = Host::with(weather()).await;
    host.add(answering("fail", || Err(ToolError::new("no"))))
        .await;
    host.add(FunctionTool::new(open_spec("panic"), |_| async {
        panic!("boom")
    }))
    .await;
    host.add(endless("endless").0).await;
    let caller = host.caller().with_timeout(SHORT);
    for (name, arguments, closing) in [
        ("getWeather", r#"{"city": "Tokyo"}"#, "toolExecutionEnd"),
        ("getWeather", "{}", "toolCallRejected"),
        ("getWeather", "[", "toolCallRejected"),
        ("nobody", "{}", "toolCallRejected"),
        ("fail", "{}", "toolExecutionEnd"),
        ("panic", "{}", "toolExecutionEnd"),
        ("endless", "{}", "toolExecutionEnd"),
    ] {
        let call = ToolCall::new(name, Arguments::Text(arguments.to_owned()));
        let id = call.id.clone();
        let finalized = host.make(&caller, call).await;
        assert_eq!(finalized.result.tool_call_id, id);
        let types = host.events.take_types();
        let closings = types
            .iter()
            .filter(|kind| ["toolExecutionEnd", "toolCallRejected"].contains(&kind.as_str()));
        assert_eq!(
            closings.collect::<Vec<_>>(),
            [closing],
            "{name} {arguments}"
        );
        assert_eq!(types.last().map(String::as_str), Some(closing));
    }
}
