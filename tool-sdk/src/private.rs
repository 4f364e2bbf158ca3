//! The runtime half of the macros. Everything here is for expanded code only and may change with
//! every version.
//!
//! Which of several ways fits a type is found by method lookup on a *tag*: the more specific
//! trait is implemented for the tag itself, the general one for a reference to it, and the
//! compiler takes the first that fits. So the choice is made by the type, not by its spelling:
//! aliases, full paths and shadowed names work.

use std::borrow::Cow;
use std::marker::PhantomData;

// Names of the standard library for expanded code, which may stand where they mean something else.
pub use std::boxed::Box;
pub use std::option::Option::{None, Some};
pub use std::primitive::u8;
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
pub use crate::args::Args;
use crate::args::{self, Plain};
pub use crate::context::ToolContext;
use crate::error::ErrorKind;
pub use crate::error::ToolError;
use crate::panic::PanicReport;
use crate::result::Content;
pub use crate::result::ToolResult;
pub use crate::tool::{ArgumentRecord, Entry, Outcome, Shape, TOOLS, ToolFuture, ToolRecord};

/// The traits that choose by type. Expanded code imports them all and names none.
pub mod by_type {
    pub use super::{
        ContentReturn as _, FallibleReturn as _, InfallibleReturn as _, PlainArgument as _,
        SerdeArgument as _, SerializeReturn as _,
    };
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

/// Stands for the type of one argument.
#[derive(Debug)]
pub struct ArgumentTag<T>(PhantomData<T>);

impl<T> ArgumentTag<T> {
    /// The tag.
    pub const NEW: Self = Self(PhantomData);
}

/// Chosen for types that the SDK reads itself.
pub trait PlainArgument<T> {
    /// The way.
    fn argument_kind(&self) -> PlainKind<T>;
}

impl<T: Plain + JsonSchema> PlainArgument<T> for ArgumentTag<T> {
    fn argument_kind(&self) -> PlainKind<T> {
        PlainKind(PhantomData)
    }
}

/// Chosen for all other types.
pub trait SerdeArgument<T> {
    /// The way.
    fn argument_kind(&self) -> SerdeKind<T>;
}

impl<T> SerdeArgument<T> for &ArgumentTag<T> {
    fn argument_kind(&self) -> SerdeKind<T> {
        SerdeKind(PhantomData)
    }
}

/// An argument that the SDK reads itself.
#[derive(Debug)]
pub struct PlainKind<T>(PhantomData<T>);

impl<T: Plain + JsonSchema> PlainKind<T> {
    /// What the type accepts.
    pub fn shape(self, generator: &mut SchemaGenerator) -> Shape {
        Shape { schema: generator.subschema_for::<T>(), optional: T::absent().is_some() }
    }

    /// The argument's value.
    pub fn take(self, args: &mut Args, name: &str) -> Result<T, ToolError> {
        args::take_plain(args, name)
    }
}

/// An argument that serde reads.
#[derive(Debug)]
pub struct SerdeKind<T>(PhantomData<T>);

impl<T> SerdeKind<T> {
    /// What the type accepts.
    pub fn shape(self, generator: &mut SchemaGenerator) -> Shape
    where
        T: Argument,
    {
        let optional = serde_json::from_value::<T>(Value::Null).is_ok();
        Shape { schema: generator.subschema_for::<T>(), optional }
    }

    /// The argument's value.
    pub fn take(self, args: &mut Args, name: &str) -> Result<T, ToolError>
    where
        T: Argument,
    {
        args::take_any(args, name)
    }
}

/// A value that may stand in for an absent argument.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be the default of an argument",
    label = "does not become JSON",
    note = "write a literal, or put `#[tool_type]` on your own type"
)]
pub trait DefaultValue: Serialize {}

#[diagnostic::do_not_recommend]
impl<T: Serialize> DefaultValue for T {}

