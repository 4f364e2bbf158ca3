//! Life of a call, from a model's words to one result.
//!
//! 1. **Prepare** (`prepare.rs`): find the tool in the table and lease its generation, read the
//!    arguments, run the tool's `prepare` hook, coerce, validate, fill defaults, run the tool's
//!    validator, ask `before_tool_call`. A failure ends the call here: one rejection event, no
//!    execution.
//! 2. **Execute** (`execute.rs`): start event, run the tool under its time limit and the caller's
//!    abort signal, pass partial results on.
//! 3. **Finalize** (`finalize.rs`): `after_tool_call`, end event, the message for the model.
//!
//! Exactly one result comes out, whatever happens, and every start event has its end event, also
//! when the caller's future is dropped. Panics of tools and hooks of the embedding program end in
//! `unwind`. Nothing here blocks a thread: plugin code runs on the tool pool or on its plugin's
//! own runtime, and what does not end in time is given up.
//! The path takes no lock that a reload holds.
#![forbid(unsafe_code)]

pub mod example;
mod execute;
mod finalize;
pub mod hook;
mod prepare;
mod unwind;

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use crate::abort::AbortSignal;
use crate::event::{Emitter, EventKind};
use crate::limits;
use crate::message::Message;
use crate::registry::Registry;
use crate::tool::{CallError, ToolCallResult};

use execute::StartedCall;

pub use crate::message::Arguments;
pub use example::{ExampleError, ExampleOutcome};
pub use hook::{After, AfterToolCall, Before, BeforeToolCall, CallView, Hooks};

/// A call as a model made it.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolCall {
    /// The id that the model gave it.
    pub id: String,
    /// The name that the model gave.
    pub name: String,
    /// The arguments as they were sent.
    pub arguments: Arguments,
}

impl ToolCall {
    /// A call with an id of its own.
    pub fn new(name: impl Into<String>, arguments: Arguments) -> Self {
        Self {
            id: uuid::Uuid::new_v4().to_string(),
            name: name.into(),
            arguments,
        }
    }

    /// The same call with this id.
    #[must_use]
    pub fn with_id(mut self, id: impl Into<String>) -> Self {
        self.id = id.into();
        self
    }
}

/// What a call came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Finalized {
    /// The result, for programs.
    pub result: Arc<ToolCallResult>,
    /// The message that goes back to the model.
    pub message: Message,
}

/// Makes calls on the tools of a registry. Clones share everything.
#[derive(Clone, Debug)]
pub struct Caller {
    registry: Registry,
    events: Emitter,
    hooks: Hooks,
    timeout: Duration,
}

impl Caller {
    /// A caller without hooks and with the usual time limits.
    pub fn new(registry: Registry, events: Emitter) -> Self {
        Self {
            registry,
            events,
            hooks: Hooks::default(),
            timeout: limits::TOOL_TIMEOUT,
        }
    }

    /// Sets the hooks.
    #[must_use]
    pub fn with_hooks(mut self, hooks: Hooks) -> Self {
        self.hooks = hooks;
        self
    }

    /// Sets the time limit of tools that have none of their own.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// The registry.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// Makes one call. It is answered exactly once, whatever happens.
    pub async fn call(&self, call: ToolCall, abort: &AbortSignal) -> Finalized {
        match self.prepare(&call, abort).await {
            Err(refused) => self.reject(&call, refused),
            Ok(prepared) => {
                let mut started = StartedCall::new(&self.events, prepared);
                let result = self.execute(&mut started, abort).await;
                self.finalize(started, result, abort).await
            }
        }
    }

    /// The result of a call that ended before its tool ran.
    fn reject(&self, call: &ToolCall, refused: Refused) -> Finalized {
        let Refused { error, args } = refused;
        self.events.emit(|| EventKind::ToolCallRejected {
            tool_call_id: call.id.clone(),
            tool_name: call.name.clone(),
            args: args.map(Arc::new),
            kind: error.kind,
            message: error.message.clone(),
        });
        Finalized::new(Arc::new(ToolCallResult::of_error(
            &call.id, &call.name, error,
        )))
    }
}

impl Finalized {
    fn new(result: Arc<ToolCallResult>) -> Self {
        Self {
            message: Message::tool_result(&result),
            result,
        }
    }
}

/// Why a call ends before its tool runs.
#[derive(Debug)]
struct Refused {
    error: CallError,
    /// The arguments, where they could be read.
    args: Option<Value>,
}
