//! Several calls of one answer: their order, their failures, who ends the loop.

use std::time::Duration;

use agent_core::agent::{Agent, ScriptedModel, Terminate};
use agent_core::event::EndReason;
use agent_core::message::{Arguments, Block, Message, Reply, Role, StopReason};
use serde_json::json;
use tool_sdk::{Content, ToolError, ToolResult};

use super::fixture::{
    asked, block, calls, gated, of_type, parallel, recorded, results, saying, terminating,
};
use super::lifecycle::uuid;
use super::validity;
use crate::host::{Log, answering, open_spec, within};

fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    let owned = pairs
        .iter()
        .map(|(id, text)| ((*id).to_owned(), (*text).to_owned()));
    owned.collect()
}

/// R14, g5.result-order: answers stand in the order of the calls, ends are told as they come.
#[tokio::test]
async fn r14_g5_result_order_is_that_of_the_calls_whichever_ends_first() {
    let (slow, started, go) = gated("slow");
    let fast = parallel("fast", move |_| {
        let (started, go) = (started.clone(), go.clone());
        async move {
            started.wait().await;
            go.raise();
            Ok(ToolResult::text("Tokyo: 20°C"))
        }
    });
    let ids = [("call_sf", "slow"), ("call_tokyo", "fast")];
    let model = ScriptedModel::new([calls(&ids), Reply::text("ok")]);
    let (agent, events) = recorded(model.clone());
    let agent = agent.tool(slow).tool(fast).build().unwrap();
    within(agent.run("Hello")).await.unwrap();
    let answers = results(&agent.conversation().messages());
    assert_eq!(
        answers,
        pairs(&[("call_sf", "let go"), ("call_tokyo", "Tokyo: 20°C")])
    );
    let events = events.take_json();
    let ends = of_type(&events, "toolExecutionEnd");
    let ends: Vec<&str> = ends
        .iter()
        .map(|end| end["toolCallId"].as_str().unwrap())
        .collect();
    assert_eq!(ends, ["call_tokyo", "call_sf"]);
}

/// g5.partial-failure, g5.errors-to-model: a failure is the answer to its own call; the others and
/// the loop go on.
#[tokio::test]
async fn g5_partial_failure_leaves_the_other_calls_and_the_loop_alone() {
    let text = "HTTP 401: the key is wrong";
    let model = ScriptedModel::new([
        calls(&[
            ("1", "ok"),
            ("2", "fails"),
            ("3", "panics"),
            ("4", "nope"),
            ("5", "ok"),
        ]),
        Reply::text("ok"),
    ]);
    let (agent, events) = recorded(model.clone());
    let agent = agent
        .tool(saying("ok", "Done!"))
        .tool(parallel("fails", move |_| async move {
            Err(ToolError::new(text))
        }))
        .tool(parallel("panics", |_| async { panic!("boom") }))
        .build()
        .unwrap();
    let run = within(agent.run("Hello")).await.unwrap();
    assert_eq!(run.reason, EndReason::Final);
    let last = asked(&model.prompts()[1]);
    validity::check(&last).unwrap();
    let contents: Vec<&str> = last[2..]
        .iter()
        .map(|one| one["content"].as_str().unwrap())
        .collect();
    assert_eq!(
        (contents[0], contents[1], contents[4]),
        ("Done!", text, "Done!")
    );
    assert_eq!(contents[2], "The tool panicked: boom");
    assert!(
        contents[3].starts_with("Tool nope not found"),
        "{contents:?}"
    );
    let events = events.take_json();
    assert_eq!(of_type(&events, "toolExecutionEnd").len(), 4);
    let flags: Vec<bool> = agent
        .conversation()
        .messages()
        .iter()
        .filter_map(|message| match message.content[0] {
            Block::ToolResult { is_error, .. } => Some(is_error),
            _ => None,
        })
        .collect();
    assert_eq!(flags, [false, true, true, true, false]);
}

