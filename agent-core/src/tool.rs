//! The host's view of one callable tool: what it is called, what it takes, how it is run.
//!
//! Where a tool comes from — a plugin, this program, a server — is hidden behind [`HostTool`].
//! Nothing here knows of libraries, registries or the order of a call.

mod branch;
mod coerce;
mod compile;
pub(crate) mod declared;
mod defaults;
pub mod function;
pub mod outcome;
pub mod pattern;
pub(crate) mod preset;
pub mod problem;
pub mod schema;
mod sent;
mod shape;
mod union;

use std::borrow::Cow;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tool_sdk::tool::{Annotations, Example};
use tool_sdk::{ToolError, ToolResult};

use crate::abort::AbortSignal;

pub use function::FunctionTool;
pub use outcome::{CallError, ToolCallResult};
pub use pattern::Pattern;
pub use problem::{Problem, Problems};
pub use schema::{ArgumentSchema, Change, Checked, SchemaError};

/// A future that may be moved between threads.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What is known of a tool without running it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolSpec {
    /// Name that models select it by.
    pub name: String,
    /// Name for people.
    pub label: String,
    /// What it does, for the model.
    pub description: String,
    /// JSON Schema of the arguments, an object.
    pub input_schema: Value,
    /// JSON Schema of the structured result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    /// Whether calls may overlap others; unset when its author did not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parallel: Option<bool>,
    /// How many calls may run at the same time; the others wait for their turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_concurrent: Option<u32>,
    /// Set when the tool should not be used any more; what to do instead, or an empty text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deprecated: Option<String>,
    /// What it does to the world.
    #[serde(skip_serializing_if = "Annotations::is_empty")]
    pub annotations: Annotations,
    /// Arguments whose values must be preset (R13). A tool names them here and keeps them in its
    /// schema; whoever offers the tool takes them out of what is shown.
    #[serde(skip)]
    pub presets: Vec<String>,
    /// Calls with their expected results. No model sees them.
    #[serde(skip)]
    pub examples: Vec<Example>,
    /// Time limit of one call, where the tool has one of its own.
    #[serde(skip)]
    pub timeout: Option<Duration>,
    /// Whether [`HostTool::prepare`] does anything.
    #[serde(skip)]
    pub has_prepare: bool,
    /// Whether [`HostTool::validate`] does anything.
    #[serde(skip)]
    pub has_validate: bool,
    /// Whether it does so instead of the schema (R9).
    #[serde(skip)]
    pub validate_only: bool,
}

impl ToolSpec {
    /// A tool of this name with this schema and no hooks. The label is the name.
    pub fn new(
        name: impl Into<String>,
        description: impl Into<String>,
        input_schema: Value,
    ) -> Self {
        let name = name.into();
        Self {
            label: name.clone(),
            name,
            description: description.into(),
            input_schema,
            output_schema: None,
            parallel: None,
            max_concurrent: None,
            deprecated: None,
            annotations: Annotations::NONE,
            presets: Vec::new(),
            examples: Vec::new(),
            timeout: None,
            has_prepare: false,
            has_validate: false,
            validate_only: false,
        }
    }
}

/// Where a tool comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum Origin {
    /// Registered by hand in this program.
    Static,
    /// From a plugin that a person wrote.
    Plugin,
    /// From a plugin that a model wrote.
    Written,
    /// Part of this program: `listTools`, `writeTool`.
    Builtin,
    /// From an MCP server.
    Mcp,
}

/// What stands between a tool's code and the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Isolation {
    /// Nothing: the tool is part of this program.
    None,
    /// A panic guard.
    InProcess,
    /// A process of its own.
    Worker,
    /// A process of its own that may do only what was granted.
    Sandbox,
    /// Another machine or server.
    Remote,
}

/// Receives partial results while a tool runs. Must not block.
pub type ProgressSink = Arc<dyn Fn(Value) + Send + Sync>;

/// One call of a tool, as the tool sees it.
#[derive(Clone)]
pub struct Execution<'a> {
    /// The id that the model gave the call, unchanged.
    pub call_id: &'a str,
    /// The arguments: an object, prepared and validated, presets included.
    pub arguments: &'a Value,
    /// Raised when nobody waits for the result any more.
    pub abort: &'a AbortSignal,
    /// Takes partial results.
    pub progress: ProgressSink,
    /// The text of the arguments, where it is at hand.
    pub(crate) text: Option<&'a str>,
}

impl<'a> Execution<'a> {
    /// The arguments as JSON text: as it was sent, where it says just what they are.
    pub fn arguments_text(&self) -> Cow<'a, str> {
        match self.text {
            Some(text) => Cow::Borrowed(text),
            None => Cow::Owned(self.arguments.to_string()),
        }
    }
}

impl fmt::Debug for Execution<'_> {
    /// Without the arguments: presets are among them, and those are secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Execution")
            .field("call_id", &self.call_id)
            .finish_non_exhaustive()
    }
}

/// A tool that can be called.
///
/// The futures may be dropped at any time; a tool then ends its work as soon as it can. Time
/// limits are not a tool's affair.
pub trait HostTool: Send + Sync + 'static {
    /// What is known of it. Shared, since every call hands it to hooks and events.
    fn spec(&self) -> &Arc<ToolSpec>;

    /// Changes the arguments before they are validated. Called only if the spec says so.
    fn prepare(&self, arguments: Value) -> BoxFuture<'_, Result<Value, ToolError>> {
        Box::pin(async { Ok(arguments) })
    }

    /// Checks the arguments; `Some` is the reason against them. Called only if the spec says so.
    fn validate<'a>(
        &'a self,
        _arguments: &'a Value,
    ) -> BoxFuture<'a, Result<Option<String>, ToolError>> {
        Box::pin(async { Ok(None) })
    }

    /// Runs the tool.
    fn execute<'a>(&'a self, call: Execution<'a>) -> BoxFuture<'a, Result<ToolResult, ToolError>>;
}
