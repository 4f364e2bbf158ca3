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
//! | step of a call | here |
//! |---|---|
//! | `prepare` | runs |
//! | coercion (`"5"` → `5`), the schema | not applied; a value that the Rust type can't read is refused |
//! | defaults of absent arguments | filled in |
//! | `validate` | runs |
//! | presets | are arguments like others: give their values |
//! | hooks of the host, time limits, cancellation | none: a call is never aborted |
//! | HTTP requests | go nowhere: [`run_answering`] answers them |
//! | a panic | is a panic, so that the test fails with it |

mod answering;

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use crate::args::{Args, ArgumentList};
use crate::context::ToolContext;
use crate::error::{ErrorKind, ToolError};
use crate::http::Response;
use crate::result::ToolResult;
use crate::state::States;
use crate::tool::{Entry, TOOLS, ToolDescription, ToolRecord};

pub(crate) use answering::Answering;
pub use answering::SentRequest;

/// What a tool did.
#[derive(Debug)]
#[non_exhaustive]
pub struct Run {
    /// Its result.
    pub result: ToolResult,
    /// The partial results that it streamed.
    pub progress: Vec<Value>,
}

/// How the host will see the tool. Its `problems` say why a host would not take it, as far as the SDK
/// can tell.
///
/// ```
/// use tool_sdk::prelude::*;
/// use tool_sdk::testing;
///
/// /// Halve a number.
/// #[tool(read_only)]
/// fn halve(#[arg(min = 0)] number: f64) -> f64 {
///     number / 2.0
/// }
///
/// let tool = testing::describe("halve").unwrap();
/// assert_eq!(tool.label, "Halve");
/// assert_eq!(tool.description, "Halve a number.");
/// assert_eq!(tool.input_schema["properties"]["number"], json!({"type": "number", "minimum": 0}));
/// assert_eq!(tool.annotations.read_only, Some(true));
/// assert_eq!(tool.problems, [""; 0]);
/// ```
///
/// # Errors
/// When no tool of that name is linked.
pub fn describe(tool: &str) -> Result<ToolDescription, ToolError> {
    Ok(find(tool)?.describe())
}

/// Runs the tool of this name. State of its plugin is opened from empty settings; [`Plugin`] opens
/// it from others and keeps it.
///
/// ```
/// use tool_sdk::prelude::*;
/// use tool_sdk::testing;
///
/// /// Divide a number by another.
/// #[tool]
/// fn divide(dividend: i64, #[arg(default = 2)] divisor: i64) -> Result<i64> {
///     dividend.checked_div(divisor).ok_or_else(|| "no number is divided by 0".into())
/// }
///
/// let run = testing::run("divide", json!({"dividend": 6})).unwrap();
/// assert_eq!(run.result, ToolResult::text("3"));
///
/// let error = testing::run("divide", json!({"dividend": 6, "divisor": 0})).unwrap_err();
/// assert_eq!(error.to_string(), "no number is divided by 0");
///
/// let error = testing::run("divide", json!({"dividend": "six"})).unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::InvalidArguments);
/// ```
///
/// # Errors
/// The tool's own error; [`ErrorKind::UnknownTool`] when no tool of that name is linked;
/// [`ErrorKind::InvalidArguments`] when the arguments are no object or the tool refuses them.
pub fn run(tool: &str, arguments: Value) -> Result<Run, ToolError> {
    run_with(tool, arguments, Answering::default())
}

/// Runs the tool of this name as [`run`] does, and answers its HTTP requests in the place of servers.
///
/// ```
/// use tool_sdk::http::Response;
/// use tool_sdk::prelude::*;
/// use tool_sdk::testing;
///
/// /// Leave a note.
/// #[tool]
/// fn leave_note(text: &str, ctx: &ToolContext) -> Result<String> {
///     let request = ctx.http().post("https://notes.example.com/new").json(json!({"text": text}));
///     Ok(request.send()?.error_for_status()?.text()?.to_owned())
/// }
///
/// let arguments = || json!({"text": "milk"});
/// let run = testing::run_answering("leave_note", arguments(), |request| {
///     assert_eq!((request.method(), request.url()), ("POST", "https://notes.example.com/new"));
///     assert_eq!(request.header("content-type"), Some("application/json"));
///     assert_eq!(request.json()?["text"], "milk");
///     Ok(Response::new(201, "noted"))
/// });
/// assert_eq!(run.unwrap().result, ToolResult::text("noted"));
///
/// // A server that can't be reached is an error.
/// let run = testing::run_answering("leave_note", arguments(), |_| Err("no server".into()));
/// assert_eq!(run.unwrap_err().message(), "no server");
/// ```
///
/// # Errors
/// As [`run`].
pub fn run_answering(
    tool: &str,
    arguments: Value,
    answer: impl Fn(&SentRequest) -> Result<Response, ToolError> + Send + Sync + 'static,
) -> Result<Run, ToolError> {
    run_with(tool, arguments, Answering::with(answer))
}

