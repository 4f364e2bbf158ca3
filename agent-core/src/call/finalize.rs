//! Finalize: the last word of hooks, the end event, the message for the model.

use std::sync::Arc;

use serde_json::Value;
use tool_sdk::{Content, ErrorKind};

use super::execute::ExecutedCall;
use super::prepare::PreparedCall;
use super::{After, Caller, Finalized};
use crate::event::EventKind;
use crate::tool::{CallError, ToolCallResult};

/// What a model reads where a tool says nothing: providers refuse empty text.
const NO_OUTPUT: &str = "(no output)";

impl Caller {
    pub(super) async fn finalize(&self, call: PreparedCall, executed: ExecutedCall) -> Finalized {
        let ExecutedCall {
            mut result,
            duration,
        } = executed;
        fill_empty(&mut result);
        if let Some(hook) = &self.hooks.after_tool_call {
            match hook.after(call.view(), result.clone()).await {
                Ok(after) => replace(&mut result, after),
                Err(reason) => turn_into_error(&mut result, &reason),
            }
            fill_empty(&mut result);
        }
        let finalized = Finalized::new(result);
        self.events.emit(|| EventKind::ToolExecutionEnd {
            tool_call_id: call.id.clone(),
            tool_name: call.name().to_owned(),
            result: Arc::clone(&finalized.result),
            is_error: finalized.result.is_error,
            duration_ms: u64::try_from(duration.as_millis()).unwrap_or(u64::MAX),
        });
        finalized
    }
}

fn fill_empty(result: &mut ToolCallResult) {
    let empty = |block: &Content| block.as_text().is_some_and(str::is_empty);
    if result.content.iter().all(empty) {
        result.content = vec![Content::text(NO_OUTPUT)];
    }
}

/// Y39: whole fields are replaced, nothing is merged.
fn replace(result: &mut ToolCallResult, after: After) {
    let After {
        content,
        details,
        usage,
        terminate,
        is_error,
    } = after;
    if let Some(content) = content {
        result.content = content;
    }
    if let Some(details) = details {
        result.details = details;
    }
    if let Some(usage) = usage {
        result.usage = Some(usage);
    }
    if let Some(terminate) = terminate {
        result.terminate = terminate;
    }
    match is_error {
        Some(true) if result.error.is_none() => {
            result.error = Some(CallError::new(ErrorKind::ToolError, result.text()));
        }
        Some(false) => result.error = None,
        _ => {}
    }
    result.is_error = is_error.unwrap_or(result.is_error);
}

/// R15: the hook's text is the result, and what the tool said is kept in the details.
fn turn_into_error(result: &mut ToolCallResult, reason: &str) {
    let original = serde_json::to_value(&result.content).unwrap_or(Value::Null);
    result.details.insert("original".to_owned(), original);
    result.content = vec![Content::text(reason)];
    result.is_error = true;
    result.error = Some(CallError::new(ErrorKind::ToolError, reason));
}
