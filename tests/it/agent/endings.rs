//! How a run ends: limits, the closing turn, answers of nothing, failures of the model.

use agent_core::agent::{
    Agent, AgentBuilder, AgentError, ModelError, ModelErrorKind, ScriptedModel,
};
use agent_core::event::EndReason;
use agent_core::message::{Block, Message, Prompt, Reply};
use serde_json::{Value, json};

use super::fixture::{
    Unformatted, Waiting, asked, calls, of_type, recorded, results, saying, types,
};
use super::validity;
use crate::host::{Recorder, within};

fn thinking(text: &str) -> Block {
    Block::Thinking {
        thinking: text.to_owned(),
        signature: None,
        redacted: None,
    }
}

/// An agent whose model never stops to call.
fn restless(limit: usize) -> (AgentBuilder, ScriptedModel, Recorder) {
    let model = ScriptedModel::default();
    for number in 0..20 {
        let (one, other) = (format!("a{number}"), format!("b{number}"));
        model.then(Ok(calls(&[(&one, "say"), (&other, "say")])));
    }
    let (agent, events) = recorded(model.clone());
    let agent = agent.tool(saying("say", "Done!")).max_iterations(limit);
    (agent, model, events)
}

/// g5.max-iter: an iteration is one question to the model; all calls made so far are answered.
#[tokio::test]
async fn g5_max_iter_is_so_many_questions_and_no_more() {
    let (agent, model, events) = restless(2);
    let agent = agent.build().unwrap();
    let run = within(agent.run("Hello")).await.unwrap();
    assert_eq!((run.reason, run.iterations), (EndReason::MaxIterations, 2));
    assert_eq!(model.prompts().len(), 2);
    let ids: Vec<String> = results(&agent.conversation().messages())
        .into_iter()
        .map(|one| one.0)
        .collect();
    assert_eq!(ids, ["a0", "b0", "a1", "b1"]);
    assert_eq!(agent.take_response(), None);
    let events = events.take_json();
    assert_eq!(
        of_type(&events, "agentEnd"),
        [&json!({"type": "agentEnd", "reason": "maxIterations"})]
    );
    assert_eq!(of_type(&events, "turnStart").len(), 2);
}

/// The limit counts each run anew; without one it is the documented number.
#[tokio::test]
async fn g5_max_iter_counts_each_run_and_has_a_default() {
    let (agent, model, _) = restless(1);
    let agent = agent.build().unwrap();
    for asked in 1..=3 {
        within(agent.run("Again")).await.unwrap();
        assert_eq!(model.prompts().len(), asked);
        validity::check(&super::fixture::asked(&model.prompts()[asked - 1])).unwrap();
    }
    let model = ScriptedModel::default();
    for _ in 0..20 {
        model.then(Ok(calls(&[("1", "say")])));
    }
    let agent = Agent::builder(model.clone())
        .tool(saying("say", "Done!"))
        .build()
        .unwrap();
    within(agent.run("Hello")).await.unwrap();
    assert_eq!(model.prompts().len(), 10);
}

/// A17: one more question, without calls; the question is no part of the history, the answer is.
#[tokio::test]
async fn closing_turn_asks_for_a_last_word_without_calls() {
    let model = ScriptedModel::new([calls(&[("1", "say")]), Reply::text("So far: Done!")]);
    let (agent, events) = recorded(model.clone());
    let agent = agent
        .tool(saying("say", "Done!"))
        .max_iterations(1)
        .closing_turn(true)
        .build()
        .unwrap();
    let run = within(agent.run("Hello")).await.unwrap();
    assert_eq!((run.reason, run.iterations), (EndReason::MaxIterations, 2));
    assert_eq!(agent.take_response().unwrap().as_text(), "So far: Done!");
    let last = &model.prompts()[1];
    // Providers refuse calls in a history without the tools that they are of.
    assert!(last.context.calls_are_over && last.context.tools.len() == 1);
    let question = "You have failed to generate response within the maximum iterations. Now respond \
                    directly by summarizing the current situation.";
    let messages = asked(last);
    validity::check(&messages).unwrap();
    assert_eq!(messages.last().unwrap()["content"], question);
    let kept: Vec<String> = agent
        .conversation()
        .messages()
        .iter()
        .map(Message::as_text)
        .collect();
    assert!(
        !kept.iter().any(|text| text.contains("maximum iterations")),
        "{kept:?}"
    );
    assert_eq!(kept.last().unwrap(), "So far: Done!");
    assert_eq!(of_type(&events.take_json(), "agentEnd").len(), 1);
}

