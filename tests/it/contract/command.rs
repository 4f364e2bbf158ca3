//! What the command prints for programs, and how it exits.

use std::process::Command;

use serde_json::{Value, json};
use toolsmith_tests::{Dev, Project, Ran};

/// What differs from run to run, taken out.
fn steady(project: &Project, text: &str) -> String {
    let unique = project.crate_name("");
    let path = project.path().display().to_string();
    text.replace(&path, "[PROJECT]")
        .replace(&unique, "-[UNIQUE]")
}

/// Checks that stdout is one JSON value and a newline, and gives it.
#[track_caller]
fn one_value(ran: &Ran) -> Value {
    let line = ran
        .stdout
        .strip_suffix('\n')
        .unwrap_or_else(|| panic!("{ran:?}"));
    assert!(!line.contains('\n'), "{line}");
    serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
}

#[test]
fn list_of_an_empty_folder() {
    let project = Project::new();
    let ran = project.run(&["list", "--json"]);
    assert_eq!(
        ran.stdout,
        "{\"schemaVersion\":1,\"tools\":[],\"plugins\":[]}\n"
    );
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    let ran = project.run(&["list"]);
    assert_eq!(ran.stdout, "Tools:\n  (none)\nPlugins:\n  (none)\n");
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
}

#[test]
fn list_of_what_does_not_serve() {
    let project = Project::new();
    project.write("plugins/broken/Cargo.toml", "[package\nname = 1");
    project.write("plugins/text.so", "no library");
    fs_err::create_dir(project.plugins().join("empty")).unwrap();
    let ran = project.run(&["--json", "list"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let list = one_value(&ran);
    let text = steady(&project, &serde_json::to_string_pretty(&list).unwrap());
    insta::assert_snapshot!("list_of_what_does_not_serve", text);
}

#[test]
fn list_of_a_plugin_that_serves() {
    let project = Project::new();
    project.plugin(
        "greeter",
        "/// Greets.\n///\n/// At any time.\n#[tool(parallel = true)]\nfn greet_all(name: String) -> String { name }",
    );
    let ran = project.run(&["list", "--json"]);
    let mut list = one_value(&ran);
    let hash = list["plugins"][0]["hash"].take();
    assert!(hash.as_str().is_some_and(|hash| hash.len() == 64), "{hash}");
    list["plugins"][0]["hash"] = json!("[HASH]");
    let text = steady(&project, &serde_json::to_string_pretty(&list).unwrap());
    insta::assert_snapshot!("list_of_a_plugin_that_serves", text);
}

/// `call`, `schema` and `new` print one value each, whatever comes of them.
#[test]
fn json_answers_are_one_value_and_a_newline() {
    let project = Project::new();
    let ran = project.run(&["--json", "call", "nope", "{}"]);
    let result = one_value(&ran);
    let expected = json!({
        "toolCallId": result["toolCallId"], "toolName": "nope",
        "content": [{"type": "text", "text": "Tool nope not found"}],
        "details": {}, "usage": null, "terminate": false, "isError": true,
        "error": {"kind": "unknownTool", "message": "Tool nope not found"},
    });
    assert_eq!(result, expected);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(2), ""));

    let ran = project.run(&["schema", "--json"]);
    assert_eq!((one_value(&ran), ran.code), (json!([]), Some(0)));
    assert_eq!(project.run(&["schema"]).stdout, "[]\n");

    let name = project.crate_name("made");
    let ran = project.run(&["new", &name, "--json"]);
    let path = project.plugins().join(&name);
    assert_eq!(
        (one_value(&ran), ran.code),
        (json!({"path": path, "crate": name}), Some(0))
    );
}

/// An unknown tool of the command is told on stderr, and stdout stays empty.
#[test]
fn readable_answers_of_failures_are_on_stderr() {
    let project = Project::new();
    let ran = project.run(&["call", "nope"]);
    assert_eq!(
        (ran.code, ran.stdout.as_str(), ran.stderr.as_str()),
        (Some(2), "", "Tool nope not found\n")
    );
    let ran = project.run(&["schema", "nope"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""));
    assert_eq!(ran.stderr, "error: Tool nope not found\n");
}

