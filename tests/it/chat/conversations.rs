//! Conversations that are kept in a file.

use serde_json::{Value, json};

use super::fixture::{QUESTION, RESULT, chat, equipped, talking, weather_script};
use super::replies::Answer;
use super::server::{Dialect, Server};

#[test]
fn conversation_is_kept_and_taken_up() {
    for dialect in Dialect::BOTH {
        let script = weather_script()
            .into_iter()
            .chain([Answer::saying("You are welcome.")]);
        let server = Server::start(dialect, script);
        let project = equipped(&server);
        let ran = chat(&project, &["-p", QUESTION, "--conversation", "talk.json"]);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        let file = project.path().join("talk.json");
        let read =
            || serde_json::from_str::<Value>(&fs_err::read_to_string(&file).unwrap()).unwrap();
        let roles = |kept: &Value| -> Vec<String> {
            let messages = kept.as_array().unwrap().iter();
            messages
                .map(|one| one["role"].as_str().unwrap().to_owned())
                .collect()
        };
        assert_eq!(roles(&read()), ["user", "assistant", "tool", "assistant"]);
        assert_eq!(
            read()[2]["content"][0]["content"],
            json!([{"type": "text", "text": RESULT}])
        );

        let ran = chat(
            &project,
            &["-p", "Thank you.", "--conversation", "talk.json"],
        );
        assert_eq!(
            (ran.code, ran.stdout.as_str()),
            (Some(0), "You are welcome.\n")
        );
        assert_eq!(read().as_array().unwrap().len(), 6);
        let last = &server.requests()[2].body["messages"];
        assert_eq!(last.as_array().unwrap().len(), 5);
        assert!(last.to_string().contains(RESULT));
        let left: Vec<_> = fs_err::read_dir(project.path()).unwrap().collect();
        let left = left.into_iter().map(|entry| entry.unwrap().file_name());
        assert!(
            left.into_iter()
                .all(|name| !name.to_string_lossy().contains("unfinished"))
        );
    }
}

/// A conversation goes on where its tools are gone.
#[test]
fn conversation_outlives_its_tools() {
    for dialect in Dialect::BOTH {
        let script = weather_script()
            .into_iter()
            .chain([Answer::saying("You are welcome.")]);
        let server = Server::start(dialect, script);
        let equipped = equipped(&server);
        let ran = chat(&equipped, &["-p", QUESTION, "--conversation", "talk.json"]);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        let file = equipped.path().join("talk.json").display().to_string();
        let ran = chat(
            &talking(&server),
            &["-p", "Thanks", "--conversation", &file],
        );
        assert_eq!(ran.stdout, "You are welcome.\n", "{}", ran.stderr);
        assert_eq!(server.requests().len(), 3);
    }
}

/// What was asked is kept although nobody answered, so that nothing has to be typed again; whoever asks
/// it again all the same has said it once.
#[test]
fn question_without_an_answer_is_kept() {
    let server = Server::start(Dialect::OpenAi, []);
    let project = talking(&server);
    let ran = chat(&project, &["-p", "Hi", "--conversation", "talk.json"]);
    assert_eq!(ran.code, Some(1));
    let file = project.path().join("talk.json");
    let kept: Value = serde_json::from_str(&fs_err::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(
        kept,
        json!([{"role": "user", "content": [{"type": "text", "text": "Hi"}]}])
    );
    let server = Server::start(Dialect::OpenAi, [Answer::saying("Hello!")]);
    let file = file.display().to_string();
    let ran = chat(&talking(&server), &["-p", "Hi", "--conversation", &file]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let messages = &server.requests()[0].body["messages"];
    assert_eq!(messages, &json!([{"role": "user", "content": "Hi"}]));
}

/// A file that holds something else is named with the reason, and left as it is.
#[test]
fn file_that_is_no_conversation_is_left_alone() {
    let server = Server::start(Dialect::OpenAi, []);
    let project = talking(&server);
    let unanswered = json!([
        {"role": "user", "content": [{"type": "text", "text": "Hi"}]},
        {"role": "assistant", "content": [{"type": "toolUse", "id": "call_1", "name": "f", "input": {}}]},
    ]);
    for (text, reason) in [
        ("[{\"role\"", "EOF while parsing"),
        ("{}", "expected a list of messages"),
        (&unanswered.to_string(), "the call `call_1` is not answered"),
    ] {
        project.write("talk.json", text);
        let ran = chat(&project, &["-p", "Hi", "--conversation", "talk.json"]);
        assert_eq!(
            (ran.code, ran.stdout.as_str()),
            (Some(2), ""),
            "{}",
            ran.stderr
        );
        assert!(
            ran.stderr.contains("`talk.json` holds no conversation: "),
            "{}",
            ran.stderr
        );
        assert!(ran.stderr.contains(reason), "{}", ran.stderr);
        assert_eq!(
            fs_err::read_to_string(project.path().join("talk.json")).unwrap(),
            text
        );
    }
    assert_eq!(server.all_requests().len(), 0);
}
