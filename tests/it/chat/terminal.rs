//! The dialogue on a pseudo terminal, which `script` of util-linux opens.

use std::process::{Command, Stdio};

use serde_json::{Value, json};
use toolsmith_tests::Project;

use super::fixture::{Chat, LAST, QUESTION, command, equipped, talking, weather_script};
use super::replies::Answer;
use super::server::{Dialect, Gate, Server};

/// What a terminal makes of its keys.
const INTERRUPT: &str = "\x03";
const END_OF_INPUT: &str = "\x04";

/// A person at a terminal who talks with the model of the project. `None`, with the reason, where
/// there is no terminal to be had.
fn sit_down(project: &Project, arguments: &[&str]) -> Option<Chat> {
    let terminal = sit_down_where(project, arguments, |command| format!("exec {command}"))?;
    terminal.stdout.wait_for("> ");
    Some(terminal)
}

/// The same, with the command inside of what a shell is told.
#[expect(
    clippy::print_stderr,
    reason = "whoever runs the tests reads what was left out"
)]
fn sit_down_where(
    project: &Project,
    arguments: &[&str],
    told: impl Fn(&str) -> String,
) -> Option<Chat> {
    let is_there = Command::new("script").arg("--version").output();
    if !is_there.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains("util-linux"))
    {
        eprintln!("skipped: there is no `script` of util-linux, which opens a terminal");
        return None;
    }
    let plain = command(project, arguments);
    let words = std::iter::once(plain.get_program()).chain(plain.get_args());
    let words: Vec<String> = words
        .map(|word| format!("'{}'", word.to_str().unwrap().replace('\'', "'\\''")))
        .collect();
    let mut script = Command::new("script");
    script
        .args([
            "--quiet",
            "--return",
            "--command",
            &told(&words.join(" ")),
            "/dev/null",
        ])
        .current_dir(project.path())
        .env("SHELL", "/bin/sh")
        .stdin(Stdio::piped());
    for (name, value) in plain.get_envs() {
        match value {
            Some(value) => script.env(name, value),
            None => script.env_remove(name),
        };
    }
    Some(Chat::start(&mut script))
}

/// How often the chat has asked for the next question.
fn prompts(screen: &str) -> usize {
    screen.lines().filter(|line| line.starts_with("> ")).count()
}

/// Waits until the chat asks for the next question again.
fn wait_for_prompt(terminal: &Chat, count: usize) -> String {
    terminal.stdout.wait(|screen| prompts(screen) >= count)
}

/// The last thing that the model was told in a request.
fn last_told(server: &Server, request: usize) -> String {
    let requests = server.requests();
    let messages = requests[request].body["messages"].as_array().unwrap();
    messages.last().unwrap()["content"]
        .as_str()
        .unwrap()
        .to_owned()
}

/// A question, an answer, the commands, the end.
#[test]
fn person_asks_and_leaves() {
    let server = Server::start(Dialect::OpenAi, weather_script());
    let project = equipped(&server);
    let Some(mut terminal) = sit_down(&project, &[]) else {
        return;
    };
    terminal.stdout.wait_for("/tools, /quit");
    terminal.type_in(format!("{QUESTION}\n"));
    let screen = wait_for_prompt(&terminal, 2);
    assert!(
        screen.contains("→ getWeather {\"city\": \"Tokyo\"}"),
        "{screen}"
    );
    assert!(screen.contains(LAST), "{screen}");
    terminal.type_in("/tools\n");
    let screen = wait_for_prompt(&terminal, 3);
    assert!(screen.contains("Weather Lookup"), "{screen}");
    terminal.type_in("/qit\n");
    let screen = wait_for_prompt(&terminal, 4);
    assert!(
        screen.contains("unknown command; there are: /tools, /quit"),
        "{screen}"
    );
    terminal.type_in("/quit\n");
    assert_eq!(terminal.wait().code(), Some(0));
    assert_eq!(server.requests().len(), 2);
}

/// Every answer to the question whether a tool may run does what it says.
#[test]
fn person_decides_whether_a_tool_runs() {
    let call = |id: &str| Answer::calling(id, "erase", json!({"folder": id}));
    let ids = ["call_1", "call_2", "call_3", "call_4", "call_5"];
    let script = ids.map(call).into_iter().chain([Answer::saying("Done.")]);
    let server = Server::start(Dialect::OpenAi, script);
    let project = equipped(&server);
    let Some(mut terminal) = sit_down(&project, &[]) else {
        return;
    };
    terminal.type_in("Erase them all\n");
    for (at, answer) in ["n", "not that one", "y", "a"].into_iter().enumerate() {
        let question = format!("May `erase` run with {{\"folder\": \"{}\"}}?", ids[at]);
        terminal.stdout.wait_for(&question);
        terminal
            .stdout
            .wait(|screen| screen.matches("n or a reason: no").count() == at + 1);
        terminal.type_in(format!("{answer}\n"));
        server.wait_for(at + 2);
    }
    terminal.stdout.wait_for("Done.");
    terminal.type_in(END_OF_INPUT);
    assert_eq!(terminal.wait().code(), Some(0));
    let heard: Vec<String> = (1..=5).map(|request| last_told(&server, request)).collect();
    let expected = [
        "The call of erase was refused",
        "The call of erase was refused: not that one",
        "erased call_3",
        "erased call_4",
        "erased call_5",
    ];
    assert_eq!(heard, expected);
}