/// g5.empty-result: providers refuse empty text.
#[tokio::test]
async fn g5_empty_result_is_answered_with_a_placeholder() {
    let ids = [("1", "nothing"), ("2", "empty"), ("3", "fails")];
    let model = ScriptedModel::new([calls(&ids), Reply::text("ok")]);
    let agent = Agent::builder(model.clone())
        .tool(answering("nothing", || Ok(ToolResult::content([]))))
        .tool(answering("empty", || Ok(ToolResult::text(""))))
        .tool(answering("fails", || Err(ToolError::new(""))))
        .build()
        .unwrap();
    within(agent.run("Hello")).await.unwrap();
    let last = asked(&model.prompts()[1]);
    validity::check(&last).unwrap();
    assert_eq!(
        (last.len(), &last[2]["content"], &last[3]["content"]),
        (5, &json!("(no output)"), &json!("(no output)"))
    );
}

/// Y10, Y33, R5, R38, g5.terminate: any result that ends the loop ends it; every call is answered,
/// and the words of those that end it are the response.
#[tokio::test]
async fn y10_y33_r5_r38_any_terminating_result_ends_the_loop() {
    let ids = [("1", "first"), ("2", "second"), ("3", "third")];
    let model = ScriptedModel::new([calls(&ids), Reply::text("never")]);
    let (agent, events) = recorded(model.clone());
    let agent = agent
        .tool(terminating("first", "I end it"))
        .tool(saying("second", "I do not"))
        .tool(terminating("third", "So do I"))
        .build()
        .unwrap();
    let run = within(agent.run("Hello")).await.unwrap();
    assert_eq!((run.reason, run.iterations), (EndReason::Terminated, 1));
    assert_eq!(model.prompts().len(), 1);
    let words = Message::new(
        Role::Assistant,
        vec![Block::text("I end it"), Block::text("So do I")],
    );
    assert_eq!(agent.take_response(), Some(words.clone()));
    let messages = agent.conversation().messages();
    let expected = pairs(&[("1", "I end it"), ("2", "I do not"), ("3", "So do I")]);
    assert_eq!(results(&messages), expected);
    assert_eq!(messages.last(), Some(&words), "it is part of what was said");
    let events = events.take_json();
    assert_eq!(of_type(&events, "toolExecutionEnd").len(), 3);
    let ends = of_type(&events, "agentEnd");
    assert_eq!(ends, [&json!({"type": "agentEnd", "reason": "terminated"})]);
}

/// R5, g5.terminate: with `All`, only a batch of nothing else ends it.
#[tokio::test]
async fn r5_all_of_a_batch_must_end_the_loop_where_it_is_asked_for() {
    let model = ScriptedModel::new([
        calls(&[("1", "ends"), ("2", "says")]),
        calls(&[("1", "ends"), ("2", "ends")]),
        Reply::text("never"),
    ]);
    let (agent, events) = recorded(model.clone());
    let agent = agent
        .tool(terminating("ends", "The end"))
        .tool(saying("says", "Not yet"))
        .terminate(Terminate::All)
        .build()
        .unwrap();
    let run = within(agent.run("Hello")).await.unwrap();
    assert_eq!((run.reason, run.iterations), (EndReason::Terminated, 2));
    assert_eq!(agent.take_response().unwrap().as_text(), "The end\nThe end");
    assert_eq!(results(&agent.conversation().messages()).len(), 4);
    assert_eq!(of_type(&events.take_json(), "agentEnd").len(), 1);
    // The next run has a valid history to go on with.
    within(agent.run("Again")).await.unwrap();
    validity::check(&asked(&model.prompts()[2])).unwrap();
}

