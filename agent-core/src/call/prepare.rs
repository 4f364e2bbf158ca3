//! Prepare: from a model's words to arguments that the tool may run with, in R32's order.

use std::borrow::Cow;
use std::pin::pin;
use std::sync::Arc;

use serde_json::Value;
use tool_sdk::ErrorKind;

use super::hook::CallView;
use super::unwind::guarded;
use super::{Arguments, Before, Caller, Refused, ToolCall, permission};
use crate::abort::AbortSignal;
use crate::plugin::Lease;
use crate::registry::ToolEntry;
use crate::tool::{ArgumentSchema, BoxFuture, CallError, Change, Checked, Problems};
use crate::{json_value, limits};

/// What an MCP client or a person reads when a hook gives no reason.
const BLOCKED: &str = "Tool execution was blocked";

/// How often arguments may have been encoded as text.
const MOST_ENCODINGS: usize = 8;

/// A call that may run.
#[derive(Debug)]
pub(super) struct PreparedCall<'a> {
    /// The call as it was made.
    pub(super) made: &'a ToolCall,
    pub(super) entry: Arc<ToolEntry>,
    /// Keeps the tool's generation in service until the call has ended.
    pub(super) _lease: Option<Lease>,
    pub(super) arguments: Arc<Value>,
    /// The text that was sent, where it says just what the arguments are.
    pub(super) text: Option<&'a str>,
    pub(super) changes: Vec<Change>,
}

impl PreparedCall<'_> {
    /// What hooks are told.
    pub(super) fn view(&self) -> CallView {
        CallView {
            id: Arc::clone(&self.made.id),
            tool: Arc::clone(self.entry.spec()),
            arguments: Arc::clone(&self.arguments),
        }
    }
}

/// Arguments on their way through prepare.
struct Draft<'a> {
    value: Value,
    /// The text that was sent, while the value still is what it says.
    text: Option<Cow<'a, str>>,
}

impl Caller {
    /// Takes a call to where its tool may run. An abort ends it at any step.
    pub(super) async fn prepare<'a>(
        &self,
        call: &'a ToolCall,
        abort: &AbortSignal,
    ) -> Result<PreparedCall<'a>, Refused> {
        let draft = read(&call.arguments);
        if let Some(error) = call.refusal.clone() {
            let args = draft.ok().map(|draft| draft.value);
            return Err(Refused { error, args });
        }
        let found = self.find(&call.name);
        let (entry, lease) = found.map_err(|error| {
            let args = draft.as_ref().map_or_else(
                |refused| refused.args.clone(),
                |draft| Some(draft.value.clone()),
            );
            Refused { error, args }
        })?;
        let draft = draft.map_err(|refused| *refused)?;
        // A tool that may not run has no say in it.
        if let Err(error) = permission::not_denied(&entry) {
            let args = Some(draft.value);
            return Err(Refused { error, args });
        }
        let prepared = if abort.is_aborted() {
            Err(aborted())
        } else {
            let steps = pin!(self.take_steps(call, entry, lease, draft));
            tokio::select! {
                biased;
                prepared = steps => prepared,
                () = abort.aborted() => Err(aborted()),
            }
        };
        prepared.map_err(|error| refused(call, error))
    }

    async fn take_steps<'a>(
        &self,
        call: &'a ToolCall,
        entry: Arc<ToolEntry>,
        lease: Option<Lease>,
        mut draft: Draft<'a>,
    ) -> Result<PreparedCall<'a>, CallError> {
        schema_of(&entry)?;
        self.run_prepare_hook(&entry, &mut draft).await?;
        let text = match draft.text {
            Some(Cow::Borrowed(text)) => Some(text),
            _ => None,
        };
        let checked = check(&entry, draft)?;
        self.run_validator(&entry, &checked.arguments).await?;
        let mut prepared = PreparedCall {
            made: call,
            arguments: Arc::new(checked.arguments),
            text: text.filter(|_| checked.as_sent),
            _lease: lease,
            changes: checked.changes,
            entry,
        };
        self.ask_before(&mut prepared).await?;
        if self.permissions.ask(&prepared).await? {
            permission::not_denied_since(&prepared.entry, &self.registry.table())?;
        }
        Ok(prepared)
    }

    /// Finds the tool and keeps its generation in service. A generation that closed between the
    /// look at the table and the lease was replaced, so the table is looked at again. Pinned tools
    /// are not replaced: one that has closed was already out of service when it was added.
    fn find(&self, name: &str) -> Result<(Arc<ToolEntry>, Option<Lease>), CallError> {
        loop {
            let table = self.table();
            let Some(entry) = table.get(name) else {
                return Err(CallError::new(ErrorKind::UnknownTool, table.unknown(name)));
            };
            if let Ok(lease) = entry.lease() {
                return Ok((Arc::clone(entry), lease));
            }
            if self.pinned.is_some() {
                let text = format!(
                    "Tool {name} is not available: its version was taken out of service before \
                     the call"
                );
                return Err(CallError::new(ErrorKind::Unavailable, text));
            }
            std::hint::spin_loop();
        }
    }

    async fn run_prepare_hook(
        &self,
        entry: &ToolEntry,
        draft: &mut Draft<'_>,
    ) -> Result<(), CallError> {
        if !entry.spec().has_prepare {
            return Ok(());
        }
        let sent = draft.value.clone();
        let prepared = run_hook("prepare", || entry.tool().prepare(sent)).await?;
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
        match run_hook("validate", || entry.tool().validate(arguments)).await? {
            Ok(None) => Ok(()),
            Ok(Some(reason)) => Err(CallError::new(ErrorKind::InvalidArguments, reason)),
            Err(error) => Err(error.into()),
        }
    }

    /// Asks `before_tool_call`. Arguments that it changed are checked again.
    async fn ask_before(&self, prepared: &mut PreparedCall<'_>) -> Result<(), CallError> {
        let Some(hook) = &self.hooks.before_tool_call else {
            return Ok(());
        };
        let rejected = |reason| Err(CallError::new(ErrorKind::Rejected, reason));
        match guarded(|| hook.before(prepared.view())).await {
            Ok(Ok(Before::Run)) => Ok(()),
            Ok(Ok(Before::Rewrite(value))) => {
                let draft = Draft { value, text: None };
                let checked = check(&prepared.entry, draft)?;
                self.run_validator(&prepared.entry, &checked.arguments)
                    .await?;
                prepared.arguments = Arc::new(checked.arguments);
                prepared.text = None;
                prepared.changes.extend(checked.changes);
                Ok(())
            }
            Ok(Ok(Before::Block(reason))) => rejected(reason.unwrap_or_else(|| BLOCKED.to_owned())),
            Ok(Err(reason)) => rejected(reason),
            Err(report) => rejected(format!("`before_tool_call` panicked: {report}")),
        }
    }
}

