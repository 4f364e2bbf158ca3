//! What a language model is to the loop, and why it may not answer.
//!
//! Clients of real servers stand in `http`; closures are models too.

use std::time::Duration;

use serde_json::{Map, Value};

use crate::format;
use crate::message::{Context, Delta, Prompt, Reply};
use crate::tool::BoxFuture;

/// Takes the pieces of an answer as they come. Must not block.
pub type DeltaSink<'a> = &'a mut (dyn FnMut(Delta) + Send);

/// A language model.
///
/// The futures may be dropped at any time; the request is given up then. A closure that takes a
/// [`Prompt`] and returns a future of a [`Reply`] is a model.
pub trait Model: Send + Sync + 'static {
    /// The conversation in the provider's words; `OpenAI`'s, where the model says nothing else.
    fn format(&self, context: &Context) -> Map<String, Value> {
        format::openai::conversation(context, None)
    }

    /// Asks the model and waits for the whole answer.
    fn complete(&self, prompt: Prompt) -> BoxFuture<'_, Result<Reply, ModelError>>;

    /// Asks the model and hands out the answer while it comes. Where a model can't, the answer comes
    /// in one piece at the end.
    fn stream<'a>(
        &'a self,
        prompt: Prompt,
        _deltas: DeltaSink<'a>,
    ) -> BoxFuture<'a, Result<Reply, ModelError>> {
        self.complete(prompt)
    }
}

impl<F, R> Model for F
where
    F: Fn(Prompt) -> R + Send + Sync + 'static,
    R: Future<Output = Result<Reply, ModelError>> + Send + 'static,
{
    fn complete(&self, prompt: Prompt) -> BoxFuture<'_, Result<Reply, ModelError>> {
        Box::pin(self(prompt))
    }
}

/// Why a model did not answer. The text says what to do about it and holds no key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ModelError {
    /// The kind.
    pub kind: ModelErrorKind,
    /// What happened and what to do next.
    pub message: String,
    /// How long the server asks to wait before the next try.
    pub retry_after: Option<Duration>,
}

/// What kind of failure it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ModelErrorKind {
    /// No server answers at the address.
    Unreachable,
    /// The key is missing or wrong, or may not do this.
    Unauthorized,
    /// The server has no such model or no such address.
    NotFound,
    /// The server refuses the request as it is.
    Refused,
    /// Too many requests, or the account is used up.
    RateLimited,
    /// The server can't answer now.
    Overloaded,
    /// The answer did not come in time.
    Timeout,
    /// The connection broke in the middle of an answer.
    Cut,
    /// The answer is none that the dialect knows.
    Malformed,
    /// Anything else.
    Other,
}

impl ModelError {
    /// A failure of this kind.
    pub fn new(kind: ModelErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            retry_after: None,
        }
    }
}