/// Calls of a closing turn are not made, not kept, not told.
#[tokio::test]
async fn closing_turn_makes_no_calls() {
    let (agent, _, events) = restless(1);
    let agent = agent.closing_turn(true).build().unwrap();
    let run = within(agent.run("Hello")).await.unwrap();
    assert_eq!(run.reason, EndReason::MaxIterations);
    let messages = agent.conversation().messages();
    assert_eq!(results(&messages).len(), 2);
    let events = events.take_json();
    assert_eq!(of_type(&events, "toolExecutionStart").len(), 2);
    let said = of_type(&events, "messageEnd");
    assert_eq!(said.last().unwrap()["message"]["content"], json!([]));
    assert_eq!(messages.len(), 4);
}

#[tokio::test]
async fn abort_of_a_closing_turn_is_an_abort() {
    let model = Waiting::new([calls(&[("1", "say")])]);
    let agent = Agent::builder(model.clone())
        .tool(saying("say", "Done!"))
        .max_iterations(1)
        .closing_turn(true)
        .build()
        .unwrap();
    let running = tokio::spawn({
        let agent = agent.clone();
        async move { agent.run("Hello").await }
    });
    model.asked.wait().await;
    model.go.raise();
    model.asked.wait().await;
    agent.abort();
    assert_eq!(
        within(running).await.unwrap().unwrap().reason,
        EndReason::Aborted
    );
}

/// Answers of nothing: no provider takes them back, and the run ends as after any last word.
#[tokio::test]
async fn answers_of_nothing_end_the_run_and_leave_no_empty_message() {
    for content in [
        Vec::new(),
        vec![Block::text("")],
        vec![Block::text(""), Block::text("")],
    ] {
        let model = ScriptedModel::new([Reply::new(content), Reply::text("Yes?")]);
        let agent = Agent::builder(model.clone()).build().unwrap();
        let run = within(agent.run("Hello")).await.unwrap();
        assert_eq!(run.reason, EndReason::Final);
        assert_eq!(agent.take_response().unwrap().content, []);
        assert_eq!(agent.conversation().messages().len(), 1);
        within(agent.run("Are you there?")).await.unwrap();
        let last = asked(&model.prompts()[1]);
        validity::check(&last).unwrap();
        assert_eq!(last.len(), 2);
    }
}

/// Empty text beside calls goes, the calls stay.
#[tokio::test]
async fn empty_text_beside_calls_is_left_out() {
    let mut reply = calls(&[("1", "say")]);
    reply.content.insert(0, Block::text(""));
    let model = ScriptedModel::new([reply, Reply::text("ok")]);
    let agent = Agent::builder(model)
        .tool(saying("say", "Done!"))
        .build()
        .unwrap();
    within(agent.run("Hello")).await.unwrap();
    assert_eq!(agent.conversation().messages()[1].content.len(), 1);
}

/// An answer that is only thought is kept for the provider, and is no text.
#[tokio::test]
async fn answer_of_thinking_alone_ends_the_run() {
    let model = ScriptedModel::new([Reply::new(vec![thinking("Hm")]), Reply::text("Yes?")]);
    let agent = Agent::builder(model.clone()).build().unwrap();
    let run = within(agent.run("Hello")).await.unwrap();
    assert_eq!(run.reason, EndReason::Final);
    let response = agent.take_response().unwrap();
    assert_eq!(
        (response.as_text(), response.content),
        (String::new(), vec![thinking("Hm")])
    );
    within(agent.run("Are you there?")).await.unwrap();
    validity::check(&asked(&model.prompts()[1])).unwrap();
    assert_eq!(
        model.prompts()[1].context.messages[1].content,
        [thinking("Hm")]
    );
}

