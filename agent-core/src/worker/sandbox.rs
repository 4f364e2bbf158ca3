//! Confinement of a process by itself: what the `sandbox` tier and sandboxed builds stand on.
//!
//! A process that is to run code nobody trusts calls [`confine`] first, while it has one thread
//! and has mapped nothing foreign. From then on the kernel refuses what was not granted, to it and
//! to every process that it starts, and nothing can lift that again. The parent does what only it
//! can do: it clears the environment, and puts the process into a control group where there is one
//! ([`cgroup`]).
//!
//! | part | enforces |
//! |---|---|
//! | `privileges` | no new privileges, no capabilities, no inherited descriptors, resource limits |
//! | `files` | Landlock: which files are opened, which processes are signalled |
//! | `calls` | seccomp: which system calls exist |
//! | [`cgroup`] | memory and number of processes, where the system delegates a control group |
//!
//! Owns the mechanics. Does not own who is confined, nor what a person granted.

use std::fmt;
use std::os::fd::BorrowedFd;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

#[cfg(target_os = "linux")]
mod calls;
pub mod cgroup;
mod enforced;
mod error;
#[cfg(target_os = "linux")]
mod files;
#[cfg(target_os = "linux")]
mod privileges;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests;

pub use enforced::{Available, Enforced, Means, Rule};
pub use error::SandboxError;

/// Variables that the parent sets in the environment, which it clears, of a confined process.
///
/// Each arena of glibc reserves 64 MiB of addresses. Two are enough for a tool, and leave room
/// within [`Limits::memory`].
pub const ENVIRONMENT: [(&str, &str); 1] = [("MALLOC_ARENA_MAX", "2")];

/// What a confined process may do. Everything else is refused.
///
/// Without being named, the libraries of the system, its time zones, its certificates, the
/// process's own folder in `/proc` and `/dev/{null,zero,full,random,urandom}` are readable. What it
/// starts can't read theirs in `/proc`. It crosses to the helper as JSON, so its paths have to be UTF-8.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Confinement {
    /// Files and folders that may be read, with everything beneath them. Each has to exist.
    pub read: Vec<PathBuf>,
    /// Files and folders that may be read and changed, with everything beneath them. Each has to
    /// exist.
    pub write: Vec<PathBuf>,
    /// The folder for its own files. It has to exist.
    pub scratch: PathBuf,
    /// Files that may be read so that they can be mapped: the copies of its library.
    pub libraries: Vec<PathBuf>,
    /// Whether it may start programs: those of the system, and every file that it may read. They
    /// are confined as it is.
    pub exec: bool,
    /// Whether it may change modes, owners, times and attributes of files.
    ///
    /// Landlock does not check these calls: who has them has them on every file that the user may
    /// change, granted or not. Only linkers and unpackers need them. Without them changing the mode
    /// of an open file does nothing, and says that it went well: every copying does it.
    pub change_modes: bool,
    /// Whether it may use TCP and UDP, with everyone. There is nothing between all and nothing.
    pub raw_sockets: bool,
    /// How much it may use.
    pub limits: Limits,
    /// What the kernel has to offer at least.
    pub minimum: Minimum,
}

impl Confinement {
    /// Nothing but a folder for its own files, with the usual limits.
    pub fn of(scratch: impl Into<PathBuf>) -> Self {
        Self {
            read: Vec::new(),
            write: Vec::new(),
            scratch: scratch.into(),
            libraries: Vec::new(),
            exec: false,
            change_modes: false,
            raw_sockets: false,
            limits: Limits::default(),
            minimum: Minimum::default(),
        }
    }
}

/// How much a confined process may use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Memory in bytes, of each process, or of all together in a control group.
    pub memory: Option<u64>,
    /// Processes and threads, all together.
    pub processes: u64,
    /// Open descriptors of each process.
    pub open_files: u64,
    /// Size of each file that is written, in bytes. A write beyond it is an error (`EFBIG`). The
    /// sum of all files is not limited.
    pub file_size: u64,
    /// Time of a processor for each process, in seconds. At its end comes `SIGXCPU`, a second later
    /// `SIGKILL`.
    pub cpu_seconds: Option<u64>,
    /// Whether memory and processes are limited already by a control group that the parent has put
    /// the process into.
    pub grouped: bool,
}

