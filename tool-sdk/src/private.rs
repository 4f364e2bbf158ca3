//! The runtime half of the macros. Everything here is for expanded code only and may change with
//! every version.
//!
//! Which of several ways fits a type is found by the compiler's look-up of functions: it takes one
//! that is implemented for the type directly if its bounds hold, and else that of a trait. So the
//! choice is made by the type, not by its spelling: aliases, full paths and shadowed names work.
//! Each look-up costs every tool of every plugin compile time, so there are few.

use std::any::TypeId;
use std::borrow::Cow;
use std::marker::PhantomData;

// Names of the standard library for expanded code, which may stand where they mean something else.
pub use std::boxed::Box;
pub use std::option::Option::{None, Some};
pub use std::primitive::{i64, str, u8, usize};
pub use std::string::String;
pub use std::{cfg, env, file, line};

pub use linkme;
pub use schemars;
pub use serde;
pub use serde_json;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::abi::{Reply, Status};
use crate::args::{self, Plain};
pub use crate::args::{Args, ArgumentList};
pub use crate::context::ToolContext;
use crate::error::ErrorKind;
pub use crate::error::ToolError;
use crate::finite;
use crate::panic::PanicReport;
use crate::result::Content;
pub use crate::result::ToolResult;
use crate::state;
pub use crate::state::{OpenFuture, Opened, Opener, PluginContext, STATES, StateRecord};
pub use crate::tool::{
    Annotations, ArgumentRecord, Entry, ExampleRecord, Expect, Keyword, Outcome, Shape, TOOLS,
    ToolFuture, ToolRecord,
};

/// The traits that are chosen where nothing more special is. Expanded code imports them all and
/// names none.
pub mod by_type {
    pub use super::{AnyArgument as _, AnyReturn as _, AnyReturned as _, AnyValue as _};
}

// ---- arguments ---------------------------------------------------------------------------------

/// A type that a model can fill in.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be an argument of a tool",
    label = "a model can't fill in this type",
    note = "put `#[tool_type]` on your own struct or enum, or use a type such as `String`, `i64`, \
            `f64`, `bool`, `Option<T>`, `Vec<T>` or `Value`; all arguments at once are `&Args`"
)]
pub trait Argument: DeserializeOwned + JsonSchema {}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + JsonSchema> Argument for T {}

/// Stands for the type of one argument. Its own functions are for types that the SDK reads itself.
#[derive(Debug)]
pub struct ArgumentOf<T>(PhantomData<T>);

impl<T: Plain + JsonSchema> ArgumentOf<T> {
    /// What the type accepts.
    pub fn shape(generator: &mut SchemaGenerator) -> Shape {
        Shape {
            schema: generator.subschema_for::<T>(),
            optional: T::absent().is_some(),
        }
    }

    /// The argument's value.
    pub fn take(args: &mut ArgumentList, name: &str) -> Result<T, ToolError> {
        args::take_plain(args, name)
    }
}

/// Chosen for all other types, which serde reads.
pub trait AnyArgument<T> {
    /// What the type accepts.
    fn shape(generator: &mut SchemaGenerator) -> Shape
    where
        T: Argument;

    /// The argument's value.
    fn take(args: &mut ArgumentList, name: &str) -> Result<T, ToolError>
    where
        T: Argument;

    /// All arguments as one value: settings.
    fn whole(args: &Args) -> Result<T, ToolError>
    where
        T: Argument;
}

impl<T> AnyArgument<T> for ArgumentOf<T> {
    fn shape(generator: &mut SchemaGenerator) -> Shape
    where
        T: Argument,
    {
        let optional = serde_json::from_value::<T>(Value::Null).is_ok();
        Shape {
            schema: generator.subschema_for::<T>(),
            optional,
        }
    }

    fn take(args: &mut ArgumentList, name: &str) -> Result<T, ToolError>
    where
        T: Argument,
    {
        args::take_any(args, name)
    }

    fn whole(args: &Args) -> Result<T, ToolError>
    where
        T: Argument,
    {
        args::whole(args)
    }
}

/// A value that a schema can show: a default, a bound, an example.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be a value of an argument",
    label = "does not become JSON",
    note = "write a literal, or put `#[tool_type]` on your own type"
)]
pub trait SchemaValue: Serialize {}

#[diagnostic::do_not_recommend]
impl<T: Serialize + ?Sized> SchemaValue for T {}

/// The JSON of a value in a schema.
///
/// # Panics
/// When the value does not serialise; the probe of a new library finds that before a call can.
#[expect(
    clippy::expect_used,
    reason = "caught by the probe, and there is no value to go on with"
)]
#[track_caller]
pub fn schema_value<T: SchemaValue>(value: T) -> Value {
    finite::to_value(&value).expect("the values in a schema must serialise to JSON")
}

/// The JSON of several values.
pub fn schema_values<const N: usize>(values: [Value; N]) -> Value {
    Value::Array(values.into())
}

