//! The agent: asks a model, makes the calls that it wants, answers them, until it has its say.
//!
//! One *run* is what follows what a person says. It goes in turns, each asking the model once:
//!
//! 1. What waits in the inbox becomes messages of the conversation.
//! 2. The tools are pinned, and the context is made of them, the instructions and the conversation;
//!    `prepare_context` may change it. `format_messages`, or the model, puts it in the provider's
//!    words.
//! 3. The model is asked. An answer without calls ends the run.
//! 4. The calls are made as [`call`](crate::call) makes them, and their results are answered.
//!
//! [`conversation`] holds what was said and keeps it valid whatever happens; `run` holds the order of
//! a run, `turn` that of one turn. Exactly one `agentEnd` follows an `agentStart`, also when whoever
//! waits for the run stops waiting.
#![forbid(unsafe_code)]

mod builder;
pub mod conversation;
pub mod groups;
mod guard;
pub mod hook;
#[cfg(feature = "models")]
pub mod http;
mod input;
pub mod model;
mod run;
pub mod scripted;
mod turn;
mod usage;
pub mod window;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use tokio::sync::Mutex as AsyncMutex;

use crate::abort::AbortSignal;
use crate::call::Caller;
use crate::config::ToolExecution;
use crate::event::{Emitter, EndReason, Queued};
use crate::message::{Message, StopReason};
use crate::registry::ToolEntry;

pub use builder::AgentBuilder;
pub use conversation::{Conversation, ConversationError};
pub use groups::{ToolGroup, ToolGroups};
pub use hook::{AgentHooks, FormatMessages, PrepareContext};
#[cfg(feature = "models")]
pub use http::{HttpModel, HttpSettings};
pub use input::{Input, InputError};
pub use model::{DeltaSink, Model, ModelError, ModelErrorKind};
pub use scripted::ScriptedModel;

/// An agent. Clones are the same agent: one may run while another sends, aborts or looks.
#[derive(Clone)]
pub struct Agent(Arc<Inner>);

struct Inner {
    settings: Settings,
    model: Arc<dyn Model>,
    caller: Caller,
    hooks: AgentHooks,
    /// Tools of this agent alone.
    own_tools: Vec<Arc<ToolEntry>>,
    groups: ToolGroups,
    /// Read and changed for moments only.
    talk: Mutex<Talk>,
    /// Held by the run that is on.
    running: AsyncMutex<()>,
    sinks: Vec<Arc<Queued>>,
}

/// What a person decided about the loop.
struct Settings {
    name: String,
    system_prompt: String,
    tool_execution: ToolExecution,
    max_iterations: usize,
    closing_turn: bool,
    terminate: Terminate,
    stream: bool,
    prefix: String,
    repeat_limit: Option<usize>,
}

/// What an agent has heard and said.
#[derive(Default)]
struct Talk {
    conversation: Conversation,
    /// What was sent and has not been heard yet.
    inbox: Vec<Message>,
    /// What the last run ended with, until it is taken.
    response: Option<Message>,
    /// Ends the run that is on.
    abort: Option<AbortSignal>,
}

/// Which results of a batch end the loop (R5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Terminate {
    /// Any that says so.
    #[default]
    Any,
    /// All of them together.
    All,
}

/// What a run came to.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Run {
    /// Why it ended.
    pub reason: EndReason,
    /// How often the model was asked.
    pub iterations: usize,
    /// Why the model's last answer ends; `None` where none came. An answer that was cut off or held
    /// back ends a run as any other does.
    pub stop_reason: Option<StopReason>,
    /// The sum of what answers and calls cost, where it is numbers.
    pub usage: Option<Value>,
}

/// Why a run could not go on. The conversation is valid all the same, and another run may follow.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AgentError {
    /// The model did not answer.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A hook of the program failed, or the model panicked.
    #[error("{what} failed: {reason}")]
    Hook {
        /// Which.
        what: &'static str,
        /// Why.
        reason: String,
    },
    /// Another run of the agent is on.
    #[error("the agent is running already; `send` reaches the run that is on")]
    Busy,
}

impl Agent {
    /// Starts to describe an agent that asks this model.
    pub fn builder(model: impl Model) -> AgentBuilder {
        AgentBuilder::new(Arc::new(model))
    }

    /// What the agent is called.
    pub fn name(&self) -> &str {
        &self.0.settings.name
    }

    /// Says something and goes on until the model has had its say, a tool ends the loop, a limit is
    /// reached, or it is aborted. What it ended with is at [`Agent::take_response`]. While another
    /// run is on, nothing is said. What the conversation ends with, since the run before has failed, is
    /// not said twice: the model is asked anew.
    pub async fn run(&self, input: impl Into<Input>) -> Result<Run, AgentError> {
        self.go(Some(input.into())).await
    }

    /// Goes on with what is in the conversation and in the inbox.
    pub async fn resume(&self) -> Result<Run, AgentError> {
        self.go(None).await
    }

    async fn go(&self, input: Option<Input>) -> Result<Run, AgentError> {
        let _running = self.0.running.try_lock().map_err(|_| AgentError::Busy)?;
        if let Some(Input(message)) = input {
            let mut talk = self.0.talk();
            if !(talk.inbox.is_empty() && talk.conversation.awaits_answer_to(&message)) {
                talk.inbox.push(message);
            }
        }
        let run = run::run(&self.0).await;
        for sink in &self.0.sinks {
            sink.caught_up(crate::limits::SINK_TIMEOUT).await;
        }
        run
    }

    /// Says something to the run that is on: the model hears it when it is asked next (Y20). Without
    /// a run, the next one begins with it.
    pub fn send(&self, input: impl Into<Input>) {
        self.0.talk().inbox.push(input.into().0);
    }

    /// Ends the run that is on: running tools are told, waiting calls are refused, every call is
    /// answered.
    pub fn abort(&self) {
        if let Some(signal) = &self.0.talk().abort {
            signal.abort();
        }
    }

    /// What the last run ended with: the model's last words, or those of the tools that ended it
    /// (R38). Once.
    pub fn take_response(&self) -> Option<Message> {
        self.0.talk().response.take()
    }

    /// What was said so far. It is valid at any moment: calls that still run are answered in it as
    /// aborted.
    pub fn conversation(&self) -> Conversation {
        self.0.talk().conversation.clone()
    }

    /// The groups of its tools.
    pub fn groups(&self) -> &ToolGroups {
        &self.0.groups
    }

    /// Where its events go.
    pub fn events(&self) -> &Emitter {
        self.0.caller.events()
    }
}

impl Inner {
    fn talk(&self) -> MutexGuard<'_, Talk> {
        self.talk.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Agent")
            .field("name", &self.0.settings.name)
            .finish_non_exhaustive()
    }
}
