//! How a tool fails: what happened, of which kind, and what to do next.

use std::error::Error;
use std::fmt;

use serde::{Deserialize, Serialize};

/// Why a call has no ordinary result.
///
/// An error of a tool is a [`ToolError`](Self::ToolError) unless the tool says otherwise; the other
/// kinds are mostly the host's.
///
/// ```
/// use tool_sdk::prelude::*;
///
/// let error = ToolError::of(ErrorKind::Unavailable, "the database is being moved");
/// assert_eq!(error.kind().as_str(), "unavailable");
/// assert_eq!(ToolError::new("no such row").kind(), ErrorKind::ToolError);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum ErrorKind {
    /// There is no tool of that name.
    UnknownTool,
    /// The arguments are not the text of a JSON object.
    InvalidJson,
    /// The arguments do not fit the tool's schema or its validator.
    InvalidArguments,
    /// A hook blocked the call.
    Rejected,
    /// The configuration forbids the call.
    Denied,
    /// A person has to allow the call, and nobody could be asked.
    NeedsApproval,
    /// The tool can't run at present.
    Unavailable,
    /// The tool gave no answer in time.
    Timeout,
    /// The call was cancelled.
    Aborted,
    /// The tool panicked.
    Panic,
    /// The tool's process ended during the call.
    Crashed,
    /// The tool itself says that it failed.
    #[default]
    ToolError,
}

impl ErrorKind {
    /// The kind as it is spelled in results and events.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::UnknownTool => "unknownTool",
            Self::InvalidJson => "invalidJson",
            Self::InvalidArguments => "invalidArguments",
            Self::Rejected => "rejected",
            Self::Denied => "denied",
            Self::NeedsApproval => "needsApproval",
            Self::Unavailable => "unavailable",
            Self::Timeout => "timeout",
            Self::Aborted => "aborted",
            Self::Panic => "panic",
            Self::Crashed => "crashed",
            Self::ToolError => "toolError",
        }
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The error of a tool: what the model reads, what to do next, and the kind. It converts from every
/// error, from `String` and from `&str`, so `?` works on all of them.
///
/// ```
/// use tool_sdk::prelude::*;
///
/// fn port(text: &str) -> Result<u16> {
///     if text.is_empty() {
///         return Err(ToolError::new("no port given").with_hint("pass a number below 65536"));
///     }
///     Ok(text.parse()?)
/// }
///
/// assert_eq!(port("x").unwrap_err().to_string(), "invalid digit found in string");
/// assert_eq!(port("").unwrap_err().to_string(), "no port given\npass a number below 65536");
///
/// // Whether it comes from a text or from an error, `into` is enough.
/// let error: ToolError = "closed on Sundays".into();
/// assert_eq!(error, ToolError::new("closed on Sundays"));
/// ```
///
/// The texts of an error's sources follow its own. It is not an [`Error`] itself: only so can it
/// convert from every error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolError {
    #[serde(default)]
    kind: ErrorKind,
    message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

impl ToolError {
    /// An error of kind [`ErrorKind::ToolError`] with this text, which the model reads.
    pub fn new(message: impl Into<String>) -> Self {
        Self::of(ErrorKind::ToolError, message)
    }

    /// An error of this kind.
    pub fn of(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            hint: None,
        }
    }

    /// Adds what to do next; the model reads it behind the message.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same error of another kind.
    #[must_use]
    pub fn with_kind(mut self, kind: ErrorKind) -> Self {
        self.kind = kind;
        self
    }

    /// Why the call has no ordinary result.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// What happened.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What to do next.
    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }
}

impl fmt::Display for ToolError {
    /// The message, then the hint on a line of its own.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match &self.hint {
            Some(hint) => write!(f, "\n{hint}"),
            None => Ok(()),
        }
    }
}

impl<E: Into<Box<dyn Error + Send + Sync>>> From<E> for ToolError {
    /// The error's text, followed by the texts of its sources that it does not already contain.
    fn from(error: E) -> Self {
        let error: Box<dyn Error + Send + Sync> = error.into();
        Self::new(chain(&*error))
    }
}

fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text.push_str(": ");
            text.push_str(&cause_text);
        }
        source = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn question_mark_takes_errors_strings_and_itself() {
        fn with<E: Into<ToolError>>(error: E) -> ToolError {
            error.into()
        }
        assert_eq!(with("a"), ToolError::new("a"));
        assert_eq!(with("a".to_owned()), ToolError::new("a"));
        assert_eq!(with(fmt::Error).message(), fmt::Error.to_string());
        assert_eq!(with(ToolError::new("a").with_hint("b")).to_string(), "a\nb");
    }

    #[test]
    fn sources_follow_the_message_once() {
        #[derive(Debug)]
        struct Outer(std::io::Error);
        impl fmt::Display for Outer {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("could not read")
            }
        }
        impl Error for Outer {
            fn source(&self) -> Option<&(dyn Error + 'static)> {
                Some(&self.0)
            }
        }
        let error = ToolError::from(Outer(std::io::Error::other("disk on fire")));
        assert_eq!(error.message(), "could not read: disk on fire");
    }

    #[test]
    fn kinds_are_spelled_alike_in_json_and_text() {
        for kind in [
            ErrorKind::UnknownTool,
            ErrorKind::NeedsApproval,
            ErrorKind::ToolError,
        ] {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.as_str());
        }
    }
}
