//! `toolsmith call` from outside: arguments, texts, kinds, exit codes.

use serde_json::json;
use toolsmith_tests::{Project, Ran};

const TOOLS: &str = r#"
    /// Units of an answer.
    #[tool_type]
    #[serde(rename_all = "lowercase")]
    enum Units { Celsius, Fahrenheit }

    /// Leaves a trace.
    #[tool(name = "getWeather", label = "Weather Lookup", parallel = true)]
    fn weather(
        /// City name
        city: String,
        #[arg(default = "celsius")] units: Units,
    ) -> String {
        std::fs::write("executed", "").unwrap();
        let units = match units { Units::Celsius => "celsius", Units::Fahrenheit => "fahrenheit" };
        format!("{city} in {units}")
    }

    /// Fails.
    #[tool]
    fn fail() -> Result<String> {
        Err(ToolError::new("the disk is full").with_hint("delete something"))
    }

    /// Shows every kind of block.
    #[tool]
    fn blocks() -> Vec<Content> {
        vec![
            Content::text("first"),
            Content::image("A".repeat(16_000), "image/png"),
            Content::text("last"),
        ]
    }

    /// Says nothing.
    #[tool]
    fn nothing() {}
"#;

fn project() -> Project {
    let project = Project::new();
    project.plugin("weather", TOOLS);
    project
}

fn call(project: &Project, arguments: &str) -> Ran {
    project.run(&["call", "getWeather", arguments])
}

/// R8, R11, R12: wrong arguments are told by pointer, with exit code 2, and nothing runs.
#[test]
fn r8_wrong_arguments_are_told_and_nothing_runs() {
    let project = project();
    let check = |arguments: &str, kind: &str, text: &str| {
        let ran = call(&project, arguments);
        assert_eq!(
            (ran.code, ran.stdout.as_str()),
            (Some(2), ""),
            "{arguments}"
        );
        assert!(ran.stderr.contains(text), "{arguments}: {}", ran.stderr);
        let json = project
            .run(&["--json", "call", "getWeather", arguments])
            .json();
        assert_eq!(json["error"]["kind"], kind, "{arguments}: {json}");
        assert_eq!(json["isError"], true);
    };
    let block = "Validation failed for tool \"getWeather\":\n  \
                 - /city: missing required argument (expected string)\n  \
                 - /unitz: unknown argument, did you mean \"units\"? (allowed: city, units)\n\n\
                 Received arguments:\n{\"unitz\": \"celsius\"}\n";
    check(r#"{"unitz":"celsius"}"#, "invalidArguments", block);
    check(
        "",
        "invalidArguments",
        "  - /city: missing required argument (expected string)\n",
    );
    check("{}", "invalidArguments", "Received arguments:\n{}\n");
    check("null", "invalidArguments", "/city: missing");
    check(
        r#"{"city": ["x"]}"#,
        "invalidArguments",
        "/city: wrong type (expected string, got array [\"x\"])",
    );
    check(
        r#"{"city":"x","units":"celcius"}"#,
        "invalidArguments",
        "did you mean \"celsius\"?",
    );
    check("{city: 1}", "invalidJson", "no valid JSON");
    check("[1]", "invalidJson", "must be a JSON object, got an array");
    check("17", "invalidJson", "got a number");
    assert!(!project.path().join("executed").exists());

    let ran = call(&project, r#"{"city":"Tokyo"}"#);
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (Some(0), "Tokyo in celsius\n"),
        "{}",
        ran.stderr
    );
    assert!(project.path().join("executed").exists());
}

/// R7: an unknown tool is told with the closest name and all names, exit code 2.
#[test]
fn r7_unknown_tool_is_told_with_the_closest_name() {
    let project = project();
    let ran = project.run(&["call", "get_weather", "{}"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""));
    let text = "Tool get_weather not found\nDid you mean \"getWeather\"?\n\
                Available tools: blocks, fail, getWeather, nothing\n";
    assert!(ran.stderr.ends_with(text), "{}", ran.stderr);
}

#[test]
fn arguments_come_from_a_file_or_from_standard_input() {
    let project = project();
    project.write("args.json", r#"{"city":"Oslo"}"#);
    assert_eq!(call(&project, "@args.json").stdout, "Oslo in celsius\n");
    let mut command = project.command(&["call", "getWeather", "-"]);
    let file = fs_err::File::open(project.path().join("args.json")).unwrap();
    let output = command.stdin(file.into_parts().0).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "Oslo in celsius\n");
    assert_eq!(call(&project, "@nowhere.json").code, Some(2));
}

#[test]
fn failing_tool_prints_nothing_on_stdout_and_exits_with_1() {
    let project = project();
    let ran = project.run(&["call", "fail"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""));
    assert!(
        ran.stderr.ends_with("the disk is full\ndelete something\n"),
        "{}",
        ran.stderr
    );
    let error = project.run(&["call", "fail", "--json"]).json();
    let expected = json!({"kind": "toolError", "message": "the disk is full\ndelete something"});
    assert_eq!(error["error"], expected);
}

#[test]
fn blocks_are_printed_one_after_the_other_and_nothing_has_a_placeholder() {
    let project = project();
    let ran = project.run(&["call", "blocks"]);
    assert_eq!(ran.stdout, "first\n[image image/png, 12 kB]\nlast\n");
    assert_eq!(project.run(&["call", "nothing"]).stdout, "(no output)\n");
}

#[test]
fn wrong_usage_exits_with_2_and_says_what_to_do() {
    let project = Project::new();
    assert_eq!(project.run(&["dance"]).code, Some(2));
    project.write("toolsmith.toml", "[tool.x]\ntimeout = \"1s\"\n");
    let ran = project.run(&["list"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("`tools`"), "{}", ran.stderr);
    project.write("toolsmith.toml", "[serve]\nexpose = []\n");
    let ran = project.run(&["list"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("not supported yet"), "{}", ran.stderr);
    let empty = tempfile::tempdir().unwrap();
    let ran = project
        .command(&["list"])
        .current_dir(empty.path())
        .output()
        .unwrap();
    assert_eq!(ran.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&ran.stderr).contains("toolsmith new NAME"));
}

/// The time limit of `[tools.NAME]` replaces the tool's own.
#[test]
fn configured_time_limit_counts() {
    let project = Project::new();
    project.plugin(
        "slow",
        "/// Slow.\n#[tool]\nfn slow() { std::thread::sleep(std::time::Duration::from_secs(60)) }",
    );
    let config = fs_err::read_to_string(project.path().join("toolsmith.toml")).unwrap();
    project.write(
        "toolsmith.toml",
        &format!("{config}[tools.slow]\ntimeout = \"50ms\"\n"),
    );
    let ran = project.run(&["call", "slow", "--json"]);
    assert_eq!(ran.code, Some(1));
    assert_eq!(ran.json()["error"]["kind"], "timeout");
}
