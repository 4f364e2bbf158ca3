//! Prepare: from a model's words to arguments that the tool may run with, in R32's order.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tool_sdk::ErrorKind;

use super::hook::CallView;
use super::{Arguments, Before, Caller, Refused, ToolCall};
use crate::abort::AbortSignal;
use crate::limits;
use crate::plugin::Lease;
use crate::registry::ToolEntry;
use crate::tool::{ArgumentSchema, CallError, Change, problem};

/// What an MCP client or a person reads when a hook gives no reason.
const BLOCKED: &str = "Tool execution was blocked";

/// A call that may run.
#[derive(Debug)]
pub(super) struct PreparedCall {
    pub(super) id: String,
    pub(super) entry: Arc<ToolEntry>,
    /// Keeps the tool's generation in service until the call has ended.
    pub(super) _lease: Option<Lease>,
    pub(super) arguments: Arc<Value>,
    pub(super) changes: Vec<Change>,
}

impl PreparedCall {
    pub(super) fn name(&self) -> &str {
        &self.entry.spec().name
    }

    /// What hooks are told.
    pub(super) fn view(&self) -> CallView {
        CallView {
            id: self.id.clone(),
            tool: self.entry.spec().clone(),
            arguments: Arc::clone(&self.arguments),
        }
    }
}

/// Arguments on their way through prepare.
struct Draft {
    value: Value,
    /// The text that was sent, while the value still is what it says.
    text: Option<String>,
}

impl Caller {
    pub(super) async fn prepare(
        &self,
        call: &ToolCall,
        abort: &AbortSignal,
    ) -> Result<PreparedCall, Refused> {
        let (entry, lease) = self.find(&call.name)?;
        let mut draft = read(&call.arguments)?;
        if abort.is_aborted() {
            let error =
                CallError::new(ErrorKind::Aborted, "The call was aborted before it started");
            return Err(Refused {
                error,
                args: Some(draft.value),
            });
        }
        let received = draft.value.clone();
        let refused = |error| Refused {
            error,
            args: Some(received.clone()),
        };
        let schema = entry.schema().map_err(|error| {
            let text = format!("Tool {} is not available: {error}", call.name);
            refused(CallError::new(ErrorKind::Unavailable, text))
        })?;
        self.run_prepare_hook(&entry, &mut draft)
            .await
            .map_err(refused)?;
        let changes = check(&entry, schema, &mut draft).map_err(refused)?;
        self.run_validator(&entry, &draft.value)
            .await
            .map_err(refused)?;
        let mut prepared = PreparedCall {
            id: call.id.clone(),
            arguments: Arc::new(draft.value),
            _lease: lease,
            changes,
            entry: Arc::clone(&entry),
        };
        self.ask_before(&mut prepared, schema)
            .await
            .map_err(refused)?;
        Ok(prepared)
    }

    /// Finds the tool and keeps its generation in service. A generation that closed between the
    /// look at the table and the lease was replaced, so the table is looked at again.
    fn find(&self, name: &str) -> Result<(Arc<ToolEntry>, Option<Lease>), Refused> {
        loop {
            let table = self.registry.table();
            let Some(entry) = table.get(name) else {
                let error = CallError::new(ErrorKind::UnknownTool, table.unknown(name));
                return Err(Refused { error, args: None });
            };
            if let Ok(lease) = entry.lease() {
                return Ok((Arc::clone(entry), lease));
            }
            std::hint::spin_loop();
        }
    }

    async fn run_prepare_hook(
        &self,
        entry: &ToolEntry,
        draft: &mut Draft,
    ) -> Result<(), CallError> {
        if !entry.spec().has_prepare {
            return Ok(());
        }
        let hook = entry.tool().prepare(draft.value.clone());
        let prepared = within(limits::HOOK_TIMEOUT, "prepare", hook).await?;
        let prepared = prepared.map_err(|error| {
            // A hook that refuses arguments is how most of them fail; it need not say so.
            let invalid = error.kind() == ErrorKind::ToolError;
            let kind = if invalid {
                ErrorKind::InvalidArguments
            } else {
                error.kind()
            };
            CallError::new(kind, error.to_string())
        })?;
        if prepared != draft.value {
            *draft = Draft {
                value: prepared,
                text: None,
            };
        }
        Ok(())
    }

