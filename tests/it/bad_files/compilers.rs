//! Libraries of other compilers and of other settings than the host's builder has.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use agent_core::build::Profile;
use fs_err as fs;
use toolsmith_tests::{Project, target};

use super::fixture::{Host, assert_state};

const SOURCE: &str = "
    /// Works.
    #[tool]
    fn elsewhere() -> String { std::panic::catch_unwind(|| 7).map_or(0, |seven| seven).to_string() }
";

/// Builds a plugin as a person would, with more arguments for the compiler of the leaf. Answers
/// its library.
///
/// The settings are the host's, and without another toolchain the place is too, so that
/// dependencies are compiled once for both.
fn built(toolchain: Option<&str>, name: &str, arguments: &[&str]) -> PathBuf {
    let project = Project::new();
    project.plugin(name, SOURCE);
    let place = toolchain.map_or("trusted", |_| "compilers");
    let folder = target().join(place);
    let mut command = Command::new("cargo");
    for (name, _) in std::env::vars() {
        if name.starts_with("CARGO") && name != "CARGO_HOME" {
            command.env_remove(name);
        }
    }
    if let Some(toolchain) = toolchain {
        command.env("RUSTUP_TOOLCHAIN", toolchain);
        command.env_remove("RUSTC");
    }
    let output = command
        .args([
            "rustc",
            "--offline",
            "--quiet",
            "--lib",
            "--crate-type=cdylib",
            "--target-dir",
        ])
        .arg(&folder)
        .args(Profile::Dev.arguments())
        .arg("--")
        .args(arguments)
        .current_dir(project.plugins().join(name))
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let file = project.crate_name(name).replace('-', "_");
    folder.join(format!("debug/lib{file}.so"))
}

/// The libraries it depends on unwind, the tool does not.
#[test]
fn a_leaf_that_aborts_on_panics_is_refused() {
    let library = fs::read(built(None, "aborting", &["-C", "panic=abort"])).unwrap();
    let host = Host::new();
    host.put("aborting", &library);
    let list = host.list();
    assert_state(
        &list,
        "aborting",
        "failed",
        &["panic = \"abort\"", "elsewhere"],
    );
    assert_state(&list, "good", "live", &[]);
    host.assert_nothing_left(Duration::from_secs(5));
}

/// The toolchains of rustup whose compiler is not the one of this test.
fn others() -> Vec<String> {
    let version = |toolchain: Option<&str>| {
        let mut command = Command::new("rustc");
        if let Some(toolchain) = toolchain {
            command.env("RUSTUP_TOOLCHAIN", toolchain);
        }
        let output = command.arg("--version").output().ok()?;
        output.status.success().then_some(output.stdout)
    };
    let own = version(None);
    let Ok(output) = Command::new("rustup")
        .args(["toolchain", "list", "--quiet"])
        .output()
    else {
        return Vec::new();
    };
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let names = text
        .lines()
        .map(|line| line.split_whitespace().next().unwrap_or(line).to_owned());
    names
        .filter(|name| version(Some(name)).is_some_and(|other| Some(other) != own))
        .collect()
}

/// g4.abi: what crosses the border does not depend on the compiler, so it serves.
#[test]
fn a_library_of_another_compiler_serves() {
    let Some(other) = others().into_iter().next() else {
        println!("skipped: rustup has no other compiler");
        return;
    };
    let library = fs::read(built(Some(&other), "other-rustc", &[])).unwrap();
    let host = Host::new();
    host.put("other", &library);
    let list = host.list();
    assert_state(&list, "other", "live", &[]);
    let output = host.command(&["call", "elsewhere"]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "7\n");
}