/// The JSON of a default value.
///
/// # Panics
/// When the value does not serialise; the probe of a new library finds that before a call can.
#[expect(clippy::expect_used, reason = "caught by the probe, and there is no value to go on with")]
pub fn default_value<T: DefaultValue>(value: T) -> Value {
    serde_json::to_value(value).expect("the default of an argument must serialise to JSON")
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

/// Stands for a tool's return type, or for the type inside its `Result`.
#[derive(Debug)]
pub struct ReturnTag<T>(PhantomData<T>);

impl<T> ReturnTag<T> {
    /// The tag.
    pub const NEW: Self = Self(PhantomData);
}

/// Chosen for `Result<T, E>`.
pub trait FallibleReturn<T, E> {
    /// The way.
    fn split(&self) -> Fallible<T, E>;
}

impl<T, E> FallibleReturn<T, E> for ReturnTag<Result<T, E>> {
    fn split(&self) -> Fallible<T, E> {
        Fallible(PhantomData)
    }
}

/// Chosen for every other return type.
pub trait InfallibleReturn<T> {
    /// The way.
    fn split(&self) -> Infallible<T>;
}

impl<T> InfallibleReturn<T> for &ReturnTag<T> {
    fn split(&self) -> Infallible<T> {
        Infallible(PhantomData)
    }
}

/// A tool that returns `Result<T, E>`.
#[derive(Debug)]
pub struct Fallible<T, E>(PhantomData<(T, E)>);

impl<T, E> Fallible<T, E> {
    /// The tag of the value.
    pub fn value(&self) -> ReturnTag<T> {
        ReturnTag::NEW
    }

    /// The value or the tool's error.
    pub fn apply(&self, returned: Result<T, E>) -> Result<T, ToolError>
    where
        E: ReturnedError,
    {
        returned.map_err(Into::into)
    }
}

/// A tool that returns its value.
#[derive(Debug)]
pub struct Infallible<T>(PhantomData<T>);

impl<T> Infallible<T> {
    /// The tag of the value.
    pub fn value(&self) -> ReturnTag<T> {
        ReturnTag::NEW
    }

    /// The value.
    pub fn apply(&self, returned: T) -> Result<T, ToolError> {
        Ok(returned)
    }
}

/// Chosen for results that are content already: text, blocks, nothing.
pub trait ContentReturn<T> {
    /// The way.
    fn value_kind(&self) -> ContentKind;
}

impl<T: IntoContent> ContentReturn<T> for ReturnTag<T> {
    fn value_kind(&self) -> ContentKind {
        ContentKind
    }
}

/// Chosen for every other result.
pub trait SerializeReturn<T> {
    /// The way.
    fn value_kind(&self) -> SerializeKind<T>;
}

impl<T> SerializeReturn<T> for &ReturnTag<T> {
    fn value_kind(&self) -> SerializeKind<T> {
        SerializeKind(PhantomData)
    }
}

/// A result that is content already.
#[derive(Debug)]
pub struct ContentKind;

impl ContentKind {
    /// Content has no output schema.
    pub fn schema(&self, _: &mut SchemaGenerator) -> Option<Schema> {
        None
    }

    /// The tool's outcome.
    pub fn outcome<T: IntoContent>(&self, value: Result<T, ToolError>) -> Outcome {
        value.map(IntoContent::into_result)
    }
}

/// A result that becomes compact JSON text and structured content.
#[derive(Debug)]
pub struct SerializeKind<T>(PhantomData<T>);

impl<T> SerializeKind<T> {
    /// The schema of the value.
    pub fn schema(&self, generator: &mut SchemaGenerator) -> Option<Schema>
    where
        T: ReturnedValue,
    {
        Some(generator.subschema_for::<T>())
    }

    /// The tool's outcome.
    pub fn outcome(&self, value: Result<T, ToolError>) -> Outcome
    where
        T: ReturnedValue,
    {
        let value = serde_json::to_value(value?)
            .map_err(|error| ToolError::new(format!("the result is no JSON: {error}")))?;
        Ok(ToolResult::text(value.to_string()).structured(value))
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
        Ok(result) => {
            if let Some(text) = result.as_plain_text() {
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
    Reply::new(Status::PANIC, serde_json::to_string(report).unwrap_or_default())
}

/// Parses what the host sends as arguments.
pub(crate) fn parse_args(text: &str) -> Result<Args, ToolError> {
    serde_json::from_str(text).map_err(|error| {
        ToolError::of(ErrorKind::InvalidJson, format!("the arguments are no JSON object: {error}"))
    })
}