// ---- state -------------------------------------------------------------------------------------

/// A value that the plugin opens once. `Opener` is a type of the crate that opens it, so that the
/// value may be of any crate; the compiler finds it, since there is only one.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is neither an argument nor state of this plugin",
    label = "nothing opens it",
    note = "an argument that a model fills in is owned: write it without `&`",
    note = "state is opened by a function with `#[plugin_state]` that returns it, for example \
            `fn open() -> Result<{Self}>`"
)]
pub trait State<Opener>: Send + Sync + 'static {}

/// What the plugin opened, as the call found it.
pub fn state<T: State<Opener>, Opener>(ctx: &ToolContext) -> Result<&T, ToolError> {
    state::borrowed(ctx.states())
}

/// The type under which opened state is found again.
pub fn type_of<T: 'static>() -> TypeId {
    TypeId::of::<T>()
}

/// The type of a function, under which its tool is found again.
pub fn type_of_function<F: 'static>(_: &F) -> TypeId {
    TypeId::of::<F>()
}

// ---- results -----------------------------------------------------------------------------------

/// An error that a tool may return.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be the error of a tool",
    label = "does not convert into `ToolError`",
    note = "return `Result<T>` of the prelude, or an error type that implements \
            `std::error::Error + Send + Sync`"
)]
pub trait ReturnedError: Into<ToolError> {}

#[diagnostic::do_not_recommend]
impl<E: Into<ToolError>> ReturnedError for E {}

/// A value that a tool may return.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be the result of a tool",
    label = "does not become text or JSON",
    note = "return `String`, a number, `ToolResult`, or put `#[tool_type]` on your own type"
)]
pub trait ReturnedValue: Serialize + JsonSchema {}

#[diagnostic::do_not_recommend]
impl<T: Serialize + JsonSchema> ReturnedValue for T {}

/// Stands for a tool's return type. Its own functions are for `Result`.
#[derive(Debug)]
pub struct ReturnOf<T>(PhantomData<T>);

impl<T, E> ReturnOf<Result<T, E>> {
    /// Stands for the value inside.
    pub fn value() -> ValueOf<T> {
        ValueOf(PhantomData)
    }

    /// The value or the tool's error.
    pub fn split(returned: Result<T, E>) -> Returned<T>
    where
        E: ReturnedError,
    {
        Returned(returned.map_err(Into::into))
    }
}

/// Chosen for every other return type.
pub trait AnyReturn<T> {
    /// Stands for the value.
    fn value() -> ValueOf<T>;

    /// The value.
    fn split(returned: T) -> Returned<T>;
}

impl<T> AnyReturn<T> for ReturnOf<T> {
    fn value() -> ValueOf<T> {
        ValueOf(PhantomData)
    }

    fn split(returned: T) -> Returned<T> {
        Returned(Ok(returned))
    }
}

/// Stands for the type of a tool's value. Its own function is for content, which has no schema.
#[derive(Debug)]
pub struct ValueOf<T>(PhantomData<T>);

impl<T: IntoContent> ValueOf<T> {
    /// The schema of the value.
    pub fn schema(self, _: &mut SchemaGenerator) -> Option<Schema> {
        None
    }
}

/// Chosen for every other value.
pub trait AnyValue<T> {
    /// The schema of the value.
    fn schema(self, generator: &mut SchemaGenerator) -> Option<Schema>
    where
        T: ReturnedValue;
}

impl<T> AnyValue<T> for ValueOf<T> {
    fn schema(self, generator: &mut SchemaGenerator) -> Option<Schema>
    where
        T: ReturnedValue,
    {
        Some(generator.subschema_for::<T>())
    }
}

/// A tool's value, or its error. Its own function is for content.
#[derive(Debug)]
pub struct Returned<T>(Result<T, ToolError>);

impl<T> Returned<T> {
    /// The value as state of the plugin. The bound is the one that `#[plugin_state]` has met or
    /// that was reported already.
    pub fn opened<Opener>(self) -> Result<Opened, ToolError>
    where
        T: State<Opener>,
    {
        self.0.map(|value| -> Opened { Box::new(value) })
    }
}

impl<T: IntoContent> Returned<T> {
    /// The tool's outcome.
    pub fn outcome(self) -> Outcome {
        self.0.map(IntoContent::into_result)
    }
}

/// Chosen for every other value, which becomes compact JSON text, and structured content if it is an
/// object.
pub trait AnyReturned<T> {
    /// The tool's outcome.
    fn outcome(self) -> Outcome
    where
        T: ReturnedValue;
}

