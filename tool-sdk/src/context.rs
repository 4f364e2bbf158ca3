//! What a running tool may ask of its surroundings.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

use crate::abi::{CallPort, LogLevel};
use crate::state::States;

/// The surroundings of one call. A tool takes it as a parameter `ctx: &ToolContext`, anywhere in
/// its list; the model does not see it. Clones speak for the same call.
#[derive(Clone)]
pub struct ToolContext {
    inner: Arc<Inner>,
}

struct Inner {
    call_id: String,
    sink: Sink,
    /// What the plugin had open when the call began.
    states: Option<Arc<States>>,
    /// Set by the host's cancel, which is an event; `CallPort::is_aborted` can only be asked.
    cancelled: AtomicBool,
    #[cfg(feature = "async")]
    cancel_event: tokio::sync::Notify,
}

/// Where a context's words go.
enum Sink {
    Host(CallPort),
    /// For running a tool without a host. A mutex, since any thread of the tool may report.
    Recorder(Mutex<Vec<Value>>),
}

impl ToolContext {
    pub(crate) fn for_host(call_id: &str, port: CallPort, states: Option<Arc<States>>) -> Self {
        Self::new(call_id, Sink::Host(port), states)
    }

    pub(crate) fn recording(call_id: &str, states: Arc<States>) -> Self {
        Self::new(call_id, Sink::Recorder(Mutex::default()), Some(states))
    }

    fn new(call_id: &str, sink: Sink, states: Option<Arc<States>>) -> Self {
        let inner = Inner {
            call_id: call_id.to_owned(),
            sink,
            states,
            cancelled: AtomicBool::new(false),
            #[cfg(feature = "async")]
            cancel_event: tokio::sync::Notify::new(),
        };
        Self {
            inner: Arc::new(inner),
        }
    }

    /// The id that the model gave this call, unchanged.
    pub fn call_id(&self) -> &str {
        &self.inner.call_id
    }

    /// Streams a partial result to whoever watches the call: `ctx.progress(json!({"status": "…"}))`.
    /// It arrives at once; what comes after the call's end is dropped.
    pub fn progress(&self, partial: impl Into<Value>) {
        let partial = partial.into();
        match &self.inner.sink {
            Sink::Host(port) => port.progress(&partial.to_string()),
            Sink::Recorder(partials) => {
                partials
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .push(partial);
            }
        }
    }

    /// Whether the call was cancelled or ran out of time: nobody waits for the result any more.
    pub fn is_aborted(&self) -> bool {
        let asked = match &self.inner.sink {
            Sink::Host(port) => port.is_aborted(),
            Sink::Recorder(_) => false,
        };
        asked || self.inner.cancelled.load(Ordering::Acquire)
    }

    /// Waits until the call is cancelled. A tool that is cancelled has a tenth of a second to tidy
    /// up before its future is dropped.
    #[cfg(feature = "async")]
    pub async fn aborted(&self) {
        loop {
            let event = self.inner.cancel_event.notified();
            if self.is_aborted() {
                return;
            }
            event.await;
        }
    }

    /// Writes a line to the host's log, at info level, under the plugin's name. The `log` and
    /// `tracing` macros work too.
    pub fn log(&self, message: impl AsRef<str>) {
        crate::log::line(LogLevel::INFO, &self.inner.call_id, message.as_ref());
    }

    /// What the plugin opened.
    pub(crate) fn states(&self) -> Option<&States> {
        self.inner.states.as_deref()
    }

    /// Marks the call as cancelled.
    #[cfg(feature = "async")]
    pub(crate) fn cancel(&self) {
        self.inner.cancelled.store(true, Ordering::Release);
        self.inner.cancel_event.notify_waiters();
    }

    /// What was reported so far, where no host listens.
    pub(crate) fn recorded(&self) -> Vec<Value> {
        match &self.inner.sink {
            Sink::Host(_) => Vec::new(),
            Sink::Recorder(partials) => partials
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .clone(),
        }
    }
}

impl fmt::Debug for ToolContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolContext")
            .field("call_id", &self.inner.call_id)
            .finish_non_exhaustive()
    }
}
