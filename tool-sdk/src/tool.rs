//! A tool as its own crate knows it: the record that `#[tool]` makes, and the description of it
//! that hosts read.

mod annotations;

use std::any::{self, TypeId};
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::OnceLock;

use linkme::distributed_slice;
use schemars::{Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::abi::ToolIndex;
use crate::args::{Args, ArgumentList};
use crate::context::ToolContext;
use crate::error::ToolError;
use crate::result::ToolResult;
use crate::{docs, schema};

pub use crate::state::StateDescription;
pub use annotations::Annotations;

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
    /// The type of the function itself, by which a program finds the tool that it names.
    pub function: fn() -> TypeId,
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
    /// How many calls may run at the same time.
    pub max_concurrent: Option<u32>,
    /// Time limit of one call.
    pub timeout_ms: Option<u64>,
    /// The author's promise never to wait.
    pub inline: bool,
    /// Set when the tool should not be used any more; what to do instead, or an empty text.
    pub deprecated: Option<&'static str>,
    /// What it does to the world.
    pub annotations: Annotations,
    /// Calls with their expected results.
    pub examples: &'static [ExampleRecord],
    /// Whether everything that a model sees must be described.
    pub require_docs: bool,
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
    Blocking(fn(&mut ArgumentList, &ToolContext) -> Outcome),
    /// An `async fn`.
    Async(fn(ArgumentList, ToolContext) -> ToolFuture),
}

/// One argument of a tool.
#[doc(hidden)]
#[derive(Debug)]
pub struct ArgumentRecord {
    /// Name on the wire.
    pub name: &'static str,
    /// Name in Rust, where that is another one.
    pub ident: &'static str,
    /// Doc lines of the parameter.
    pub docs: &'static [&'static str],
    /// What the type accepts.
    pub shape: fn(&mut SchemaGenerator) -> Shape,
    /// The value that stands in for an absent one.
    pub default: Option<fn() -> Value>,
    /// What its author adds to the type's schema.
    pub keywords: &'static [Keyword],
    /// Whether its value comes from the configuration and no model sees it (R13).
    pub preset: bool,
}

impl ArgumentRecord {
    /// An argument about which its author said nothing.
    pub const PLAIN: Self = Self {
        name: "",
        ident: "",
        docs: &[],
        shape: |_| Shape {
            schema: Schema::default(),
            optional: false,
        },
        default: None,
        keywords: &[],
        preset: false,
    };
}

/// A key of `#[arg(…)]` that narrows or describes what the type accepts.
#[doc(hidden)]
#[derive(Debug)]
pub struct Keyword {
    /// The key.
    pub key: &'static str,
    /// The value behind it.
    pub value: fn() -> Value,
}

/// A call that shows how the tool is used, and what comes of it.
#[doc(hidden)]
#[derive(Debug)]
pub struct ExampleRecord {
    /// The arguments.
    pub arguments: fn() -> Value,
    /// What is expected.
    pub expect: Expect,
}

