//! A host that is killed at any moment, and a state folder that is taken away: the next look is
//! right, and nothing is lost.

use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;
use toolsmith_tests::Project;

fn answering(version: u64) -> String {
    format!("/// Which.\n#[tool]\nfn version() -> u64 {{ {version} }}\n")
}

/// Moments spread over a build and what follows it; without a generator of random numbers, since
/// the machine is random enough.
fn moments() -> impl Iterator<Item = Duration> {
    let count = if std::env::var_os("TOOLSMITH_LONG").is_some() {
        200
    } else {
        12
    };
    (0..count).map(|number| Duration::from_millis(number * 37 % 450))
}

/// Whatever the host was doing, the next one serves the newest source.
#[test]
fn host_that_is_killed_leaves_nothing_that_misleads_the_next() {
    let project = Project::new();
    project.plugin("kept", &answering(0));
    assert_eq!(project.run(&["call", "version"]).stdout, "0\n");
    for (version, moment) in (1..).zip(moments()) {
        project.source("kept", &answering(version));
        let mut dev = project
            .command(&["dev", "--json"])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // The moment itself is what is tried here.
        std::thread::sleep(moment);
        dev.kill().unwrap();
        dev.wait().unwrap();
        let ran = project.run(&["call", "version"]);
        assert_eq!(
            ran.stdout,
            format!("{version}\n"),
            "{moment:?}: {}",
            ran.stderr
        );
    }
    // What was stored in between is whole.
    for version in [0, 1] {
        project.source("kept", &answering(version));
        let ran = project.run(&["call", "version"]);
        assert_eq!(ran.stdout, format!("{version}\n"), "{}", ran.stderr);
    }
    let list = project.run(&["list", "--json"]).json();
    assert_eq!(list["plugins"][0]["state"], "live", "{list}");
    assert_eq!(list["notices"], Value::Null, "{list}");
}

/// A helper that tries something out ends with its host, even if that is killed.
#[test]
fn helpers_end_with_their_host() {
    let project = Project::new();
    project.plugin("kept", &answering(0));
    let mut dev = project.dev();
    assert_eq!(dev.call("version", ""), "0");
    // One waits for the next library.
    let mut helpers = helpers_of(dev.id());
    let begin = std::time::Instant::now();
    while helpers.is_empty() {
        assert!(
            begin.elapsed() < toolsmith_tests::DEADLINE,
            "no helper waits"
        );
        helpers = helpers_of(dev.id());
    }
    drop(dev);
    let begin = std::time::Instant::now();
    for helper in helpers {
        while is_alive(helper) {
            assert!(
                begin.elapsed() < toolsmith_tests::DEADLINE,
                "helper {helper} lives on"
            );
            std::thread::yield_now();
        }
    }
}

/// A host that is asked to end, as by a service manager or a terminal that closes, ends what it has
/// started: a build script that hangs would hold cargo's lock for ever.
#[test]
fn builds_end_with_a_host_that_is_asked_to_end() {
    for signal in ["TERM", "HUP", "INT"] {
        let project = Project::new();
        project.plugin("hangs", &answering(0));
        let note = project.path().join("script");
        project.write(
            "plugins/hangs/build.rs",
            &format!(
                "fn main() {{\n    std::fs::write({note:?}, std::process::id().to_string()).unwrap();\n    \
                 loop {{ std::thread::sleep(std::time::Duration::from_secs(60)); }}\n}}\n"
            ),
        );
        let mut dev = project.dev();
        dev.send("list");
        let script = wait_for(|| fs_err::read_to_string(&note).ok()?.parse::<u32>().ok());
        assert!(is_alive(script));
        let id = dev.id().to_string();
        let killed = std::process::Command::new("kill")
            .args(["-s", signal, &id])
            .status();
        assert!(killed.unwrap().success());
        wait_for(|| (!is_alive(script)).then_some(()));
        drop(dev);
    }
}

/// A build that never ends holds up nobody for ever: the list shows it, and the version before
/// answers.
#[test]
fn build_that_hangs_is_shown_and_the_version_before_answers() {
    let project = Project::new();
    project.plugin("hangs", &answering(1));
    let mut dev = project.dev();
    assert_eq!(dev.call("version", ""), "1");
    let script = "fn main() { loop { std::thread::sleep(std::time::Duration::from_secs(60)); } }";
    project.write("plugins/hangs/build.rs", script);
    project.source("hangs", &answering(2));
    let list = dev.ask("list");
    assert_eq!(list["plugins"][0]["state"], "building", "{list}");
    assert_eq!(list["plugins"][0]["generation"], 1, "{list}");
    assert_eq!(dev.call("version", ""), "1");
    dev.complaint(|line| line.contains("has not been built after 20s"));
    // A mended build script takes the place of the one that hangs.
    project.write("plugins/hangs/build.rs", "fn main() {}");
    dev.ask_until("call version", |answer| {
        toolsmith_tests::text(answer) == "2"
    });
}

/// Waits until there is something.
fn wait_for<T>(look: impl Fn() -> Option<T>) -> T {
    let begin = std::time::Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(
            begin.elapsed() < toolsmith_tests::DEADLINE,
            "waited too long"
        );
        std::thread::yield_now();
    }
}

/// The child processes of a host that are helpers.
fn helpers_of(host: u32) -> Vec<u32> {
    let processes = fs_err::read_dir("/proc").unwrap().flatten();
    let numbers = processes.filter_map(|process| process.file_name().to_str()?.parse().ok());
    numbers
        .filter(|number| {
            let read = |file| fs_err::read_to_string(format!("/proc/{number}/{file}"));
            let parent = format!("PPid:\t{host}\n");
            read("status").is_ok_and(|status| status.contains(&parent))
                && read("cmdline").is_ok_and(|line| line.contains("toolsmith-helper"))
        })
        .collect()
}

fn is_alive(process: u32) -> bool {
    let status = fs_err::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let state = status.lines().find_map(|line| line.strip_prefix("State:"));
    // One that nobody has waited for yet does nothing any more.
    state.is_some_and(|state| !state.trim_start().starts_with('Z'))
}

/// The state folder holds what spares work, nothing that can't be made again.
#[test]
fn state_folder_may_be_taken_away_at_any_time() {
    let project = Project::new();
    project.plugin("kept", &answering(1));
    let mut dev = project.dev();
    assert_eq!(dev.call("version", ""), "1");
    for version in 2..4 {
        take_away(&project);
        assert_eq!(dev.call("version", ""), (version - 1).to_string());
        project.source("kept", &answering(version));
        assert_eq!(dev.call("version", ""), version.to_string());
    }
    take_away(&project);
    drop(dev);
    assert_eq!(project.run(&["call", "version"]).stdout, "3\n");
}

/// The host may write into the folder while it is removed.
fn take_away(project: &Project) {
    let begin = std::time::Instant::now();
    while let Err(error) = fs_err::remove_dir_all(project.path().join(".toolsmith")) {
        assert!(begin.elapsed() < toolsmith_tests::DEADLINE, "{error}");
    }
}
