//! Destructive tools where nobody can be asked.

use serde_json::{Value, json};

use super::fixture::{chat, configure, equipped, model_section};
use super::replies::Answer;
use super::server::{Dialect, Server};

fn script() -> [Answer; 2] {
    [
        Answer::calling("call_1", "erase", json!({"folder": "/tmp/x"})),
        Answer::saying("ok"),
    ]
}

/// What the model reads of its call, and the events.
fn outcome(configuration: &str, flags: &[&str]) -> (String, Vec<Value>) {
    let server = Server::start(Dialect::OpenAi, script());
    let project = equipped(&server);
    configure(
        &project,
        &format!("{}{configuration}", model_section(&server)),
    );
    let arguments = [&["-p", "Erase it", "--events", "json"], flags].concat();
    let ran = chat(&project, &arguments);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let requests = server.requests();
    let messages = requests[1].body["messages"].as_array().unwrap();
    let read = messages.last().unwrap()["content"].as_str().unwrap();
    let events = ran
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    (read.to_owned(), events.collect())
}

#[test]
fn destructive_tool_is_refused_and_the_model_reads_why() {
    let (read, events) = outcome("", &[]);
    assert!(
        read.contains("Tool erase needs a person's approval"),
        "{read}"
    );
    assert!(read.contains("--allow erase"), "{read}");
    let rejected = events
        .iter()
        .find(|event| event["type"] == "toolCallRejected")
        .unwrap();
    assert_eq!(rejected["kind"], "needsApproval");
    assert!(
        events
            .iter()
            .all(|event| event["type"] != "toolExecutionStart")
    );
}

#[test]
fn allowed_tool_runs() {
    assert_eq!(outcome("", &["--allow", "erase"]).0, "erased /tmp/x");
    let allowed = "[tools.erase]\npermission = \"allow\"\n";
    assert_eq!(outcome(allowed, &[]).0, "erased /tmp/x");
}

/// What is denied is not offered, and does not run for whoever calls it all the same.
#[test]
fn denied_tool_is_neither_offered_nor_run() {
    let denied = "[tools.erase]\npermission = \"deny\"\n";
    for flags in [&[][..], &["--allow", "erase"]] {
        let (read, events) = outcome(denied, flags);
        assert!(read.contains("denied by configuration"), "{read}");
        let rejected = events
            .iter()
            .find(|event| event["type"] == "toolCallRejected")
            .unwrap();
        assert_eq!(rejected["kind"], "denied");
    }
    let server = Server::start(Dialect::OpenAi, [Answer::saying("ok")]);
    let project = equipped(&server);
    configure(&project, &format!("{}{denied}", model_section(&server)));
    assert_eq!(chat(&project, &["-p", "Hi"]).code, Some(0));
    let offered = server.requests()[0].body["tools"].to_string();
    assert!(
        offered.contains("getWeather") && !offered.contains("erase"),
        "{offered}"
    );
}

/// A slip of the pen would only be noticed when the model is refused; the tool may still come, so that
/// it is no error.
#[test]
fn unknown_name_that_is_allowed_is_told() {
    let server = Server::start(Dialect::OpenAi, [Answer::saying("a"), Answer::saying("b")]);
    let project = equipped(&server);
    let flags = ["-p", "Hi", "--allow", "ereas", "--allow", "erase"];
    let ran = chat(&project, &flags);
    let expected =
        "warning: `--allow ereas` names no tool that there is now; did you mean `erase`?\n";
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), expected));
    let ran = chat(&project, &[&flags[..], &["--quiet"]].concat());
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
}
