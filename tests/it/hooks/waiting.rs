//! Hooks that do not end: an abort and a time limit end the wait for them.

use std::future::Future;
use std::sync::Arc;

use agent_core::abort::AbortSignal;
use agent_core::call::{Finalized, Hooks};
use agent_core::tool::{BoxFuture, CallError, Execution, HostTool, ToolCallResult, ToolSpec};
use serde_json::{Value, json};
use tool_sdk::{ErrorKind, ToolError, ToolResult};

use super::{after, before};
use crate::host::{Host, Signal, weather, weather_call, weather_spec, within};

/// Calls something once it waits, for hooks that never decide.
fn waiting<T: Send + 'static>(
    started: &Signal,
) -> impl Future<Output = T> + Send + 'static + use<T> {
    started.raise();
    std::future::pending()
}

/// Aborts the usual call of this host as soon as `started` is raised.
async fn aborted_call(host: &Host, hooks: Hooks, started: &Signal) -> Finalized {
    let abort = AbortSignal::new();
    let (caller, signal) = (host.caller().with_hooks(hooks), abort.clone());
    let call = tokio::spawn(async move {
        caller
            .call(weather_call(json!({"city": "Tokyo"})), &signal)
            .await
    });
    started.wait().await;
    abort.abort();
    within(call).await.unwrap()
}

#[tokio::test]
async fn abort_ends_the_wait_for_a_hooks_decision() {
    let host = Host::with(weather()).await;
    let started = Signal::default();
    let signal = started.clone();
    let finalized = aborted_call(&host, before(move |_| waiting(&signal)), &started).await;
    let error = CallError::new(ErrorKind::Aborted, "The call was aborted before it started");
    assert_eq!(
        *finalized.result,
        ToolCallResult::of_error("call_1", "getWeather", error)
    );
    assert_eq!(host.events.take_types(), ["toolCallRejected"]);
}

#[tokio::test(start_paused = true)]
async fn after_hook_of_an_aborted_call_has_some_seconds_left() {
    let host = Host::with(weather()).await;
    let started = Signal::default();
    let signal = started.clone();
    let finalized = aborted_call(&host, after(move |_, _| waiting(&signal)), &started).await;
    let text = "`after_tool_call` did not end within 5s of the abort";
    assert_eq!(finalized.result.text(), text);
    assert_eq!(
        finalized.result.details["original"][0]["text"],
        "Weather in Tokyo: Sunny, 22°C"
    );
    assert_eq!(
        host.events.take_types(),
        ["toolExecutionStart", "toolExecutionEnd"]
    );
}

/// A tool whose author's hooks never answer.
struct Stuck {
    spec: Arc<ToolSpec>,
    started: Signal,
}

impl HostTool for Stuck {
    fn spec(&self) -> &Arc<ToolSpec> {
        &self.spec
    }

    fn prepare(&self, _: Value) -> BoxFuture<'_, Result<Value, ToolError>> {
        Box::pin(waiting(&self.started))
    }

    fn validate<'a>(&'a self, _: &'a Value) -> BoxFuture<'a, Result<Option<String>, ToolError>> {
        Box::pin(waiting(&self.started))
    }

    fn execute<'a>(&'a self, _: Execution<'a>) -> BoxFuture<'a, Result<ToolResult, ToolError>> {
        Box::pin(async { Ok(ToolResult::text("never")) })
    }
}

#[tokio::test(start_paused = true)]
async fn authors_hook_that_never_ends_is_given_up() {
    for (has_prepare, name) in [(true, "prepare"), (false, "validate")] {
        let started = Signal::default();
        let spec = ToolSpec {
            has_prepare,
            has_validate: !has_prepare,
            ..weather_spec()
        };
        let host = Host::with(Stuck {
            spec: Arc::new(spec),
            started: started.clone(),
        })
        .await;
        let began = tokio::time::Instant::now();
        let finalized = host.call("getWeather", r#"{"city": "Tokyo"}"#).await;
        let error = CallError::new(
            ErrorKind::Timeout,
            format!("The tool's `{name}` hook did not end within 5s"),
        );
        assert_eq!(
            *finalized.result,
            ToolCallResult::of_error("call_1", "getWeather", error)
        );
        assert_eq!(began.elapsed().as_secs(), 5);

        started.wait().await;
        let finalized = aborted_call(&host, Hooks::default(), &started).await;
        assert_eq!(
            finalized.result.error.as_ref().unwrap().kind,
            ErrorKind::Aborted
        );
        assert_eq!(
            host.events.take_types(),
            ["toolCallRejected", "toolCallRejected"]
        );
    }
}
