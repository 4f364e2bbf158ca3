//! Runs a tool with JSON arguments and a recording context, without a host.
//!
//! ```
//! use tool_sdk::prelude::*;
//! use tool_sdk::testing;
//!
//! /// Double a number.
//! #[tool]
//! fn double(number: i64, ctx: &ToolContext) -> i64 {
//!     ctx.progress(json!({"status": "doubling"}));
//!     number * 2
//! }
//!
//! let run = testing::run("double", json!({"number": 21})).unwrap();
//! assert_eq!(run.result, ToolResult::text("42"));
//! assert_eq!(run.progress, [json!({"status": "doubling"})]);
//! ```
//!
//! What needs the host stays out: the schema is not enforced and hooks of the host do not run.
//! The tool's own `prepare` and `validate` do.

use serde_json::Value;

use crate::args::Args;
use crate::context::ToolContext;
use crate::error::{ErrorKind, ToolError};
use crate::result::ToolResult;
use crate::tool::{Entry, TOOLS, ToolDescription, ToolRecord};

/// What a tool did.
#[derive(Debug)]
#[non_exhaustive]
pub struct Run {
    /// Its result.
    pub result: ToolResult,
    /// The partial results that it streamed.
    pub progress: Vec<Value>,
}

/// How the host will see the tool.
///
/// # Errors
/// When no tool of that name is linked.
pub fn describe(tool: &str) -> Result<ToolDescription, ToolError> {
    Ok(find(tool)?.describe())
}

/// Runs the tool of this name.
///
/// # Errors
/// The tool's own error; [`ErrorKind::UnknownTool`] when no tool of that name is linked;
/// [`ErrorKind::InvalidArguments`] when the arguments are no object or the tool refuses them.
pub fn run(tool: &str, arguments: Value) -> Result<Run, ToolError> {
    let tool = find(tool)?;
    let Value::Object(arguments) = arguments else {
        return Err(ToolError::of(
            ErrorKind::InvalidArguments,
            "the arguments are no JSON object",
        ));
    };
    let mut args = Args::from(arguments);
    if let Some(prepare) = tool.prepare {
        args = prepare(args)?;
    }
    tool.fill_defaults(&mut args);
    if let Some(validate) = tool.validate {
        validate(&args).map_err(|reason| ToolError::of(ErrorKind::InvalidArguments, reason))?;
    }
    let context = ToolContext::recording("call_test");
    let result = match tool.entry {
        Entry::Blocking(entry) => entry(&mut args, &context)?,
        Entry::Async(entry) => block_on(entry(args, context.clone()))?,
    };
    Ok(Run {
        result,
        progress: context.recorded(),
    })
}

fn find(name: &str) -> Result<&'static ToolRecord, ToolError> {
    TOOLS.iter().find(|tool| tool.name == name).ok_or_else(|| {
        let mut names: Vec<&str> = TOOLS.iter().map(|tool| tool.name).collect();
        names.sort_unstable();
        let message = format!("Tool {name} not found; linked are: {}", names.join(", "));
        ToolError::of(ErrorKind::UnknownTool, message)
    })
}

#[cfg(feature = "async")]
fn block_on(future: crate::tool::ToolFuture) -> crate::tool::Outcome {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?
        .block_on(future)
}

#[cfg(not(feature = "async"))]
fn block_on(_: crate::tool::ToolFuture) -> crate::tool::Outcome {
    Err("an async tool needs the feature `async` of tool-sdk".into())
}
