//! `toolsmith call`: one call through the whole pipeline.

use std::io::Read;

use fs_err as fs;
use tokio_util::task::AbortOnDropHandle;
use tool_sdk::ErrorKind;

use super::context::Context;
use super::{CommandError, Exit, interrupted, let_tools_stop, output};
use crate::abort::AbortSignal;
use crate::call::{Arguments, Caller, ToolCall};
use crate::tool::{CallError, ToolCallResult};

pub(super) async fn run(
    context: &Context,
    name: &str,
    arguments: Option<&str>,
) -> Result<Exit, CommandError> {
    let arguments = read(arguments)?;
    context.refresh_for(name).await?;
    let registry = context.caller.registry();
    if registry.table().get(name).is_none()
        && let Some((plugin, reason)) = registry.failed_with(name)
    {
        let text =
            format!("Tool {name} is not available: plugin `{plugin}` does not serve: {reason}");
        let error = CallError::new(ErrorKind::Unavailable, text);
        let result = ToolCallResult::of_error(
            ToolCall::new(name, Arguments::Text(arguments)).id,
            name,
            error,
        );
        show(context, &result);
        return Ok(exit_of(&result));
    }
    Ok(make(context, &context.consenting(), name, arguments).await)
}

/// Makes one call with the tools as they are now, and prints what it came to.
pub(super) async fn make(
    context: &Context,
    caller: &Caller,
    name: &str,
    arguments: String,
) -> Exit {
    if let Some(plugin) = caller
        .registry()
        .table()
        .get(name)
        .and_then(|tool| tool.plugin().cloned())
    {
        context.speaker.set(plugin.as_str());
    }
    let (abort, _watch) = interruptible();
    let call = ToolCall::new(name, Arguments::Text(arguments));
    let finalized = caller.call(call, &abort).await;
    show(context, &finalized.result);
    if abort.is_aborted() {
        let_tools_stop().await;
    }
    exit_of(&finalized.result)
}

/// A signal that the terminal's interrupt raises as long as the guard lives.
pub(super) fn interruptible() -> (AbortSignal, AbortOnDropHandle<()>) {
    let abort = AbortSignal::new();
    let signal = abort.clone();
    let watch = tokio::spawn(async move {
        interrupted().await;
        signal.abort();
    });
    (abort, AbortOnDropHandle::new(watch))
}

fn show(context: &Context, result: &ToolCallResult) {
    if context.output.json {
        context.output.json(result);
    } else if result.is_error {
        output::say(&output::readable(&result.content));
    } else {
        context.output.text(&output::readable(&result.content));
    }
}

/// The exit code for a result: 2 for what the caller did wrong, 1 for every other failure.
fn exit_of(result: &ToolCallResult) -> Exit {
    match result.error.as_ref().map(|error| error.kind) {
        None if result.is_error => Exit::Failed,
        None => Exit::Done,
        Some(
            ErrorKind::UnknownTool
            | ErrorKind::InvalidJson
            | ErrorKind::InvalidArguments
            | ErrorKind::Rejected,
        ) => Exit::WrongUsage,
        Some(_) => Exit::Failed,
    }
}

/// The arguments' text: given, from a file, from standard input, or none.
fn read(arguments: Option<&str>) -> Result<String, CommandError> {
    match arguments {
        None => Ok(String::new()),
        Some("-") => {
            let mut text = String::new();
            std::io::stdin()
                .read_to_string(&mut text)
                .map_err(CommandError::usage)?;
            Ok(text)
        }
        Some(argument) => match argument.strip_prefix('@') {
            Some(path) => fs::read_to_string(path).map_err(CommandError::usage),
            None => Ok(argument.to_owned()),
        },
    }
}