#[test]
fn exit_code_tells_the_callers_mistakes_from_all_others() {
    let project = Project::new();
    project.plugin(
        "kinds",
        r#"
        /// Fails as it is told to.
        #[tool]
        fn fail(kind: String) -> Result<String> {
            match kind.as_str() {
                "none" => Ok("done".into()),
                "panic" => panic!("boom"),
                kind => Err(ToolError::of(serde_json::from_value(json!(kind))?, "as told")),
            }
        }

        /// Never ends.
        #[tool(timeout = "100ms")]
        async fn wait() -> String { std::future::pending().await }

        /// Says that it failed.
        #[tool]
        fn complain() -> ToolResult { ToolResult::error("no") }
        "#,
    );
    let check = |name: &str, arguments: &str, code: i32, kind: Option<&str>| {
        let ran = project.run(&["--json", "call", name, arguments]);
        assert_eq!(ran.code, Some(code), "{name} {arguments}: {ran:?}");
        assert_eq!(
            one_value(&ran)["error"]["kind"].as_str(),
            kind,
            "{name} {arguments}"
        );
    };
    check("fail", r#"{"kind": "none"}"#, 0, None);
    check("nobody", "{}", 2, Some("unknownTool"));
    check("fail", "{", 2, Some("invalidJson"));
    check("fail", "{}", 2, Some("invalidArguments"));
    for (kind, code) in [
        ("rejected", 2),
        ("invalidArguments", 2),
        ("denied", 1),
        ("needsApproval", 1),
        ("unavailable", 1),
        ("timeout", 1),
        ("aborted", 1),
        ("panic", 1),
        ("crashed", 1),
        ("toolError", 1),
    ] {
        check("fail", &json!({"kind": kind}).to_string(), code, Some(kind));
    }
    check("wait", "", 1, Some("timeout"));
    check("complain", "", 1, Some("toolError"));
}

/// `toolsmith dev` without plugins, on a pipe.
fn dev(project: &Project, arguments: &[&str]) -> Dev {
    Dev::start(project.command(arguments))
}

#[test]
fn dev_on_a_pipe_skips_blanks_and_remarks_and_answers_in_order() {
    let project = Project::new();
    let mut dev = dev(&project, &["dev", "--json"]);
    for line in [
        "",
        "   ",
        "# list",
        "  # call nope",
        "list",
        "call nope {}",
        "call nope {\"a\": \"# b\"}",
        "list",
    ] {
        dev.send(line);
    }
    let list = json!({"schemaVersion": 1, "tools": [], "plugins": []});
    assert_eq!(dev.answer(), list);
    for _ in 0..2 {
        assert_eq!(dev.answer()["error"]["kind"], "unknownTool");
    }
    assert_eq!(dev.answer(), list);
    assert_eq!(dev.finish_with_complaints(), (Some(0), Vec::new()));
}

#[test]
fn dev_on_a_pipe_tells_an_unknown_command_in_one_line_and_goes_on() {
    let project = Project::new();
    let mut dev = dev(&project, &["dev", "--json"]);
    dev.send("dance now");
    dev.send("call");
    dev.send("list more");
    dev.send("schema a klingon");
    dev.send("reload nobody");
    dev.send("schema nobody");
    dev.send("list");
    assert_eq!(dev.answer()["schemaVersion"], 1);
    let usage = "there are: list, call NAME [JSON], schema NAME [FORMAT], reload [CRATE], quit";
    let expected = vec![
        format!("error: unknown command `dance now`; {usage}"),
        format!("error: unknown command `call`; {usage}"),
        format!("error: unknown command `list more`; {usage}"),
        "error: unknown format `klingon`; there are: mcp".to_owned(),
        "error: no plugin `nobody`; there are: ".to_owned(),
        "error: Tool nobody not found".to_owned(),
    ];
    assert_eq!(dev.finish_with_complaints(), (Some(0), expected));
}

/// Without `--json` an answer is printed as `call` prints it.
#[test]
fn dev_on_a_pipe_prints_answers_as_the_commands_do() {
    let project = Project::new();
    let mut command = project.command(&["dev"]);
    let input = project.path().join("input");
    fs_err::write(&input, "list\ncall nope\nschema nope\n").unwrap();
    command.stdin(fs_err::File::open(&input).unwrap().into_parts().0);
    let output = command.output().unwrap();
    assert_eq!(
        String::from_utf8(output.stdout).unwrap(),
        "Tools:\n  (none)\nPlugins:\n  (none)\n"
    );
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(stderr, "Tool nope not found\nerror: Tool nope not found\n");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn dev_on_a_pipe_ends_with_its_input_or_when_told_to() {
    let project = Project::new();
    assert_eq!(dev(&project, &["dev"]).finish(), Some(0));
    let mut with_quit = dev(&project, &["dev", "--json"]);
    with_quit.send("quit");
    with_quit.send("list");
    assert_eq!(with_quit.finish(), Some(0));
    // No command at all means `dev`.
    let mut plain = dev(&project, &["--json"]);
    assert_eq!(plain.ask("list")["schemaVersion"], 1);
    assert_eq!(plain.finish(), Some(0));
}

#[test]
fn wrong_usage_exits_with_2_and_prints_nothing_for_programs() {
    let project = Project::new();
    let empty = tempfile::tempdir().unwrap();
    let in_empty = |arguments: &[&str]| {
        let mut command = Command::new(toolsmith_tests::toolsmith());
        command
            .args(arguments)
            .current_dir(empty.path())
            .env_remove("TOOLSMITH_STATE");
        command.output().unwrap()
    };
    for arguments in [&["list"][..], &["dance"], &["list", "--plugins"], &["call"]] {
        let output = in_empty(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert_eq!(String::from_utf8_lossy(&output.stdout), "", "{arguments:?}");
        assert!(!output.stderr.is_empty(), "{arguments:?}");
    }
    let refused = in_empty(&["--json", "list"]);
    assert_eq!(refused.status.code(), Some(2));
    let refusal: Value = serde_json::from_slice(&refused.stdout).unwrap();
    assert!(refusal["error"]["message"].is_string(), "{refusal}");
    assert!(refusal["error"]["hint"].is_string(), "{refusal}");
    for arguments in [
        &["list", "--quiet", "--verbose"][..],
        &["schema", "--format", "klingon"],
    ] {
        let ran = project.run(arguments);
        assert_eq!(
            (ran.code, ran.stdout.as_str()),
            (Some(2), ""),
            "{arguments:?}"
        );
    }
}
