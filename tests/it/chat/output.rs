//! What `chat -p` prints where: the text, one JSON value, or every event.

use agent_core::agent::{Agent, ScriptedModel};
use agent_core::message::Reply;
use agent_core::registry::Registry;
use serde_json::{Value, json};

use super::fixture::{LAST, QUESTION, RESULT, chat, equipped, talking, weather_script};
use super::replies::Answer;
use super::server::{Dialect, Server};
use crate::agent::{calling, weather};
use crate::host::{Recorder, within};

/// Stdout is the last word and nothing else, whatever tools do and print; what they do, and what the
/// model says before, is told on stderr.
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
        assert_eq!(ran.stdout, format!("{LAST}\n"));
        for told in [
            "One moment. \n→ getWeather",
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
        // Several plugins may be at work, so the log names none.
        let log = project.log();
        let printed = log.lines().find(|line| line.contains("printed by a tool"));
        assert!(!printed.unwrap().contains("plugin="), "{printed:?}");
    }
}

/// What is not the last word is nowhere where nobody wants to hear it.
#[test]
fn quiet_chat_prints_the_last_word_alone() {
    let call = Answer::saying("One moment. ").and_calling("call_1", "steps", json!({}));
    let server = Server::start(Dialect::OpenAi, [call, Answer::saying(LAST)]);
    let ran = chat(&equipped(&server), &["-p", QUESTION, "--quiet"]);
    let expected = (Some(0), format!("{LAST}\n"), String::new());
    assert_eq!((ran.code, ran.stdout, ran.stderr), expected);
}

/// Whoever reads stdout gets no piece of an answer that began anew, or that broke off.
#[test]
fn void_text_is_not_on_stdout() {
    for dialect in Dialect::BOTH {
        let broken = || Answer::saying("One half ").then_breaking();
        let server = Server::start(dialect, [broken(), Answer::saying(LAST)]);
        let ran = chat(&talking(&server), &["-p", QUESTION]);
        let expected = (Some(0), format!("{LAST}\n"));
        assert_eq!((ran.code, ran.stdout), expected, "{}", ran.stderr);
        assert!(ran.stderr.contains("begins anew"), "{}", ran.stderr);

        let server = Server::start(dialect, [broken()]);
        let ran = chat(&talking(&server), &["-p", QUESTION]);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""));
    }
}

/// An answer that is not whole, or holds nothing, is told to people and to programs.
#[test]
fn answers_that_only_look_whole_are_told() {
    for dialect in Dialect::BOTH {
        for (answer, stop, told) in [
            (
                Answer::saying("This is the e").cut_off(),
                "length",
                "cut off by the limit of tokens",
            ),
            (Answer::saying("I").held_back(), "refused", "held back"),
            (Answer::default(), "end", "without any text"),
        ] {
            let server = Server::start(dialect, [answer.clone(), answer]);
            let project = talking(&server);
            let ran = chat(&project, &["-p", "Hi", "--json"]);
            assert_eq!(
                (ran.code, &ran.json()["stopReason"]),
                (Some(0), &json!(stop))
            );
            let lines: Vec<&str> = ran.stderr.lines().collect();
            assert!(lines.len() == 1 && lines[0].contains(told), "{lines:?}");
            let ran = chat(&project, &["-p", "Hi", "--events", "json"]);
            let mut ends = ran
                .stdout
                .lines()
                .filter(|line| line.contains("\"messageEnd\""));
            let end: Value = serde_json::from_str(ends.next_back().unwrap()).unwrap();
            assert_eq!(end["stopReason"], stop);
        }
    }
}

/// A name that a model makes up fills neither the screen nor its own context.
#[test]
fn endless_name_of_a_tool_is_shortened() {
    let call = Answer::calling("call_1", &"x".repeat(100_000), json!({}));
    let server = Server::start(Dialect::OpenAi, [call, Answer::saying(LAST)]);
    let ran = chat(&talking(&server), &["-p", QUESTION]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stderr.contains("x…: Tool xxx"), "{}", ran.stderr);
    let messages = server.requests()[1].body["messages"].clone();
    let read = messages[2]["content"].as_str().unwrap();
    assert!(read.contains("not found") && read.len() < 1000, "{read}");
}

/// Exactly one JSON value: why it ended, after how many questions, for how much, with which words.
#[test]
fn json_is_one_value() {
    let server = Server::start(Dialect::OpenAi, weather_script());
    let ran = chat(&equipped(&server), &["-p", QUESTION, "--json"]);
    let expected = json!({
        "reason": "final", "stopReason": "end", "iterations": 2, "usage": ran.json()["usage"],
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
