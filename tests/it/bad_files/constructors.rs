//! Constructors of libraries that crash, exit, hang, or leave something behind.

use std::os::unix::process::ExitStatusExt as _;
use std::time::Duration;

use toolsmith_tests::Dev;

use super::fixture::{Host, assert_state, hostile, tool_of};

/// Whoever is to blame for a process's end is told how it ended. All are new in one scan, so each
/// is tried again alone when the first has ended the process that they share.
const MODES: [(&str, &str, &[&str]); 18] = [
    ("segv", "quarantined", &["SIGSEGV"]),
    ("abort", "quarantined", &["SIGABRT"]),
    ("exit0", "quarantined", &["exit code 0"]),
    ("exit3", "quarantined", &["exit code 3"]),
    ("kill", "quarantined", &["SIGKILL", "3 times in a row"]),
    ("overflow", "quarantined", &["signal"]),
    ("latesegv", "quarantined", &["SIGSEGV"]),
    (
        "printmuch",
        "quarantined",
        &["exit code 4", "its last words: xxx"],
    ),
    ("closeall", "quarantined", &["closed the connection"]),
    ("garbage", "quarantined", &["what it sent is no answer"]),
    ("chdir", "failed", &["working directory", "`/`"]),
    ("fork", "failed", &["starts a process"]),
    ("daemon", "failed", &["starts a process"]),
    ("umask", "failed", &["changes a setting", "Umask"]),
    ("reap", "failed", &["changes a setting", "SigIgn"]),
    ("thread", "live", &[]),
    ("print", "live", &[]),
    ("none", "live", &[]),
];

fn check(list: &serde_json::Value, name: &str, state: &str, parts: &[&str]) {
    assert_state(list, name, state, parts);
    if state == "quarantined" {
        assert_state(list, name, state, &["not tried again until"]);
    }
}

#[test]
fn constructors_that_end_the_process_or_leave_something_behind_cost_nobody_else() {
    let host = Host::new();
    for (mode, ..) in MODES {
        host.put(mode, &hostile(mode));
    }
    let (helper, starts) = host.counting_helper();
    let mut command = host.command(&["dev", "--json"]);
    command.env("TOOLSMITH_HELPER", &helper);
    let mut dev = Dev::start(command);
    assert_eq!(dev.call("fine", ""), "fine");
    let list = dev.ask("list");
    for (mode, state, parts) in MODES {
        check(&list, mode, state, parts);
        if state == "live" {
            assert_eq!(dev.call(&tool_of(mode), ""), "it serves", "{mode}");
        }
    }
    // Known ones are not tried again, neither here nor after a restart.
    let tried = starts();
    assert_eq!(dev.call("fine", ""), "fine");
    assert_eq!(starts(), tried);
    let mut command = host.command(&["list", "--json"]);
    let output = command.env("TOOLSMITH_HELPER", &helper).output().unwrap();
    let again: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    for (mode, state, parts) in MODES {
        check(&again, mode, state, parts);
    }
    assert_eq!(starts(), tried, "verdicts are kept");
    // Who asks for it has them tried again.
    dev.send("reload");
    let list = dev.ask("list");
    for (mode, state, parts) in MODES {
        check(&list, mode, state, parts);
    }
    assert!(starts() > tried + 10, "{} {tried}", starts());
    // Another content is another library.
    host.put("segv", &hostile("mended"));
    let list = dev.ask("list");
    check(
        &list,
        "segv",
        "quarantined",
        &["SIGABRT", "unknown mode mended"],
    );
    host.put("segv", &hostile("slow"));
    let list = dev.ask("list");
    check(&list, "segv", "live", &[]);
    assert_eq!(dev.call(&tool_of("slow"), ""), "it serves");
    assert_eq!(dev.call("fine", ""), "fine");
    assert!(host.processes().contains(&dev.id()), "they are found");
    assert_eq!(dev.finish(), Some(0));
    host.assert_nothing_left(Duration::from_secs(5));
}

/// Each host is given one that hangs while the good one serves.
#[test]
fn constructors_that_hang_are_given_up_and_ended() {
    let hang = |mode: &str| {
        let host = Host::new();
        let mut dev = host.dev();
        assert_eq!(dev.call("fine", ""), "fine");
        host.put(mode, &hostile(mode));
        let list = dev.ask("list");
        check(&list, mode, "quarantined", &["did not answer within 10s"]);
        assert_eq!(dev.call("fine", ""), "fine");
        assert_eq!(dev.finish(), Some(0));
        host.assert_nothing_left(Duration::from_secs(5));
        check(
            &host.list(),
            mode,
            "quarantined",
            &["did not answer within 10s"],
        );
    };
    std::thread::scope(|scope| {
        for mode in ["loop", "sleep", "deaf"] {
            scope.spawn(move || hang(mode));
        }
    });
}

/// What a constructor prints is read while it holds the loader's lock, in the helper and in the host.
#[test]
fn constructors_that_print_megabytes_hold_up_nobody() {
    let host = Host::new();
    host.put("printhost", &hostile("printhost"));
    let mut dev = host.dev();
    assert_eq!(dev.call(&tool_of("printhost"), ""), "it serves");
    assert_eq!(dev.call("fine", ""), "fine");
    assert_eq!(dev.finish(), Some(0));
}

/// A library that behaves well when it is tried and ends its host does so twice; then the host lives
/// without it.
#[test]
fn library_that_ends_only_its_hosts_is_left_alone_at_the_third_start() {
    let host = Host::new();
    host.put("twofaced", &hostile("twofaced"));
    for _ in 0..2 {
        let ended = host.command(&["list", "--json"]).output().unwrap();
        assert_eq!(ended.status.signal(), Some(6), "{ended:?}");
    }
    let parts = ["ended the host that loaded it, 2 times in a row"];
    for _ in 0..2 {
        check(&host.list(), "twofaced", "quarantined", &parts);
    }
    let mut dev = host.dev();
    assert_eq!(dev.call("fine", ""), "fine");
    host.put("twofaced", &hostile("slow"));
    assert_eq!(dev.call(&tool_of("slow"), ""), "it serves");
    assert_eq!(dev.finish(), Some(0));
}
