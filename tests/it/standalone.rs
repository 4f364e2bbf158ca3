//! The command alone in an empty folder: it carries the SDK that new crates depend on.

use std::process::{Command, Stdio};

use toolsmith_tests::{target, toolsmith};

#[test]
fn copied_binary_makes_and_calls_a_tool_in_an_empty_folder() {
    let folder = tempfile::tempdir().unwrap();
    let binary = folder.path().join("toolsmith");
    fs_err::copy(toolsmith(), &binary).unwrap();
    let run = |arguments: &[&str]| {
        Command::new(&binary)
            .args(arguments)
            .current_dir(folder.path())
            .env("TOOLSMITH_TARGET", target())
            .env_remove("TOOLSMITH_STATE")
            .stdin(Stdio::null())
            .output()
            .unwrap()
    };
    let made = run(&["new", "standalone-example"]);
    assert!(
        made.status.success(),
        "{}",
        String::from_utf8_lossy(&made.stderr)
    );
    let listed = run(&["list", "--json"]);
    let list: serde_json::Value = serde_json::from_slice(&listed.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&listed.stderr)));
    let tool = list["tools"][0]["name"]
        .as_str()
        .unwrap_or_else(|| panic!("{list}"))
        .to_owned();
    let schema = run(&["schema", &tool, "--json"]);
    let schema: serde_json::Value = serde_json::from_slice(&schema.stdout).unwrap();
    let mut arguments = serde_json::Map::new();
    for name in schema[0]["inputSchema"]["required"]
        .as_array()
        .into_iter()
        .flatten()
    {
        arguments.insert(name.as_str().unwrap().to_owned(), "Ada".into());
    }
    let called = run(&[
        "call",
        &tool,
        &serde_json::Value::from(arguments).to_string(),
    ]);
    assert!(
        called.status.success(),
        "{}",
        String::from_utf8_lossy(&called.stderr)
    );
    assert!(!called.stdout.is_empty());
    assert!(folder.path().join(".toolsmith/sdk").is_dir());
}

/// Whoever gets the plugins without the state folder, as from a repository, has the SDK again.
#[test]
fn clone_without_state_builds_and_so_does_a_host_whose_state_is_taken_away() {
    let folder = tempfile::tempdir().unwrap();
    let run = |place: &str, arguments: &[&str]| {
        Command::new(toolsmith())
            .args(arguments)
            .current_dir(folder.path().join(place))
            .env("TOOLSMITH_TARGET", target())
            .env_remove("TOOLSMITH_STATE")
            .stdin(Stdio::null())
            .output()
            .unwrap()
    };
    let name = format!("cloned-{}", std::process::id());
    fs_err::create_dir(folder.path().join("first")).unwrap();
    assert!(run("first", &["new", &name]).status.success());
    fs_err::create_dir(folder.path().join("second")).unwrap();
    let (from, to) = ("first/plugins", "second/plugins");
    fs_err::rename(folder.path().join(from), folder.path().join(to)).unwrap();
    for state in ["", "second/.toolsmith"] {
        if !state.is_empty() {
            fs_err::remove_dir_all(folder.path().join(state)).unwrap();
        }
        let listed = run("second", &["list", "--json"]);
        let list: serde_json::Value = serde_json::from_slice(&listed.stdout).unwrap();
        let complaints = String::from_utf8_lossy(&listed.stderr);
        assert_eq!(list["plugins"][0]["state"], "live", "{list}\n{complaints}");
    }
}

/// Nothing half-made stays, and a taken or unusable name is refused with a way out.
#[test]
fn names_that_can_not_be_are_refused() {
    let project = toolsmith_tests::Project::new();
    for name in ["Bad Name", "std", "../evil", "fn", ""] {
        let ran = project.run(&["new", name]);
        assert_eq!(ran.code, Some(2), "{name}: {}", ran.stderr);
    }
    assert_eq!(project.run(&["new", "taken"]).code, Some(0));
    assert_eq!(project.run(&["new", "taken"]).code, Some(2));
    assert_eq!(fs_err::read_dir(project.plugins()).unwrap().count(), 1);
}
