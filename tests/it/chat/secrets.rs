//! Keys and presets reach the server and the tool, and nobody else.

use serde_json::json;

use super::fixture::{chat, configure, equipped, model_section};
use super::replies::Answer;
use super::server::{Dialect, KEY, Server};

const PRESET: &str = "hunter2-hunter2";

#[test]
fn secrets_are_in_no_text_of_a_chat() {
    for (dialect, flags) in [
        (Dialect::OpenAi, &["--events", "json", "--verbose"][..]),
        (Dialect::OpenAi, &["--json"]),
        (Dialect::Anthropic, &["--verbose"]),
    ] {
        let call = Answer::calling("call_1", "search", json!({"question": "sun"}));
        let server = Server::start(dialect, [call, Answer::saying("ok")]);
        let project = equipped(&server);
        let preset = format!("[tools.search.preset]\napi_key = \"{PRESET}\"\n");
        configure(&project, &format!("{}{preset}", model_section(&server)));
        let kept = project.path().join("talk.json").display().to_string();
        let arguments = [&["-p", "Hi", "--conversation", &kept], flags].concat();
        let ran = chat(&project, &arguments);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        let requests = server.requests();
        let sent = requests[1].body.to_string();
        assert!(sent.contains("sun: a key of 15 letters"), "{sent}");
        let conversation = fs_err::read_to_string(&kept).unwrap();
        let texts = [ran.stdout, ran.stderr, project.log(), conversation, sent];
        for text in texts {
            assert!(
                !text.contains(KEY) && !text.contains(PRESET),
                "{flags:?}: {text}"
            );
        }
    }
}