fn run_with(tool: &str, arguments: Value, answering: Answering) -> Result<Run, ToolError> {
    let record = find(tool)?;
    let states = States::open(record.package, &Args::new());
    run_over(record, arguments, &states.into(), answering)
}

/// Tools of one crate together with the state that it opens, kept from call to call.
///
/// ```
/// use tool_sdk::prelude::*;
/// use tool_sdk::testing::Plugin;
///
/// #[tool_type]
/// struct Settings {
///     cellar: String,
/// }
///
/// struct Cellar(String);
///
/// #[plugin_state]
/// fn open(settings: Settings) -> Cellar {
///     Cellar(settings.cellar)
/// }
///
/// #[tool]
/// fn visit(cellar: &Cellar) -> String {
///     format!("the {} cellar", cellar.0)
/// }
///
/// let plugin = Plugin::open(env!("CARGO_PKG_NAME"), json!({"cellar": "north"})).unwrap();
/// assert_eq!(plugin.run("visit", json!({})).unwrap().result, ToolResult::text("the north cellar"));
/// ```
#[derive(Clone)]
pub struct Plugin {
    states: Arc<States>,
    answering: Answering,
}

impl Plugin {
    /// Opens the state of a package from these settings.
    ///
    /// # Errors
    /// What an opener says, or that the settings are no object.
    pub fn open(package: &str, settings: Value) -> Result<Self, ToolError> {
        let states = States::open(package, &object("settings", settings)?);
        states.check()?;
        Ok(Self {
            states: Arc::new(states),
            answering: Answering::default(),
        })
    }

    /// The same, with HTTP requests answered as by [`run_answering`].
    #[must_use]
    pub fn answering(
        mut self,
        answer: impl Fn(&SentRequest) -> Result<Response, ToolError> + Send + Sync + 'static,
    ) -> Self {
        self.answering = Answering::with(answer);
        self
    }

    /// Runs the tool of this name, as [`run`] does.
    ///
    /// # Errors
    /// As [`run`].
    pub fn run(&self, tool: &str, arguments: Value) -> Result<Run, ToolError> {
        let answering = self.answering.clone();
        run_over(find(tool)?, arguments, &self.states, answering)
    }
}

impl fmt::Debug for Plugin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Plugin").finish_non_exhaustive()
    }
}

fn run_over(
    tool: &ToolRecord,
    arguments: Value,
    states: &Arc<States>,
    answering: Answering,
) -> Result<Run, ToolError> {
    let mut args = object("arguments", arguments)?;
    if let Some(prepare) = tool.prepare {
        args = prepare(args)?;
    }
    let mut args = ArgumentList::from(args);
    args.fill_defaults(tool.arguments);
    if let Some(validate) = tool.validate {
        validate(&args.all())
            .map_err(|reason| ToolError::of(ErrorKind::InvalidArguments, reason))?;
    }
    let context = ToolContext::recording("call_test", Arc::clone(states), answering);
    let result = match tool.entry {
        Entry::Blocking(entry) => entry(&mut args, &context)?,
        Entry::Async(entry) => block_on(entry(args, context.clone()))?,
    };
    Ok(Run {
        result,
        progress: context.recorded(),
    })
}

fn object(what: &str, value: Value) -> Result<Args, ToolError> {
    match value {
        Value::Object(object) => Ok(object.into()),
        other => {
            let text = format!("the {what} are no JSON object: {other}");
            Err(ToolError::of(ErrorKind::InvalidArguments, text))
        }
    }
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
