//! What `chat -p` prints where: the text, one JSON value, or every event.

use agent_core::agent::{Agent, ScriptedModel};
use agent_core::message::Reply;
use agent_core::registry::Registry;
use serde_json::{Value, json};

use super::fixture::{
    Chat, LAST, QUESTION, RESULT, chat, command, equipped, talking, weather_script,
};
use super::replies::Answer;
use super::server::{Dialect, Gate, Server};
use crate::agent::{calling, weather};
use crate::host::{Recorder, within};

/// Stdout is the text and nothing else, whatever tools do and print; what they do is told on stderr.
#[test]
fn answer_alone_is_on_stdout() {
    for dialect in Dialect::BOTH {
        let calls = Answer::saying("One moment. ")
            .and_calling("call_1", "getWeather", json!({"city": "Tokyo"}))
            .and_calling("call_2", "steps", json!({}))
            .and_calling("call_3", "chatter", json!({}))
            .and_calling("call_4", "nothing", json!({}));
        let server = Server::start(dialect, [calls, Answer::saying(LAST)]);
        let project = equipped(&server);
        let ran = chat(&project, &["-p", QUESTION]);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        assert_eq!(ran.stdout, format!("One moment. \n{LAST}\n"));
        for told in [
            "→ getWeather {\"city\": \"Tokyo\"}\n",
            RESULT,
            "  {\"status\": \"Fetching data...\"}\n",
            "✓ chatter (",
            "✗ nothing: Tool nothing not found",
        ] {
            assert!(ran.stderr.contains(told), "{told}: {}", ran.stderr);
        }
        let requests = server.requests();
        assert_eq!(requests.len(), 2);
        assert_eq!(requests[0].body["tools"].as_array().unwrap().len(), 7);
    }
}

/// Pieces of an answer are there before its end.
#[test]
fn text_is_printed_as_it_comes() {
    for dialect in Dialect::BOTH {
        let gate = Gate::default();
        let answer = Answer::saying("One moment. ").then_holding(&gate);
        let server = Server::start(dialect, [answer.then_saying("Grüße aus 東京!")]);
        let project = talking(&server);
        let on = Chat::start(&mut command(&project, &["-p", "Hello"]));
        assert_eq!(on.stdout.wait_for("moment. "), "One moment. ");
        gate.open();
        let ran = on.finish();
        assert_eq!(ran.stdout, "One moment. Grüße aus 東京!\n");
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    }
}

/// Exactly one JSON value: why it ended, after how many questions, for how much, with which words.
#[test]
fn json_is_one_value() {
    let server = Server::start(Dialect::OpenAi, weather_script());
    let ran = chat(&equipped(&server), &["-p", QUESTION, "--json"]);
    let expected = json!({
        "reason": "final", "iterations": 2, "usage": ran.json()["usage"],
        "response": {"role": "assistant", "content": [{"type": "text", "text": LAST}]},
    });
    assert_eq!((ran.code, ran.json()), (Some(0), expected));
    assert_eq!(ran.json()["usage"]["inputTokens"], 40);
    assert_eq!(ran.stdout.lines().count(), 1);
}

/// An answer that failed is one JSON value too.
#[test]
fn json_of_a_failure_is_one_value() {
    let server = Server::start(Dialect::OpenAi, []);
    let ran = chat(&talking(&server), &["-p", "Hello", "--json"]);
    assert_eq!(ran.code, Some(1));
    let message = &ran.json()["error"]["message"];
    let message = message.as_str().unwrap();
    assert!(
        message.contains("the script of this server has ended"),
        "{message}"
    );
}

/// Types of events that begin or end something.
fn starts_and_ends(events: &[Value]) -> Vec<String> {
    let types = events.iter().map(|event| event["type"].as_str().unwrap());
    let types = types.filter(|kind| kind.ends_with("Start") || kind.ends_with("End"));
    types.map(ToOwned::to_owned).collect()
}

/// The events of the command are those of the library, one a line.
#[tokio::test(flavor = "multi_thread")]
async fn events_are_those_of_the_library() {
    let server = Server::start(Dialect::Anthropic, weather_script());
    let project = equipped(&server);
    let ran =
        tokio::task::spawn_blocking(move || chat(&project, &["-p", QUESTION, "--events", "json"]));
    let ran = ran.await.unwrap();
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let lines = ran
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    let events: Vec<Value> = lines.collect();

    let recorder = Recorder::default();
    let call = calling("call_1", "getWeather", json!({"city": "Tokyo"}));
    let agent = Agent::builder(ScriptedModel::new([call, Reply::text(LAST)]))
        .tools(Registry::without_plugins(recorder.emitter()))
        .tool(weather())
        .build()
        .unwrap();
    within(agent.run(QUESTION)).await.unwrap();
    assert_eq!(
        starts_and_ends(&events),
        starts_and_ends(&recorder.take_json())
    );
    let seq: Vec<u64> = events
        .iter()
        .map(|event| event["seq"].as_u64().unwrap())
        .collect();
    assert!(seq.iter().copied().eq(1..=events.len() as u64), "{seq:?}");
    let ends: Vec<&Value> = events
        .iter()
        .filter(|event| event["type"] == "agentEnd")
        .collect();
    assert_eq!(ends.len(), 1);
    assert_eq!(
        (&ends[0]["reason"], &ends[0]["usage"]["outputTokens"]),
        (&json!("final"), &json!(10))
    );
    let pieces = events
        .iter()
        .filter(|event| event["type"] == "messageUpdate");
    let text: String = pieces
        .filter_map(|event| event["delta"]["text"].as_str())
        .collect();
    assert_eq!(text, LAST);
}

/// A run that fails ends with its event as well, and exit code 1.
#[test]
fn failure_is_an_event() {
    let server = Server::start(Dialect::OpenAi, []);
    let ran = chat(&talking(&server), &["-p", "Hello", "--events", "json"]);
    assert_eq!(ran.code, Some(1));
    let last: Value = serde_json::from_str(ran.stdout.lines().last().unwrap()).unwrap();
    assert_eq!(
        (&last["type"], &last["reason"]),
        (&json!("agentEnd"), &json!("error"))
    );
    assert!(
        last["error"].as_str().unwrap().contains("has ended"),
        "{last}"
    );
}

/// A question without words is none.
#[test]
fn empty_question_is_wrong_usage() {
    let server = Server::start(Dialect::OpenAi, []);
    for nothing in ["", " \n"] {
        let ran = chat(&talking(&server), &["-p", nothing]);
        assert_eq!(
            (ran.code, ran.stdout.as_str()),
            (Some(2), ""),
            "{}",
            ran.stderr
        );
    }
    assert_eq!(server.all_requests().len(), 0);
}
