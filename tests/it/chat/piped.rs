//! Questions from a pipe, one a line.

use std::process::Stdio;

use super::fixture::{
    Chat, QUESTION, WEATHER, chat_with, command, equipped, talking, weather_script,
};
use super::replies::Answer;
use super::server::{Dialect, Server};
use serde_json::json;

/// Every line is a question of the same conversation; blank lines are none.
#[test]
fn lines_are_questions_of_one_conversation() {
    for dialect in Dialect::BOTH {
        let script = weather_script()
            .into_iter()
            .chain([Answer::saying("Good bye.")]);
        let server = Server::start(dialect, script);
        let ran = chat_with(&equipped(&server), &[], &format!("{QUESTION}\n\n  \nBye"));
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        assert_eq!(
            ran.stdout,
            "The weather in Tokyo is sunny, 22°C.\nGood bye.\n"
        );
        let requests = server.requests();
        assert_eq!(requests.len(), 3);
        assert_eq!(requests[2].body["messages"].as_array().unwrap().len(), 5);
    }
}

/// Words that are commands on a terminal are words here.
#[test]
fn commands_of_a_terminal_are_words() {
    let server = Server::start(Dialect::OpenAi, [Answer::saying("a"), Answer::saying("b")]);
    let ran = chat_with(&talking(&server), &[], "/tools\n/quit\n");
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (Some(0), "a\nb\n"),
        "{}",
        ran.stderr
    );
}

/// A question that fails ends the chat with exit code 1: whoever reads the answers counts on them.
#[test]
fn first_failure_ends_the_chat() {
    let server = Server::start(Dialect::OpenAi, [Answer::saying("a")]);
    let ran = chat_with(&talking(&server), &[], "1\n2\n3\n");
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (Some(1), "a\n"),
        "{}",
        ran.stderr
    );
    assert_eq!(server.all_requests().len(), 2);
}

/// A line that is no UTF-8 is a question all the same, and so are those behind it.
#[test]
fn broken_letters_cost_no_question() {
    let server = Server::start(Dialect::OpenAi, [Answer::saying("a"), Answer::saying("b")]);
    let project = talking(&server);
    let mut chat = Chat::start(command(&project, &[]).stdin(Stdio::piped()));
    chat.type_in(b"caf\xe9?\r\nBye\r\n");
    let ran = chat.finish();
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (Some(0), "a\nb\n"),
        "{}",
        ran.stderr
    );
    let messages = &server.requests()[1].body["messages"];
    assert_eq!(
        (&messages[0]["content"], &messages[2]["content"]),
        (&json!("caf\u{fffd}?"), &json!("Bye"))
    );
}

/// One JSON value for each question.
#[test]
fn json_is_one_value_for_each_question() {
    let server = Server::start(Dialect::OpenAi, [Answer::saying("a"), Answer::saying("b")]);
    let ran = chat_with(&talking(&server), &["--json"], "1\n2\n");
    let lines = ran.stdout.lines();
    let texts: Vec<String> = lines
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .map(|value| {
            value["response"]["content"][0]["text"]
                .as_str()
                .unwrap()
                .to_owned()
        })
        .collect();
    assert_eq!(texts, ["a", "b"]);
}

/// A plugin that is edited between two questions is live at the second, however soon it is asked.
#[test]
fn edited_plugin_is_live_at_the_next_question() {
    let call = |id: &str| Answer::calling(id, "getWeather", json!({"city": "Tokyo"}));
    let server = Server::start(
        Dialect::OpenAi,
        [
            call("call_1"),
            Answer::saying("sunny"),
            call("call_2"),
            Answer::saying("rainy"),
        ],
    );
    let project = talking(&server);
    project.plugin("weather", WEATHER);
    let mut chat = Chat::start(command(&project, &[]).stdin(Stdio::piped()));
    chat.type_in("Now?\n");
    chat.stdout.wait_for("sunny\n");
    project.source("weather", &WEATHER.replace("Sunny, 22", "Rainy, 9"));
    chat.type_in("And now?\n");
    chat.stdout.wait_for("rainy\n");
    assert_eq!(chat.finish().code, Some(0));
    let requests = server.requests();
    let heard = |at: usize| {
        requests[at].body["messages"]
            .as_array()
            .unwrap()
            .last()
            .unwrap()["content"]
            .clone()
    };
    assert_eq!(heard(1), "Weather in Tokyo: Sunny, 22°C");
    assert_eq!(heard(3), "Weather in Tokyo: Rainy, 9°C");
}
