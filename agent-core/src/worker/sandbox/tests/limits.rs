//! Memory, files, processor time.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::unix::process::ExitStatusExt as _;

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::signal::Signal;
use nix::sys::time::TimeValLike as _;

use super::super::{Limits, Means, Rule};
use super::{CONFINED, Confinement, Place, act, check, run};

#[test]
fn resources_are_limited() {
    check(
        "limits::resources_are_limited",
        |place| {
            limited(
                place,
                Limits {
                    memory: Some(64 << 20),
                    open_files: 32,
                    file_size: 1 << 20,
                    ..Limits::default()
                },
            )
        },
        &[
            act("memory within the limit", "ok", |_| allocate(48).map(drop)),
            act("memory beyond the limit", "OutOfMemory", |_| {
                allocate(512).map(drop)
            }),
            act("memory in many small pieces", "OutOfMemory", |_| {
                let pieces = (0..512).map(|_| allocate(1));
                pieces.collect::<io::Result<Vec<_>>>().map(drop)
            }),
            act("open files", "EMFILE", |_| {
                let open = || File::open("/dev/null");
                (0..40)
                    .map(|_| open())
                    .collect::<io::Result<Vec<_>>>()
                    .map(drop)
            }),
            act("file within the limit", "ok", |place| write(place, 1)),
            act("file beyond the limit", "EFBIG", |place| write(place, 2)),
        ],
    );
}

/// The signal at its end says why; a host can tell it from a crash.
#[test]
fn time_of_a_processor_is_limited() {
    let work = |_: &Place| {
        let used = || {
            let usage = getrusage(UsageWho::RUSAGE_SELF)?;
            Ok::<_, io::Error>((usage.user_time() + usage.system_time()).num_milliseconds())
        };
        // The kernel counts in ticks, which on a busy machine are fewer than what was used.
        let confined = std::env::var_os(CONFINED).is_some();
        let enough = if confined { 20_000 } else { 1_200 };
        while used()? < enough {}
        Ok(())
    };
    let ran = run(
        "limits::time_of_a_processor_is_limited",
        |place| {
            limited(
                place,
                Limits {
                    cpu_seconds: Some(1),
                    ..Limits::default()
                },
            )
        },
        &[act("work", "", work)],
    );
    if let Some((free, confined)) = ran {
        assert!(free.status.success(), "{}", free.output);
        assert_eq!(
            confined.status.signal(),
            Some(Signal::SIGXCPU as i32),
            "{}",
            confined.output
        );
    }
}

#[test]
fn what_is_enforced_is_told() {
    let ran = run(
        "limits::what_is_enforced_is_told",
        |place| Confinement {
            raw_sockets: true,
            ..place.confinement()
        },
        &[],
    );
    let Some((free, confined)) = ran else {
        return;
    };
    assert_eq!(free.enforced, None);
    let enforced = confined.enforced.expect(&confined.output);
    assert_eq!(enforced.rules[&Rule::Files], Means::Landlock);
    assert_eq!(enforced.rules[&Rule::SystemCalls], Means::Seccomp);
    assert_eq!(enforced.rules[&Rule::Programs], Means::Seccomp);
    assert_eq!(enforced.rules[&Rule::Sockets], Means::Granted);
    assert_eq!(enforced.rules[&Rule::Memory], Means::ResourceLimit);
    let shown = enforced.to_string();
    let begin = format!(
        "Landlock {}, seccomp, memory by process; granted: sockets",
        enforced.landlock
    );
    assert!(shown.starts_with(&begin), "{shown}");
    // Root has no limit of processes, and that is not passed over in silence.
    let root = rustix::process::getuid().is_root();
    assert_eq!(shown.contains("NOT enforced: processes"), root, "{shown}");
}

fn limited(place: &Place, limits: Limits) -> Confinement {
    Confinement {
        limits,
        ..place.confinement()
    }
}

/// It is refused when it is reserved, before a byte of it is used.
fn allocate(mebibytes: usize) -> io::Result<Vec<u8>> {
    let mut memory = Vec::new();
    memory
        .try_reserve_exact(mebibytes << 20)
        .map_err(|_| io::ErrorKind::OutOfMemory)?;
    Ok(memory)
}

fn write(place: &Place, mebibytes: usize) -> io::Result<()> {
    File::create(place.path("scratch/big"))?.write_all(&vec![1; mebibytes << 20])
}