/// An interrupt ends the answer and nothing else; at the prompt it ends the chat.
#[test]
fn interrupt_ends_an_answer_and_keeps_the_conversation() {
    let cut = Answer::saying("One moment. ").then_holding(&Gate::default());
    let server = Server::start(Dialect::OpenAi, [cut, Answer::saying("Here I am.")]);
    let project = talking(&server);
    let Some(mut terminal) = sit_down(&project, &[]) else {
        return;
    };
    terminal.type_in("Hello\n");
    terminal.stdout.wait_for("One moment. ");
    terminal.type_in(INTERRUPT);
    server.wait_until_given_up();
    terminal.stdout.wait_for("aborted");
    wait_for_prompt(&terminal, 2);
    terminal.type_in("Still there?\n");
    terminal.stdout.wait_for("Here I am.");
    wait_for_prompt(&terminal, 3);
    let messages = server.requests()[1].body["messages"].clone();
    let expected = json!([
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": "One moment. "},
        {"role": "user", "content": "Still there?"},
    ]);
    assert_eq!(messages, expected);
    terminal.type_in(INTERRUPT);
    assert_eq!(terminal.wait().code(), Some(0));
}

/// An interrupt while a question waits refuses the call.
#[test]
fn interrupt_at_a_question_refuses_the_call() {
    let call = Answer::calling("call_1", "erase", json!({"folder": "x"}));
    let server = Server::start(Dialect::OpenAi, [call, Answer::saying("Fine.")]);
    let project = equipped(&server);
    let Some(mut terminal) = sit_down(&project, &[]) else {
        return;
    };
    terminal.type_in("Erase it\n");
    terminal.stdout.wait_for("n or a reason: no");
    terminal.type_in(INTERRUPT);
    terminal.stdout.wait_for("aborted");
    wait_for_prompt(&terminal, 3);
    // The word is no answer any more.
    terminal.type_in("y\n");
    terminal.stdout.wait_for("Fine.");
    let screen = terminal.stdout.so_far();
    assert!(!screen.contains("erased x"), "{screen}");
    assert_eq!(last_told(&server, 1), "y");
}