    /// R8: the validator's text is passed on untouched.
    async fn run_validator(&self, entry: &ToolEntry, arguments: &Value) -> Result<(), CallError> {
        if !entry.spec().has_validate {
            return Ok(());
        }
        let hook = entry.tool().validate(arguments);
        match within(limits::HOOK_TIMEOUT, "validate", hook).await? {
            Ok(None) => Ok(()),
            Ok(Some(reason)) => Err(CallError::new(ErrorKind::InvalidArguments, reason)),
            Err(error) => Err(error.into()),
        }
    }

    /// Asks `before_tool_call`. Arguments that it changed are checked again.
    async fn ask_before(
        &self,
        prepared: &mut PreparedCall,
        schema: &ArgumentSchema,
    ) -> Result<(), CallError> {
        let Some(hook) = &self.hooks.before_tool_call else {
            return Ok(());
        };
        match hook.before(prepared.view()).await {
            Ok(Before::Run) => Ok(()),
            Ok(Before::Rewrite(value)) => {
                let mut draft = Draft { value, text: None };
                let changes = check(&prepared.entry, schema, &mut draft)?;
                self.run_validator(&prepared.entry, &draft.value).await?;
                prepared.arguments = Arc::new(draft.value);
                prepared.changes.extend(changes);
                Ok(())
            }
            Ok(Before::Block(reason)) => {
                let reason = reason.unwrap_or_else(|| BLOCKED.to_owned());
                Err(CallError::new(ErrorKind::Rejected, reason))
            }
            Err(reason) => Err(CallError::new(ErrorKind::Rejected, reason)),
        }
    }
}

/// Coerces, validates and fills defaults; the error is R8's block.
fn check(
    entry: &ToolEntry,
    schema: &ArgumentSchema,
    draft: &mut Draft,
) -> Result<Vec<Change>, CallError> {
    let received = draft.value.clone();
    schema
        .check(&mut draft.value, draft.text.as_deref())
        .map_err(|problems| CallError {
            kind: ErrorKind::InvalidArguments,
            message: problem::report(&entry.spec().name, &problems, &received),
            problems,
        })
}

/// Reads arguments as they were sent: an object, its text, or text of that text (R10, R11).
fn read(arguments: &Arguments) -> Result<Draft, Refused> {
    let (mut value, mut text) = match arguments {
        Arguments::Json(value) => (value.clone(), None),
        Arguments::Text(text) => (parse(text)?, Some(text.clone())),
    };
    // A string that holds an object was encoded twice, or more often.
    for _ in 0..8 {
        let Value::String(inner) = &value else { break };
        let inner = inner.clone();
        value = parse(&inner)?;
        text = Some(inner);
    }
    match value {
        Value::Object(_) => Ok(Draft { value, text }),
        Value::Null => Ok(Draft {
            value: Value::Object(serde_json::Map::new()),
            text: None,
        }),
        other => {
            let kind = match other {
                Value::Array(_) => "an array",
                Value::String(_) => "a string",
                Value::Number(_) => "a number",
                _ => "a boolean",
            };
            let text = format!("The arguments must be a JSON object, got {kind}; nothing was run");
            let error = CallError::new(ErrorKind::InvalidJson, text);
            Err(Refused {
                error,
                args: Some(other),
            })
        }
    }
}

fn parse(text: &str) -> Result<Value, Refused> {
    if text.trim().is_empty() {
        return Ok(Value::Null);
    }
    let problem = if text.len() > limits::ARGUMENT_TEXT {
        format!("they are longer than {} bytes", limits::ARGUMENT_TEXT)
    } else {
        match serde_json::from_str(text) {
            Ok(value) => return Ok(value),
            Err(error) => error.to_string(),
        }
    };
    let text = format!(
        "The arguments are no valid JSON: {problem}. Send one JSON object; nothing was run"
    );
    Err(Refused {
        error: CallError::new(ErrorKind::InvalidJson, text),
        args: None,
    })
}

async fn within<T>(
    limit: Duration,
    what: &str,
    hook: impl Future<Output = T>,
) -> Result<T, CallError> {
    tokio::time::timeout(limit, hook).await.map_err(|_| {
        let text = format!("The tool's `{what}` hook did not end within {limit:?}");
        CallError::new(ErrorKind::Timeout, text)
    })
}
