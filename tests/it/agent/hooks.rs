//! Hooks of the embedding program in a run: what they may change, and what becomes of the run when
//! they fail (g5.hook-error).

use std::sync::Arc;

use agent_core::agent::{Agent, AgentBuilder, ScriptedModel};
use agent_core::call::hook::Answer;
use agent_core::call::{After, Before, CallView, Next};
use agent_core::event::EndReason;
use agent_core::message::{Context, Message, Reply, Role};
use agent_core::tool::{BoxFuture, CallError, ToolCallResult};
use serde_json::{Map, Value, json};
use tool_sdk::{Content, ErrorKind};

use super::fixture::{asked, calls, of_type, recorded, saying};
use super::validity;
use crate::host::{Recorder, within};

const IDS: [(&str, &str); 2] = [("1", "say"), ("2", "say")];

/// Runs an agent with this hook over two calls and a last word. Returns what the model read of the
/// calls, and the events.
async fn texts(hook: impl FnOnce(AgentBuilder) -> AgentBuilder) -> (Vec<String>, Vec<Value>) {
    let model = ScriptedModel::new([calls(&IDS), Reply::text("ok")]);
    let (agent, events) = recorded(model.clone());
    let agent = hook(agent.tool(saying("say", "Done!"))).build().unwrap();
    let run = within(agent.run("Hello")).await.unwrap();
    assert_eq!(run.reason, EndReason::Final);
    let last = asked(&model.prompts()[1]);
    validity::check(&last).unwrap();
    let events = events.take_json();
    assert_eq!(of_type(&events, "agentEnd").len(), 1);
    let starts = of_type(&events, "toolExecutionStart").len();
    assert_eq!(of_type(&events, "toolExecutionEnd").len(), starts);
    assert_eq!(starts + of_type(&events, "toolCallRejected").len(), 2);
    let texts = last[2..]
        .iter()
        .map(|one| one["content"].as_str().unwrap().to_owned());
    (texts.collect(), events)
}

/// Y36, R15: the hook blocks one call; the other runs.
#[tokio::test]
async fn y36_r15_blocked_call_is_answered_and_the_batch_goes_on() {
    let block = |reason: Result<Before, String>, panics: bool| {
        move |agent: AgentBuilder| {
            agent.before_tool_call(move |call: CallView| {
                let reason = reason.clone();
                async move {
                    assert!(!panics || &*call.id != "1", "boom");
                    if &*call.id == "1" {
                        reason
                    } else {
                        Ok(Before::Run)
                    }
                }
            })
        }
    };
    let not_now = || Some("not now".to_owned());
    for (hook, expected) in [
        (block(Ok(Before::Block(not_now())), false), "not now"),
        (
            block(Ok(Before::Block(None)), false),
            "Tool execution was blocked",
        ),
        (block(Err("no policy".to_owned()), false), "no policy"),
        (
            block(Ok(Before::Run), true),
            "`before_tool_call` panicked: boom",
        ),
    ] {
        let (texts, events) = texts(hook).await;
        assert_eq!(texts, [expected, "Done!"]);
        assert_eq!(of_type(&events, "toolCallRejected").len(), 1);
    }
}

/// Y39: every field is replaced whole, in the end event and in what the model reads.
#[tokio::test]
async fn y39_after_hook_replaces_fields_of_the_result() {
    let model = ScriptedModel::new([calls(&[("1", "say")]), Reply::text("never")]);
    let (agent, events) = recorded(model.clone());
    let agent = agent
        .tool(saying("say", "Done!"))
        .after_tool_call(|_: CallView, result: Arc<ToolCallResult>| async move {
            let after = After {
                content: Some(vec![Content::text(format!("{} (checked)", result.text()))]),
                details: Some(Map::from_iter([("checked".to_owned(), json!(true))])),
                usage: Some(json!({"cost": 2})),
                terminate: Some(true),
                is_error: Some(true),
            };
            Ok(after)
        })
        .build()
        .unwrap();
    let run = within(agent.run("Hello")).await.unwrap();
    assert_eq!(
        (run.reason, run.usage),
        (EndReason::Terminated, Some(json!({"cost": 2})))
    );
    let events = events.take_json();
    let end = of_type(&events, "toolExecutionEnd")[0];
    assert_eq!(
        (
            &end["isError"],
            &end["result"]["details"],
            &end["result"]["terminate"]
        ),
        (&json!(true), &json!({"checked": true}), &json!(true))
    );
    let answer = agent.conversation().messages()[2].clone();
    assert_eq!(
        json!(answer)["content"][0],
        json!({
            "type": "toolResult", "toolCallId": "1", "toolName": "say", "isError": true,
            "content": [{"type": "text", "text": "Done! (checked)"}],
        })
    );
    assert_eq!(agent.take_response().unwrap().as_text(), "Done! (checked)");
}

