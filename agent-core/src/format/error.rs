//! Why an answer could not be read.

/// Why an answer could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FormatError {
    /// The answer is none of the dialect.
    #[error("expected {expected}, found {found}")]
    Malformed {
        /// What the dialect has here.
        expected: &'static str,
        /// The beginning of what came.
        found: String,
    },
    /// The stream ended before the model had said why it stops.
    #[error("the answer broke off before the model had finished it")]
    Cut,
    /// The server reports a failure where the answer should be.
    #[error("{message}")]
    Server {
        /// The server's word for the failure, such as `overloaded_error`; may be empty.
        code: String,
        /// What the server says.
        message: String,
    },
}
