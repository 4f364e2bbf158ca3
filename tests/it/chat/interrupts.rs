//! Signals while an answer is on its way, or a tool at work.

use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};
use toolsmith_tests::{Project, Ran};

use super::fixture::{Chat, command, equipped, talking};
use super::replies::Answer;
use super::server::{Dialect, Gate, Server};

/// How long a chat may take to end. What it does takes a second at most; the rest is for a machine
/// that has other work.
const PROMPT: Duration = Duration::from_secs(5);

/// Ends a chat by a signal.
fn end(chat: Chat, signal: Signal) -> Ran {
    let begin = Instant::now();
    chat.signal(signal);
    let ran = chat.finish();
    assert!(begin.elapsed() < PROMPT, "{:?}", begin.elapsed());
    ran
}

fn kept(project: &Project) -> Value {
    let text = fs_err::read_to_string(project.path().join("talk.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

#[test]
fn signal_ends_an_answer_and_keeps_what_came_of_it() {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let answer = Answer::saying("One moment. ").then_holding(&Gate::default());
        let server = Server::start(Dialect::OpenAi, [answer]);
        let project = talking(&server);
        let flags = [
            "-p",
            "Hi",
            "--events",
            "json",
            "--conversation",
            "talk.json",
        ];
        let chat = Chat::start(&mut command(&project, &flags));
        chat.stdout.wait_for("moment. ");
        let ran = end(chat, signal);
        let last: Value = serde_json::from_str(ran.stdout.lines().last().unwrap()).unwrap();
        assert_eq!((ran.code, &last["reason"]), (Some(1), &json!("aborted")));
        assert!(ran.stderr.contains("aborted"), "{}", ran.stderr);
        let said = &kept(&project)[1]["content"];
        assert_eq!(said, &json!([{"type": "text", "text": "One moment. "}]));
        server.wait_until_given_up();
    }
}

/// The tool is told, its call is answered as aborted, and programs read why.
#[test]
fn signal_ends_a_tool() {
    for signal in [Signal::INT, Signal::TERM] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().display().to_string();
        let call = Answer::calling("call_1", "wait", json!({"folder": path}));
        let server = Server::start(Dialect::Anthropic, [call]);
        let project = equipped(&server);
        let flags = ["-p", "Hi", "--json", "--conversation", "talk.json"];
        let chat = Chat::start(&mut command(&project, &flags));
        let begin = Instant::now();
        while !folder.path().join("started").exists() {
            assert!(
                begin.elapsed() < toolsmith_tests::DEADLINE,
                "{}",
                chat.stderr.so_far()
            );
            std::thread::sleep(Duration::from_millis(2));
        }
        let ran = end(chat, signal);
        assert_eq!(
            (ran.code, &ran.json()["reason"]),
            (Some(1), &json!("aborted"))
        );
        assert!(folder.path().join("told").exists(), "{}", ran.stderr);
        let answer = &kept(&project)[2]["content"][0];
        assert_eq!(
            (&answer["toolCallId"], &answer["isError"]),
            (&json!("call_1"), &json!(true))
        );
        assert_eq!(server.requests().len(), 1);
    }
}

/// Who interrupts a chat that reads a pipe wants no further answers.
#[test]
fn signal_ends_a_piped_chat() {
    for signal in [Signal::INT, Signal::TERM] {
        let server = Server::start(
            Dialect::OpenAi,
            [Answer::silence(), Answer::saying("never")],
        );
        let project = talking(&server);
        let mut chat = Chat::start(command(&project, &[]).stdin(Stdio::piped()));
        chat.type_in("1\n2\n");
        server.wait_for(1);
        let ran = end(chat, signal);
        assert_eq!(
            (ran.code, ran.stdout.as_str()),
            (Some(1), ""),
            "{}",
            ran.stderr
        );
        assert_eq!(server.requests().len(), 1);
    }
}
