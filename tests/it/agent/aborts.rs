//! Aborts, in every place of a run: it ends soon, everything is answered, the next run works.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use agent_core::agent::{Agent, AgentError, ScriptedModel};
use agent_core::event::EndReason;
use agent_core::message::{Delta, Message, Reply, Role};
use serde_json::json;
use tokio::task::JoinHandle;
use tool_sdk::ToolResult;

use super::fixture::{
    Waiting, asked, calls, gated, of_type, parallel, recorded, results, saying, signal_on,
};
use super::validity;
use crate::host::{SHORT, Signal, endless, open_spec, within};

const ABORTED: &str = "The call was aborted";
const NOT_STARTED: &str = "The call was aborted before it started";

fn run(agent: &Agent) -> JoinHandle<Result<EndReason, AgentError>> {
    let agent = agent.clone();
    tokio::spawn(async move { agent.run("Begin").await.map(|run| run.reason) })
}

/// g5.cancel: a tool that sleeps for minutes is told and given up at once.
#[tokio::test]
async fn g5_cancel_ends_the_run_and_tells_the_tool() {
    let (started, told) = (Signal::default(), Signal::default());
    let (has_started, is_told) = (started.clone(), told.clone());
    let tool = parallel("sleep", move |call| {
        let (abort, told) = (call.abort.clone(), is_told.clone());
        tokio::spawn(async move {
            abort.aborted().await;
            told.raise();
        });
        has_started.raise();
        async {
            tokio::time::sleep(Duration::from_mins(2)).await;
            Ok(ToolResult::text("Done!"))
        }
    });
    let model = ScriptedModel::new([calls(&[("1", "sleep")]), Reply::text("ok")]);
    let (agent, events) = recorded(model);
    let agent = agent.tool(tool).build().unwrap();
    let running = run(&agent);
    started.wait().await;
    let since = Instant::now();
    agent.abort();
    assert_eq!(within(running).await.unwrap(), Ok(EndReason::Aborted));
    assert!(
        since.elapsed() < Duration::from_secs(1),
        "{:?}",
        since.elapsed()
    );
    told.wait().await;
    let answers = results(&agent.conversation().messages());
    assert_eq!(answers, [("1".to_owned(), ABORTED.to_owned())]);
    let events = events.take_json();
    let end = of_type(&events, "toolExecutionEnd")[0];
    assert_eq!(end["result"]["error"]["kind"], "aborted");
    assert_eq!(
        of_type(&events, "agentEnd"),
        [&json!({"type": "agentEnd", "reason": "aborted"})]
    );
}

/// g5.abort-orphans: calls that ran, that run and that wait have their answers, and what the user
/// says next is understood.
#[tokio::test]
async fn g5_abort_orphans_are_none() {
    let (tool, started) = endless("hang");
    let model = ScriptedModel::new([
        calls(&[("1", "say"), ("2", "hang"), ("3", "say"), ("4", "nope")]),
        Reply::text("ok"),
    ]);
    let (agent, events) = recorded(model.clone());
    let agent = agent
        .tool(tool)
        .tool(saying("say", "Done!"))
        .build()
        .unwrap();
    let running = run(&agent);
    started.wait().await;
    // While calls run, whoever looks sees a valid history.
    let now = results(&agent.conversation().messages());
    assert_eq!(now.len(), 4);
    assert_eq!((now[0].1.as_str(), now[1].1.as_str()), ("Done!", ABORTED));
    agent.abort();
    assert_eq!(within(running).await.unwrap(), Ok(EndReason::Aborted));
    let told = events.take_json();
    assert_eq!(of_type(&told, "toolExecutionStart").len(), 2);
    assert_eq!(of_type(&told, "toolCallRejected").len(), 2);
    within(agent.run("Go on")).await.unwrap();
    let last = asked(&model.prompts()[1]);
    validity::check(&last).unwrap();
    let contents: Vec<&str> = last[2..]
        .iter()
        .map(|one| one["content"].as_str().unwrap())
        .collect();
    assert_eq!(
        (contents[0], contents[1], contents[2], contents[4]),
        ("Done!", ABORTED, NOT_STARTED, "Go on")
    );
}

/// What came of an answer before the abort was read by somebody: it stays.
#[tokio::test]
async fn abort_while_the_model_streams_keeps_the_partial_text() {
    let text = |text: &str| Delta::Text {
        text: text.to_owned(),
    };
    let call = Delta::ToolUse {
        index: 0,
        id: Some("1".to_owned()),
        name: Some("say".to_owned()),
        arguments: "{".to_owned(),
    };
    let first = vec![
        text("void"),
        Delta::Restart,
        text("The weather "),
        text("in To"),
        call,
    ];
    for is_dropped in [false, true] {
        let model = Waiting {
            first: first.clone(),
            ..Waiting::new([Reply::text("ok")])
        };
        let (agent, events) = recorded(model.clone());
        let agent = agent.stream(true).build().unwrap();
        let running = run(&agent);
        model.asked.wait().await;
        if is_dropped {
            running.abort();
            assert!(within(running).await.unwrap_err().is_cancelled());
        } else {
            agent.abort();
            assert_eq!(within(running).await.unwrap(), Ok(EndReason::Aborted));
        }
        let kept = Message::text(Role::Assistant, "The weather in To");
        assert_eq!(agent.conversation().messages().last(), Some(&kept));
        assert_eq!(agent.conversation().messages().len(), 2);
        assert_eq!(agent.take_response(), None);
        let events = events.take_json();
        assert_eq!(of_type(&events, "messageEnd")[1]["message"], json!(kept));
        assert_eq!(of_type(&events, "agentEnd").len(), 1);
        model.go.raise();
        within(agent.run("Go on")).await.unwrap();
        validity::check(&asked(&model.script.prompts()[0])).unwrap();
    }
}

