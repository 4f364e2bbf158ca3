//! The steps of prepare in their order, and what a tool's own hooks do to a call.

use std::sync::Arc;

use agent_core::call::{After, Arguments, Before, CallView, Caller, Hooks, ToolCall};
use agent_core::event::{Emitter, Event, EventKind};
use agent_core::tool::{Execution, FunctionTool, ToolCallResult, ToolSpec};
use serde_json::json;
use tool_sdk::{ErrorKind, ToolError, ToolResult};

use super::check_error;
use crate::host::{Host, Log, weather};

/// A host whose every step writes down that it happened, and with which arguments.
async fn logging_host(log: &Log) -> (Host, Caller) {
    let schema = json!({"type": "object", "additionalProperties": false, "properties": {
        "n": {"type": "integer", "maximum": 9}, "unit": {"type": "string", "default": "m"}}});
    let [prepare, validate, execute, before, after, events] = std::array::from_fn(|_| log.clone());
    let tool = FunctionTool::new(
        ToolSpec::new("count", "Count.", schema),
        move |call: Execution<'_>| {
            execute.add(format!("execute {}", call.arguments));
            async { Ok(ToolResult::text("Done!")) }
        },
    );
    let tool = tool.with_prepare(move |arguments| {
        prepare.add(format!("prepare {arguments}"));
        match arguments.get("fail") {
            Some(_) => Err(ToolError::new("prepare failed")),
            None => Ok(arguments),
        }
    });
    let tool = tool.with_validate(move |arguments| {
        validate.add(format!("validate {arguments}"));
        (arguments["n"] == 0).then(|| "zero".to_owned())
    });
    let hooks = Hooks {
        before_tool_call: Some(Arc::new(move |call: CallView| {
            before.add(format!("before {}", call.arguments));
            let blocked = call.arguments["n"] == 1;
            async move {
                Ok(if blocked {
                    Before::Block(None)
                } else {
                    Before::Run
                })
            }
        })),
        after_tool_call: Some(Arc::new(
            move |call: CallView, result: Arc<ToolCallResult>| {
                after.add(format!("after {} {}", call.arguments, result.text()));
                async { Ok(After::default()) }
            },
        )),
        ..Hooks::default()
    };
    let sink = move |event: &Arc<Event>| match &event.kind {
        EventKind::ToolExecutionStart { args, .. } => events.add(format!("start {args}")),
        EventKind::ToolExecutionEnd { result, .. } => events.add(format!("end {}", result.text())),
        EventKind::ToolCallRejected { kind, .. } => events.add(format!("rejected {kind}")),
        other => panic!("{other:?}"),
    };
    let emitter = Emitter::new(vec![Box::new(sink)]);
    let host = Host::with(tool).await;
    let caller = Caller::new(host.registry.clone(), emitter).with_hooks(hooks);
    (host, caller)
}

#[tokio::test]
async fn y34_r32_steps_come_in_their_order_and_a_failure_ends_them() {
    let log = Log::default();
    let (host, caller) = logging_host(&log).await;
    let check = async |name: &str, arguments: &str, steps: &[&str]| {
        let call = ToolCall::new(name, Arguments::Text(arguments.to_owned()));
        let finalized = host.make(&caller, call).await;
        assert_eq!(
            log.take(),
            steps,
            "{arguments}: {}",
            finalized.result.text()
        );
    };
    let whole = r#"{"n":5,"unit":"m"}"#;
    check(
        "count",
        r#"{"n": "5"}"#,
        &[
            r#"prepare {"n":"5"}"#,
            &format!("validate {whole}"),
            &format!("before {whole}"),
            &format!("start {whole}"),
            &format!("execute {whole}"),
            &format!("after {whole} Done!"),
            "end Done!",
        ],
    )
    .await;
    check("cuont", r#"{"n": "5"}"#, &["rejected unknownTool"]).await;
    check("count", r#"{"n": "#, &["rejected invalidJson"]).await;
    check(
        "count",
        r#"{"fail": 1}"#,
        &[r#"prepare {"fail":1}"#, "rejected invalidArguments"],
    )
    .await;
    check(
        "count",
        r#"{"n": 10}"#,
        &[r#"prepare {"n":10}"#, "rejected invalidArguments"],
    )
    .await;
    let whole = r#"{"n":0,"unit":"m"}"#;
    check(
        "count",
        r#"{"n": 0}"#,
        &[
            r#"prepare {"n":0}"#,
            &format!("validate {whole}"),
            "rejected invalidArguments",
        ],
    )
    .await;
    let whole = r#"{"n":1,"unit":"m"}"#;
    check(
        "count",
        r#"{"n": 1}"#,
        &[
            r#"prepare {"n":1}"#,
            &format!("validate {whole}"),
            &format!("before {whole}"),
            "rejected rejected",
        ],
    )
    .await;
    // A name that nobody has is told before arguments that nobody can read.
    check("cuont", "{", &["rejected unknownTool"]).await;
}

#[tokio::test]
async fn y35_prepare_changes_arguments_before_they_are_validated() {
    let tool = weather().with_prepare(|mut arguments| {
        let object = arguments.as_object_mut().ok_or("no object")?;
        if let Some(town) = object.shift_remove("town") {
            object.insert("city".to_owned(), town);
        }
        Ok(arguments)
    });
    let host = Host::with(tool).await;
    let finalized = host.call("getWeather", r#"{"town": "Tokyo"}"#).await;
    assert_eq!(finalized.result.text(), "Weather in Tokyo: Sunny, 22°C");
    let start = &host.events.take_json()[0];
    assert_eq!(start["args"], json!({"city": "Tokyo", "units": "celsius"}));
    // What the hook makes of them is validated like any other.
    let finalized = host.call("getWeather", r#"{"town": []}"#).await;
    assert!(
        finalized
            .result
            .text()
            .contains("/city: wrong type (expected string, got array [])")
    );
}

#[tokio::test]
async fn prepare_hook_that_answers_no_object_is_refused() {
    let host = Host::with(weather().with_prepare(|_| Ok(json!([1])))).await;
    let text = "Validation failed for tool \"getWeather\":\n  \
                - (arguments): wrong type (expected object, got array [1])\n\n\
                Received arguments:\n[1]";
    check_error(
        &host.call("getWeather", "{}").await,
        ErrorKind::InvalidArguments,
        text,
    );
}

#[tokio::test]
async fn error_of_a_prepare_hook_is_told_with_its_kind() {
    let unavailable = || ToolError::of(ErrorKind::Unavailable, "no index").with_hint("build it");
    let host = Host::with(weather().with_prepare(move |_| Err(unavailable()))).await;
    check_error(
        &host.call("getWeather", "{}").await,
        ErrorKind::Unavailable,
        "no index\nbuild it",
    );
    let host = Host::with(weather().with_prepare(|_| Err(ToolError::new("no such town")))).await;
    check_error(
        &host.call("getWeather", "{}").await,
        ErrorKind::InvalidArguments,
        "no such town",
    );
}
