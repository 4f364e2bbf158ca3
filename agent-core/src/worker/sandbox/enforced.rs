//! What the kernel really enforces.
//!
//! Owns the names of rules and of means, and how they are shown.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

/// One rule of a sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Rule {
    /// Only granted files are opened, made, moved and removed.
    Files,
    /// Files are shortened only where they may be written.
    Truncation,
    /// Devices take no commands.
    Devices,
    /// Modes, owners, times and attributes of files are not changed.
    Modes,
    /// No connections.
    Sockets,
    /// No signals to processes outside.
    Signals,
    /// No programs are started.
    Programs,
    /// No calls that look into other processes or change the system.
    SystemCalls,
    /// Memory.
    Memory,
    /// Number of processes and threads.
    Processes,
    /// Open descriptors.
    OpenFiles,
    /// Size of files.
    FileSize,
    /// Time of a processor.
    CpuTime,
}

impl fmt::Display for Rule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Files => "files",
            Self::Truncation => "truncation",
            Self::Devices => "devices",
            Self::Modes => "modes",
            Self::Sockets => "sockets",
            Self::Signals => "signals",
            Self::Programs => "programs",
            Self::SystemCalls => "system calls",
            Self::Memory => "memory",
            Self::Processes => "processes",
            Self::OpenFiles => "open files",
            Self::FileSize => "file size",
            Self::CpuTime => "cpu time",
        })
    }
}

/// How a rule is enforced.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Means {
    /// By Landlock.
    Landlock,
    /// By a filter of system calls.
    Seccomp,
    /// By a limit of the process (`setrlimit`).
    ResourceLimit,
    /// By a control group.
    ControlGroup,
    /// Not, since it was granted, or no limit was asked for.
    Granted,
    /// Not, though it was asked for.
    NotEnforced {
        /// Why not.
        reason: String,
    },
}

/// What the kernel enforces on a confined process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Enforced {
    /// The revision of Landlock that is in force; 0 without Landlock.
    pub landlock: u32,
    /// How each rule is enforced.
    pub rules: BTreeMap<Rule, Means>,
}

impl Enforced {
    #[cfg(target_os = "linux")]
    pub(super) fn new(landlock: u32) -> Self {
        Self {
            landlock,
            rules: BTreeMap::new(),
        }
    }

    /// Each rule with how it is enforced.
    pub fn lines(&self) -> Vec<String> {
        let rules = self.rules.iter();
        let lines = rules.map(|(rule, means)| match means {
            Means::Landlock => format!("{rule}: Landlock {}", self.landlock),
            Means::Seccomp => format!("{rule}: seccomp"),
            Means::ResourceLimit => format!("{rule}: limit of the process"),
            Means::ControlGroup => format!("{rule}: control group"),
            Means::Granted => format!("{rule}: granted"),
            Means::NotEnforced { reason } => format!("{rule}: NOT enforced ({reason})"),
        });
        lines.collect()
    }

    #[cfg(target_os = "linux")]
    pub(super) fn set(&mut self, rule: Rule, means: Means) {
        self.rules.insert(rule, means);
    }
}

/// One short line: `Landlock 7, seccomp, memory by control group; granted: sockets; NOT enforced:
/// processes (…)`.
impl fmt::Display for Enforced {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.landlock {
            0 => formatter.write_str("no Landlock")?,
            revision => write!(formatter, "Landlock {revision}")?,
        }
        if self.rules.values().any(|means| *means == Means::Seccomp) {
            formatter.write_str(", seccomp")?;
        }
        match self.rules.get(&Rule::Memory) {
            Some(Means::ControlGroup) => formatter.write_str(", memory by control group")?,
            Some(Means::ResourceLimit) => formatter.write_str(", memory by process")?,
            _ => {}
        }
        let granted = |rule: &Rule| {
            matches!(
                rule,
                Rule::Sockets | Rule::Programs | Rule::Modes | Rule::Memory
            )
        };
        let mut separator = "; granted: ";
        for (rule, means) in &self.rules {
            if *means == Means::Granted && granted(rule) {
                write!(formatter, "{separator}{rule}")?;
                separator = ", ";
            }
        }
        let mut separator = "; NOT enforced: ";
        for (rule, means) in &self.rules {
            if let Means::NotEnforced { reason } = means {
                write!(formatter, "{separator}{rule} ({reason})")?;
                separator = ", ";
            }
        }
        Ok(())
    }
}

/// What a system can enforce.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Available {
    /// The kernel's revision of Landlock; 0 without Landlock.
    pub landlock: u32,
    /// Whether a control group can limit memory and processes, or why none can.
    pub group: Result<(), String>,
}

impl fmt::Display for Available {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.landlock {
            0 => formatter.write_str("no Landlock")?,
            revision => write!(formatter, "Landlock {revision}")?,
        }
        match &self.group {
            Ok(()) => formatter.write_str(", seccomp, memory by control group"),
            Err(reason) => write!(
                formatter,
                ", seccomp, memory by process (no control group: {reason})"
            ),
        }
    }
}
