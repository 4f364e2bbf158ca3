//! Builds as people meet them: fast edits, times that lie, builds that are interrupted, machines
//! that lack something.

mod edits;
mod kills;
mod obstacles;
mod places;
mod processes;
mod times;
mod tools;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use rustix::process::{Pid, Signal, kill_process};
use toolsmith_tests::{DEADLINE, Dev, Project};

/// A project whose cargo writes down how it is started.
struct Counted {
    project: Project,
}

impl Counted {
    fn new() -> Self {
        let project = Project::new();
        let log = project.path().join("cargo-starts");
        project.write(
            "cargo",
            &format!(
                "#!/bin/sh\necho \"$1\" >> '{}'\nexec cargo \"$@\"\n",
                log.display()
            ),
        );
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o700);
        fs_err::set_permissions(project.path().join("cargo"), mode).unwrap();
        Self { project }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.project.path().join(name)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.project.command(arguments);
        command.env("TOOLSMITH_CARGO", self.path("cargo"));
        command
    }

    fn dev(&self) -> Dev {
        Dev::start(self.command(&["dev", "--json"]))
    }

    /// How often cargo was started since this was asked last.
    fn starts(&self) -> usize {
        let log = self.path("cargo-starts");
        let starts = fs_err::read_to_string(&log).unwrap_or_default();
        drop(fs_err::remove_file(log));
        starts.lines().count()
    }
}

/// A tool that answers with an expression's text.
fn answering(expression: &str) -> String {
    format!("/// Answers.\n#[tool]\nfn answer() -> String {{ ({expression}).to_string() }}\n")
}

fn answer(dev: &mut Dev) -> String {
    dev.call("answer", "{}")
}

fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !done() {
        assert!(begin.elapsed() < DEADLINE, "{what}");
        std::thread::yield_now();
    }
}

/// The terminal's interrupt reaches the command only; cargo runs in a process group of its own.
#[test]
fn interrupt_ends_the_build_with_everything_it_started() {
    let project = Project::new();
    project.plugin("endless", "/// Never built.\n#[tool]\nfn never() {}");
    let file = project.path().join("pid");
    let script = format!(
        "fn main() {{ std::fs::write({file:?}, std::process::id().to_string()).unwrap(); \
         loop {{ std::thread::park() }} }}"
    );
    project.write("plugins/endless/build.rs", &script);
    let command = Dev::start(project.command(&["list"]));
    let pid = || {
        fs_err::read_to_string(&file)
            .ok()
            .filter(|text| !text.is_empty())
    };
    wait_until("the build script does not start", || pid().is_some());

    let id = Pid::from_raw(command.id().try_into().unwrap()).unwrap();
    kill_process(id, Signal::INT).unwrap();
    assert_eq!(command.finish(), Some(1));
    let script = Path::new("/proc").join(pid().unwrap());
    wait_until("the build script goes on", || !script.exists());
}