/// A refusal with the arguments that were sent: read once more rather than kept, since most calls
/// are not refused.
pub(super) fn refused(call: &ToolCall, error: CallError) -> Refused {
    Refused {
        error,
        args: read(&call.arguments).ok().map(|draft| draft.value),
    }
}

pub(super) fn aborted() -> CallError {
    CallError::new(ErrorKind::Aborted, "The call was aborted before it started")
}

fn schema_of(entry: &ToolEntry) -> Result<&ArgumentSchema, CallError> {
    entry.schema().map_err(|error| {
        let text = format!("Tool {} is not available: {error}", entry.spec().name);
        CallError::new(ErrorKind::Unavailable, text)
    })
}

/// Coerces, validates and fills defaults; the error is R8's block.
fn check(entry: &ToolEntry, draft: Draft<'_>) -> Result<Checked, CallError> {
    let schema = schema_of(entry)?;
    let text = draft.text.as_deref();
    let refused = |sent: &Value, problems: Problems| CallError {
        kind: ErrorKind::InvalidArguments,
        message: problems.report(&entry.spec().name, sent),
        problems: problems.listed,
    };
    if entry.spec().validate_only {
        let coerced = schema.coerce(&draft.value, text);
        return coerced.map_err(|problems| refused(&draft.value, problems));
    }
    match schema.accept(draft.value) {
        Ok(checked) => Ok(checked),
        Err(sent) => schema
            .check(&sent, text)
            .map_err(|problems| refused(&sent, problems)),
    }
}

/// Reads arguments as they were sent: an object, its text, or text of that text (R10, R11).
fn read(arguments: &Arguments) -> Result<Draft<'_>, Box<Refused>> {
    let (mut value, mut text) = match arguments {
        Arguments::Json(value) => (value.clone(), None),
        Arguments::Text(text) => (parse(text)?, Some(Cow::Borrowed(text.as_str()))),
    };
    // A string that holds an object was encoded twice, or more often.
    for _ in 0..MOST_ENCODINGS {
        let Value::String(inner) = value else { break };
        match parse(&inner) {
            Ok(parsed) => value = parsed,
            Err(broken) if inner.trim_start().starts_with('{') => return Err(broken),
            Err(_) => {
                value = Value::String(inner);
                break;
            }
        }
        text = Some(Cow::Owned(inner));
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
            Err(Box::new(Refused {
                error,
                args: Some(other),
            }))
        }
    }
}

fn parse(text: &str) -> Result<Value, Box<Refused>> {
    if text.trim().is_empty() {
        return Ok(Value::Null);
    }
    let problem = if text.len() > limits::ARGUMENT_TEXT {
        format!("they are longer than {} bytes", limits::ARGUMENT_TEXT)
    } else {
        match json_value::parse(text) {
            Ok(value) => return Ok(value),
            Err(error) => error.to_string(),
        }
    };
    // The parser's own words for it mean nothing to a model.
    let problem = problem.replace("recursion limit exceeded", "nested too deeply");
    let text = format!(
        "The arguments are no valid JSON: {problem}. Send one JSON object; nothing was run"
    );
    Err(Box::new(Refused {
        error: CallError::new(ErrorKind::InvalidJson, text),
        args: None,
    }))
}

/// Runs a hook of the tool's author under its time limit.
async fn run_hook<'a, T>(
    what: &str,
    make: impl FnOnce() -> BoxFuture<'a, T>,
) -> Result<T, CallError> {
    let limit = limits::HOOK_TIMEOUT;
    match tokio::time::timeout(limit, guarded(make)).await {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(report)) => {
            let text = format!("The tool's `{what}` hook panicked: {report}");
            Err(CallError::new(ErrorKind::Panic, text))
        }
        Err(_) => {
            let text = format!("The tool's `{what}` hook did not end within {limit:?}");
            Err(CallError::new(ErrorKind::Timeout, text))
        }
    }
}