/// A model that fails ends the run, not the agent; what was said stays, and `resume` asks again.
#[tokio::test]
async fn failure_of_the_model_ends_the_run_and_resume_tries_again() {
    let error = ModelError::new(ModelErrorKind::Overloaded, "Try again in a minute");
    let model = ScriptedModel::new([calls(&[("1", "say")])]);
    model.then(Err(error.clone()));
    model.then(Ok(Reply::text("ok")));
    let (agent, events) = recorded(model.clone());
    let agent = agent.tool(saying("say", "Done!")).build().unwrap();
    assert_eq!(
        within(agent.run("Hello")).await,
        Err(AgentError::Model(error))
    );
    let told = events.take_json();
    let end = json!({"type": "agentEnd", "reason": "error", "error": "Try again in a minute"});
    assert_eq!(of_type(&told, "agentEnd"), [&end]);
    assert_eq!(
        types(&told)[told.len() - 4..],
        ["messageStart", "messageEnd", "turnEnd", "agentEnd"]
    );
    within(agent.resume()).await.unwrap();
    assert_eq!(asked(&model.prompts()[2]), asked(&model.prompts()[1]));
}

/// Whoever asks again what a failed run has left without an answer has said it once; other words, and
/// the same ones after an answer, are said.
#[tokio::test]
async fn question_without_an_answer_is_not_said_twice() {
    let error = ModelError::new(ModelErrorKind::Cut, "cut");
    let model = ScriptedModel::default();
    for answer in [
        Err(error.clone()),
        Err(error),
        Ok(Reply::text("Hi.")),
        Ok(Reply::text("Again?")),
    ] {
        model.then(answer);
    }
    let agent = Agent::builder(model.clone()).build().unwrap();
    for words in ["Hello", "Hello", "Hello?", "Hello?"] {
        drop(within(agent.run(words)).await);
    }
    let texts: Vec<Vec<String>> = model
        .prompts()
        .iter()
        .map(|prompt| {
            prompt
                .context
                .messages
                .iter()
                .map(Message::as_text)
                .collect()
        })
        .collect();
    assert_eq!(texts[1], ["Hello"]);
    assert_eq!(texts[2], ["Hello", "Hello?"]);
    assert_eq!(texts[3], ["Hello", "Hello?", "Hi.", "Hello?"]);
}

/// g5.hook-error: a panic of the model, or of its format, is the run's error and nothing more.
#[tokio::test]
async fn g5_hook_error_of_the_model_is_the_runs_error() {
    let check = async |agent: AgentBuilder, events: Recorder, expected: &str| {
        let agent = agent.build().unwrap();
        for _ in 0..2 {
            let error = within(agent.run("Hello")).await.unwrap_err();
            assert_eq!(error.to_string(), expected);
            let told = events.take_json();
            let ends: Vec<&Value> = of_type(&told, "agentEnd");
            assert_eq!(ends.len(), 1);
            assert_eq!(
                (&ends[0]["reason"], &ends[0]["error"]),
                (&json!("error"), &json!(expected))
            );
            let count = |kind: &str| of_type(&told, kind).len();
            assert_eq!(count("messageStart"), count("messageEnd"));
            assert_eq!(count("turnStart"), count("turnEnd"));
        }
        assert_eq!(agent.conversation().messages().len(), 1);
    };
    let model = |_: Prompt| async { panic!("out of words") };
    let (agent, events) = recorded(model);
    check(agent, events, "the model failed: it panicked: out of words").await;
    let (agent, events) = recorded(Unformatted);
    check(
        agent,
        events,
        "the model's format failed: no words for this",
    )
    .await;
}
