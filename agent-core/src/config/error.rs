//! What can be wrong with a configuration file, as data and as sentences.
//!
//! Owns the words. Does not own the finding of problems, which is [`super::read`]'s.

use std::fmt::{self, Write as _};
use std::io;
use std::path::PathBuf;

/// Why a configuration can't be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The file can't be read; the message names it.
    #[error(transparent)]
    Read(io::Error),
    /// The file was read, and these things in it are wrong.
    #[error("{}", listed(.path, .problems))]
    Invalid {
        /// The file.
        path: PathBuf,
        /// Every problem of it, in the order of its lines; never empty.
        problems: Vec<Problem>,
    },
}

impl ConfigError {
    /// What to do about it, one line for each problem that has an advice.
    pub fn hint(&self) -> Option<String> {
        let Self::Invalid { problems, .. } = self else {
            return None;
        };
        let hints: Vec<String> = problems.iter().filter_map(Problem::hint).collect();
        (!hints.is_empty()).then(|| hints.join("\n"))
    }
}

/// One thing that is wrong in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The key, with the tables that it stands in; empty where the text itself is broken.
    pub key: String,
    /// The line, counted from one.
    pub line: usize,
    /// The column in characters, counted from one.
    pub column: usize,
    /// What is wrong.
    pub kind: ProblemKind,
}

/// What is wrong with a key or its value.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProblemKind {
    /// The text is no TOML.
    Syntax {
        /// What the parser says.
        message: String,
    },
    /// No such key exists here.
    UnknownKey {
        /// The known key that looks most like it.
        closest: Option<&'static str>,
        /// Every key that is known here.
        known: Vec<&'static str>,
    },
    /// The value is of another type, or not one of those that are allowed.
    WrongValue {
        /// What is allowed.
        expected: String,
        /// What stands there; of a secret only its type.
        found: String,
    },
    /// The table lacks something.
    Missing {
        /// What it needs.
        expected: &'static str,
    },
    /// Two keys exclude each other.
    Conflict {
        /// The other key.
        other: &'static str,
    },
    /// The key belongs to the file, and this version does nothing with it.
    NotSupported,
}

impl Problem {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match &self.kind {
            ProblemKind::UnknownKey { known, .. } if !known.is_empty() => {
                Some(format!("known beside `{}`: {}", self.key, known.join(", ")))
            }
            ProblemKind::NotSupported => {
                Some(format!("remove `{}` until a version supports it", self.key))
            }
            _ => None,
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = &self.key;
        match &self.kind {
            ProblemKind::Syntax { message } => f.write_str(message),
            ProblemKind::UnknownKey {
                closest: Some(closest),
                ..
            } => {
                write!(f, "unknown key `{key}`, did you mean `{closest}`?")
            }
            ProblemKind::UnknownKey { closest: None, .. } => write!(f, "unknown key `{key}`"),
            ProblemKind::WrongValue { expected, found } => {
                write!(f, "`{key}` must be {expected}, found {found}")
            }
            ProblemKind::Missing { expected } => write!(f, "`{key}` needs {expected}"),
            ProblemKind::Conflict { other } => {
                write!(f, "`{key}` excludes `{other}`, which stands beside it")
            }
            ProblemKind::NotSupported => write!(f, "`{key}` is not supported yet"),
        }
    }
}

fn listed(path: &std::path::Path, problems: &[Problem]) -> String {
    let mut text = String::new();
    for (index, problem) in problems.iter().enumerate() {
        let separator = if index == 0 { "" } else { "\n" };
        let Problem { line, column, .. } = problem;
        // Writing to a string never fails.
        _ = write!(
            text,
            "{separator}{}:{line}:{column}: {problem}",
            path.display()
        );
    }
    text
}
