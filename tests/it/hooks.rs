//! What the embedding program may do before and after a tool runs, and what becomes of a call
//! whose hook fails.

mod waiting;

use std::future::Future;
use std::sync::Arc;

use agent_core::call::{After, Arguments, Before, CallView, Finalized, Hooks, ToolCall};
use agent_core::message::Message;
use agent_core::tool::{CallError, ToolCallResult};
use serde_json::{Value, json};
use tool_sdk::{Content, ErrorKind, ToolError, ToolResult};

use crate::host::{Host, Log, answering, weather, weather_call};

fn before<R>(hook: impl Fn(CallView) -> R + Send + Sync + 'static) -> Hooks
where
    R: Future<Output = Result<Before, String>> + Send + 'static,
{
    Hooks {
        before_tool_call: Some(Arc::new(hook)),
        after_tool_call: None,
        ..Hooks::default()
    }
}

fn after<R>(hook: impl Fn(CallView, Arc<ToolCallResult>) -> R + Send + Sync + 'static) -> Hooks
where
    R: Future<Output = Result<After, String>> + Send + 'static,
{
    Hooks {
        before_tool_call: None,
        after_tool_call: Some(Arc::new(hook)),
        ..Hooks::default()
    }
}

/// A hook that decides this, whatever the call.
fn deciding(decision: Result<Before, String>) -> Hooks {
    before(move |_| {
        let decision = decision.clone();
        async { decision }
    })
}

/// Makes the usual call with hooks.
async fn call(hooks: Hooks) -> (Finalized, Vec<Value>) {
    let host = Host::with(weather()).await;
    let caller = host.caller().with_hooks(hooks);
    let finalized = host
        .make(&caller, weather_call(json!({"city": "Tokyo"})))
        .await;
    (finalized, host.events.take_json())
}

#[tokio::test]
async fn y36_r15_hook_blocks_with_its_reason_and_nothing_starts() {
    let check = async |hooks: Hooks, text: &str| {
        let (finalized, events) = call(hooks).await;
        let error = CallError::new(ErrorKind::Rejected, text);
        assert_eq!(
            *finalized.result,
            ToolCallResult::of_error("call_1", "getWeather", error)
        );
        let rejected = json!({
            "type": "toolCallRejected", "toolCallId": "call_1", "toolName": "getWeather",
            "args": {"city": "Tokyo"}, "kind": "rejected", "message": text,
        });
        assert_eq!(events, [rejected]);
    };
    check(
        deciding(Ok(Before::Block(Some("not on Sundays".to_owned())))),
        "not on Sundays",
    )
    .await;
    check(
        deciding(Ok(Before::Block(None))),
        "Tool execution was blocked",
    )
    .await;
    check(
        deciding(Err("the policy is not readable".to_owned())),
        "the policy is not readable",
    )
    .await;
    let panics = before(|call| async move { panic!("boom {}", call.id) });
    check(panics, "`before_tool_call` panicked: boom call_1").await;
}

#[tokio::test]
async fn y36_hook_that_lets_the_call_run_changes_nothing() {
    let (finalized, events) = call(deciding(Ok(Before::Run))).await;
    assert_eq!(finalized.result.text(), "Weather in Tokyo: Sunny, 22°C");
    assert_eq!(
        events[0]["args"],
        json!({"city": "Tokyo", "units": "celsius"})
    );
}

#[tokio::test]
async fn hooks_see_the_call_as_the_tool_gets_it() {
    let log = Log::default();
    let (first, second) = (log.clone(), log.clone());
    let see = |call: &CallView| format!("{} {} {}", call.id, call.tool.label, call.arguments);
    let hooks = Hooks {
        before_tool_call: Some(Arc::new(move |call: CallView| {
            first.add(see(&call));
            async { Ok(Before::Run) }
        })),
        after_tool_call: Some(Arc::new(
            move |call: CallView, result: Arc<ToolCallResult>| {
                second.add(format!("{} {}", see(&call), result.text()));
                async { Ok(After::default()) }
            },
        )),
        ..Hooks::default()
    };
    call(hooks).await;
    let seen = r#"call_1 Weather Lookup {"city":"Tokyo","units":"celsius"}"#;
    assert_eq!(
        log.take(),
        [
            seen.to_owned(),
            format!("{seen} Weather in Tokyo: Sunny, 22°C")
        ]
    );
}

/// R32: arguments that a hook changed are coerced, validated and completed like any others.
#[tokio::test]
async fn r32_rewritten_arguments_are_checked_again() {
    let rewriting = |value: Value| deciding(Ok(Before::Rewrite(value)));
    let (finalized, events) = call(rewriting(json!({"city": 5, "units": null}))).await;
    assert_eq!(finalized.result.text(), "Weather in 5: Sunny, 22°C");
    assert_eq!(events[0]["args"], json!({"city": "5", "units": "celsius"}));
    assert_eq!(
        events[0]["changes"],
        json!([
            {"pointer": "/units", "from": null},
            {"pointer": "/city", "from": 5, "to": "5"},
        ])
    );

    let (finalized, events) = call(rewriting(json!({"town": "Oslo"}))).await;
    let text = "Validation failed for tool \"getWeather\":\n  \
                - /city: missing required argument (expected string)\n  \
                - /town: unknown argument (allowed: city, units)\n\n\
                Received arguments:\n{\"town\": \"Oslo\"}";
    assert_eq!(finalized.result.text(), text);
    assert_eq!(events.len(), 1);
    assert_eq!(events[0]["kind"], "invalidArguments");
    let (finalized, _) = call(rewriting(json!("Oslo"))).await;
    assert_eq!(
        finalized.result.error.as_ref().unwrap().kind,
        ErrorKind::InvalidArguments
    );

    let host = Host::with(weather().with_validate(|arguments| {
        (arguments["city"] == "Atlantis").then(|| "it sank".to_owned())
    }))
    .await;
    let caller = host
        .caller()
        .with_hooks(rewriting(json!({"city": "Atlantis"})));
    let finalized = host
        .make(&caller, weather_call(json!({"city": "Tokyo"})))
        .await;
    assert_eq!(finalized.result.text(), "it sank");
    assert_eq!(host.events.take_types(), ["toolCallRejected"]);
}

/// What comes of a result of this shape under a hook that replaces this.
async fn finalized(result: ToolResult, replace: After) -> ToolCallResult {
    let host = Host::with(answering("tool", move || Ok(result.clone()))).await;
    let caller = host.caller().with_hooks(after(move |_, _| {
        let replace = replace.clone();
        async { Ok(replace) }
    }));
    let call = ToolCall::new("tool", Arguments::Text(String::new())).with_id("call_1");
    let finalized = host.make(&caller, call).await;
    let (message, result) = (finalized.message(), finalized.result);
    // The end event and the message tell the same.
    let end = host.events.take_json().pop().unwrap();
    let expected = json!({
        "type": "toolExecutionEnd", "toolCallId": "call_1", "toolName": "tool",
        "result": *result, "isError": result.is_error,
    });
    assert_eq!(end, expected);
    assert_eq!(message, Message::tool_result(&result));
    Arc::unwrap_or_clone(result)
}

#[tokio::test]
async fn y39_each_field_is_replaced_whole_and_the_others_stay() {
    let result = || {
        ToolResult::text("a")
            .details(json!({"x": 1, "y": 2}))
            .usage(json!(1))
    };
    let plain = ToolCallResult::of_tool("call_1", "tool", result());
    assert_eq!(finalized(result(), After::default()).await, plain);

    let content = vec![Content::image("AA==", "image/png"), Content::text("b")];
    let replaced = finalized(
        result(),
        After {
            content: Some(content.clone()),
            ..After::default()
        },
    )
    .await;
    assert_eq!(
        replaced,
        ToolCallResult {
            content,
            ..plain.clone()
        }
    );

    let details = json!({"z": 3}).as_object().unwrap().clone();
    let replaced = finalized(
        result(),
        After {
            details: Some(details.clone()),
            ..After::default()
        },
    )
    .await;
    assert_eq!(
        replaced,
        ToolCallResult {
            details,
            ..plain.clone()
        }
    );

    let usage = Some(json!({"tokens": 7}));
    let replaced = finalized(
        result(),
        After {
            usage: usage.clone(),
            ..After::default()
        },
    )
    .await;
    assert_eq!(
        replaced,
        ToolCallResult {
            usage,
            ..plain.clone()
        }
    );
}

#[tokio::test]
async fn y39_whether_the_loop_ends_and_whether_it_failed_are_replaced() {
    let result = || {
        ToolResult::text("a")
            .details(json!({"x": 1, "y": 2}))
            .usage(json!(1))
    };
    let plain = ToolCallResult::of_tool("call_1", "tool", result());
    let replaced = finalized(
        result(),
        After {
            terminate: Some(true),
            ..After::default()
        },
    )
    .await;
    assert_eq!(
        replaced,
        ToolCallResult {
            terminate: true,
            ..plain.clone()
        }
    );
    let kept = finalized(
        result().terminate(),
        After {
            terminate: Some(false),
            ..After::default()
        },
    )
    .await;
    assert_eq!(kept, plain);

    let replaced = finalized(
        result(),
        After {
            is_error: Some(true),
            ..After::default()
        },
    )
    .await;
    let error = Some(CallError::new(ErrorKind::ToolError, "a"));
    assert_eq!(
        replaced,
        ToolCallResult {
            is_error: true,
            error,
            ..plain.clone()
        }
    );
    let failing = ToolResult::error("a")
        .details(json!({"x": 1, "y": 2}))
        .usage(json!(1));
    let kept = finalized(
        failing,
        After {
            is_error: Some(false),
            ..After::default()
        },
    )
    .await;
    assert_eq!(kept, plain);
}

/// A hook that takes something out of the content has taken it out of the whole result.
#[tokio::test]
async fn y39_replaced_content_leaves_no_copy_of_the_old() {
    let redacted = || After {
        content: Some(vec![Content::text("[redacted]")]),
        ..After::default()
    };
    let secret = ToolResult::text("s3cret").structured(json!({"key": "s3cret"}));
    let result = finalized(secret, redacted()).await;
    assert_eq!(
        result,
        ToolCallResult::of_tool("call_1", "tool", ToolResult::text("[redacted]"))
    );
    let result = finalized(ToolResult::error("s3cret"), redacted()).await;
    assert_eq!(
        result,
        ToolCallResult::of_tool("call_1", "tool", ToolResult::error("[redacted]"))
    );
}

#[tokio::test]
async fn y39_content_that_a_hook_empties_says_so() {
    let result = finalized(
        ToolResult::text("a"),
        After {
            content: Some(vec![]),
            ..After::default()
        },
    )
    .await;
    assert_eq!(result.content, [Content::text("(no output)")]);
}

#[tokio::test]
async fn r15_failing_after_hook_makes_an_error_and_keeps_the_original() {
    let check = async |hooks: Hooks, text: &str| {
        let host = Host::with(answering("tool", || {
            Ok(ToolResult::text("a")
                .details(json!({"x": 1}))
                .structured(json!(1)))
        }))
        .await;
        let call = ToolCall::new("tool", Arguments::Text(String::new())).with_id("call_1");
        let finalized = host.make(&host.caller().with_hooks(hooks), call).await;
        let details = json!({"x": 1, "original": [{"type": "text", "text": "a"}]});
        let expected = ToolCallResult {
            details: details.as_object().unwrap().clone(),
            ..ToolCallResult::of_error("call_1", "tool", CallError::new(ErrorKind::ToolError, text))
        };
        assert_eq!(*finalized.result, expected);
        assert_eq!(
            host.events.take_types(),
            ["toolExecutionStart", "toolExecutionEnd"]
        );
    };
    check(
        after(|_, _| async { Err("the log is full".to_owned()) }),
        "the log is full",
    )
    .await;
    check(
        after(|_, _| async { panic!("boom") }),
        "`after_tool_call` panicked: boom",
    )
    .await;
}

/// The hook sees failures too, and may turn them.
#[tokio::test]
async fn after_hook_sees_errors_of_the_tool() {
    let host = Host::with(answering("fail", || Err(ToolError::new("no")))).await;
    let caller = host.caller().with_hooks(after(|_, result| async move {
        let kind = result
            .error
            .as_ref()
            .map(|error| error.kind.to_string())
            .unwrap_or_default();
        Ok(After {
            content: Some(vec![Content::text(kind)]),
            is_error: Some(false),
            ..After::default()
        })
    }));
    let call = ToolCall::new("fail", Arguments::Text(String::new())).with_id("call_1");
    let result = host.make(&caller, call).await.result;
    assert_eq!(
        *result,
        ToolCallResult::of_tool("call_1", "fail", ToolResult::text("toolError"))
    );
}
