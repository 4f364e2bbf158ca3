//! Life of a call, from a model's words to one result.
//!
//! 1. **Prepare** (`prepare.rs`): find the tool in the table and lease its generation, read the
//!    arguments, run the tool's `prepare` hook, coerce, validate, fill defaults, run the tool's
//!    validator, ask `before_tool_call`, ask for permission (`permission.rs`). A failure ends the
//!    call here: one rejection event, no execution.
//! 2. **Execute** (`execute.rs`): start event, run the tool under its time limit and the caller's
//!    abort signal, inside of what was put around it, pass partial results on.
//! 3. **Finalize** (`finalize.rs`): `after_tool_call`, end event, the message for the model. What is
//!    too long for a model is kept in a file (`overflow.rs`).
//!
//! The calls of one answer are made in an order (`schedule.rs`).
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
mod overflow;
pub mod permission;
mod prepare;
pub mod schedule;
pub(crate) mod unwind;

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tool_sdk::ErrorKind;

use crate::abort::AbortSignal;
use crate::event::{Emitter, EventKind};
use crate::limits;
use crate::message::Message;
use crate::registry::{Pinned, Registry, Table};
use crate::tool::{CallError, ToolCallResult};

use execute::StartedCall;
use overflow::Overflow;
use prepare::PreparedCall;

pub use crate::message::Arguments;
pub use example::{ExampleError, ExampleOutcome};
pub use hook::{
    After, AfterToolCall, Around, Before, BeforeToolCall, CallView, Hooks, Next, around,
};
pub use permission::{Approval, Approver, Permissions, Question};

/// A call as a model made it.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolCall {
    /// The id that the model gave it. Shared, as the name is, since hooks, events and the result
    /// hold both.
    pub id: Arc<str>,
    /// The name that the model gave.
    pub name: Arc<str>,
    /// The arguments as they were sent.
    pub arguments: Arguments,
    /// Why it must not run, where that is known before.
    refusal: Option<CallError>,
}

impl ToolCall {
    /// A call that has no id yet; it is given one.
    pub fn new(name: impl Into<Arc<str>>, arguments: Arguments) -> Self {
        let id = uuid::Uuid::new_v4().to_string();
        Self::of_model(id, name, arguments)
    }

    /// A call with the id that the model gave it.
    pub fn of_model(
        id: impl Into<Arc<str>>,
        name: impl Into<Arc<str>>,
        arguments: Arguments,
    ) -> Self {
        Self {
            id: id.into(),
            name: name.into(),
            arguments,
            refusal: None,
        }
    }

    /// The same call, which is answered with this error and not run.
    #[must_use]
    pub fn refused(mut self, error: CallError) -> Self {
        self.refusal = Some(error);
        self
    }

    /// The last call of an answer that was cut off by the limit of tokens: it is refused, even where
    /// its arguments can be read, since it may be half of what the model meant (R25).
    #[must_use]
    pub fn cut_off(self) -> Self {
        let text = "The answer was cut off by the limit of tokens inside of this call; nothing was \
                    run. Make the call again, with shorter arguments";
        self.refused(CallError::new(ErrorKind::InvalidJson, text))
    }

    /// The same call with this id.
    #[must_use]
    pub fn with_id(mut self, id: impl Into<Arc<str>>) -> Self {
        self.id = id.into();
        self
    }
}

/// What a call came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Finalized {
    /// The result, for programs.
    pub result: Arc<ToolCallResult>,
}

/// Makes calls on the tools of a registry. Clones share everything.
#[derive(Clone, Debug)]
pub struct Caller {
    registry: Registry,
    /// The tools of one turn, instead of those that exist now.
    pinned: Option<Arc<Pinned>>,
    events: Emitter,
    hooks: Hooks,
    permissions: Permissions,
    timeout: Duration,
    overflow: Overflow,
}

impl Caller {
    /// A caller without hooks and with the usual limits. Nobody can be asked for permission.
    pub fn new(registry: Registry, events: Emitter) -> Self {
        Self {
            overflow: Overflow::new(limits::RESULT_TEXT, registry.state_folder()),
            registry,
            pinned: None,
            events,
            hooks: Hooks::default(),
            permissions: Permissions::default(),
            timeout: limits::TOOL_TIMEOUT,
        }
    }

    /// Sets the hooks.
    #[must_use]
    pub fn with_hooks(mut self, hooks: Hooks) -> Self {
        self.hooks = hooks;
        self
    }

    /// Sets who is asked for permission, and what needs none.
    #[must_use]
    pub fn with_permissions(mut self, permissions: Permissions) -> Self {
        self.permissions = permissions;
        self
    }

    /// Sets the time limit of tools that have none of their own.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sets how many bytes of one result's text a model sees. A longer text is cut there, and the
    /// whole of it is kept in a file that the result names.
    #[must_use]
    pub fn with_result_limit(mut self, bytes: usize) -> Self {
        self.overflow.limit = bytes;
        self
    }

    /// The same caller for the tools of one turn, which a reload does not change.
    #[must_use]
    pub fn pinned(&self, tools: Arc<Pinned>) -> Self {
        Self {
            pinned: Some(tools),
            ..self.clone()
        }
    }

    /// The registry.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// Where its events go.
    pub fn events(&self) -> &Emitter {
        &self.events
    }

    /// The tools that a call is looked up in.
    fn table(&self) -> Arc<Table> {
        match &self.pinned {
            Some(pinned) => Arc::clone(pinned.table()),
            None => self.registry.table(),
        }
    }

    /// Makes one call. It is answered exactly once, whatever happens.
    pub async fn call(&self, call: ToolCall, abort: &AbortSignal) -> Finalized {
        let prepared = self.prepare(&call, abort).await;
        self.run(&call, prepared, abort).await
    }

    /// Takes a call from where prepare left it to its end.
    async fn run(
        &self,
        call: &ToolCall,
        prepared: Result<PreparedCall<'_>, Refused>,
        abort: &AbortSignal,
    ) -> Finalized {
        match prepared {
            Err(refused) => self.reject(call, refused).await,
            // It was ready, and waited for the others of its answer to be.
            Ok(_) if abort.is_aborted() => {
                self.reject(call, prepare::refused(call, prepare::aborted()))
                    .await
            }
            Ok(prepared) => {
                let mut started = StartedCall::new(&self.events, prepared);
                let result = self.execute(&mut started, abort).await;
                self.finalize(started, result, abort).await
            }
        }
    }

    /// The result of a call that ended before its tool ran.
    async fn reject(&self, call: &ToolCall, refused: Refused) -> Finalized {
        let Refused { error, args } = refused;
        let kind = error.kind;
        let (id, name) = (Arc::clone(&call.id), Arc::clone(&call.name));
        let mut result = ToolCallResult::of_error(id, name, error);
        // Hooks and people may say as much as a tool, or as little.
        finalize::fill_empty(&mut result);
        self.overflow.cut(&mut result).await;
        self.events.emit(|| EventKind::ToolCallRejected {
            tool_call_id: Arc::clone(&call.id),
            tool_name: Arc::clone(&call.name),
            args: args.map(Arc::new),
            kind,
            message: result.text(),
        });
        Finalized {
            result: Arc::new(result),
        }
    }
}

impl Finalized {
    /// The message that goes back to the model.
    pub fn message(&self) -> Message {
        Message::tool_result(&self.result)
    }
}

/// Why a call ends before its tool runs.
#[derive(Debug)]
struct Refused {
    error: CallError,
    /// The arguments, where they could be read.
    args: Option<Value>,
}
