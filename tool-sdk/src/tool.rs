//! A tool as its own crate knows it: the record that `#[tool]` makes, and the description of it
//! that hosts read.

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use linkme::distributed_slice;
use schemars::{Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::args::Args;
use crate::context::ToolContext;
use crate::error::ToolError;
use crate::result::ToolResult;
use crate::{docs, schema};

/// What a tool's code comes to.
pub type Outcome = Result<ToolResult, ToolError>;

/// The future of an `async fn` tool.
pub type ToolFuture = Pin<Box<dyn Future<Output = Outcome> + Send>>;

/// A tool's `prepare` hook.
pub type PrepareHook = fn(Args) -> Result<Args, ToolError>;

/// A tool's `validate` hook.
pub type ValidateHook = fn(&Args) -> Result<(), String>;

/// Every tool that is linked into this library or program, in no particular order.
#[distributed_slice]
pub static TOOLS: [ToolRecord];

/// One tool. Made by `#[tool]` only, so its fields may change with every version.
#[doc(hidden)]
pub struct ToolRecord {
    /// Cargo package that declares it.
    pub package: &'static str,
    /// Name on the wire.
    pub name: &'static str,
    /// Name for people.
    pub label: &'static str,
    /// Doc lines of the function.
    pub docs: &'static [&'static str],
    /// Source file of the declaration.
    pub file: &'static str,
    /// Line of the declaration.
    pub line: u32,
    /// Arguments in the order of the signature, without context and state.
    pub arguments: &'static [ArgumentRecord],
    /// Schema of the structured result, where there is one.
    pub output: fn(&mut SchemaGenerator) -> Option<Schema>,
    /// Whether calls may overlap others.
    pub parallel: Option<bool>,
    /// Time limit of one call.
    pub timeout_ms: Option<u64>,
    /// The author's promise never to wait.
    pub inline: bool,
    /// Whether the crate was compiled so that panics can be caught.
    pub unwinds: bool,
    /// Changes the arguments before they are validated.
    pub prepare: Option<PrepareHook>,
    /// Checks the arguments after their schema did; the text is the reason against them.
    pub validate: Option<ValidateHook>,
    /// Whether it does so instead of the schema.
    pub validate_only: bool,
    /// The code.
    pub entry: Entry,
}

/// How a tool is entered.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub enum Entry {
    /// A plain `fn`.
    Blocking(fn(&mut Args, &ToolContext) -> Outcome),
    /// An `async fn`.
    Async(fn(Args, ToolContext) -> ToolFuture),
}

/// One argument of a tool.
#[doc(hidden)]
#[derive(Debug)]
pub struct ArgumentRecord {
    /// Name on the wire.
    pub name: &'static str,
    /// Doc lines of the parameter.
    pub docs: &'static [&'static str],
    /// What the type accepts.
    pub shape: fn(&mut SchemaGenerator) -> Shape,
    /// The value that stands in for an absent one.
    pub default: Option<fn() -> Value>,
}

/// What an argument's type accepts.
#[doc(hidden)]
#[derive(Debug)]
pub struct Shape {
    /// Its schema as `schemars` makes it.
    pub schema: Schema,
    /// Whether the argument may be absent.
    pub optional: bool,
}

impl ToolRecord {
    /// What a host needs to know.
    pub fn describe(&self) -> ToolDescription {
        let docs = docs::split(self.docs);
        ToolDescription {
            package: self.package.to_owned(),
            name: self.name.to_owned(),
            label: self.label.to_owned(),
            input_schema: schema::input(self.arguments, &docs),
            description: docs.description,
            output_schema: schema::output(self.output),
            parallel: self.parallel,
            timeout_ms: self.timeout_ms,
            is_async: matches!(self.entry, Entry::Async(_)),
            inline: self.inline,
            has_prepare: self.prepare.is_some(),
            has_validate: self.validate.is_some(),
            validate_only: self.validate_only,
            unwinds: self.unwinds,
            file: self.file.to_owned(),
            line: self.line,
        }
    }

    /// Fills in the defaults of absent arguments.
    pub(crate) fn fill_defaults(&self, args: &mut Args) {
        for argument in self.arguments {
            if let Some(default) = argument.default
                && !args.contains_key(argument.name)
            {
                args.insert(argument.name.to_owned(), default());
            }
        }
    }
}

impl fmt::Debug for ToolRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolRecord")
            .field("package", &self.package)
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// All linked tools, sorted by package and name.
pub(crate) fn sorted() -> Vec<&'static ToolRecord> {
    let mut tools: Vec<&ToolRecord> = TOOLS.iter().collect();
    tools.sort_by_key(|tool| (tool.package, tool.name));
    tools
}

/// A tool as hosts read it. New fields have defaults, so that older plugins still describe
/// themselves to newer hosts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ToolDescription {
    /// Cargo package that declares the tool.
    pub package: String,
    /// Name on the wire, `^[A-Za-z0-9_-]{1,64}$`.
    pub name: String,
    /// Name for people.
    pub label: String,
    /// What the tool does, for the model.
    pub description: String,
    /// JSON Schema (2020-12) of the arguments, an object.
    pub input_schema: Value,
    /// JSON Schema of the structured result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    /// Whether calls may overlap others; unset when the author did not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parallel: Option<bool>,
    /// Time limit of one call, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// Whether it is an `async fn`.
    #[serde(default, rename = "async")]
    pub is_async: bool,
    /// The author's promise never to wait.
    #[serde(default)]
    pub inline: bool,
    /// Whether it has a `prepare` hook.
    #[serde(default)]
    pub has_prepare: bool,
    /// Whether it has a `validate` hook.
    #[serde(default)]
    pub has_validate: bool,
    /// Whether it does so instead of the schema.
    #[serde(default)]
    pub validate_only: bool,
    /// Whether its crate was compiled so that panics can be caught.
    #[serde(default)]
    pub unwinds: bool,
    /// Source file of the declaration.
    #[serde(default)]
    pub file: String,
    /// Line of the declaration.
    #[serde(default)]
    pub line: u32,
}
