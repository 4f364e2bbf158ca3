//! A tool made from a closure of this program.

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use serde_json::Value;
use tool_sdk::{ToolError, ToolResult};

use super::{BoxFuture, Execution, HostTool, ToolSpec};

type Body =
    Box<dyn Fn(Execution<'_>) -> BoxFuture<'static, Result<ToolResult, ToolError>> + Send + Sync>;
type Prepare = Box<dyn Fn(Value) -> Result<Value, ToolError> + Send + Sync>;
type Validate = Box<dyn Fn(&Value) -> Option<String> + Send + Sync>;

/// A tool whose code is a closure.
///
/// ```
/// use agent_core::tool::{FunctionTool, ToolSpec};
/// use serde_json::json;
/// use tool_sdk::ToolResult;
///
/// let schema = json!({"type": "object", "properties": {}, "additionalProperties": false});
/// let tool = FunctionTool::new(ToolSpec::new("ping", "Answer pong.", schema), |_call| async {
///     Ok(ToolResult::text("pong"))
/// });
/// ```
pub struct FunctionTool {
    spec: Arc<ToolSpec>,
    body: Body,
    prepare: Option<Prepare>,
    validate: Option<Validate>,
}

impl FunctionTool {
    /// A tool that runs this closure on the host's runtime: it must not block.
    pub fn new<F, R>(spec: ToolSpec, body: F) -> Self
    where
        F: Fn(Execution<'_>) -> R + Send + Sync + 'static,
        R: Future<Output = Result<ToolResult, ToolError>> + Send + 'static,
    {
        let body: Body = Box::new(move |call| Box::pin(body(call)));
        Self {
            spec: Arc::new(spec),
            body,
            prepare: None,
            validate: None,
        }
    }

    /// Changes the arguments before they are validated.
    #[must_use]
    pub fn with_prepare(
        mut self,
        prepare: impl Fn(Value) -> Result<Value, ToolError> + Send + Sync + 'static,
    ) -> Self {
        self.prepare = Some(Box::new(prepare));
        Arc::make_mut(&mut self.spec).has_prepare = true;
        self
    }

    /// Checks the arguments after their schema did; `Some` is the reason against them.
    #[must_use]
    pub fn with_validate(
        mut self,
        validate: impl Fn(&Value) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        self.validate = Some(Box::new(validate));
        Arc::make_mut(&mut self.spec).has_validate = true;
        self
    }
}

impl FunctionTool {
    /// The validator runs instead of the schema, which is shown but not enforced (R9).
    #[must_use]
    pub fn validate_only(mut self) -> Self {
        Arc::make_mut(&mut self.spec).validate_only = true;
        self
    }
}

impl HostTool for FunctionTool {
    fn spec(&self) -> &Arc<ToolSpec> {
        &self.spec
    }

    fn prepare(&self, arguments: Value) -> BoxFuture<'_, Result<Value, ToolError>> {
        let prepared = self
            .prepare
            .as_ref()
            .map_or(Ok(arguments.clone()), |hook| hook(arguments));
        Box::pin(async { prepared })
    }

    fn validate<'a>(
        &'a self,
        arguments: &'a Value,
    ) -> BoxFuture<'a, Result<Option<String>, ToolError>> {
        let reason = self.validate.as_ref().and_then(|hook| hook(arguments));
        Box::pin(async { Ok(reason) })
    }

    fn execute<'a>(&'a self, call: Execution<'a>) -> BoxFuture<'a, Result<ToolResult, ToolError>> {
        (self.body)(call)
    }
}

impl fmt::Debug for FunctionTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FunctionTool")
            .field("spec", &self.spec)
            .finish_non_exhaustive()
    }
}
