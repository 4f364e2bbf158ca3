//! Why a process can't be confined.
//!
//! Owns the cases and their words.

use std::io;
use std::path::PathBuf;

use super::Minimum;

/// Why a process can't be confined, or not as it was asked for.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SandboxError {
    /// Another system than Linux, or an unknown processor.
    #[error(
        "a sandbox needs Linux on x86-64 or 64-bit ARM, this is {} on {}: write `isolation = \
         \"worker\"` for plugins whose code you trust",
        std::env::consts::OS,
        std::env::consts::ARCH
    )]
    Platform,
    /// The kernel offers no Landlock, or an older one.
    #[error(
        "a sandbox needs {expected}, this kernel has {}: use a newer kernel (6.12 has revision 6), \
         set `sandbox_minimum = {found}` to do without what is missing, or write `isolation = \
         \"worker\"` for plugins whose code you trust", had(*.found)
    )]
    TooOld {
        /// What was demanded.
        expected: Minimum,
        /// The kernel's revision; 0 without Landlock.
        found: u32,
    },
    /// Other threads would stay free.
    #[error(
        "a process can only be confined while it has one thread, this one has {found}: confine it \
         at its start"
    )]
    Threads {
        /// How many there are.
        found: usize,
    },
    /// A path that is granted can't be opened.
    #[error(
        "`{}` can't be granted to a sandbox: {source}; make it, or take it out of the grants",
        .path.display()
    )]
    Grant {
        /// The path.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The kernel refuses a step.
    #[error("its process could not {step}: {source}; nothing of the plugin was run")]
    Step {
        /// What was to be done.
        step: &'static str,
        /// The system's reason.
        source: io::Error,
    },
}

impl SandboxError {
    /// For `map_err`.
    #[cfg(target_os = "linux")]
    pub(super) fn step<E: Into<io::Error>>(step: &'static str) -> impl FnOnce(E) -> Self {
        move |source| Self::Step {
            step,
            source: source.into(),
        }
    }
}

fn had(found: u32) -> String {
    match found {
        0 => "no Landlock, or it is switched off".to_owned(),
        found => format!("revision {found}"),
    }
}
