//! Landlock: which files are opened, and which processes are reached.
//!
//! Owns the list of what every confined process may read, and the translation of grants into
//! rules. Landlock checks when a file is opened, made, moved or removed, so what is open already
//! stays usable, and names, sizes and times of files stay visible.

use std::io;
use std::os::fd::IntoRawFd as _;
use std::path::Path;

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, LandlockStatus, PathBeneath, PathFd,
    RestrictSelf, Ruleset, RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _, RulesetError,
    RulesetStatus, Scope,
};

use rustix::fs::{Mode, OFlags};

use super::{Confinement, Enforced, Means, Minimum, Rule, SandboxError};

/// The newest revision whose rights are known here. What the kernel does not know of it is left
/// out; [`Minimum`] says how much that may be.
const NEWEST: ABI = ABI::V10;

/// What programs need for being programs, and what is the same on every system.
const READABLE: &[&str] = &[
    "/lib",
    "/lib32",
    "/lib64",
    "/usr/lib",
    "/usr/lib32",
    "/usr/lib64",
    "/usr/local/lib",
    "/nix/store",
    "/gnu/store",
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/usr/share/zoneinfo",
    "/usr/share/locale",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/etc/ca-certificates",
    "/usr/share/ca-certificates",
    "/etc/pki/tls/certs",
    "/etc/pki/tls/openssl.cnf",
    "/etc/pki/ca-trust/extracted",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/sys/devices/system/cpu",
];

/// What a process may read of itself. A program that it starts has another number, and so another
/// folder, which it can't read.
const ITSELF: &str = "/proc/self";

/// Readable where connections are granted: how names are resolved.
const RESOLVER: &[&str] = &[
    "/etc/resolv.conf",
    "/etc/hosts",
    "/etc/host.conf",
    "/etc/nsswitch.conf",
    "/etc/gai.conf",
    "/etc/services",
    "/etc/protocols",
];

/// Readable where programs may be started.
const PROGRAMS: &[&str] = &["/bin", "/sbin", "/usr"];

/// The kernel's revision of Landlock, if it is enough.
pub(super) fn sufficient(minimum: Minimum) -> Result<u32, SandboxError> {
    let found = revision();
    if found < minimum.0 {
        return Err(SandboxError::TooOld {
            expected: minimum,
            found,
        });
    }
    Ok(found)
}

/// 0 without Landlock.
fn revision() -> u32 {
    // Without flags it restricts nothing and only answers what there is.
    let status = RestrictSelf::default().no_new_privs(false).apply();
    match status.map(|status| status.landlock) {
        Ok(LandlockStatus::Available {
            effective_abi,
            kernel_abi,
        }) => {
            let revision = kernel_abi.unwrap_or(effective_abi as i32);
            u32::try_from(revision).unwrap_or(0)
        }
        _ => 0,
    }
}

/// Applies the rules to this thread.
pub(super) fn restrict(
    confinement: &Confinement,
    enforced: &mut Enforced,
) -> Result<(), SandboxError> {
    let rules = rules(confinement)?;
    let status = rules.restrict_self().map_err(refused)?;
    if enforced.landlock > 0 && status.ruleset == RulesetStatus::NotEnforced {
        return Err(refused_because("the kernel enforces nothing of it"));
    }
    let since = |revision: u32| {
        if enforced.landlock >= revision {
            return Means::Landlock;
        }
        Means::NotEnforced {
            reason: match enforced.landlock {
                0 => "no Landlock".to_owned(),
                found => format!("needs Landlock {revision}, found {found}"),
            },
        }
    };
    let (files, truncation, devices) = (since(1), since(3), since(5));
    enforced.set(Rule::Files, files);
    enforced.set(Rule::Truncation, truncation);
    enforced.set(Rule::Devices, devices);
    Ok(())
}

fn rules(confinement: &Confinement) -> Result<RulesetCreated, SandboxError> {
    let mut ruleset = Ruleset::default()
        .handle_access(AccessFs::from_all(NEWEST))
        .and_then(|ruleset| ruleset.scope(Scope::from_all(NEWEST)))
        .map_err(refused)?;
    if !confinement.raw_sockets {
        // The filter of system calls refuses sockets already; this holds for those it does not
        // see.
        ruleset = ruleset
            .handle_access(AccessNet::from_all(NEWEST))
            .map_err(refused)?;
    }
    let mut rules = ruleset.create().map_err(refused)?;
    let reading = reading(confinement.exec);
    let writing = reading | writing();
    for path in READABLE {
        rules = add_system(rules, path, reading)?;
    }
    rules = add_system(rules, "/dev/null", reading | writing)?;
    keep_itself()?;
    rules = add_system(rules, ITSELF, reading)?;
    if confinement.raw_sockets {
        for path in RESOLVER {
            rules = add_system(rules, path, reading)?;
        }
    }
    if confinement.exec {
        for path in PROGRAMS {
            rules = add_system(rules, path, reading)?;
        }
    }
    for path in confinement.read.iter().chain(&confinement.libraries) {
        rules = add(rules, path, reading)?;
    }
    for path in &confinement.write {
        rules = add(rules, path, writing)?;
    }
    if !confinement.scratch.is_dir() {
        return Err(SandboxError::Grant {
            path: confinement.scratch.clone(),
            source: io::ErrorKind::NotADirectory.into(),
        });
    }
    add(rules, &confinement.scratch, writing)
}

/// Landlock knows a file by its inode, and those of `/proc` are made anew when the kernel was short
/// of memory. One that is open stays, so this one does for as long as the process runs.
fn keep_itself() -> Result<(), SandboxError> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let opened = rustix::fs::open(ITSELF, flags, Mode::empty());
    let _forgotten = opened
        .map_err(SandboxError::step("open its folder in /proc"))?
        .into_raw_fd();
    Ok(())
}

fn reading(exec: bool) -> BitFlags<AccessFs> {
    let reading = AccessFs::ReadFile | AccessFs::ReadDir;
    if exec {
        reading | AccessFs::Execute
    } else {
        reading
    }
}

/// No devices, and no sockets that others could connect to.
fn writing() -> BitFlags<AccessFs> {
    AccessFs::WriteFile
        | AccessFs::Truncate
        | AccessFs::MakeReg
        | AccessFs::MakeDir
        | AccessFs::MakeSym
        | AccessFs::MakeFifo
        | AccessFs::RemoveFile
        | AccessFs::RemoveDir
        | AccessFs::Refer
}

/// A path of the system, which not every system has.
fn add_system(
    rules: RulesetCreated,
    path: &str,
    access: BitFlags<AccessFs>,
) -> Result<RulesetCreated, SandboxError> {
    if Path::new(path).exists() {
        add(rules, Path::new(path), access)
    } else {
        Ok(rules)
    }
}

fn add(
    rules: RulesetCreated,
    path: &Path,
    access: BitFlags<AccessFs>,
) -> Result<RulesetCreated, SandboxError> {
    let grant = |source| SandboxError::Grant {
        path: path.to_owned(),
        source,
    };
    let is_folder = std::fs::metadata(path).map_err(grant)?.is_dir();
    let opened = PathFd::new(path).map_err(|error| grant(io::Error::other(error)))?;
    let access = if is_folder {
        access
    } else {
        access & AccessFs::from_file(NEWEST)
    };
    rules
        .add_rule(PathBeneath::new(opened, access))
        .map_err(|error| grant(io::Error::other(error)))
}

fn refused(error: RulesetError) -> SandboxError {
    refused_because(error)
}

fn refused_because(reason: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> SandboxError {
    SandboxError::Step {
        step: "restrict itself with Landlock",
        source: io::Error::other(reason),
    }
}
