//! Execute: run the tool under its time limit and its caller's abort signal.

use std::borrow::Cow;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;
use tool_sdk::panic::PanicReport;
use tool_sdk::{ErrorKind, ToolError, ToolResult};

use super::hook::{Answer, Next};
use super::prepare::PreparedCall;
use super::unwind::guarded;
use super::{Caller, ToolCall};
use crate::abort::AbortSignal;
use crate::event::{Emitter, EventKind};
use crate::tool::{BoxFuture, CallError, Execution, ToolCallResult};

/// A call whose start was told. Its end is told exactly once, also when whoever waits for the
/// call stops waiting.
pub(super) struct StartedCall<'a> {
    events: &'a Emitter,
    pub(super) call: PreparedCall<'a>,
    since: Instant,
    /// How long the tool ran, once it has.
    ran: Option<Duration>,
    ended: bool,
}

impl<'a> StartedCall<'a> {
    pub(super) fn new(events: &'a Emitter, call: PreparedCall<'a>) -> Self {
        events.emit(|| EventKind::ToolExecutionStart {
            tool_call_id: Arc::clone(&call.made.id),
            tool_name: Arc::clone(&call.made.name),
            args: Arc::clone(&call.arguments),
            changes: call.changes.clone(),
            generation: call.entry.generation(),
        });
        Self {
            events,
            call,
            since: Instant::now(),
            ran: None,
            ended: false,
        }
    }

    /// Tells the end.
    pub(super) fn end(&mut self, result: &Arc<ToolCallResult>) {
        self.ended = true;
        let duration = self.ran.unwrap_or_else(|| self.since.elapsed());
        self.events.emit(|| EventKind::ToolExecutionEnd {
            tool_call_id: Arc::clone(&self.call.made.id),
            tool_name: Arc::clone(&self.call.made.name),
            result: Arc::clone(result),
            is_error: result.is_error,
            duration_ms: u64::try_from(duration.as_millis()).unwrap_or(u64::MAX),
        });
    }

    /// The call's result, made of what the tool answered.
    fn result(&self, ran: Result<ToolResult, CallError>) -> ToolCallResult {
        let ToolCall { id, name, .. } = self.call.made;
        let (id, name) = (Arc::clone(id), Arc::clone(name));
        match ran {
            Ok(result) => ToolCallResult::of_tool(id, name, result),
            Err(error) => ToolCallResult::of_error(id, name, error),
        }
    }
}

impl Drop for StartedCall<'_> {
    fn drop(&mut self) {
        if !self.ended {
            self.end(&Arc::new(self.result(Err(aborted()))));
        }
    }
}

impl Caller {
    /// Runs the tool. Whatever it does, there is a result.
    pub(super) async fn execute(
        &self,
        started: &mut StartedCall<'_>,
        abort: &AbortSignal,
    ) -> ToolCallResult {
        let call = &started.call;
        let updates = Updates::open(&self.events, call);
        let sink = Arc::clone(&updates.0);
        let own_abort = OwnAbort::of(call, abort);
        // Behind the events, which must not show presets (R13).
        let arguments = call.entry.with_presets(&call.arguments);
        let execution = Execution {
            call_id: &call.made.id,
            arguments: &arguments,
            abort: own_abort.signal(abort),
            progress: Arc::new(move |partial| sink.send(partial)),
            text: call.text.filter(|_| matches!(arguments, Cow::Borrowed(_))),
        };
        let limit = call.entry.timeout().unwrap_or(self.timeout);
        // A timer is made only where the tool does not answer at once.
        let too_late = async {
            tokio::time::sleep(limit.saturating_sub(started.since.elapsed())).await;
        };
        let ran = {
            let running = pin!(self.run_inside(call, &execution));
            tokio::select! {
                biased;
                ran = running => ran,
                () = abort.aborted() => Err(aborted()),
                () = too_late => Err(overdue(&call.made.name, limit)),
            }
        };
        // The tool's part is over: what comes later is dropped.
        drop(updates);
        own_abort.end(&ran);
        started.ran = Some(started.since.elapsed());
        started.result(ran)
    }
}

impl Caller {
    /// Runs the tool inside of what the hooks put around it.
    async fn run_inside(&self, call: &PreparedCall<'_>, execution: &Execution<'_>) -> Answer {
        let around = self.hooks.around.as_slice();
        if around.is_empty() {
            return run_tool(call, execution).await;
        }
        let run = || -> BoxFuture<'_, Answer> { Box::pin(run_tool(call, execution)) };
        let view = call.view();
        let next = Next {
            around,
            call: &view,
            run: &run,
        };
        match guarded(|| next.run()).await {
            Ok(answer) => answer,
            Err(report) => {
                let text = format!("What stands around the tool panicked: {report}");
                Err(CallError::new(ErrorKind::Panic, text))
            }
        }
    }
}

