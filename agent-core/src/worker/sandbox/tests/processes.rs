//! Programs, and other processes.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use nix::sched::CloneFlags;
use nix::sys::{personality, ptrace};
use nix::unistd::Pid;
use rustix::fs::MemfdFlags;
use rustix::process::{DumpableBehavior, Resource};
use rustix::thread::CapabilitySet;

use super::{Confinement, Place, act, check};

#[test]
fn no_program_is_started() {
    check(
        "processes::no_program_is_started",
        Place::confinement,
        &[
            act("child", "EPERM", |_| shell("true")),
            act("leave the group", "EPERM", |_| {
                Ok(rustix::process::setpgid(None, None)?)
            }),
            // The program says so itself where it can take the place of this one.
            act("in its own place", "EPERM", |_| {
                Err(Command::new("/bin/sh")
                    .args(["-c", "echo; echo ACT ok"])
                    .exec())
            }),
        ],
    );
}

#[test]
fn programs_are_started_where_that_is_granted_and_are_confined() {
    check(
        "processes::programs_are_started_where_that_is_granted_and_are_confined",
        programs,
        &[
            act("child", "ok", |_| shell("true")),
            act("write in scratch", "ok", |_| shell("echo x > made")),
            act("end a child", "ok", |_| {
                let mut child = Command::new("/bin/sh").args(["-c", "read x"]).spawn()?;
                child.kill()?;
                child.wait().map(drop)
            }),
            act("trace a child", "EPERM", |_| {
                let mut child = Command::new("/bin/sh").args(["-c", "read x"]).spawn()?;
                let number = Pid::from_raw(child.id().cast_signed());
                let traced = ptrace::attach(number).and_then(|()| {
                    // It has stopped then, and can be left alone.
                    nix::sys::wait::waitpid(number, None)?;
                    ptrace::detach(number, None)
                });
                child.kill()?;
                child.wait()?;
                Ok(traced?)
            }),
            act("read outside", "Other", |place| {
                shell(&format!("cat {}", place.path("outside/note").display()))
            }),
            act("write outside", "Other", |place| {
                shell(&format!("echo x > {}", place.path("outside/new").display()))
            }),
            act("signal the host", "Other", |place| {
                shell(&format!("kill -0 {}", place.parent))
            }),
            act("signal the host itself", "EPERM", |place| {
                Ok(rustix::process::test_kill_process(place.parent())?)
            }),
        ],
    );
}

#[test]
fn other_processes_are_out_of_reach() {
    check(
        "processes::other_processes_are_out_of_reach",
        Place::confinement,
        &[
            act("signal", "EPERM", |place| {
                Ok(rustix::process::test_kill_process(place.parent())?)
            }),
            act("signal everyone", "EPERM", |_| {
                // A signal that nobody notices, and that does not exist for processes outside.
                Ok(nix::sys::signal::kill(Pid::from_raw(-1), None)?)
            }),
            act("priority", "EPERM", |place| {
                let priority = rustix::process::getpriority_process(Some(place.parent()))?;
                Ok(rustix::process::setpriority_process(
                    Some(place.parent()),
                    priority,
                )?)
            }),
            act("processors", "EPERM", |place| {
                let processors = rustix::thread::sched_getaffinity(Some(place.parent()))?;
                Ok(rustix::thread::sched_setaffinity(
                    Some(place.parent()),
                    &processors,
                )?)
            }),
            act("limits", "EPERM", |place| {
                let limit = rustix::process::getrlimit(Resource::Core);
                let core = Resource::Core;
                Ok(rustix::process::prlimit(Some(place.parent()), core, limit).map(drop)?)
            }),
            act("open", "EPERM", |place| {
                let flags = rustix::process::PidfdFlags::empty();
                Ok(rustix::process::pidfd_open(place.parent(), flags).map(drop)?)
            }),
            act("signal itself", "ok", |_| {
                Ok(rustix::process::test_kill_process(
                    rustix::process::getpid(),
                )?)
            }),
            act("own limits", "ok", |_| {
                let limit = rustix::process::getrlimit(Resource::Nofile);
                Ok(rustix::process::setrlimit(Resource::Nofile, limit)?)
            }),
        ],
    );
}

#[test]
fn privileges_are_given_up() {
    check(
        "processes::privileges_are_given_up",
        Place::confinement,
        &[
            act("new privileges", "PermissionDenied", |_| {
                refuse_if(rustix::thread::no_new_privs()?)
            }),
            act("image of memory", "PermissionDenied", |_| {
                let dumpable = rustix::process::dumpable_behavior()?;
                refuse_if(dumpable == DumpableBehavior::NotDumpable)
            }),
            // A free process has what it has.
            act("capabilities", "ok", |_| {
                let has = rustix::thread::capabilities(None)?;
                let more = has.permitted | has.effective | has.inheritable;
                let confined = rustix::thread::no_new_privs()?;
                refuse_if(confined && !CapabilitySet::DAC_OVERRIDE.contains(more))
            }),
        ],
    );
}

fn refuse_if(refused: bool) -> io::Result<()> {
    if refused {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    Ok(())
}

#[test]
fn calls_that_change_the_system_are_refused() {
    check(
        "processes::calls_that_change_the_system_are_refused",
        Place::confinement,
        &[
            act("namespaces", "EPERM", |_| {
                Ok(nix::sched::unshare(CloneFlags::CLONE_FILES)?)
            }),
            act("memory without a limit", "EPERM", |_| {
                Ok(rustix::fs::memfd_create("x", MemfdFlags::CLOEXEC).map(drop)?)
            }),
            act("watch a folder", "EPERM", |place| {
                let watch = rustix::fs::inotify::init(rustix::fs::inotify::CreateFlags::CLOEXEC)?;
                let flags = rustix::fs::inotify::WatchFlags::CREATE;
                Ok(
                    rustix::fs::inotify::add_watch(&watch, place.path("outside"), flags)
                        .map(drop)?,
                )
            }),
            act("personality", "EPERM", |_| {
                let now = personality::get()?;
                Ok(personality::set(now).map(drop)?)
            }),
            act("ask for the personality", "ok", |_| {
                Ok(personality::get().map(drop)?)
            }),
        ],
    );
}

fn programs(place: &Place) -> Confinement {
    Confinement {
        exec: true,
        ..place.confinement()
    }
}

fn shell(script: &str) -> io::Result<()> {
    let status = Command::new("/bin/sh").args(["-c", script]).status()?;
    if status.success() {
        Ok(())
    } else {
        Err(io::Error::other(status.to_string()))
    }
}
