//! What happens, as data: calls, builds, changes of the tool table, turns of an agent.
//!
//! An [`Emitter`] numbers events and hands them to any number of sinks. Preset arguments appear
//! in no event: they are added behind the point where events are made.

mod queue;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use arc_swap::ArcSwap;
use serde::{Serialize, Serializer};
use serde_json::Value;
use tool_sdk::ErrorKind;

use crate::ids::{GenerationNumber, PluginName};
use crate::message::{Delta, Message, StopReason};
use crate::tool::{Change, ToolCallResult};

pub use queue::Queued;

/// One event. `seq` rises by one from event to event of the same emitter. Events of one call reach
/// a sink in this order; those of calls that overlap may come between each other.
#[derive(Clone, Debug, Serialize)]
pub struct Event {
    /// What happened.
    #[serde(flatten)]
    pub kind: EventKind,
    /// Number of the event, from 1.
    pub seq: u64,
    /// When it happened; RFC 3339 in UTC with milliseconds in JSON.
    #[serde(serialize_with = "rfc3339")]
    pub time: SystemTime,
}

fn rfc3339<S: Serializer>(time: &SystemTime, serializer: S) -> Result<S::Ok, S::Error> {
    let time = jiff::Timestamp::try_from(*time).map_err(serde::ser::Error::custom)?;
    serializer.collect_str(&format_args!("{time:.3}"))
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(
    tag = "type",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
#[non_exhaustive]
pub enum EventKind {
    /// A call ended before its tool ran.
    ToolCallRejected {
        /// Id of the call.
        tool_call_id: Arc<str>,
        /// The name that was called.
        tool_name: Arc<str>,
        /// The arguments, where they could be read.
        #[serde(skip_serializing_if = "Option::is_none")]
        args: Option<Arc<Value>>,
        /// Why.
        kind: ErrorKind,
        /// Why, for the model.
        message: String,
    },
    /// A tool starts.
    ToolExecutionStart {
        /// Id of the call.
        tool_call_id: Arc<str>,
        /// Name of the tool.
        tool_name: Arc<str>,
        /// The arguments that it gets.
        args: Arc<Value>,
        /// What was changed in the arguments that were sent.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        changes: Vec<Change>,
        /// Generation of the tool.
        generation: GenerationNumber,
    },
    /// A running tool reports a partial result.
    ToolExecutionUpdate {
        /// Id of the call.
        tool_call_id: Arc<str>,
        /// Name of the tool.
        tool_name: Arc<str>,
        /// The arguments that it got.
        args: Arc<Value>,
        /// The partial result.
        partial_result: Value,
    },
    /// A tool ended.
    ToolExecutionEnd {
        /// Id of the call.
        tool_call_id: Arc<str>,
        /// Name of the tool.
        tool_name: Arc<str>,
        /// The result.
        result: Arc<ToolCallResult>,
        /// Whether it failed.
        is_error: bool,
        /// How long it took.
        duration_ms: u64,
    },
    /// An agent starts to work on what it was told.
    AgentStart,
    /// One round of asking the model begins.
    TurnStart,
    /// A message begins.
    MessageStart {
        /// The message; one of a model is empty yet.
        message: Message,
    },
    /// A message grows.
    MessageUpdate {
        /// What is new of it.
        delta: Delta,
    },
    /// A message is complete.
    MessageEnd {
        /// The message.
        message: Message,
        /// What a model's answer cost.
        #[serde(skip_serializing_if = "Option::is_none")]
        usage: Option<Value>,
        /// Why a model's answer ends; nothing where it broke off.
        #[serde(skip_serializing_if = "Option::is_none")]
        stop_reason: Option<StopReason>,
    },
    /// A round is over, its calls answered.
    TurnEnd,
    /// An agent is done. Exactly one for each [`Self::AgentStart`].
    AgentEnd {
        /// Why.
        reason: EndReason,
        /// The sum of what calls and messages cost, where it is numbers.
        #[serde(skip_serializing_if = "Option::is_none")]
        usage: Option<Value>,
        /// What went wrong, where the reason is an error.
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<String>,
    },
    /// A plugin's build starts.
    BuildStart {
        /// The plugin.
        plugin: PluginName,
    },
    /// A plugin's build ended.
    BuildEnd {
        /// The plugin.
        plugin: PluginName,
        /// Whether there is a library.
        ok: bool,
        /// How long it took.
        duration_ms: u64,
        /// What the compiler said, as it says it.
        #[serde(skip_serializing_if = "Option::is_none")]
        diagnostics: Option<String>,
    },
    /// The table of tools is another one.
    ToolsChanged {
        /// Names that are new.
        added: Vec<String>,
        /// Names that are gone.
        removed: Vec<String>,
        /// Names whose tool is another one.
        changed: Vec<ChangedTool>,
        /// Plugins that could not be taken over; what they served before goes on.
        failed: Vec<FailedPlugin>,
    },
}

/// A tool that was replaced.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ChangedTool {
    /// Its name.
    pub name: String,
    /// What became of its input schema.
    pub schema: SchemaChange,
}

/// What became of a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum SchemaChange {
    /// It is the same.
    Same,
    /// Calls that were valid still are.
    Compatible,
    /// Calls that were valid may not be any more.
    Breaking,
}

