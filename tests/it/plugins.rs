//! The plugins of this repository: their own tests, and what they look like from outside.

use std::process::Command;

use agent_core::build::Profile;
use serde_json::{Value, json};
use toolsmith_tests::{Project, repository, target, toolsmith};

/// Runs cargo for one plugin as a person would.
fn cargo(arguments: &[&str], plugin: &str) {
    let manifest = repository().join("plugins").join(plugin).join("Cargo.toml");
    let mut command = Command::new("cargo");
    command.args(arguments).arg("--manifest-path").arg(manifest);
    command.arg("--target-dir").arg(target().join("trusted"));
    // As the host builds, so that dependencies are compiled once for both.
    command.args(Profile::Dev.arguments());
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        let inherited = text.starts_with("CARGO") && text != "CARGO_HOME";
        if inherited
            || text.starts_with("RUST") && !text.starts_with("RUSTUP")
            || text == "LD_LIBRARY_PATH"
        {
            command.env_remove(&name);
        }
    }
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned()
        + &String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{plugin}: {text}");
}

/// Every plugin's own tests pass, with its own lock file as it is.
#[test]
fn own_tests_of_every_plugin_pass() {
    let mut plugins: Vec<String> = fs_err::read_dir(repository().join("plugins"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    plugins.sort();
    assert_eq!(plugins, ["get-time", "get-weather"]);
    for plugin in plugins {
        cargo(&["test", "--locked"], &plugin);
    }
}

/// Y2: compared without `additionalProperties` (R33).
fn y2_schema_is_the_one_of_the_source_document(schema: &str) {
    let shown: Value = serde_json::from_str(schema).unwrap();
    let mut schema = shown[0]["inputSchema"].clone();
    let keywords = schema.as_object_mut().unwrap();
    assert_eq!(keywords.remove("additionalProperties"), Some(false.into()));
    let expected = json!({
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "City name"},
            "units": {"type": "string", "enum": ["celsius", "fahrenheit"], "default": "celsius"},
        },
        "required": ["city"],
    });
    assert_eq!(schema, expected);
}

/// Y59, Y2, Y12: both tools are listed with label and description, and called by name.
#[test]
fn y59_both_plugins_serve_from_the_repository() {
    let project = Project::new();
    let run = |arguments: &[&str]| {
        let output = Command::new(toolsmith())
            .args(arguments)
            .arg("--plugins")
            .arg(repository().join("plugins"))
            .env("TOOLSMITH_TARGET", target())
            .env("TOOLSMITH_STATE", project.path().join("state"))
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        (
            output.status.code(),
            text,
            String::from_utf8_lossy(&output.stderr).into_owned(),
        )
    };
    let (code, list, complaints) = run(&["list", "--json"]);
    assert_eq!(code, Some(0), "{complaints}");
    let list: Value = serde_json::from_str(&list).unwrap();
    let tools: Vec<(&str, &str, &str)> = list["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| {
            let text = |key: &str| tool[key].as_str().unwrap();
            (text("name"), text("label"), text("description"))
        })
        .collect();
    assert_eq!(
        tools,
        [
            (
                "getTime",
                "Time Lookup",
                "Get current local time for a timezone or city."
            ),
            (
                "getWeather",
                "Weather Lookup",
                "Fetch current weather and forecast for a given city."
            ),
        ]
    );
    y2_schema_is_the_one_of_the_source_document(&run(&["schema", "getWeather"]).1);
    assert_eq!(run(&["test", "--json"]).0, Some(0));

    let (code, text, _) = run(&["call", "getTime", r#"{"city":"Tokyo"}"#]);
    assert_eq!(code, Some(0));
    assert!(text.starts_with("Tokyo, Japan (Asia/Tokyo): "), "{text}");

    // Y18, R1: the validator's texts reach the caller untouched.
    for (arguments, expected) in [
        (
            "{}",
            "Missing required argument: provide at least one of 'timezone' or 'city'\n",
        ),
        (
            r#"{"city":""}"#,
            "Missing required argument: provide at least one of 'timezone' or 'city'\n",
        ),
        (
            r#"{"timezone":"EST5"}"#,
            "Invalid timezone format: 'EST5'. Use IANA format, e.g. 'America/New_York'\n",
        ),
        (
            r#"{"timezone":""}"#,
            "Invalid timezone format: ''. Use IANA format, e.g. 'America/New_York'\n",
        ),
    ] {
        let (code, stdout, stderr) = run(&["call", "getTime", arguments]);
        assert_eq!((code, stdout.as_str()), (Some(2), ""), "{arguments}");
        assert!(stderr.ends_with(expected), "{arguments}: {stderr}");
    }
    for zone in [
        "America/New_York",
        "UTC",
        "Etc/GMT+5",
        "America/Port-au-Prince",
    ] {
        let (code, _, stderr) = run(&["call", "getTime", &format!(r#"{{"timezone":"{zone}"}}"#)]);
        assert_eq!(code, Some(0), "{zone}: {stderr}");
    }
}
