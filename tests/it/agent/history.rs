//! A conversation that is saved, taken up again, shortened: valid, or refused with the place.

use agent_core::agent::window::{paired, window};
use agent_core::agent::{Agent, Conversation, ScriptedModel};
use agent_core::event::EndReason;
use agent_core::message::{Context, Message, Reply, Role};
use serde_json::{Value, json};

use super::fixture::{asked, calls, recorded, results, saying};
use super::validity;
use crate::host::{endless, within};

/// What a model would be sent of these messages.
fn formatted(messages: &[Message]) -> Vec<Value> {
    let context = Context {
        messages: messages.to_vec(),
        ..Context::default()
    };
    let conversation = agent_core::format::openai::conversation(&context, None);
    conversation["messages"].as_array().unwrap().clone()
}

/// Two exchanges with calls, as messages.
fn long() -> Vec<Message> {
    let call = |ids: &[(&str, &str)]| Message::new(Role::Assistant, calls(ids).content);
    let mut conversation = Conversation::default();
    for round in 0..2 {
        conversation.say(Message::text(Role::User, format!("question {round}")));
        for ids in [&[("1", "say"), ("2", "say")][..], &[("3", "say")][..]] {
            conversation.reply(call(ids));
            // Whoever does not answer answers with an abort.
            conversation.close();
        }
        conversation.reply(Message::text(Role::Assistant, format!("answer {round}")));
    }
    conversation.messages()
}

/// Saved as JSON in the middle of a run and taken up by another agent: it goes on.
#[tokio::test]
async fn conversation_saved_while_calls_run_is_taken_up_again() {
    let (tool, started) = endless("hang");
    let model = ScriptedModel::new([calls(&[("1", "say"), ("2", "hang")])]);
    let agent = Agent::builder(model)
        .tool(tool)
        .tool(saying("say", "Done!"))
        .build()
        .unwrap();
    let running = tokio::spawn({
        let agent = agent.clone();
        async move { agent.run("Begin").await.map(|run| run.reason) }
    });
    started.wait().await;
    let saved = serde_json::to_string(&agent.conversation()).unwrap();
    agent.abort();
    assert_eq!(within(running).await.unwrap(), Ok(EndReason::Aborted));

    let conversation: Conversation = serde_json::from_str(&saved).unwrap();
    assert_eq!(serde_json::to_string(&conversation).unwrap(), saved);
    let model = ScriptedModel::new([Reply::text("ok")]);
    let agent = Agent::builder(model.clone())
        .conversation(conversation)
        .build()
        .unwrap();
    within(agent.run("Go on")).await.unwrap();
    let messages = asked(&model.prompts()[0]);
    validity::check(&messages).unwrap();
    assert_eq!(
        (messages.len(), &messages[2]["content"]),
        (5, &json!("Done!"))
    );
}

