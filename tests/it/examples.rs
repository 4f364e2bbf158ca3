//! What a tool's author declares: examples that `toolsmith test` runs, and declarations that
//! contradict each other, which cost the library that has them.

use serde_json::{Value, json};
use toolsmith_tests::Project;

const TOOLS: &str = r#"
    /// Adds.
    #[tool(
        example({"a": 1, "b": 2}, 3),
        example({"a": 1, "b": 2}, "3"),
        example({"a": 1}, "2"),
        example({"a": 2, "b": 2}),
    )]
    fn add(a: i32, #[arg(default = 1)] b: i32) -> i32 { a + b }

    /// Says what it is told.
    #[tool(example({"word": "a\nb"}, "a b"), example({"word": "x"}, "x"))]
    fn echo(word: String) -> Result<String> {
        if word == "panic" { panic!("boom") }
        Ok(word)
    }

    /// Has none.
    #[tool]
    fn silent() {}
"#;

/// A tool that needs what nobody has given it.
const KEYED: &str = r#"
    /// Needs a key.
    #[tool(example({"word": "x"}, "x"))]
    fn keyed(word: String, #[arg(preset)] key: String) -> String { format!("{word}{key}") }
"#;

fn project() -> Project {
    let project = Project::new();
    project.plugin("adder", TOOLS);
    project
}

#[test]
fn every_example_is_one_line_and_the_last_line_counts() {
    let project = project();
    let ran = project.run(&["test"]);
    let expected = "ok add {\"a\": 1, \"b\": 2}\n\
                    ok add {\"a\": 1, \"b\": 2}\n\
                    ok add {\"a\": 1}\n\
                    ok add {\"a\": 2, \"b\": 2}\n\
                    FAILED echo {\"word\": \"a\\nb\"}: expected \"a b\", found \"a\\nb\"\n\
                    ok echo {\"word\": \"x\"}\n\
                    6 examples: 5 ok, 1 failed\n";
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (Some(1), expected),
        "{ran:?}"
    );

    let ran = project.run(&["test", "add"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stdout.ends_with("\n4 examples: all ok\n"), "{ran:?}");
    let ran = project.run(&["test", &project.crate_name("adder")]);
    assert!(
        ran.stdout.ends_with("6 examples: 5 ok, 1 failed\n"),
        "{ran:?}"
    );
    let ran = project.run(&["test", "silent"]);
    let none = "no examples: a tool declares them with #[tool(example(…))]\n";
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), none), "{ran:?}");
}

#[test]
fn examples_for_programs_are_one_value() {
    let project = project();
    let ran = project.run(&["test", "echo", "--json"]);
    let plugin = project.crate_name("adder");
    let expected = json!({
        "ok": false, "passed": 1, "failed": 1,
        "examples": [
            {
                "tool": "echo", "plugin": plugin, "arguments": {"word": "a\nb"}, "ok": false,
                "expected": "a b", "found": "a\nb",
            },
            {
                "tool": "echo", "plugin": plugin, "arguments": {"word": "x"}, "ok": true,
                "expected": "x",
            },
        ],
    });
    assert_eq!((ran.json(), ran.code), (expected, Some(1)));

    let ran = project.run(&["--json", "test", "silent"]);
    let none = json!({"ok": true, "passed": 0, "failed": 0, "examples": []});
    assert_eq!((ran.json(), ran.code), (none, Some(0)));
}

