//! What a running tool may ask of its surroundings.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

use crate::abi::http::RequestHead;
use crate::abi::{CallPort, LogLevel};
use crate::http::{Answer, Http};
use crate::state::States;
use crate::testing::{Answering, SentRequest};

/// The surroundings of one call. A tool takes it as a parameter `ctx: &ToolContext`, anywhere in
/// its list; the model does not see it. Clones speak for the same call, also from other threads.
///
/// ```
/// use tool_sdk::prelude::*;
///
/// /// Copy rows from one table to another.
/// #[tool]
/// fn copy_rows(rows: u32, ctx: &ToolContext) -> Result<String> {
///     for row in 1..=rows {
///         if ctx.is_aborted() {
///             return Err(format!("stopped before row {row}").into());
///         }
///         ctx.progress(json!({"row": row, "of": rows}));
///     }
///     ctx.log(format!("copied {rows} rows"));
///     Ok(format!("{rows} rows for call {}", ctx.call_id()))
/// }
///
/// let run = tool_sdk::testing::run("copy_rows", json!({"rows": 2})).unwrap();
/// assert_eq!(run.result, ToolResult::text("2 rows for call call_test"));
/// assert_eq!(run.progress, [json!({"row": 1, "of": 2}), json!({"row": 2, "of": 2})]);
/// ```
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
    /// For running a tool without a host.
    Recorder {
        /// A mutex, since any thread of the tool may report.
        partials: Mutex<Vec<Value>>,
        answering: Answering,
    },
}

impl ToolContext {
    pub(crate) fn for_host(call_id: &str, port: CallPort, states: Option<Arc<States>>) -> Self {
        Self::new(call_id, Sink::Host(port), states)
    }

    pub(crate) fn recording(call_id: &str, states: Arc<States>, answering: Answering) -> Self {
        let sink = Sink::Recorder {
            partials: Mutex::default(),
            answering,
        };
        Self::new(call_id, sink, Some(states))
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
            Sink::Recorder { partials, .. } => {
                partials
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .push(partial);
            }
        }
    }

    /// Whether the call was cancelled or ran out of time: nobody waits for the result any more.
    /// A plain `fn` can't be stopped from outside, so one that works long should ask now and then.
    pub fn is_aborted(&self) -> bool {
        let asked = match &self.inner.sink {
            Sink::Host(port) => port.is_aborted(),
            Sink::Recorder { .. } => false,
        };
        asked || self.inner.cancelled.load(Ordering::Acquire)
    }

    /// Waits until the call is cancelled or out of time. The tool then has a tenth of a second to
    /// tidy up before its future is dropped; what it returns goes nowhere, since the call is
    /// answered already.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use tool_sdk::prelude::*;
    /// use tool_sdk::tokio;
    ///
    /// /// Wait for a moment.
    /// #[tool]
    /// async fn wait_a_moment(ctx: &ToolContext) -> Result<&'static str> {
    ///     tokio::select! {
    ///         () = tokio::time::sleep(Duration::from_millis(1)) => Ok("waited"),
    ///         () = ctx.aborted() => Err("stopped".into()),
    ///     }
    /// }
    ///
    /// let run = tool_sdk::testing::run("wait_a_moment", json!({})).unwrap();
    /// assert_eq!(run.result, ToolResult::text("waited"));
    /// ```
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

    /// HTTP requests. The host makes them, so the plugin needs no HTTP library, and it works in every
    /// isolation. A plain `fn` waits with `.send()`, an `async fn` with `.await`.
    ///
    /// ```
    /// use tool_sdk::http::Response;
    /// use tool_sdk::prelude::*;
    ///
    /// /// Say how many people live in a city.
    /// #[tool]
    /// async fn inhabitants(city: &str, ctx: &ToolContext) -> Result<u64> {
    ///     let request = ctx.http().get("https://cities.example.com/v1").query(&[("name", city)]);
    ///     let found: Value = request.await?.error_for_status()?.json()?;
    ///     found["inhabitants"].as_u64().ok_or_else(|| format!("nobody counts {city}").into())
    /// }
    ///
    /// let run = tool_sdk::testing::run_answering("inhabitants", json!({"city": "Oslo"}), |request| {
    ///     assert_eq!(request.query("name"), Some("Oslo"));
    ///     Ok(Response::new(200, r#"{"inhabitants": 717710}"#))
    /// });
    /// assert_eq!(run.unwrap().result, ToolResult::text("717710"));
    /// ```
    ///
    /// `grants.network` under `[plugins.NAME]` in `toolsmith.toml` says which servers a plugin reaches.
    /// See [`http`](crate::http) for limits.
    pub fn http(&self) -> Http {
        Http::new(self.clone())
    }

    pub(crate) fn fetch(&self, head: RequestHead, body: Vec<u8>) -> Answer {
        match &self.inner.sink {
            Sink::Host(port) => Answer::of_host(port.clone(), &head, body),
            Sink::Recorder { answering, .. } => {
                Answer::ready(answering.answer(&SentRequest::new(head, body)))
            }
        }
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
            Sink::Recorder { partials, .. } => partials
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