impl<T> AnyReturned<T> for Returned<T> {
    fn outcome(self) -> Outcome
    where
        T: ReturnedValue,
    {
        let value = finite::to_value(&self.0?)
            .map_err(|error| ToolError::new(format!("the result is no JSON: {error}")))?;
        // A text is shown as it is, without quotation marks.
        let result = match &value {
            Value::String(text) => ToolResult::text(text),
            other => ToolResult::text(other.to_string()),
        };
        // Clients expect an object.
        Ok(if value.is_object() {
            result.structured(value)
        } else {
            result
        })
    }
}

/// A value that is content already.
pub trait IntoContent {
    /// The whole result.
    fn into_result(self) -> ToolResult;
}

impl IntoContent for ToolResult {
    fn into_result(self) -> ToolResult {
        self
    }
}

impl IntoContent for () {
    fn into_result(self) -> ToolResult {
        ToolResult::default()
    }
}

impl IntoContent for Content {
    fn into_result(self) -> ToolResult {
        ToolResult::content([self])
    }
}

impl IntoContent for Vec<Content> {
    fn into_result(self) -> ToolResult {
        ToolResult::content(self)
    }
}

macro_rules! texts {
    ($($type:ty)*) => {$(
        impl IntoContent for $type {
            fn into_result(self) -> ToolResult {
                ToolResult::text(self.to_string())
            }
        }
    )*};
}
texts! { &str Cow<'_, str> Box<str> char bool i8 i16 i32 i64 isize u8 u16 u32 u64 usize }

impl IntoContent for String {
    fn into_result(self) -> ToolResult {
        ToolResult::text(self)
    }
}

macro_rules! floats {
    ($($type:ty)*) => {$(
        impl IntoContent for $type {
            /// JSON has no NaN and no infinity, so neither is a result.
            fn into_result(self) -> ToolResult {
                if self.is_finite() {
                    ToolResult::text(self.to_string())
                } else {
                    ToolResult::error(format!("the result is not a finite number: {self}"))
                }
            }
        }
    )*};
}
floats! { f32 f64 }

// ---- hooks -------------------------------------------------------------------------------------

/// What a `prepare` hook may return.
#[diagnostic::on_unimplemented(
    message = "a `prepare` hook can't return `{Self}`",
    label = "expected `fn(Args) -> Result<Args>`"
)]
pub trait Prepared {
    /// The changed arguments.
    fn into_prepared(self) -> Result<Args, ToolError>;
}

impl<E: Into<ToolError>> Prepared for Result<Args, E> {
    fn into_prepared(self) -> Result<Args, ToolError> {
        self.map_err(Into::into)
    }
}

/// What a `validate` hook may return.
#[diagnostic::on_unimplemented(
    message = "a `validate` hook can't return `{Self}`",
    label = "expected `fn(&Args) -> Option<String>` or `fn(&Args) -> Result<(), String>`",
    note = "`None` and `Ok(())` pass; the text is the reason against the arguments"
)]
pub trait Verdict {
    /// The reason against the arguments, if any.
    fn into_verdict(self) -> Result<(), String>;
}

impl Verdict for Option<String> {
    fn into_verdict(self) -> Result<(), String> {
        self.map_or(Ok(()), Err)
    }
}

impl Verdict for Result<(), String> {
    fn into_verdict(self) -> Result<(), String> {
        self
    }
}

// ---- replies -----------------------------------------------------------------------------------

/// An outcome in the shape that crosses the border.
pub(crate) fn reply(outcome: Outcome) -> Reply {
    let (status, json) = match outcome {
        Ok(mut result) => {
            if result.as_plain_text().is_some()
                && let Some(Content::Text { text }) = result.content.pop()
            {
                return Reply::new(Status::TEXT, text);
            }
            (Status::RESULT, serde_json::to_string(&result))
        }
        Err(error) => (Status::ERROR, serde_json::to_string(&error)),
    };
    match json {
        Ok(json) => Reply::new(status, json),
        // Values and strings always serialise; a tool could only get here through its details.
        Err(error) => Reply::new(Status::TEXT, format!("the result is no JSON: {error}")),
    }
}

/// A panic in the shape that crosses the border.
pub(crate) fn panic_reply(report: &PanicReport) -> Reply {
    Reply::new(
        Status::PANIC,
        serde_json::to_string(report).unwrap_or_default(),
    )
}

/// Parses what the host sends to hooks and openers.
pub(crate) fn parse_args(text: &str) -> Result<Args, ToolError> {
    serde_json::from_str(text).map_err(|error| no_object(&error))
}

/// Parses what the host sends to a tool, and completes it.
pub(crate) fn parse_for(tool: &ToolRecord, text: &str) -> Result<ArgumentList, ToolError> {
    let parsed = ArgumentList::parse(text, tool.arguments);
    let mut list = parsed.map_err(|error| no_object(&error))?;
    list.fill_defaults(tool.arguments);
    Ok(list)
}

fn no_object(error: &serde_json::Error) -> ToolError {
    let text = format!("the arguments are no JSON object: {error}");
    ToolError::of(ErrorKind::InvalidJson, text)
}
