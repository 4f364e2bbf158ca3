//! What a person reads when the model's server refuses, is not there, or says nothing.

use std::time::Duration;

use super::fixture::{chat, configure, model_section, project, talking};
use super::replies::Answer;
use super::server::{Dialect, KEY, MODEL, Server, nobody};

/// A failure is exit code 1 with these words on stderr, and nothing on stdout.
fn check(project: &toolsmith_tests::Project, expected: &[&str]) {
    let ran = chat(project, &["-p", "Hi"]);
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (Some(1), ""),
        "{}",
        ran.stderr
    );
    for expected in expected {
        assert!(ran.stderr.contains(expected), "{expected}: {}", ran.stderr);
    }
    let errors = ran
        .stderr
        .lines()
        .filter(|line| line.starts_with("error: "))
        .count();
    assert_eq!(errors, 1, "{}", ran.stderr);
    assert!(
        !ran.stderr.contains(KEY) && !project.log().contains(KEY),
        "{}",
        ran.stderr
    );
}

#[test]
fn wrong_key_is_told_without_the_key() {
    for dialect in Dialect::BOTH {
        let server = Server::start(dialect, []);
        let project = talking(&server);
        let wrong = "sk-a-wrong-key-987654321";
        let section = model_section(&server).replace("${CHAT_KEY}", wrong);
        configure(&project, &section);
        check(
            &project,
            &["refuses the key", "`models.mine.api_key`", "HTTP 401"],
        );
        let ran = chat(&project, &["-p", "Hi", "--verbose"]);
        assert!(
            !format!("{}{}", ran.stderr, project.log()).contains(wrong),
            "{}",
            ran.stderr
        );
        assert_eq!(
            server.all_requests().len(),
            2,
            "a wrong key is not tried again"
        );
    }
}

#[test]
fn missing_key_is_told() {
    let server = Server::start(Dialect::OpenAi, []);
    let project = talking(&server);
    configure(&project, &model_section(&server).replace("api_key", "#"));
    check(&project, &["asks for a key", "set `models.mine.api_key`"]);
}

#[test]
fn wrong_model_is_told() {
    for dialect in Dialect::BOTH {
        let server = Server::start(dialect, []);
        let project = talking(&server);
        configure(&project, &model_section(&server).replace(MODEL, "model-2"));
        check(
            &project,
            &["has no model \"model-2\"", "HTTP 404", "`models.mine.name`"],
        );
        assert_eq!(server.all_requests().len(), 1);
    }
}

#[test]
fn absent_server_is_told() {
    let url = nobody();
    let project = project(&format!("[models.mine]\nbase_url = \"{url}\"\n"));
    let expected = format!("no server answers at {url}: ");
    check(&project, &[&expected, "set `models.mine.base_url`"]);
}

#[test]
fn silent_server_is_told() {
    let server = Server::start(Dialect::OpenAi, [Answer::silence()]);
    let project = talking(&server);
    configure(
        &project,
        &format!("{}timeout = \"1s\"\n", model_section(&server)),
    );
    let begin = std::time::Instant::now();
    check(
        &project,
        &["has said nothing for 1s", "raise `models.mine.timeout`"],
    );
    server.wait_until_given_up();
    assert!(begin.elapsed() < Duration::from_secs(30));
}