impl Default for Limits {
    /// Enough for the tools of a plugin on a pool of threads, and for none that runs away.
    fn default() -> Self {
        Self {
            memory: Some(1 << 30),
            processes: 512,
            open_files: 1024,
            file_size: 1 << 30,
            cpu_seconds: None,
            grouped: false,
        }
    }
}

/// The revision of Landlock's interface that is demanded of the kernel; 0 demands none.
///
/// 1 came with Linux 5.13, 3 (truncation) with 6.2, 4 (TCP) with 6.7, 5 (`ioctl` of devices) with
/// 6.10, 6 (signals and abstract sockets) with 6.12. What a newer kernel offers is enforced in any
/// case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Minimum(pub u32);

impl Default for Minimum {
    /// The first revision that closes everything that [`Confinement`] names.
    fn default() -> Self {
        Self(6)
    }
}

impl fmt::Display for Minimum {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Landlock revision {}", self.0)
    }
}

/// Confines this process for good. All descriptors but 0, 1, 2 and `keep` are closed.
///
/// To be called while the process has one thread and before it maps anything foreign.
///
/// # Errors
///
/// When a rule can't be enforced. The process may be confined in part then and has to end.
pub fn confine(
    confinement: &Confinement,
    keep: &[BorrowedFd<'_>],
) -> Result<Enforced, SandboxError> {
    #[cfg(target_os = "linux")]
    {
        linux(confinement, keep)
    }
    #[cfg(not(target_os = "linux"))]
    {
        _ = (confinement, keep);
        Err(SandboxError::Platform)
    }
}

/// Limits the memory of this process for good, and nothing else: its private memory, unless the parent
/// has put it into a control group that limits all of it.
///
/// # Errors
///
/// When that can't be enforced here.
pub fn limit_memory(bytes: u64, grouped: bool) -> Result<Enforced, SandboxError> {
    #[cfg(target_os = "linux")]
    {
        let means = if grouped {
            Means::ControlGroup
        } else {
            privileges::limit_private_memory(bytes)?;
            Means::ResourceLimit
        };
        let mut enforced = Enforced::new(0);
        enforced.set(Rule::Memory, means);
        Ok(enforced)
    }
    #[cfg(not(target_os = "linux"))]
    {
        _ = (bytes, grouped);
        Err(SandboxError::Step {
            step: "limit its memory",
            source: std::io::ErrorKind::Unsupported.into(),
        })
    }
}

/// What this system can enforce; nothing is confined by asking. For telling it to a person, and for
/// refusing early.
///
/// # Errors
///
/// When this system has less than `minimum`.
pub fn available(minimum: Minimum) -> Result<Available, SandboxError> {
    #[cfg(target_os = "linux")]
    {
        calls::architecture()?;
        let landlock = files::sufficient(minimum)?;
        let group = cgroup::available();
        Ok(Available { landlock, group })
    }
    #[cfg(not(target_os = "linux"))]
    {
        _ = minimum;
        Err(SandboxError::Platform)
    }
}

#[cfg(target_os = "linux")]
fn linux(confinement: &Confinement, keep: &[BorrowedFd<'_>]) -> Result<Enforced, SandboxError> {
    privileges::require_one_thread()?;
    confine_thread(confinement, keep)
}

/// Without looking for other threads. What it sets for the calling thread only: privileges,
/// Landlock and the filters.
#[cfg(target_os = "linux")]
fn confine_thread(
    confinement: &Confinement,
    keep: &[BorrowedFd<'_>],
) -> Result<Enforced, SandboxError> {
    calls::architecture()?;
    let landlock = files::sufficient(confinement.minimum)?;
    let mut enforced = Enforced::new(landlock);
    privileges::drop_all()?;
    privileges::close_descriptors(keep)?;
    privileges::limit(&confinement.limits, &mut enforced)?;
    files::restrict(confinement, &mut enforced)?;
    calls::restrict(confinement, &mut enforced)?;
    Ok(enforced)
}
