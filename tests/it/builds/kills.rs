//! Processes that are killed in the middle of a build.

use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use toolsmith_tests::DEADLINE;

use super::{Counted, answering, wait_until};

/// The name and the parent of a process.
fn stat(pid: i32) -> Option<(String, i32)> {
    let text = fs_err::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (before, after) = text.rsplit_once(')')?;
    let name = before.split_once('(')?.1.to_owned();
    let mut words = after.split_whitespace();
    let state = words.next()?;
    let parent = words.next()?.parse().ok()?;
    (state != "Z").then_some((name, parent))
}

/// The processes below one, with their names.
pub(super) fn below(root: i32) -> Vec<(i32, String)> {
    let entries = fs_err::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let all: Vec<_> = pids.filter_map(|pid| Some((pid, stat(pid)?))).collect();
    let (mut family, mut found) = (vec![root], Vec::new());
    while let Some(parent) = family.pop() {
        for (pid, (name, _)) in all.iter().filter(|(_, (_, of))| *of == parent) {
            family.push(*pid);
            found.push((*pid, name.clone()));
        }
    }
    found
}

/// Whether it is a process of the host that waits for work.
fn is_helper(pid: i32) -> bool {
    let line = fs_err::read(format!("/proc/{pid}/cmdline"));
    line.is_ok_and(|line| line.starts_with(b"toolsmith-helper\0"))
}

pub(super) fn pid(id: u32) -> i32 {
    i32::try_from(id).unwrap()
}

fn kill(pid: i32) {
    // It may have ended by itself.
    _ = kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL);
}

/// Waits for a process of one of these names below the command, lets it work for a while, and kills
/// it. Says whether it was there to be killed.
fn kill_one(command: &mut Child, names: &[&str], after: Duration) -> bool {
    let root = pid(command.id());
    let begin = Instant::now();
    while command.try_wait().unwrap().is_none() {
        assert!(begin.elapsed() < DEADLINE, "the command does not end");
        let found = below(root);
        let Some((victim, _)) = found
            .iter()
            .find(|(_, name)| names.contains(&name.as_str()))
        else {
            std::thread::yield_now();
            continue;
        };
        let seen = Instant::now();
        while seen.elapsed() < after && stat(*victim).is_some() {
            std::thread::yield_now();
        }
        let is_there = stat(*victim).is_some();
        kill(*victim);
        return is_there;
    }
    false
}

/// Cargo, the compiler, the linker or the host itself is killed at any moment: the next request is
/// answered by the newest source, and nothing that was there before is lost.
#[test]
fn whatever_is_killed_the_next_request_is_right() {
    let rounds = if std::env::var_os("TOOLSMITH_LONG").is_some() {
        200
    } else {
        12
    };
    let counted = Counted::new();
    let project = &counted.project;
    project.plugin("killed", &answering("0"));
    let call = || {
        let output = counted.command(&["call", "answer"]).output().unwrap();
        let complaints = String::from_utf8_lossy(&output.stderr).into_owned();
        (
            String::from_utf8(output.stdout).unwrap().trim().to_owned(),
            complaints,
        )
    };
    assert_eq!(call().0, "0");
    let manifest = counted.path("plugins/killed/Cargo.toml");
    let text = fs_err::read_to_string(&manifest).unwrap();
    let victims: [&[&str]; 4] = [
        &["cargo"],
        &["rustc"],
        &["cc", "collect2", "ld", "ld.lld", "rust-lld"],
        &["cargo", "rustc"],
    ];
    // The numbers are spread by a fixed rule, so that a failure can be repeated.
    let mut random = 12_345_u64;
    let mut killed = 0;
    for round in 1..=rounds {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let victim = round % victims.len();
        let word = format!("{round}");
        project.source("killed", &answering(&format!("{word:?}")));
        // Cargo runs in every other round, and wherever it is to be killed.
        if victim == 0 || round % 8 < 4 {
            fs_err::write(&manifest, format!("{text}# {round}\n")).unwrap();
        }
        let mut command = counted.command(&["call", "answer"]);
        let mut command = command
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let after = Duration::from_millis(random >> 33 & 0x3f);
        killed += usize::from(kill_one(&mut command, victims[victim], after));
        if victim == 3 {
            // The host goes first and leaves the rest at work.
            kill(pid(command.id()));
        }
        command.wait().unwrap();
        let (answer, complaints) = call();
        assert_eq!(answer, word, "round {round}: {complaints}");
    }
    assert!(
        killed >= rounds / 3,
        "only {killed} of {rounds} were killed at work"
    );
}

/// What was begun before a newer edit came ends with everything that it started: here a compiler
/// that waits for ever for a pipe.
#[test]
fn a_newer_edit_ends_the_compiler_of_the_older() {
    let counted = Counted::new();
    let project = &counted.project;
    project.plugin("overtaken", &answering("\"one\""));
    let mut dev = counted.dev();
    assert_eq!(super::answer(&mut dev), "one");
    let pipe = counted.path("plugins/overtaken/endless");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    project.source("overtaken", &answering("include_str!(\"../endless\")"));
    dev.send("call answer {}");
    let root = pid(dev.id());
    let compiler = |name: &str| {
        let found = below(root).into_iter().find(|(_, other)| other == name);
        found.map(|(pid, _)| pid)
    };
    wait_until("the compiler does not start", || {
        compiler("rustc").is_some()
    });
    let waiting = compiler("rustc").unwrap();
    project.source("overtaken", &answering("\"two\""));
    assert_eq!(toolsmith_tests::text(&dev.answer()), "two");
    wait_until("the older compiler goes on", || stat(waiting).is_none());
    let mut left = below(root);
    left.retain(|(pid, _)| !is_helper(*pid));
    assert_eq!(left, []);
}
