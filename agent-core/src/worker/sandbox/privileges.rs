//! What a process gives up about itself: privileges, inherited descriptors, resources.
//!
//! Owns `prctl`, capabilities, descriptors and `setrlimit`. Does not own files and system calls.

use std::os::fd::{AsRawFd, BorrowedFd, RawFd};

use fs_err as fs;
use nix::sys::signal::{SigSet, Signal};
use rustix::process::{DumpableBehavior, Resource, Rlimit};
use rustix::thread::{CapabilitySet, CapabilitySets};

use super::{Enforced, Limits, Means, Rule, SandboxError};

/// Writable memory beyond [`Limits::memory`], in bytes: what the program itself has, and the stacks
/// of a pool of threads, of which each is counted whole (2 MiB).
const DATA_ROOM: u64 = 128 << 20;

/// Addresses beyond [`Limits::memory`], in bytes: the program and libraries, what is reserved but
/// not writable, which for an arena of glibc are up to 128 MiB while it is made.
const ADDRESS_ROOM: u64 = 1 << 30;

/// Processes of the same user that may come up elsewhere before a confined one can start no more.
const PROCESS_ROOM: u64 = 1024;

/// Landlock and seccomp confine one thread and what it starts.
pub(super) fn require_one_thread() -> Result<(), SandboxError> {
    let threads = fs::read_dir("/proc/self/task")
        .map_err(SandboxError::step("count the threads of its process"))?;
    match threads.count() {
        1 => Ok(()),
        found => Err(SandboxError::Threads { found }),
    }
}

/// No new privileges, no image of memory, not to be looked into by others, no capabilities.
pub(super) fn drop_all() -> Result<(), SandboxError> {
    rustix::thread::set_no_new_privs(true).map_err(SandboxError::step("give up new privileges"))?;
    rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable)
        .map_err(SandboxError::step("close its memory to other processes"))?;
    let had =
        rustix::thread::capabilities(None).map_err(SandboxError::step("read its capabilities"))?;
    // In a container whose user is root, granted files often belong to another user. Which files
    // are opened is Landlock's affair.
    let kept = had.permitted & CapabilitySet::DAC_OVERRIDE;
    let sets = CapabilitySets {
        effective: kept,
        permitted: kept,
        inheritable: CapabilitySet::empty(),
    };
    rustix::thread::set_capabilities(None, sets)
        .map_err(SandboxError::step("give up its capabilities"))
}

/// Nothing that the parent had open by accident is left.
pub(super) fn close_descriptors(keep: &[BorrowedFd<'_>]) -> Result<(), SandboxError> {
    let step = "close inherited descriptors";
    let keep: Vec<RawFd> = keep.iter().map(AsRawFd::as_raw_fd).collect();
    let listed = fs::read_dir("/proc/self/fd").map_err(SandboxError::step(step))?;
    let open: Vec<RawFd> = listed
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect();
    for descriptor in open {
        if descriptor > 2 && !keep.contains(&descriptor) {
            // The one that the list was read with is closed already.
            _ = nix::unistd::close(descriptor);
        }
    }
    Ok(())
}

/// Sets the limits of resources.
pub(super) fn limit(limits: &Limits, enforced: &mut Enforced) -> Result<(), SandboxError> {
    // Crashes are expected; an image of memory for each helps nobody.
    set(Resource::Core, 0, 0, "switch images of memory off")?;
    limit_memory(limits, enforced)?;
    limit_processes(limits, enforced)?;
    set_both(Resource::Nofile, limits.open_files, "limit open files")?;
    enforced.set(Rule::OpenFiles, Means::ResourceLimit);
    // A write beyond the limit is then an error that a tool can report, and not its end.
    let mut signals = SigSet::empty();
    signals.add(Signal::SIGXFSZ);
    signals.thread_block().map_err(SandboxError::step(
        "block the signal of files that are too big",
    ))?;
    set_both(Resource::Fsize, limits.file_size, "limit the size of files")?;
    enforced.set(Rule::FileSize, Means::ResourceLimit);
    if let Some(seconds) = limits.cpu_seconds {
        let step = "limit the time of a processor";
        set(Resource::Cpu, seconds, seconds.saturating_add(1), step)?;
        enforced.set(Rule::CpuTime, Means::ResourceLimit);
    } else {
        enforced.set(Rule::CpuTime, Means::Granted);
    }
    Ok(())
}

/// Shared memory is counted only by the limit of all addresses, which needs more room.
fn limit_memory(limits: &Limits, enforced: &mut Enforced) -> Result<(), SandboxError> {
    let means = match limits.memory {
        None => Means::Granted,
        Some(_) if limits.grouped => Means::ControlGroup,
        Some(bytes) => {
            limit_private_memory(bytes)?;
            let addresses = bytes.saturating_add(ADDRESS_ROOM);
            set_both(Resource::As, addresses, "limit its addresses")?;
            Means::ResourceLimit
        }
    };
    enforced.set(Rule::Memory, means);
    Ok(())
}

/// Limits writable private memory, which is counted exactly but for what is reserved for stacks.
pub(super) fn limit_private_memory(bytes: u64) -> Result<(), SandboxError> {
    let data = bytes.saturating_add(DATA_ROOM);
    set_both(Resource::Data, data, "limit its memory")
}

/// Outside of a control group the kernel counts all processes and threads of the user, so the limit
/// is what runs now and some room beside what is granted: it ends a fork bomb, later.
fn limit_processes(limits: &Limits, enforced: &mut Enforced) -> Result<(), SandboxError> {
    let means = if limits.grouped {
        Means::ControlGroup
    } else if rustix::process::getuid().is_root() {
        Means::NotEnforced {
            reason: "root has no such limit without a control group".to_owned(),
        }
    } else {
        let most = limits
            .processes
            .saturating_add(running_tasks())
            .saturating_add(PROCESS_ROOM);
        set_both(Resource::Nproc, most, "limit the number of processes")?;
        Means::ResourceLimit
    };
    enforced.set(Rule::Processes, means);
    Ok(())
}

/// Processes and threads that run now, of whatever user: not less than those of this one.
fn running_tasks() -> u64 {
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    // The fourth field is `running/all`.
    let tasks = load.split_whitespace().nth(3);
    let all = tasks.and_then(|tasks| tasks.split_once('/')?.1.parse().ok());
    all.unwrap_or(0)
}

fn set_both(resource: Resource, most: u64, step: &'static str) -> Result<(), SandboxError> {
    set(resource, most, most, step)
}

/// Never more than there is already: a limit that the parent has goes on.
fn set(resource: Resource, soft: u64, hard: u64, step: &'static str) -> Result<(), SandboxError> {
    let allowed = rustix::process::getrlimit(resource).maximum;
    let least = |wanted: u64| Some(allowed.map_or(wanted, |allowed| allowed.min(wanted)));
    let limit = Rlimit {
        current: least(soft),
        maximum: least(hard),
    };
    rustix::process::setrlimit(resource, limit).map_err(SandboxError::step(step))
}