/// What an example expects.
#[doc(hidden)]
#[derive(Debug)]
pub enum Expect {
    /// No error.
    Success,
    /// This text, or this value as structured content or as JSON text.
    Value(fn() -> Value),
    /// A text that this regular expression matches.
    Pattern(&'static str),
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
    /// A tool about which its author said nothing; expanded code says what differs.
    pub const PLAIN: Self = Self {
        package: "",
        name: "",
        label: "",
        docs: &[],
        function: TypeId::of::<()>,
        file: "",
        line: 0,
        arguments: &[],
        output: |_| None,
        parallel: None,
        max_concurrent: None,
        timeout_ms: None,
        inline: false,
        deprecated: None,
        annotations: Annotations::NONE,
        examples: &[],
        require_docs: false,
        unwinds: false,
        prepare: None,
        validate: None,
        validate_only: false,
        entry: Entry::Blocking(|_, _| Ok(ToolResult::default())),
    };

    /// What a host needs to know.
    pub fn describe(&self) -> ToolDescription {
        let docs = docs::split(self.docs);
        let mut problems = Vec::new();
        let input_schema = schema::input(self.arguments, &docs, &mut problems);
        if self.require_docs {
            problems.extend(self.undescribed(&docs.description, &input_schema));
        }
        ToolDescription {
            package: self.package.to_owned(),
            name: self.name.to_owned(),
            label: self.label.to_owned(),
            input_schema,
            description: self.description(docs.description),
            output_schema: schema::output(self.output),
            parallel: self.parallel,
            max_concurrent: self.max_concurrent,
            timeout_ms: self.timeout_ms,
            deprecated: self.deprecated.map(str::to_owned),
            annotations: self.annotations,
            presets: self.presets().map(str::to_owned).collect(),
            examples: self.examples.iter().map(Example::of).collect(),
            is_async: matches!(self.entry, Entry::Async(_)),
            inline: self.inline,
            has_prepare: self.prepare.is_some(),
            has_validate: self.validate.is_some(),
            validate_only: self.validate_only,
            unwinds: self.unwinds,
            file: self.file.to_owned(),
            line: self.line,
            problems,
        }
    }

    /// A model is told what to use instead of a deprecated tool.
    fn description(&self, written: String) -> String {
        let note = match self.deprecated {
            None => return written,
            Some("") => "Deprecated.".to_owned(),
            Some(note) => format!("Deprecated: {note}"),
        };
        if written.is_empty() {
            note
        } else {
            format!("{written}\n\n{note}")
        }
    }

    /// What `require_docs` misses.
    fn undescribed(&self, description: &str, input_schema: &Value) -> Vec<String> {
        let described = |name: &str| {
            let property = input_schema.get("properties").and_then(|all| all.get(name));
            property.is_some_and(|property| property.get("description").is_some())
        };
        let visible = self.arguments.iter().filter(|argument| !argument.preset);
        let mut missing: Vec<String> = visible
            .filter(|argument| !described(argument.name))
            .map(|argument| format!("argument `{}` has no description", argument.name))
            .collect();
        if description.is_empty() {
            missing.push("the tool has no description".to_owned());
        }
        missing
    }

    /// Names of the arguments that no model sees.
    fn presets(&self) -> impl Iterator<Item = &'static str> {
        let presets = self.arguments.iter().filter(|argument| argument.preset);
        presets.map(|argument| argument.name)
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

/// All linked tools, sorted by package and name. A tool's index is its position.
pub(crate) fn sorted() -> &'static [&'static ToolRecord] {
    static SORTED: OnceLock<Vec<&'static ToolRecord>> = OnceLock::new();
    SORTED.get_or_init(|| {
        let mut tools: Vec<&ToolRecord> = TOOLS.iter().collect();
        tools.sort_by_key(|tool| (tool.package, tool.name));
        tools
    })
}

/// A tool that is linked into this program, for its host to register. Made by
/// [`toolsmith_static!`](crate::toolsmith_static).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StaticTool(ToolIndex);

impl StaticTool {
    /// The tool that `#[tool]` made of this function.
    ///
    /// # Panics
    /// When the function is no tool.
    #[expect(
        clippy::panic,
        reason = "the program names a function that is no tool: there is nothing to go on with"
    )]
    pub fn of<F: 'static>(_function: &F) -> Self {
        let is_it = |tool: &&ToolRecord| (tool.function)() == TypeId::of::<F>();
        let found = (0..).zip(sorted()).find(|(_, tool)| is_it(tool));
        found.map_or_else(
            || {
                panic!(
                    "`{}` is no tool: put `#[tool]` on it",
                    any::type_name::<F>()
                )
            },
            |(index, _)| Self(index),
        )
    }

    /// Its place in the list of all tools of this program.
    pub fn index(self) -> ToolIndex {
        self.0
    }
}

/// Names tools of this program by their functions, so that a host can register them without any
/// library: `registry.register_static(toolsmith_static![get_time, weather::get_weather])`.
///
/// ```
/// use tool_sdk::prelude::*;
/// use tool_sdk::toolsmith_static;
///
/// #[tool]
/// fn ping() -> &'static str {
///     "pong"
/// }
///
/// assert_eq!(toolsmith_static![ping].len(), 1);
/// ```
#[macro_export]
macro_rules! toolsmith_static {
    ($($function:path),* $(,)?) => {
        [$($crate::tool::StaticTool::of(&$function)),*]
    };
}

/// What a library holds, as hosts read it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PluginDescription {
    /// Its tools, sorted by package and name.
    pub tools: Vec<ToolDescription>,
    /// What it opens for them, sorted by package and declaration.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub states: Vec<StateDescription>,
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
    /// How many calls may run at the same time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_concurrent: Option<u32>,
    /// Time limit of one call, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// Set when the tool should not be used any more; what to do instead, or an empty text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deprecated: Option<String>,
    /// What it does to the world.
    #[serde(default, skip_serializing_if = "Annotations::is_empty")]
    pub annotations: Annotations,
    /// Arguments whose values come from the configuration and that no model may see (R13). They
    /// stand in the input schema, from which the host takes them out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub presets: Vec<String>,
    /// Calls with their expected results.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<Example>,
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
    /// What is wrong with the tool and could not be seen when its macro expanded. A host does not
    /// take such a tool.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
}

/// A call that shows how a tool is used, and what comes of it. Without an expectation the call
/// need only succeed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Example {
    /// The arguments, an object.
    pub arguments: Value,
    /// A text that the result must be, or a value that it must have as structured content or as
    /// JSON text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expect: Option<Value>,
    /// A regular expression that the result's text must match.
    #[serde(
        default,
        rename = "expectPattern",
        skip_serializing_if = "Option::is_none"
    )]
    pub expect_pattern: Option<String>,
}

impl Example {
    fn of(record: &ExampleRecord) -> Self {
        let (expect, expect_pattern) = match record.expect {
            Expect::Success => (None, None),
            Expect::Value(value) => (Some(value()), None),
            Expect::Pattern(pattern) => (None, Some(pattern.to_owned())),
        };
        Self {
            arguments: (record.arguments)(),
            expect,
            expect_pattern,
        }
    }
}