/// R15: a failing hook turns the result into an error; what the tool said is in the details.
#[tokio::test]
async fn r15_failing_after_hook_is_the_calls_error() {
    for (panics, expected) in [(false, "no"), (true, "`after_tool_call` panicked: boom")] {
        let hook = |agent: AgentBuilder| {
            agent.after_tool_call(move |call: CallView, _: Arc<ToolCallResult>| async move {
                if &*call.id == "2" {
                    return Ok(After::default());
                }
                assert!(!panics, "boom");
                Err("no".to_owned())
            })
        };
        let (texts, events) = texts(hook).await;
        assert_eq!(texts, [expected, "Done!"]);
        let end = of_type(&events, "toolExecutionEnd")[0];
        let original = json!([{"type": "text", "text": "Done!"}]);
        assert_eq!(end["result"]["details"]["original"], original);
    }
}

/// Panics around the first call.
fn panicking(call: CallView, next: Next<'_>) -> BoxFuture<'_, Answer> {
    Box::pin(async move {
        assert!(&*call.id != "1", "boom");
        next.run().await
    })
}

/// Refuses the first call in its tool's place.
fn refusing(call: CallView, next: Next<'_>) -> BoxFuture<'_, Answer> {
    Box::pin(async move {
        if &*call.id == "1" {
            return Err(CallError::new(ErrorKind::Unavailable, "closed"));
        }
        next.run().await
    })
}

#[tokio::test]
async fn g5_hook_error_around_a_tool_is_the_calls_error() {
    let (panicked, _) = texts(|agent| agent.around(panicking)).await;
    assert_eq!(
        panicked,
        ["What stands around the tool panicked: boom", "Done!"]
    );
    let (refused, _) = texts(|agent| agent.around(refusing)).await;
    assert_eq!(refused, ["closed", "Done!"]);
}

/// A failing hook of the loop ends the run with its reason; the agent is as before.
#[tokio::test]
async fn g5_hook_error_of_the_loop_is_the_runs_error() {
    type Made = (AgentBuilder, Recorder);
    let agent = || recorded(ScriptedModel::new([Reply::text("never")]));
    let check = async |(agent, events): Made, expected: &str| {
        let agent = agent.build().unwrap();
        let error = within(agent.run("Hello")).await.unwrap_err();
        assert_eq!(error.to_string(), expected);
        let events = events.take_json();
        let end = json!({"type": "agentEnd", "reason": "error", "error": expected});
        assert_eq!(of_type(&events, "agentEnd"), [&end]);
        assert_eq!(of_type(&events, "turnEnd").len(), 1);
        assert_eq!(
            agent.conversation().messages(),
            [Message::text(Role::User, "Hello")]
        );
        // Not stuck.
        assert_eq!(within(agent.resume()).await.unwrap_err(), error);
    };
    let (builder, events) = agent();
    let fails = builder.prepare_context(|_| async { Err("no memory".to_owned()) });
    check((fails, events), "`prepare_context` failed: no memory").await;
    let (builder, events) = agent();
    let panics = builder.prepare_context(|context: Context| async move {
        assert!(context.messages.is_empty(), "boom");
        Ok(context)
    });
    check(
        (panics, events),
        "`prepare_context` failed: it panicked: boom",
    )
    .await;
    let (builder, events) = agent();
    let fails = builder.format_messages(|_| async { Err("no words".to_owned()) });
    check((fails, events), "`format_messages` failed: no words").await;
    let (builder, events) = agent();
    let panics = builder.format_messages(|context: Context| async move {
        assert!(context.messages.is_empty(), "boom");
        Ok(Map::new())
    });
    check(
        (panics, events),
        "`format_messages` failed: it panicked: boom",
    )
    .await;
}

/// A hook that never ends is ended by an abort.
#[tokio::test]
async fn hanging_hooks_of_the_loop_are_aborted() {
    let prepare = |agent: AgentBuilder| agent.prepare_context(|_| std::future::pending());
    let format = |agent: AgentBuilder| agent.format_messages(|_| std::future::pending());
    let before = |agent: AgentBuilder| agent.before_tool_call(|_| std::future::pending());
    let hooks: [&dyn Fn(AgentBuilder) -> AgentBuilder; 3] = [&prepare, &format, &before];
    for hook in hooks {
        let model = ScriptedModel::new([calls(&IDS), Reply::text("never")]);
        let agent: Agent = hook(Agent::builder(model).tool(saying("say", "Done!")))
            .build()
            .unwrap();
        let running = tokio::spawn({
            let agent = agent.clone();
            async move { agent.run("Hello").await }
        });
        tokio::task::yield_now().await;
        agent.abort();
        let run = within(running).await.unwrap().unwrap();
        assert_eq!(run.reason, EndReason::Aborted);
    }
}