/// Runs the tool when it is its turn.
async fn run_tool(call: &PreparedCall<'_>, execution: &Execution<'_>) -> Answer {
    let _turn = call.entry.turn().await;
    let ran = guarded(|| call.entry.tool().execute(execution.clone())).await;
    answered(ran).map_err(|error| without_preset(call, error))
}

fn answered(
    ran: Result<Result<ToolResult, ToolError>, PanicReport>,
) -> Result<ToolResult, CallError> {
    match ran {
        Ok(answer) => answer.map_err(CallError::from),
        Err(report) => Err(CallError::new(
            ErrorKind::Panic,
            format!("The tool panicked: {report}"),
        )),
    }
}

/// R13: a tool that can't read a preset says so in words that may hold its value.
fn without_preset(call: &PreparedCall<'_>, error: CallError) -> CallError {
    let is_about = |name: &&String| error.message.starts_with(&format!("/{name}"));
    let mut presets = call.entry.presets();
    match presets
        .find(is_about)
        .filter(|_| error.kind == ErrorKind::InvalidArguments)
    {
        Some(name) => {
            let text = format!("The tool can't read the preset value of its argument `{name}`");
            CallError::new(ErrorKind::Unavailable, text)
        }
        None => error,
    }
}

fn aborted() -> CallError {
    CallError::new(ErrorKind::Aborted, "The call was aborted")
}

fn overdue(tool: &str, limit: Duration) -> CallError {
    let text = format!("Tool {tool} did not answer within {limit:?}");
    CallError::new(ErrorKind::Timeout, text)
}

/// The signal of a tool of this program. It is raised at the time limit too, since the tool may
/// have handed it to threads and tasks that do not see its future dropped. Plugins are told
/// across the border.
struct OwnAbort(Option<AbortSignal>);

impl OwnAbort {
    fn of(call: &PreparedCall<'_>, abort: &AbortSignal) -> Self {
        Self(call.entry.plugin().is_none().then(|| abort.child()))
    }

    fn signal<'a>(&'a self, abort: &'a AbortSignal) -> &'a AbortSignal {
        self.0.as_ref().unwrap_or(abort)
    }

    /// An answer leaves the signal as it is.
    fn end(mut self, ran: &Result<ToolResult, CallError>) {
        let given_up = matches!(
            ran,
            Err(CallError {
                kind: ErrorKind::Timeout,
                ..
            })
        );
        if !given_up {
            self.0 = None;
        }
    }
}

impl Drop for OwnAbort {
    fn drop(&mut self) {
        if let Some(signal) = &self.0 {
            signal.abort();
        }
    }
}

/// Passes partial results on until it is dropped.
struct Updates(Arc<UpdateSink>);

struct UpdateSink {
    events: Emitter,
    tool_call_id: Arc<str>,
    tool_name: Arc<str>,
    args: Arc<Value>,
    /// Set at the end, before the lock is waited for: a thread that reports without a pause would
    /// else keep the lock, and the call its answer.
    closed: AtomicBool,
    /// Held while an update is handed out, so that none can follow the call's end.
    handing_out: Mutex<()>,
}

impl Updates {
    fn open(events: &Emitter, call: &PreparedCall<'_>) -> Self {
        Self(Arc::new(UpdateSink {
            events: events.clone(),
            tool_call_id: Arc::clone(&call.made.id),
            tool_name: Arc::clone(&call.made.name),
            args: Arc::clone(&call.arguments),
            closed: AtomicBool::new(false),
            handing_out: Mutex::default(),
        }))
    }
}

impl Drop for Updates {
    fn drop(&mut self) {
        self.0.closed.store(true, Ordering::SeqCst);
        drop(self.0.lock());
    }
}

impl UpdateSink {
    fn lock(&self) -> MutexGuard<'_, ()> {
        self.handing_out
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn send(&self, partial_result: Value) {
        if self.closed.load(Ordering::SeqCst) {
            return;
        }
        let _handing_out = self.lock();
        if !self.closed.load(Ordering::SeqCst) {
            self.events.emit(|| EventKind::ToolExecutionUpdate {
                tool_call_id: Arc::clone(&self.tool_call_id),
                tool_name: Arc::clone(&self.tool_name),
                args: Arc::clone(&self.args),
                partial_result,
            });
        }
    }
}
