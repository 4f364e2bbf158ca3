//! Finalize: the last word of hooks, the end event, the message for the model.

use std::pin::pin;
use std::sync::Arc;

use serde_json::Value;
use tool_sdk::{Content, ErrorKind};

use super::execute::StartedCall;
use super::unwind::guarded;
use super::{After, Caller, Finalized};
use crate::abort::AbortSignal;
use crate::limits;
use crate::tool::{CallError, ToolCallResult};

/// What a model reads where a tool says nothing: providers refuse empty text.
const NO_OUTPUT: &str = "(no output)";

impl Caller {
    pub(super) async fn finalize(
        &self,
        mut started: StartedCall<'_>,
        mut result: ToolCallResult,
        abort: &AbortSignal,
    ) -> Finalized {
        fill_empty(&mut result);
        // Shared with the hook, and its own again when the hook has let go of it.
        let mut shared = Arc::new(result);
        let asked = self.ask_after(&started, &shared, abort).await;
        let result = Arc::make_mut(&mut shared);
        match asked {
            Ok(None) => {}
            Ok(Some(after)) => replace(result, after),
            Err(reason) => turn_into_error(result, &reason),
        }
        fill_empty(result);
        self.overflow.cut(result).await;
        started.end(&shared);
        Finalized { result: shared }
    }

    /// Asks `after_tool_call`. It may take its time, but not hold up the answer to a call that
    /// was aborted.
    async fn ask_after(
        &self,
        started: &StartedCall<'_>,
        result: &Arc<ToolCallResult>,
        abort: &AbortSignal,
    ) -> Result<Option<After>, String> {
        let Some(hook) = &self.hooks.after_tool_call else {
            return Ok(None);
        };
        let too_late = async {
            abort.aborted().await;
            tokio::time::sleep(limits::HOOK_TIMEOUT).await;
        };
        let asked = pin!(guarded(
            || hook.after(started.call.view(), Arc::clone(result))
        ));
        tokio::select! {
            biased;
            asked = asked => match asked {
                Ok(after) => after.map(Some),
                Err(report) => Err(format!("`after_tool_call` panicked: {report}")),
            },
            () = too_late => {
                Err(format!("`after_tool_call` did not end within {:?} of the abort", limits::HOOK_TIMEOUT))
            }
        }
    }
}

/// No block of text is empty, and there is a block.
pub(super) fn fill_empty(result: &mut ToolCallResult) {
    let is_empty = |block: &Content| block.as_text().is_some_and(str::is_empty);
    result.content.retain(|block| !is_empty(block));
    if result.content.is_empty() {
        result.content.push(Content::text(NO_OUTPUT));
    }
}

/// Y39: whole fields are replaced, nothing is merged. What repeats the content goes with it, so
/// that a hook which takes something out of the content has taken it out.
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
        result.structured_content = None;
        let text = result.text();
        if let Some(error) = &mut result.error {
            error.message = text;
        }
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
    result.structured_content = None;
    result.is_error = true;
    result.error = Some(CallError::new(ErrorKind::ToolError, reason));
}
