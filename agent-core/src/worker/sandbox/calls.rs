//! seccomp: which system calls a confined process has.
//!
//! Filters are put on one behind the other, and the stricter answer counts. The first is a list of what exists:
//! calls that ordinary programs make. Everything else, calls of future kernels and those of other
//! ABIs included, is answered with `ENOSYS`, which libraries know how to live with. The second
//! answers `EPERM` to what exists and was not granted, so that a tool fails with words that say
//! so. The third answers `fchmod` with success and does nothing, see [`refused::passed_over`]. Nothing
//! is killed but a process that enters with calls of another processor.
//!
//! An allow list is chosen over a deny list since most holes of deny lists were calls that did not
//! exist when the list was written.
//!
//! Owns how the filters are made. [`allowed`] and [`refused`] own the lists.

use std::io;

use seccompiler::{SeccompAction, SeccompFilter, TargetArch};

use super::{Confinement, Enforced, Means, Rule, SandboxError};

mod allowed;
mod refused;

/// The revision of Landlock that keeps signals inside of the sandbox.
const SIGNALS_SCOPED: u32 = 6;

/// What the second filter depends on.
#[derive(Debug, Clone, Copy)]
struct Grants {
    exec: bool,
    change_modes: bool,
    raw_sockets: bool,
    /// Whether Landlock keeps signals inside, so that processes may end their children.
    signals_scoped: bool,
    own: Own,
}

/// What the process knows of itself when the filter is made.
#[derive(Debug, Clone, Copy)]
struct Own {
    pid: u32,
    leads_group: bool,
}

/// The processor whose calls the lists name.
pub(super) fn architecture() -> Result<TargetArch, SandboxError> {
    match std::env::consts::ARCH {
        "x86_64" => Ok(TargetArch::x86_64),
        "aarch64" => Ok(TargetArch::aarch64),
        _ => Err(SandboxError::Platform),
    }
}

/// Puts the filters on this thread.
pub(super) fn restrict(
    confinement: &Confinement,
    enforced: &mut Enforced,
) -> Result<(), SandboxError> {
    let pid = rustix::process::getpid();
    let grants = Grants {
        exec: confinement.exec,
        change_modes: confinement.change_modes,
        raw_sockets: confinement.raw_sockets,
        signals_scoped: enforced.landlock >= SIGNALS_SCOPED,
        own: Own {
            pid: pid.as_raw_nonzero().get().cast_unsigned(),
            leads_group: rustix::process::getpgrp() == pid,
        },
    };
    let known = allowed::NUMBERS.iter().map(|number| (*number, Vec::new()));
    put_on(
        known.collect(),
        SeccompAction::Errno(libc::ENOSYS.cast_unsigned()),
        SeccompAction::Allow,
    )?;
    // The newest filter is asked first, and of two refusals the first counts.
    put_on(
        refused::rules(grants).map_err(failed)?,
        SeccompAction::Allow,
        SeccompAction::Errno(libc::EPERM.cast_unsigned()),
    )?;
    let passed_over = refused::passed_over(grants);
    if !passed_over.is_empty() {
        put_on(passed_over, SeccompAction::Allow, SeccompAction::Errno(0))?;
    }
    let unless = |granted: bool| {
        if granted {
            Means::Granted
        } else {
            Means::Seccomp
        }
    };
    enforced.set(Rule::SystemCalls, Means::Seccomp);
    enforced.set(Rule::Sockets, unless(grants.raw_sockets));
    enforced.set(Rule::Programs, unless(grants.exec));
    enforced.set(Rule::Modes, unless(grants.change_modes));
    let by_landlock = grants.exec && grants.signals_scoped;
    let signals = if by_landlock {
        Means::Landlock
    } else {
        Means::Seccomp
    };
    enforced.set(Rule::Signals, signals);
    Ok(())
}

fn put_on(
    rules: refused::Rules,
    otherwise: SeccompAction,
    named: SeccompAction,
) -> Result<(), SandboxError> {
    let filter = SeccompFilter::new(rules, otherwise, named, architecture()?).map_err(failed)?;
    let program: seccompiler::BpfProgram = filter.try_into().map_err(failed)?;
    seccompiler::apply_filter(&program).map_err(failed)
}

fn failed(error: impl std::error::Error + Send + Sync + 'static) -> SandboxError {
    SandboxError::Step {
        step: "filter its system calls with seccomp",
        source: io::Error::other(error),
    }
}
