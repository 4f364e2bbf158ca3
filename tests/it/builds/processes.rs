//! More than one process that builds.

use std::process::{Command, Stdio};

use agent_core::build::Profile;
use toolsmith_tests::{Project, target};

use super::{Counted, answer, answering};

/// g4.target-lock: a host that runs below a cargo which holds the lock of its target folder builds
/// elsewhere, and waits for nobody.
#[test]
fn builds_do_not_wait_for_the_cargo_that_started_the_host() {
    let project = Project::new();
    project.plugin("nested", &answering("\"built\""));
    let outer = project.path().join("outer");
    fs_err::create_dir_all(outer.join("debug")).unwrap();
    let lock = fs_err::File::create(outer.join("debug/.cargo-lock")).unwrap();
    lock.lock().unwrap();
    let mut command = project.command(&["call", "answer"]);
    command
        .env("CARGO_TARGET_DIR", &outer)
        .env("CARGO_BUILD_TARGET_DIR", &outer)
        .env(
            "CARGO_MAKEFLAGS",
            "-j --jobserver-fds=1000,1001 --jobserver-auth=1000,1001",
        );
    let output = command.output().unwrap();
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert_eq!(
        String::from_utf8_lossy(&output.stdout).trim(),
        "built",
        "{complaints}"
    );
    let made = fs_err::read_dir(outer.join("debug")).unwrap().count();
    assert_eq!(made, 1, "nothing was built there");
}

/// Two commands that find the same edit both answer with it.
#[test]
fn two_builders_of_one_folder_agree() {
    let counted = Counted::new();
    let project = &counted.project;
    project.plugin("contended", &answering("0"));
    for round in 0..4 {
        let word = format!("word {round}");
        project.source("contended", &answering(&format!("{word:?}")));
        let both = [(), ()].map(|()| {
            let mut command = counted.command(&["call", "answer"]);
            command
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap()
        });
        for command in both {
            let output = command.wait_with_output().unwrap();
            let complaints = String::from_utf8_lossy(&output.stderr);
            assert_eq!(
                String::from_utf8_lossy(&output.stdout).trim(),
                word,
                "{complaints}"
            );
        }
        // One of them built, the other found it.
        assert_eq!(counted.starts(), usize::from(round == 0));
    }
}

/// A person who builds the crate in the same place, with all its kinds of library, changes nothing
/// of what serves.
#[test]
fn a_persons_own_build_loads_nothing_twice() {
    let counted = Counted::new();
    let project = &counted.project;
    project.plugin("shared", &answering("\"one\""));
    let mut dev = counted.dev();
    assert_eq!(answer(&mut dev), "one");
    let build = || {
        let mut cargo = Command::new("cargo");
        cargo
            .args(["build", "--quiet", "--locked", "--target-dir"])
            .arg(target().join("trusted"))
            .args(Profile::Dev.arguments())
            .current_dir(counted.path("plugins/shared"));
        for (name, _) in std::env::vars() {
            if name.starts_with("CARGO") && name != "CARGO_HOME" {
                cargo.env_remove(name);
            }
        }
        assert!(cargo.status().unwrap().success());
    };
    let images =
        |dev: &mut toolsmith_tests::Dev| dev.ask("list")["plugins"][0]["mappedImages"].clone();
    counted.starts();
    build();
    assert_eq!(answer(&mut dev), "one");
    assert_eq!((images(&mut dev), counted.starts()), (1.into(), 0));
    project.source("shared", &answering("\"two\""));
    assert_eq!(answer(&mut dev), "two");
    build();
    assert_eq!(answer(&mut dev), "two");
    assert_eq!((images(&mut dev), counted.starts()), (2.into(), 0));
    // The person built first.
    project.source("shared", &answering("\"three\""));
    build();
    assert_eq!(answer(&mut dev), "three");
    assert_eq!(images(&mut dev), 3);
}
