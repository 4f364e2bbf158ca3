//! Execute: run the tool under its time limit and its caller's abort signal.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;
use tool_sdk::ErrorKind;

use super::Caller;
use super::prepare::PreparedCall;
use crate::abort::AbortSignal;
use crate::event::{Emitter, EventKind};
use crate::tool::{CallError, Execution, ToolCallResult};

/// A tool that has run.
#[derive(Debug)]
pub(super) struct ExecutedCall {
    pub(super) result: ToolCallResult,
    pub(super) duration: Duration,
}

impl Caller {
    pub(super) async fn execute(&self, call: &PreparedCall, abort: &AbortSignal) -> ExecutedCall {
        self.events.emit(|| EventKind::ToolExecutionStart {
            tool_call_id: call.id.clone(),
            tool_name: call.name().to_owned(),
            args: Arc::clone(&call.arguments),
            changes: call.changes.clone(),
            generation: call.entry.generation(),
        });
        let started = Instant::now();
        let updates = Updates::new(&self.events, call);
        let sink = Arc::clone(&updates);
        let execution = Execution {
            call_id: &call.id,
            arguments: &call.arguments,
            abort,
            progress: Arc::new(move |partial| sink.send(partial)),
        };
        let limit = self.timeout_of(call.name(), call.entry.spec().timeout);
        let ran = tokio::select! {
            biased;
            ran = call.entry.tool().execute(execution) => ran.map_err(CallError::from),
            () = abort.aborted() => Err(aborted()),
            () = tokio::time::sleep(limit) => Err(overdue(call.name(), limit)),
        };
        updates.close();
        let result = match ran {
            Ok(result) => ToolCallResult::of_tool(&call.id, call.name(), result),
            Err(error) => ToolCallResult::of_error(&call.id, call.name(), error),
        };
        ExecutedCall {
            result,
            duration: started.elapsed(),
        }
    }
}

fn aborted() -> CallError {
    CallError::new(ErrorKind::Aborted, "The call was aborted")
}

fn overdue(tool: &str, limit: Duration) -> CallError {
    let text = format!("Tool {tool} did not answer within {limit:?}");
    CallError::new(ErrorKind::Timeout, text)
}

/// Passes partial results on while the call runs, and drops what comes later.
struct Updates {
    events: Emitter,
    tool_call_id: String,
    tool_name: String,
    args: Arc<Value>,
    /// Held while an update is handed out, so that none can follow the call's end.
    open: Mutex<bool>,
}

impl Updates {
    fn new(events: &Emitter, call: &PreparedCall) -> Arc<Self> {
        Arc::new(Self {
            events: events.clone(),
            tool_call_id: call.id.clone(),
            tool_name: call.name().to_owned(),
            args: Arc::clone(&call.arguments),
            open: Mutex::new(true),
        })
    }

    fn send(&self, partial_result: Value) {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if *open {
            self.events.emit(|| EventKind::ToolExecutionUpdate {
                tool_call_id: self.tool_call_id.clone(),
                tool_name: self.tool_name.clone(),
                args: Arc::clone(&self.args),
                partial_result,
            });
        }
    }

    fn close(&self) {
        *self.open.lock().unwrap_or_else(PoisonError::into_inner) = false;
    }
}