/// Histories that no provider takes are refused where they are read, with the message's number.
#[test]
fn invalid_histories_are_refused_with_the_place() {
    let user = json!({"role": "user", "content": [{"type": "text", "text": "Hello"}]});
    let calls = |ids: &[&str]| {
        let block = |id: &&str| json!({"type": "toolUse", "id": id, "name": "t", "input": {}});
        json!({"role": "assistant", "content": ids.iter().map(block).collect::<Vec<_>>()})
    };
    let answer = |id: &str| {
        json!({"role": "tool", "content": [{
            "type": "toolResult", "toolCallId": id, "toolName": "t", "isError": false,
            "content": [{"type": "text", "text": "Done!"}],
        }]})
    };
    let forged = |role: &str| json!({"role": role, "content": answer("a")["content"]});
    let read = |messages: &Value| {
        serde_json::from_value::<Conversation>(messages.clone()).map_err(|error| error.to_string())
    };
    let valid = json!([user, calls(&["a", "b"]), answer("b"), answer("a"), user]);
    assert_eq!(json!(read(&valid).unwrap()), valid);
    for (messages, place) in [
        (
            json!([user, {"role": "user", "content": []}]),
            "message 1: it is empty",
        ),
        (
            json!([user, calls(&["a"])]),
            "message 2: the call `a` is not answered",
        ),
        (
            json!([user, calls(&["a", "b"]), answer("a"), user]),
            "message 3: the call `b`",
        ),
        (
            json!([user, calls(&["a"]), answer("b")]),
            "message 2: it answers `b`",
        ),
        (
            json!([user, calls(&["a"]), answer("a"), answer("a")]),
            "message 3: it answers `a`",
        ),
        (json!([answer("a")]), "message 0: it answers `a`"),
        (
            json!([user, calls(&["a", "a"])]),
            "message 1: two calls have the id `a`",
        ),
        (json!([user, calls(&[""])]), "message 1: a call has no id"),
        (
            json!([user, calls(&["a"]), forged("user")]),
            "message 2: the call `a`",
        ),
        (json!([forged("user")]), "message 0: results of tools"),
        (
            json!([{"role": "user", "content": calls(&["a"])["content"]}]),
            "message 0: only the assistant",
        ),
        (
            json!([user, {"role": "tool", "content": user["content"]}]),
            "message 1: results of tools",
        ),
    ] {
        let error = read(&messages).unwrap_err();
        assert!(error.contains(place), "{messages}: {error}");
    }
}

/// g5.trim-orphans: whatever length a window has, calls and results stay together, and what a
/// person said last is in it.
#[test]
fn g5_trim_orphans_windows_hold_whole_exchanges() {
    let messages = long();
    for length in 0..=messages.len() + 1 {
        let kept = window(&messages, length);
        let shown = formatted(&kept);
        validity::check(&shown).unwrap_or_else(|wrong| panic!("{length}: {wrong}"));
        assert_eq!(shown[0]["role"], "user", "{length}");
        assert!(
            kept.contains(&Message::text(Role::User, "question 1")),
            "{length}"
        );
    }
    assert_eq!(window(&messages, messages.len()), messages);
    assert_eq!(window(&[], 3), []);
}

/// g5.trim-orphans: a hook that takes messages out anywhere, or shows them twice, makes no request
/// that a provider refuses.
#[tokio::test]
async fn g5_trim_orphans_hook_that_cuts_badly_is_mended() {
    let messages = long();
    let all = 0..messages.len();
    let mut cuts: Vec<Vec<Message>> = all
        .clone()
        .map(|at| messages[at..].to_vec())
        .chain(all.clone().map(|at| messages[..at].to_vec()))
        .collect();
    for at in all {
        let mut without = messages.clone();
        without.remove(at);
        cuts.push(without);
        let mut twice = messages.clone();
        twice.insert(at, messages[at].clone());
        cuts.push(twice);
    }
    let mut reversed = messages.clone();
    reversed.reverse();
    cuts.push(reversed);
    for cut in cuts {
        let model = ScriptedModel::new([Reply::text("ok")]);
        let (agent, _) = recorded(model.clone());
        let shown = cut.clone();
        let agent = agent
            .system_prompt("Be short.")
            .prepare_context(move |mut context: Context| {
                context.messages.clone_from(&shown);
                async { Ok(context) }
            })
            .build()
            .unwrap();
        within(agent.run("Hello")).await.unwrap();
        let mut messages = asked(&model.prompts()[0]);
        // The hook may well begin with an answer; pairs are what the loop sees to.
        messages.insert(1, json!({"role": "user", "content": "Hello"}));
        validity::check(&messages).unwrap_or_else(|wrong| panic!("{wrong}: {cut:?}"));
    }
}

/// What is whole is left alone.
#[test]
fn g5_trim_orphans_whole_conversations_are_not_touched() {
    let messages = long();
    assert_eq!(paired(&messages), messages);
    assert_eq!(results(&messages).len(), 6);
}