#[test]
fn unknown_name_is_wrong_usage() {
    let project = project();
    let ran = project.run(&["test", "ad"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{ran:?}");
    assert!(
        ran.stderr
            .contains("Tool ad not found\nDid you mean \"add\"?"),
        "{ran:?}"
    );
    assert!(ran.stderr.contains("NAME is a tool or a plugin"), "{ran:?}");
}

/// What can't be called fails its examples with the reason; what can't be built fails the test.
#[test]
fn unavailable_tool_and_broken_plugin_are_failures() {
    let project = Project::new();
    project.plugin("keyed", KEYED);
    let ran = project.run(&["test", "--json"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let error = &ran.json()["examples"][0]["error"];
    assert_eq!(error["kind"], "unavailable");
    let reason = "Tool keyed is not available: its argument `key` must be preset";
    assert!(
        error["message"].as_str().unwrap().starts_with(reason),
        "{error}"
    );

    let config = fs_err::read_to_string(project.path().join("toolsmith.toml")).unwrap();
    let preset = format!("{config}[tools.keyed]\npreset = {{ key = \"\" }}\n");
    project.write("toolsmith.toml", &preset);
    assert_eq!(project.run(&["test", "keyed"]).code, Some(0));

    project.source("keyed", "fn broken( {");
    let ran = project.run(&["test", "--json"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let tested = ran.json();
    assert_eq!(tested["ok"], false);
    assert_eq!(
        tested["plugins"].as_array().map(Vec::len),
        Some(1),
        "{tested}"
    );
    let ran = project.run(&["test"]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.contains("does not serve"), "{ran:?}");
}

/// The first plugin of a list.
fn plugin(list: &Value) -> (&str, &str) {
    let plugin = &list["plugins"][0];
    (
        plugin["state"].as_str().unwrap(),
        plugin["reason"].as_str().unwrap_or_default(),
    )
}

/// R29: a library that contradicts itself is refused with the value, what the schema says, and the
/// place; what served before goes on serving.
#[test]
fn r29_library_that_contradicts_itself_is_refused_and_the_one_before_serves() {
    let project = Project::new();
    project.plugin("counter", "/// Counts.\n#[tool]\nfn count() -> u8 { 1 }");
    let mut dev = project.dev();
    assert_eq!(dev.call("count", ""), "1");
    let mut check = |source: &str, expected: &str| {
        project.source("counter", source);
        let list = dev.ask("list");
        let (state, reason) = plugin(&list);
        assert_eq!(state, "failed", "{source}");
        assert!(reason.contains(expected), "{reason}");
        assert!(reason.contains("src/lib.rs:"), "{reason}");
        assert_eq!(dev.call("count", ""), "1");
    };
    check(
        "const MANY: u8 = 20;\n/// Counts.\n#[tool]\n\
         fn count(#[arg(default = MANY, max = 10)] most: u8) -> u8 { most }",
        "the default 20 of argument `most` does not fit: too large (expected at most 10)",
    );
    check(
        "/// Counts.\n#[tool(example({\"mots\": 3}, 3))]\n\
         fn count(most: u8) -> u8 { most }",
        "the example {\"mots\": 3} does not fit the tool's arguments: /most: missing required \
         argument (expected integer); /mots: unknown argument, did you mean \"most\"? (allowed: most)",
    );
    project.source("counter", "/// Counts.\n#[tool]\nfn count() -> u8 { 2 }");
    assert_eq!(dev.call("count", ""), "2");
    assert_eq!(plugin(&dev.ask("list")).0, "live");
}

#[test]
fn deprecated_tools_are_marked_in_the_list() {
    let project = Project::new();
    project.plugin(
        "old",
        "/// Greets.\n#[tool(deprecated = \"use greet\")]\nfn hello() {}\n\
         /// Greets.\n#[tool(deprecated)]\nfn hi() {}\n\
         /// Greets.\n#[tool(read_only, open_world = false)]\nfn greet() {}",
    );
    let tools = project.run(&["list", "--json"]).json()["tools"].take();
    let shown: Vec<(&str, Option<&str>)> = tools
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| (tool["name"].as_str().unwrap(), tool["deprecated"].as_str()))
        .collect();
    assert_eq!(
        shown,
        [
            ("greet", None),
            ("hello", Some("use greet")),
            ("hi", Some(""))
        ]
    );
    let listed = project.run(&["list"]).stdout;
    assert!(
        listed.contains("hello: Hello (deprecated: use greet) — Greets."),
        "{listed}"
    );
    assert!(listed.contains("hi: Hi (deprecated) — Greets."), "{listed}");
    let schema = project.run(&["schema", "greet"]).json();
    let annotations = json!({"readOnlyHint": true, "openWorldHint": false});
    assert_eq!(schema[0]["annotations"], annotations);
}