/// R22: the same call twice is made once; another call of the same id gets an id of its own, in
/// history and events too.
#[tokio::test]
async fn r22_one_id_twice_in_one_reply() {
    let log = Log::default();
    let seen = log.clone();
    let tool = parallel("note", move |call| {
        seen.add(format!("{} {}", call.call_id, call.arguments["n"]));
        async { Ok(ToolResult::text("Done!")) }
    });
    let spelled = Block::ToolUse {
        id: "call_1".to_owned(),
        name: "note".to_owned(),
        input: Arguments::Text("{ \"n\":1 }".to_owned()),
    };
    let reply = Reply::new(vec![
        block("call_1", "note", json!({"n": 1})),
        spelled,
        block("call_1", "note", json!({"n": 2})),
        block("call_2", "note", json!({"n": 1})),
    ]);
    // Ids are never compared across replies.
    let model = ScriptedModel::new([reply, calls(&[("call_1", "note")]), Reply::text("ok")]);
    let (agent, events) = recorded(model.clone());
    let agent = agent.tool(tool).build().unwrap();
    within(agent.run("Hello")).await.unwrap();
    for prompt in model.prompts() {
        validity::check(&asked(&prompt)).unwrap();
    }
    let answers = results(&agent.conversation().messages());
    let ids: Vec<&str> = answers.iter().map(|(id, _)| id.as_str()).collect();
    assert_eq!(
        (ids[0], ids[2], ids[3], ids.len()),
        ("call_1", "call_2", "call_1", 4)
    );
    assert!(uuid(ids[1]), "{ids:?}");
    let notes = [
        "call_1 1",
        &format!("{} 2", ids[1]),
        "call_2 1",
        "call_1 null",
    ];
    assert_eq!(log.take(), notes);
    let events = events.take_json();
    let said = &of_type(&events, "messageEnd")[1]["message"]["content"];
    let told: Vec<&str> = said
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["id"].as_str().unwrap())
        .collect();
    assert_eq!(told, ids[..3]);
}

/// R25: the last call of an answer that was cut off is not made, though its arguments can be read;
/// complete ones before it are.
#[tokio::test]
async fn r25_last_call_of_a_cut_answer_is_refused() {
    let log = Log::default();
    let seen = log.clone();
    let tool = agent_core::tool::FunctionTool::new(open_spec("write"), move |call| {
        seen.add(call.call_id);
        async { Ok(ToolResult::text("Done!")) }
    });
    let cut = |reply: Reply| Reply {
        stop: StopReason::Length,
        ..reply
    };
    let mut talk = calls(&[("3", "write")]);
    talk.content.push(Block::text("and then I"));
    let model = ScriptedModel::new([
        cut(calls(&[("1", "write"), ("2", "write")])),
        cut(talk),
        cut(Reply::text("This is the e")),
    ]);
    let (agent, events) = recorded(model.clone());
    let agent = agent.tool(tool).build().unwrap();
    let run = within(agent.run("Hello")).await.unwrap();
    assert_eq!((run.reason, run.iterations), (EndReason::Final, 3));
    assert_eq!(run.stop_reason, Some(StopReason::Length));
    assert_eq!(log.take(), ["1", "3"]);
    let answers = results(&agent.conversation().messages());
    assert!(
        answers[1].1.contains("cut off by the limit of tokens"),
        "{answers:?}"
    );
    let events = events.take_json();
    let rejected = of_type(&events, "toolCallRejected");
    assert_eq!(
        (rejected.len(), &rejected[0]["toolCallId"]),
        (1, &json!("2"))
    );
}

/// Calls overlap as the mode says; a barrier waits for what is before it.
#[tokio::test]
async fn y45_y46_mode_of_the_agent_is_that_of_its_batches() {
    for (mode, expected) in [
        (
            agent_core::config::ToolExecution::Sequential,
            ["+1", "-1", "+2", "-2"],
        ),
        (
            agent_core::config::ToolExecution::Parallel,
            ["+1", "+2", "-1", "-2"],
        ),
        (
            agent_core::config::ToolExecution::PerTool,
            ["+1", "+2", "-1", "-2"],
        ),
    ] {
        let log = Log::default();
        let seen = log.clone();
        let tool = parallel("step", move |call| {
            let (seen, id) = (seen.clone(), call.call_id.to_owned());
            async move {
                seen.add(format!("+{id}"));
                // Whoever overlaps has begun by then.
                tokio::time::sleep(Duration::from_millis(20)).await;
                seen.add(format!("-{id}"));
                Ok(ToolResult::content([Content::text("Done!")]))
            }
        });
        let ids = [("1", "step"), ("2", "step")];
        let model = ScriptedModel::new([calls(&ids), Reply::text("ok")]);
        let agent = Agent::builder(model)
            .tool(tool)
            .tool_execution(mode)
            .build()
            .unwrap();
        within(agent.run("Hello")).await.unwrap();
        assert_eq!(log.take(), expected, "{mode:?}");
    }
}
