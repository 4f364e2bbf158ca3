//! Builds that a person interrupts.

use std::path::Path;
use std::time::Instant;

use rustix::process::{Pid, Signal, kill_process};
use toolsmith_tests::{DEADLINE, Dev, Project};

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
