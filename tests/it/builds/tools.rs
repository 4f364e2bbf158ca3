//! Machines that lack something: cargo, a network, a lock file.

use std::path::Path;

use serde_json::Value;
use toolsmith_tests::{Project, text};

use super::answering;

/// The reason why the only plugin does not serve.
fn reason(list: &Value) -> String {
    let plugin = &list["plugins"][0];
    assert_eq!(plugin["state"], "failed", "{list}");
    plugin["reason"].as_str().unwrap().to_owned()
}

fn list(project: &Project, variables: &[(&str, &str)]) -> Value {
    let mut command = project.command(&["list", "--json"]);
    command.envs(variables.iter().copied());
    serde_json::from_slice(&command.output().unwrap().stdout).unwrap()
}

/// What serves goes on serving, and what is missing is named.
#[test]
fn a_missing_cargo_is_named_and_takes_nothing_away() {
    let project = Project::new();
    project.plugin("lacking", &answering("\"one\""));
    let no_tools = project.path().join("no-tools");
    fs_err::create_dir(&no_tools).unwrap();
    let no_tools = no_tools.to_str().unwrap();
    let wrong = "/no/such/cargo";
    let expected = |program: &str| format!("the program `{program}` was not found");
    assert_eq!(
        reason(&list(&project, &[("PATH", no_tools)])),
        expected("cargo")
    );
    assert_eq!(
        reason(&list(&project, &[("TOOLSMITH_CARGO", wrong)])),
        expected(wrong)
    );
    // A program that is no cargo.
    let found = reason(&list(&project, &[("TOOLSMITH_CARGO", "/bin/false")]));
    assert!(found.contains("cargo ended with exit status: 1"), "{found}");

    assert_eq!(project.run(&["call", "answer"]).stdout.trim(), "one");
    project.source("lacking", &answering("\"two\""));
    let failed = list(&project, &[("TOOLSMITH_CARGO", wrong), ("PATH", no_tools)]);
    assert_eq!(reason(&failed), expected(wrong));
    assert_eq!(failed["tools"][0]["name"], "answer");
    assert_eq!(project.run(&["call", "answer"]).stdout.trim(), "two");
}

/// Without a network, a dependency that is not on the machine is named; the old tool stays.
#[test]
fn a_dependency_that_can_not_be_fetched_is_named() {
    let project = Project::new();
    project.plugin("offline", &answering("\"one\""));
    assert_eq!(project.run(&["call", "answer"]).stdout.trim(), "one");
    let manifest = project.path().join("plugins/offline/Cargo.toml");
    let before = fs_err::read_to_string(&manifest).unwrap();
    let missing = "[dependencies]\nno-such-crate-of-toolsmith = \"1\"";
    fs_err::write(&manifest, before.replace("[dependencies]", missing)).unwrap();
    let offline = [("CARGO_NET_OFFLINE", "true")];
    let listed = list(&project, &offline);
    let found = reason(&listed);
    assert!(found.contains("could not be fetched"), "{found}");
    assert_eq!(listed["tools"][0]["name"], "answer");
    fs_err::write(&manifest, before).unwrap();
    assert_eq!(list(&project, &offline)["plugins"][0]["state"], "live");
}

/// A lock file that is gone or does not fit is written, and the plugin serves.
#[test]
fn a_lock_file_that_is_missing_or_out_of_date_is_written() {
    let project = Project::new();
    project.plugin("locked", &answering("env!(\"CARGO_PKG_VERSION\")"));
    let mut dev = project.dev();
    let version = |dev: &mut toolsmith_tests::Dev| text(&dev.ask("call answer {}"));
    assert_eq!(version(&mut dev), "0.1.0");
    let lock = project.path().join("plugins/locked/Cargo.lock");
    let names = |lock: &Path, version: &str| {
        let text = fs_err::read_to_string(lock).unwrap();
        let package = format!(
            "name = {:?}\nversion = {version:?}",
            project.crate_name("locked")
        );
        text.contains(&package)
    };
    let manifest = project.path().join("plugins/locked/Cargo.toml");
    let before = fs_err::read_to_string(&manifest).unwrap();
    fs_err::write(&manifest, before.replace("0.1.0", "0.2.0")).unwrap();
    assert_eq!(version(&mut dev), "0.2.0");
    assert!(names(&lock, "0.2.0"));
    fs_err::remove_file(&lock).unwrap();
    assert_eq!(version(&mut dev), "0.2.0");
    assert!(names(&lock, "0.2.0"));
}