/// What is typed while the model works is heard at its next turn; a command is obeyed at once.
#[test]
fn person_steers_while_the_model_works() {
    let gate = Gate::default();
    let mut call = Answer::holding(&gate);
    call = call.and_calling("call_1", "getWeather", json!({"city": "Tokyo"}));
    let silent = Answer::silence();
    let server = Server::start(
        Dialect::OpenAi,
        [call, Answer::saying("Ok, Osaka."), silent],
    );
    let project = equipped(&server);
    let Some(mut terminal) = sit_down(&project, &[]) else {
        return;
    };
    terminal.type_in("Weather?\n");
    server.wait_for(1);
    terminal.type_in("\nIn Osaka, please.\n");
    terminal.stdout.wait_for("heard at the next turn");
    gate.open();
    terminal.stdout.wait_for("Ok, Osaka.");
    let roles: Vec<Value> = server.requests()[1].body["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| message["role"].clone())
        .collect();
    assert_eq!(roles, ["user", "assistant", "tool", "user"]);
    assert_eq!(last_told(&server, 1), "In Osaka, please.");
    wait_for_prompt(&terminal, 2);
    terminal.type_in("And now?\n");
    server.wait_for(3);
    terminal.type_in("/quit\n");
    assert_eq!(terminal.wait().code(), Some(1), "the answer was given up");
    server.wait_until_given_up();
}

/// Who has gone answers no question: what waits for them is refused, and the chat ends.
#[test]
fn end_of_input_at_a_question_refuses_the_call() {
    let call = Answer::calling("call_1", "erase", json!({"folder": "x"}));
    let server = Server::start(Dialect::OpenAi, [call, Answer::saying("Fine.")]);
    let project = equipped(&server);
    let Some(mut terminal) = sit_down(&project, &[]) else {
        return;
    };
    terminal.type_in("Erase it\n");
    terminal.stdout.wait_for("n or a reason: no");
    terminal.type_in(END_OF_INPUT);
    terminal.stdout.wait_for("Fine.");
    assert_eq!(terminal.wait().code(), Some(0));
    assert_eq!(last_told(&server, 1), "The call of erase was refused");
}

/// Who leaves at a question has not answered it.
#[test]
fn person_leaves_at_a_question() {
    let call = Answer::calling("call_1", "erase", json!({"folder": "x"}));
    let server = Server::start(Dialect::OpenAi, [call]);
    let project = equipped(&server);
    let Some(mut terminal) = sit_down(&project, &["--conversation", "talk.json"]) else {
        return;
    };
    terminal.type_in("Erase it\n");
    terminal.stdout.wait_for("n or a reason: no");
    terminal.type_in("/quit\n");
    assert_eq!(terminal.wait().code(), Some(1));
    let kept = fs_err::read_to_string(project.path().join("talk.json")).unwrap();
    assert!(
        kept.contains("aborted") && !kept.contains("/quit"),
        "{kept}"
    );
    assert_eq!(server.requests().len(), 1);
}

/// Nothing that a model says reaches the terminal as an order to it.
#[test]
fn model_can_not_steer_the_terminal() {
    let evil = "\x1b[2J\x1b]0;pwned\x07\u{9b}31m\r\x08";
    let call = Answer::saying(evil)
        .and_calling("call_1", "erase", json!({"folder": evil}))
        .and_calling("call_2", "getWeather", json!({"city": evil}));
    let server = Server::start(Dialect::OpenAi, [call, Answer::saying(evil)]);
    let project = equipped(&server);
    let Some(mut terminal) = sit_down(&project, &[]) else {
        return;
    };
    terminal.type_in("Hello\n");
    terminal.stdout.wait_for("n or a reason: no");
    terminal.type_in("n\n");
    server.wait_for(2);
    // The script has ended: a failure, whose words are the server's.
    wait_for_prompt(&terminal, 3);
    terminal.type_in("/quit\n");
    assert_eq!(terminal.wait().code(), Some(0));
    let screen = terminal.stdout.so_far();
    assert_eq!(screen.matches("pwned").count(), 5, "{screen:?}");
    for order in ["\x1b[2J", "\x1b]0;", "\x07", "\u{9b}", "\x08"] {
        assert!(!screen.contains(order), "{order:?}: {screen:?}");
    }
    // A carriage return would let the next words overwrite the line.
    assert!(!screen.replace("\r\n", "\n").contains('\r'), "{screen:?}");
}

/// Pieces of an answer are there before its end.
#[test]
fn text_is_shown_as_it_comes() {
    for dialect in Dialect::BOTH {
        let gate = Gate::default();
        let answer = Answer::saying("One moment. ").then_holding(&gate);
        let server = Server::start(dialect, [answer.then_saying("Grüße aus 東京!")]);
        let project = talking(&server);
        let Some(mut terminal) = sit_down(&project, &[]) else {
            return;
        };
        terminal.type_in("Hello\n");
        let screen = terminal.stdout.wait_for("One moment. ");
        assert!(!screen.contains("Grüße"), "{screen}");
        gate.open();
        terminal.stdout.wait_for("One moment. Grüße aus 東京!");
        wait_for_prompt(&terminal, 2);
        terminal.type_in(END_OF_INPUT);
        assert_eq!(terminal.wait().code(), Some(0));
    }
}

/// Runs a chat whose stderr leads to a file; what is typed is heard when the screen shows a text.
fn erase_without_stderr(before: &str, shown: &str, typed: &str) -> Option<String> {
    let call = Answer::calling("call_1", "erase", json!({"folder": "x"}));
    let server = Server::start(Dialect::OpenAi, [call, Answer::saying("Done.")]);
    let project = equipped(&server);
    let told = |command: &str| format!("exec {before} {command} 2>errors");
    let mut terminal = sit_down_where(&project, &[], told)?;
    terminal.type_in("Erase it\n");
    terminal.stdout.wait_for(shown);
    terminal.type_in(typed);
    terminal.stdout.wait_for("Done.");
    terminal.type_in(END_OF_INPUT);
    assert_eq!(terminal.wait().code(), Some(0));
    let errors = fs_err::read_to_string(project.path().join("errors")).unwrap();
    assert!(!errors.contains("May `erase` run"), "{errors}");
    Some(last_told(&server, 1))
}

/// Whoever sends stderr elsewhere sees the question all the same.
#[test]
fn question_is_shown_on_the_terminal_where_stderr_leads_elsewhere() {
    let Some(heard) = erase_without_stderr("", "n or a reason: no", "y\n") else {
        return;
    };
    assert_eq!(heard, "erased x");
}

/// A process without a terminal of its own, though its stdin is one, can show nobody a question.
#[test]
fn call_is_refused_where_nobody_sees_the_question() {
    let Some(heard) = erase_without_stderr("setsid --wait", "", "") else {
        return;
    };
    assert!(heard.contains("needs a person's approval"), "{heard}");
}