/// An abort between two turns: the model is not asked again.
#[tokio::test]
async fn abort_between_turns_asks_nothing_more() {
    let model = ScriptedModel::new([calls(&[("1", "say")]), Reply::text("never")]);
    let (agent, _) = recorded(model.clone());
    let agent = agent.tool(saying("say", "Done!")).build().unwrap();
    let aborting = agent.clone();
    agent
        .events()
        .add(move |event: &Arc<agent_core::event::Event>| {
            if json!(**event)["type"] == "turnEnd" {
                aborting.abort();
            }
        });
    assert_eq!(within(run(&agent)).await.unwrap(), Ok(EndReason::Aborted));
    assert_eq!(model.prompts().len(), 1);
    assert_eq!(results(&agent.conversation().messages())[0].1, "Done!");
}

/// An abort between the answer and its calls: none of them starts, each is answered.
#[tokio::test]
async fn abort_before_the_calls_begin_starts_none() {
    let model = ScriptedModel::new([calls(&[("1", "say"), ("2", "say")]), Reply::text("ok")]);
    let (agent, events) = recorded(model.clone());
    let agent = agent.tool(saying("say", "Done!")).build().unwrap();
    let (aborting, once) = (agent.clone(), AtomicBool::new(true));
    agent
        .events()
        .add(move |event: &Arc<agent_core::event::Event>| {
            let event = json!(**event);
            if event["message"]["content"][0]["type"] == "toolUse"
                && once.swap(false, Ordering::SeqCst)
            {
                aborting.abort();
            }
        });
    assert_eq!(within(run(&agent)).await.unwrap(), Ok(EndReason::Aborted));
    assert_eq!(of_type(&events.take_json(), "toolExecutionStart").len(), 0);
    assert_eq!(results(&agent.conversation().messages()).len(), 2);
    within(agent.run("Go on")).await.unwrap();
    validity::check(&asked(&model.prompts()[1])).unwrap();
}

/// Nothing is aborted while nothing runs.
#[tokio::test]
async fn abort_without_a_run_is_nothing() {
    let agent = Agent::builder(ScriptedModel::new([Reply::text("ok")]))
        .build()
        .unwrap();
    agent.abort();
    assert_eq!(within(run(&agent)).await.unwrap(), Ok(EndReason::Final));
    agent.abort();
    assert_eq!(agent.take_response().unwrap().as_text(), "ok");
}

/// Whoever waits for the run stops waiting: the tool is told, its end is told, the run's too.
#[tokio::test]
async fn dropped_run_ends_like_an_aborted_one() {
    let (tool, started) = endless("hang");
    let model = ScriptedModel::new([calls(&[("1", "hang"), ("2", "say")]), Reply::text("ok")]);
    let (agent, events) = recorded(model.clone());
    let agent = agent
        .tool(tool)
        .tool(saying("say", "Done!"))
        .build()
        .unwrap();
    let ended = signal_on(agent.events(), "agentEnd");
    let running = run(&agent);
    started.wait().await;
    running.abort();
    ended.wait().await;
    let told = events.take_json();
    for kind in [
        "toolExecutionStart",
        "toolExecutionEnd",
        "turnEnd",
        "agentEnd",
    ] {
        assert_eq!(of_type(&told, kind).len(), 1, "{kind}");
    }
    let answers: Vec<_> = of_type(&told, "messageEnd");
    assert_eq!(answers.len(), 4, "every message of the history was told");
    assert_eq!(json!(agent.conversation())[3], answers[3]["message"]);
    within(agent.run("Go on")).await.unwrap();
    validity::check(&asked(&model.prompts()[1])).unwrap();
}

/// g5.timeout: the answer of a call that is overdue shows up nowhere.
#[tokio::test]
async fn g5_timeout_drops_what_comes_late() {
    let late = Signal::default();
    let is_late = late.clone();
    let mut spec = open_spec("slow");
    spec.timeout = Some(SHORT);
    let tool = agent_core::tool::FunctionTool::new(spec, move |call| {
        let (progress, abort, late) = (
            Arc::clone(&call.progress),
            call.abort.clone(),
            is_late.clone(),
        );
        let work = tokio::spawn(async move {
            abort.aborted().await;
            progress(json!("late progress"));
            late.raise();
            "late value"
        });
        async move { Ok(ToolResult::text(work.await?)) }
    });
    let (other, started, go) = gated("wait");
    let model = ScriptedModel::new([calls(&[("1", "slow"), ("2", "wait")]), Reply::text("ok")]);
    let (agent, events) = recorded(model.clone());
    let agent = agent.tool(tool).tool(other).build().unwrap();
    let running = run(&agent);
    started.wait().await;
    late.wait().await;
    go.raise();
    assert_eq!(within(running).await.unwrap(), Ok(EndReason::Final));
    let answers = results(&agent.conversation().messages());
    assert_eq!(answers[0].1, "Tool slow did not answer within 20ms");
    let everything = json!([events.take_json(), agent.conversation()]).to_string();
    assert!(!everything.contains("late"), "{everything}");
}
