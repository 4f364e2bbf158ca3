//! What the embedding program may do before, around and after a tool's run.
//!
//! Hooks see a narrow view and return a decision; they can't reach into the call. Closures that
//! return a future are hooks.

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use serde_json::{Map, Value};
use tool_sdk::{Content, ToolResult};

use crate::tool::{BoxFuture, CallError, ToolCallResult, ToolSpec};

/// What a hook is told of the call.
#[derive(Clone, Debug)]
pub struct CallView {
    /// Id of the call.
    pub id: Arc<str>,
    /// The tool.
    pub tool: Arc<ToolSpec>,
    /// The arguments that the tool gets, without presets.
    pub arguments: Arc<Value>,
}

/// What `before_tool_call` decides.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Before {
    /// Run the tool.
    Run,
    /// Run the tool with other arguments; they are validated again.
    Rewrite(Value),
    /// Do not run it. Without a reason the model reads `Tool execution was blocked`.
    Block(Option<String>),
}

/// Decides before a tool runs.
pub trait BeforeToolCall: Send + Sync + 'static {
    /// The decision; an error blocks the call with its text (R15).
    fn before(&self, call: CallView) -> BoxFuture<'static, Result<Before, String>>;
}

impl<F, R> BeforeToolCall for F
where
    F: Fn(CallView) -> R + Send + Sync + 'static,
    R: Future<Output = Result<Before, String>> + Send + 'static,
{
    fn before(&self, call: CallView) -> BoxFuture<'static, Result<Before, String>> {
        Box::pin(self(call))
    }
}

/// What `after_tool_call` replaces; an unset field stays as the tool left it. A set field
/// replaces the whole value, nothing is merged.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct After {
    /// What the model sees.
    pub content: Option<Vec<Content>>,
    /// For programs.
    pub details: Option<Map<String, Value>>,
    /// What the call cost.
    pub usage: Option<Value>,
    /// Whether the loop ends.
    pub terminate: Option<bool>,
    /// Whether the call failed.
    pub is_error: Option<bool>,
}

/// Looks at a result before the model does.
pub trait AfterToolCall: Send + Sync + 'static {
    /// What to replace; an error turns the result into that error (R15).
    fn after(
        &self,
        call: CallView,
        result: Arc<ToolCallResult>,
    ) -> BoxFuture<'static, Result<After, String>>;
}

impl<F, R> AfterToolCall for F
where
    F: Fn(CallView, Arc<ToolCallResult>) -> R + Send + Sync + 'static,
    R: Future<Output = Result<After, String>> + Send + 'static,
{
    fn after(
        &self,
        call: CallView,
        result: Arc<ToolCallResult>,
    ) -> BoxFuture<'static, Result<After, String>> {
        Box::pin(self(call, result))
    }
}

/// What a tool answers.
pub type Answer = Result<ToolResult, CallError>;

/// The rest of a call's way to its tool.
pub struct Next<'a> {
    pub(super) around: &'a [Arc<dyn Around>],
    pub(super) call: &'a CallView,
    pub(super) run: &'a (dyn Fn() -> BoxFuture<'a, Answer> + Send + Sync),
}

impl<'a> Next<'a> {
    /// Runs the tool, inside of what else stands around it. It may be run again, for a second try;
    /// the call's time limit is for all of it.
    pub fn run(&self) -> BoxFuture<'a, Answer> {
        match self.around.split_first() {
            None => (self.run)(),
            Some((first, rest)) => {
                let next = Next {
                    around: rest,
                    ..*self
                };
                first.around(self.call.clone(), next)
            }
        }
    }
}

impl fmt::Debug for Next<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Next")
            .field("around", &self.around.len())
            .finish_non_exhaustive()
    }
}

/// Stands around the execution of a tool: may measure it, try it again, or answer in its place.
///
/// A closure that returns a boxed future is one; [`around`] helps the compiler to see it.
pub trait Around: Send + Sync + 'static {
    /// The answer, of the tool or in its place.
    fn around<'a>(&'a self, call: CallView, next: Next<'a>) -> BoxFuture<'a, Answer>;
}

impl<F> Around for F
where
    F: for<'a> Fn(CallView, Next<'a>) -> BoxFuture<'a, Answer> + Send + Sync + 'static,
{
    fn around<'a>(&'a self, call: CallView, next: Next<'a>) -> BoxFuture<'a, Answer> {
        self(call, next)
    }
}

/// A closure as an [`Around`]. Written anywhere else, the compiler does not see that the future may
/// borrow from `next`.
///
/// ```
/// use std::sync::Arc;
///
/// use agent_core::call::{Hooks, around};
///
/// let second_try = around(|_, next| Box::pin(async move {
///     match next.run().await {
///         Err(_) => next.run().await,
///         answer => answer,
///     }
/// }));
/// let hooks = Hooks { around: vec![Arc::new(second_try)], ..Hooks::default() };
/// ```
pub fn around<F>(closure: F) -> impl Around
where
    F: for<'a> Fn(CallView, Next<'a>) -> BoxFuture<'a, Answer> + Send + Sync + 'static,
{
    closure
}

/// The hooks of a caller.
#[derive(Clone, Default)]
pub struct Hooks {
    /// Asked before a tool runs, for its final arguments.
    pub before_tool_call: Option<Arc<dyn BeforeToolCall>>,
    /// Asked when a tool has run.
    pub after_tool_call: Option<Arc<dyn AfterToolCall>>,
    /// Stand around the execution, the first outermost.
    pub around: Vec<Arc<dyn Around>>,
}

impl fmt::Debug for Hooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hooks")
            .field("before_tool_call", &self.before_tool_call.is_some())
            .field("after_tool_call", &self.after_tool_call.is_some())
            .field("around", &self.around.len())
            .finish()
    }
}
