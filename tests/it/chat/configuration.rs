//! Which model a chat is with and how it is told to behave: by flags, by `toolsmith.toml`.

use serde_json::json;
use toolsmith_tests::DEADLINE;

use super::fixture::{
    QUESTION, SYSTEM, chat, command, configure, equipped, model_section, project, talking,
    weather_script,
};
use super::replies::Answer;
use super::server::{Dialect, KEY, MODEL, Server};

/// Flags alone are enough. A server that is named so gets no key that is meant for another.
#[test]
fn flags_need_no_configuration() {
    for dialect in Dialect::BOTH {
        let server = Server::open_to_all(dialect, [Answer::saying("Hello!")]);
        let project = project("");
        let mut arguments = vec!["-p", "Hi", "--model", MODEL, "--base-url", &server.url];
        if dialect == Dialect::Anthropic {
            arguments.extend(["--provider", "anthropic"]);
        }
        let mut command = command(&project, &arguments);
        command
            .env("OPENAI_API_KEY", "sk-of-another")
            .env("ANTHROPIC_API_KEY", "sk-of-another");
        let output = command.output().unwrap();
        assert_eq!(
            String::from_utf8_lossy(&output.stdout),
            "Hello!\n",
            "{output:?}"
        );
        assert_eq!(server.requests().len(), 1);
    }
    let ran = chat(&project(""), &["-p", "Hi", "--provider", "openai"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("need `--model NAME`"), "{}", ran.stderr);
    let ran = chat(&project(""), &["-p", "Hi", "--provider", "opnai"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("openai, "), "{}", ran.stderr);
}

/// `[agent]` chooses the model and says how the agent behaves; flags say it for one run.
#[test]
fn agent_section_is_what_the_model_hears() {
    let server = Server::start(Dialect::OpenAi, ["a", "b", "c"].map(Answer::saying));
    let project = talking(&server);
    configure(
        &project,
        &format!(
            "{}[models.other]\nbase_url = \"http://127.0.0.1:1/v1\"\n\
             [agent]\nmodel = \"mine\"\nname = \"Friday\"\n\
             system_prompt = \"You serve ${{CHAT_PERSON}}.\"\n",
            model_section(&server)
        ),
    );
    project.write("who.txt", "You are a pirate.\n");
    for arguments in [
        &["-p", "Hi"][..],
        &["-p", "Hi", "--system", SYSTEM],
        &["-p", "Hi", "--system", "@who.txt"],
    ] {
        let output = command(&project, arguments)
            .env("CHAT_PERSON", "Ada")
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(0), "{output:?}");
    }
    let requests = server.requests();
    let heard: Vec<&str> = requests
        .iter()
        .map(|request| request.body["messages"][0]["content"].as_str().unwrap())
        .collect();
    assert_eq!(heard, ["You serve Ada.", SYSTEM, "You are a pirate.\n"]);

    let ran = chat(&project, &["-p", "Hi"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("CHAT_PERSON"), "{}", ran.stderr);
    let ran = chat(&project, &["-p", "Hi", "--system", "@nowhere.txt"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("nowhere.txt"), "{}", ran.stderr);
    assert_eq!(server.all_requests().len(), 3);
}

/// The limit of the configuration ends a run with a last word for which no tool may be called.
#[test]
fn max_iterations_ends_with_a_closing_turn() {
    for dialect in Dialect::BOTH {
        let call = |id: &str, city: &str| Answer::calling(id, "getWeather", json!({"city": city}));
        let server = Server::start(
            dialect,
            [
                call("call_1", "Tokyo"),
                call("call_2", "Osaka"),
                Answer::saying("So far: sunny."),
            ],
        );
        let project = equipped(&server);
        configure(
            &project,
            &format!("{}[agent]\nmax_iterations = 2\n", model_section(&server)),
        );
        let ran = chat(&project, &["-p", QUESTION]);
        assert_eq!(
            (ran.code, ran.stdout.as_str()),
            (Some(1), "So far: sunny.\n"),
            "{}",
            ran.stderr
        );
        assert!(
            ran.stderr.contains("`max_iterations` in `[agent]`"),
            "{}",
            ran.stderr
        );
        let requests = server.requests();
        assert_eq!(requests.len(), 3);
        match dialect {
            Dialect::OpenAi => assert_eq!(requests[2].body["tool_choice"], "none"),
            Dialect::Anthropic => assert_eq!(requests[2].body["tool_choice"]["type"], "none"),
        }
    }
}

/// What the first of two calls comes to that wait for each other: whether they met.
fn meeting(section: &str, flags: &[&str], patience_ms: u64) -> String {
    let arguments = json!({"patience_ms": patience_ms});
    let calls = Answer::calling("call_1", "meet", arguments.clone());
    let calls = calls.and_calling("call_2", "meet", arguments);
    let server = Server::start(Dialect::OpenAi, [calls, Answer::saying("ok")]);
    let project = equipped(&server);
    configure(&project, &format!("{}{section}", model_section(&server)));
    let ran = chat(&project, &[&["-p", "Meet"], flags].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let messages = server.requests()[1].body["messages"].clone();
    let answers = messages.as_array().unwrap().iter();
    let mut first = answers.filter(|message| message["tool_call_id"] == "call_1");
    first.next().unwrap()["content"]
        .as_str()
        .unwrap()
        .to_owned()
}

/// The flag and the configuration decide whether calls of one answer overlap.
#[test]
fn tool_execution_is_that_of_flag_or_configuration() {
    let sequential = "[agent]\ntool_execution = \"sequential\"\n";
    let parallel = "[agent]\ntool_execution = \"parallel\"\n";
    let long = u64::try_from(DEADLINE.as_millis()).unwrap();
    assert_eq!(meeting(sequential, &[], 10), "alone");
    assert_eq!(
        meeting(parallel, &["--tool-execution", "sequential"], 10),
        "alone"
    );
    assert_eq!(meeting(parallel, &[], long), "met");
    assert_eq!(
        meeting(sequential, &["--tool-execution", "parallel"], long),
        "met"
    );
    let ran = chat(&project(""), &["-p", "Hi", "--tool-execution", "both"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("expected one of: "), "{}", ran.stderr);
}

/// Without a model, what to write is told, and it works as it is printed.
#[test]
fn hint_without_a_model_works_when_it_is_pasted() {
    let project = project("");
    let ran = chat(&project, &["-p", "Hi"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""));
    assert!(
        ran.stderr.contains("no model is configured"),
        "{}",
        ran.stderr
    );
    let lines = ran.stderr.lines().skip_while(|line| !line.starts_with('['));
    let pasted: Vec<&str> = lines.take(3).collect();
    assert_eq!(pasted.len(), 3, "{}", ran.stderr);
    let pasted = pasted.join("\n");

    // As it is, only the key is missing.
    configure(&project, &pasted);
    let ran = chat(&project, &["-p", "Hi"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("OPENAI_API_KEY"), "{}", ran.stderr);

    // With the key, and the model's name and server exchanged for those of the test, it talks.
    let server = Server::start(Dialect::OpenAi, weather_script());
    let named = pasted.lines().next().unwrap().replace("gpt-5-mini", "mine");
    let rest: Vec<&str> = pasted.lines().skip(1).collect();
    let rest = rest.join("\n");
    let (name, url) = (MODEL, &server.url);
    configure(
        &project,
        &format!("{named}\n{rest}\nname = \"{name}\"\nbase_url = \"{url}\"\n"),
    );
    let output = command(&project, &["-p", "Hi"])
        .env("OPENAI_API_KEY", KEY)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(server.requests().len(), 2);
}

/// Which model is meant must be clear.
#[test]
fn unclear_models_are_wrong_usage() {
    let two = "[models.qwen]\nbase_url = \"http://127.0.0.1:1/v1\"\n\
               [models.claude]\nprovider = \"anthropic\"\napi_key = \"${CHAT_UNSET}\"\n";
    for (configuration, model, expected) in [
        (
            two,
            None,
            "several models; choose one with --model or `[agent] model` (models: claude, qwen)",
        ),
        (
            two,
            Some("claud"),
            "no model `claud` in toolsmith.toml; did you mean `claude`?",
        ),
        (
            two,
            Some("gpt"),
            "no model `gpt` in toolsmith.toml (models: claude, qwen)",
        ),
        (
            two,
            Some("claude"),
            "`models.claude.api_key` can't be used: ",
        ),
        (
            "[agent]\nmode = \"react\"\n[models.a]\nbase_url = \"http://127.0.0.1:1/v1\"\n",
            None,
            "`react` is not served yet",
        ),
    ] {
        let mut arguments = vec!["-p", "Hi"];
        if let Some(model) = model {
            arguments.extend(["--model", model]);
        }
        let ran = chat(&project(configuration), &arguments);
        assert_eq!(
            (ran.code, ran.stdout.as_str()),
            (Some(2), ""),
            "{}",
            ran.stderr
        );
        assert!(ran.stderr.contains(expected), "{expected}: {}", ran.stderr);
    }
}
