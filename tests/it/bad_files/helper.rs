//! Helper processes that are killed, outlive their host, or are no helper programs.

use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use toolsmith_tests::{Dev, toolsmith};

use super::fixture::{Host, assert_state, hostile, of, tool_of, wait_until};

fn kill(pid: u32) {
    let pid = Pid::from_raw(pid.cast_signed()).unwrap();
    kill_process(pid, Signal::KILL).unwrap();
}

/// The helper that has this library mapped.
fn prober_of(host: &Host, dev: &Dev) -> u32 {
    let store = host.project.path().join(".toolsmith/store/");
    let store = store.display().to_string();
    let maps = |pid: &u32| {
        let maps = fs_err::read_to_string(format!("/proc/{pid}/maps"));
        maps.is_ok_and(|maps| maps.contains(&store))
    };
    let find = || host.helpers().into_iter().find(maps);
    wait_until("a helper tries it out", || find().is_some());
    let found = find().unwrap();
    assert_ne!(found, dev.id());
    found
}

#[test]
fn a_helper_that_is_killed_is_no_fault_of_the_library() {
    let host = Host::new();
    let mut dev = host.dev();
    assert_eq!(dev.call("fine", ""), "fine");
    host.put("slow", &hostile("slow"));
    dev.send("list");
    let first = prober_of(&host, &dev);
    kill(first);
    wait_until("another helper tries", || prober_of(&host, &dev) != first);
    let list = dev.answer();
    assert_state(&list, "slow", "live", &[]);
    assert_eq!(dev.call(&tool_of("slow"), ""), "it serves");
    assert_eq!(dev.call("fine", ""), "fine");
    assert_eq!(dev.finish(), Some(0));
    host.assert_nothing_left(Duration::from_secs(5));
}

#[test]
fn a_helper_ends_with_its_host_whatever_it_is_doing() {
    for mode in ["sleep", "loop", "deaf"] {
        let host = Host::new();
        let mut dev = host.dev();
        assert_eq!(dev.call("fine", ""), "fine");
        host.put(mode, &hostile(mode));
        dev.send("list");
        prober_of(&host, &dev);
        kill(dev.id());
        host.assert_nothing_left(Duration::from_secs(3));
    }
}

/// Starts with a program that is none, and puts the right one in its place.
fn mended(host: &Host, program: &std::path::Path, parts: &[&str], mend: impl FnOnce()) {
    let mut command = host.command(&["dev", "--json"]);
    command.env("TOOLSMITH_HELPER", program);
    let mut dev = Dev::start(command);
    let list = dev.ask("list");
    assert_state(&list, "good", "failed", parts);
    assert_state(&list, "other", "failed", parts);
    mend();
    dev.send("reload");
    let list = dev.ask("list");
    assert_state(&list, "good", "live", &[]);
    assert_eq!(dev.call("fine", ""), "fine");
    assert_eq!(of(&list, "other")["state"], "live");
    assert_eq!(dev.finish(), Some(0));
    host.assert_nothing_left(Duration::from_secs(5));
}

#[test]
fn what_is_no_helper_program_is_told_and_can_be_mended_without_a_restart() {
    let real = format!("#!/bin/sh\nexec '{}' \"$@\"\n", toolsmith().display());
    let new = || {
        let host = Host::new();
        host.put("other", &hostile("none"));
        host
    };
    let set = "set TOOLSMITH_HELPER";
    let printing = "#!/bin/sh\necho 'I am no \u{1b}[31mhelper'\nexit 7\n";
    for (text, parts) in [
        (None, &["can't be used", "No such file"][..]),
        (Some("#!/bin/sh\nexec true\n"), &[set, "exit code 0"]),
        (
            Some("#!/bin/sh\nexec cat \"$@\"\n"),
            &[set, "exit code 1", "--toolsmith-helper"],
        ),
        (
            Some("#!/bin/sh\nexec cat\n"),
            &[set, "said nothing within 10s"],
        ),
        (Some(printing), &[set, "exit code 7", "I am no", "helper"]),
        (
            Some("#!/bin/sh\nprintf xxxxxxxxxxxx >&0\n"),
            &[set, "what it sent is no answer"],
        ),
        (Some("#!/nonexistent/interpreter\n"), &["can't be started"]),
    ] {
        let host = new();
        let path = host.project.path().join("helper.sh");
        if let Some(text) = text {
            host.script("helper.sh", text);
        }
        mended(&host, &path, parts, || {
            host.script("helper.sh", &real);
        });
    }
    // Programs that are no scripts are kept open while they are of use.
    for (program, parts) in [
        ("/bin/true", &[set, "exit code 0"][..]),
        ("/bin/cat", &[set, "exit code 1"]),
    ] {
        let host = new();
        let path = host.project.path().join("helper");
        fs_err::copy(program, &path).unwrap();
        mended(&host, &path, parts, || {
            fs_err::remove_file(&path).unwrap();
            host.script("helper", &real);
        });
    }
}