/// A plugin that could not be taken over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FailedPlugin {
    /// Its name.
    pub plugin: PluginName,
    /// Why.
    pub reason: String,
}

/// Why an agent ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum EndReason {
    /// The model gave its final answer.
    Final,
    /// A tool ended the loop.
    Terminated,
    /// The limit of rounds was reached.
    MaxIterations,
    /// It was aborted.
    Aborted,
    /// The model, or a hook on the way to it, failed.
    Error,
}

/// Takes events. Must not block: a slow reader is put behind a [`Queued`].
pub trait EventSink: Send + Sync + 'static {
    /// Takes one event.
    fn event(&self, event: &Arc<Event>);
}

impl<F: Fn(&Arc<Event>) + Send + Sync + 'static> EventSink for F {
    fn event(&self, event: &Arc<Event>) {
        self(event);
    }
}

/// Numbers events and hands them out. Clones share sinks and numbers.
#[derive(Clone, Default)]
pub struct Emitter(Arc<Inner>);

#[derive(Default)]
struct Inner {
    sinks: ArcSwap<Vec<Arc<dyn EventSink>>>,
    last: AtomicU64,
    /// Who hears of everything as well.
    parent: Option<Emitter>,
}

impl Emitter {
    /// An emitter to these sinks.
    pub fn new(sinks: Vec<Box<dyn EventSink>>) -> Self {
        let sinks = sinks.into_iter().map(Arc::from).collect::<Vec<_>>();
        Self(Arc::new(Inner {
            sinks: ArcSwap::from_pointee(sinks),
            ..Inner::default()
        }))
    }

    /// An emitter without sinks whose events the sinks of this one see too. Each numbers them by
    /// itself.
    #[must_use]
    pub fn child(&self) -> Self {
        Self(Arc::new(Inner {
            parent: Some(self.clone()),
            ..Inner::default()
        }))
    }

    /// Adds a sink, which sees what happens from now on.
    pub fn add(&self, sink: impl EventSink) {
        let sink: Arc<dyn EventSink> = Arc::new(sink);
        self.0.sinks.rcu(|sinks| {
            let mut sinks = Vec::clone(sinks);
            sinks.push(Arc::clone(&sink));
            sinks
        });
    }

    /// Hands out what happened. Nothing is made where nobody listens.
    pub fn emit(&self, kind: impl FnOnce() -> EventKind) {
        if self.is_heard() {
            self.hand_out(kind());
        }
    }

    fn is_heard(&self) -> bool {
        let parent = self.0.parent.as_ref();
        !self.0.sinks.load().is_empty() || parent.is_some_and(Self::is_heard)
    }

    fn hand_out(&self, kind: EventKind) {
        if let Some(parent) = self.0.parent.as_ref().filter(|parent| parent.is_heard()) {
            parent.hand_out(kind.clone());
        }
        let event = Arc::new(Event {
            kind,
            seq: self.0.last.fetch_add(1, Ordering::Relaxed) + 1,
            time: SystemTime::now(),
        });
        for sink in self.0.sinks.load().iter() {
            // A sink that panics must not take the call with it that it is told of.
            if let Err(report) = tool_sdk::panic::catch(|| sink.event(&event)) {
                tracing::error!(%report, "an event sink panicked");
            }
        }
    }
}

impl fmt::Debug for Emitter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Emitter")
            .field("sinks", &self.0.sinks.load().len())
            .finish_non_exhaustive()
    }
}
