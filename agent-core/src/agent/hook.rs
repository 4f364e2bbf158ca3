//! What the embedding program may do between the conversation and the model (Y21).

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::message::Context;
use crate::tool::BoxFuture;

/// Changes what the model is to know: takes old messages away, adds what it must not forget.
///
/// Calls and their results are kept or left out together; whoever takes only one of them away takes
/// both.
pub trait PrepareContext: Send + Sync + 'static {
    /// The context; an error ends the run.
    fn prepare(&self, context: Context) -> BoxFuture<'static, Result<Context, String>>;
}

impl<F, R> PrepareContext for F
where
    F: Fn(Context) -> R + Send + Sync + 'static,
    R: Future<Output = Result<Context, String>> + Send + 'static,
{
    fn prepare(&self, context: Context) -> BoxFuture<'static, Result<Context, String>> {
        Box::pin(self(context))
    }
}

/// Puts a context in the words of a provider: the part of the request's body that holds the
/// conversation.
pub trait FormatMessages: Send + Sync + 'static {
    /// The conversation; an error ends the run.
    fn format(&self, context: Context) -> BoxFuture<'static, Result<Map<String, Value>, String>>;
}

impl<F, R> FormatMessages for F
where
    F: Fn(Context) -> R + Send + Sync + 'static,
    R: Future<Output = Result<Map<String, Value>, String>> + Send + 'static,
{
    fn format(&self, context: Context) -> BoxFuture<'static, Result<Map<String, Value>, String>> {
        Box::pin(self(context))
    }
}

/// The hooks of the loop.
#[derive(Clone, Default)]
pub struct AgentHooks {
    /// Changes what the model is to know.
    pub prepare_context: Option<Arc<dyn PrepareContext>>,
    /// Puts it in the provider's words, instead of the model.
    pub format_messages: Option<Arc<dyn FormatMessages>>,
}

impl fmt::Debug for AgentHooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentHooks")
            .field("prepare_context", &self.prepare_context.is_some())
            .field("format_messages", &self.format_messages.is_some())
            .finish()
    }
}
