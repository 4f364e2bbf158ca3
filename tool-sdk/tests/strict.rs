//! The strictest author: what the macros generate passes every lint that a crate may set, and
//! `unsafe` stays forbidden in it. That this file compiles, and that clippy has nothing to say
//! about it, is the test.

#![forbid(unsafe_code)]
#![deny(
    warnings,
    missing_docs,
    unreachable_pub,
    unused_qualifications,
    unused_lifetimes,
    missing_debug_implementations,
    elided_lifetimes_in_paths,
    single_use_lifetimes,
    trivial_casts,
    unused_results,
    let_underscore_drop,
    clippy::pedantic,
    clippy::nursery,
    clippy::absolute_paths,
    clippy::allow_attributes,
    clippy::allow_attributes_without_reason,
    clippy::default_trait_access,
    clippy::indexing_slicing,
    clippy::missing_docs_in_private_items,
    clippy::multiple_unsafe_ops_per_block,
    clippy::panic,
    clippy::question_mark_used,
    clippy::redundant_clone,
    clippy::undocumented_unsafe_blocks,
    clippy::unwrap_used
)]

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::future::ready;

use tool_sdk::prelude::*;
use tool_sdk::testing;

/// Units of a temperature.
#[tool_type]
#[serde(rename_all = "lowercase")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Units {
    /// Degrees Celsius.
    Celsius,
    /// Degrees Fahrenheit.
    Fahrenheit,
}

/// A place on earth.
#[tool_type]
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// Its name.
    pub name: String,
    /// Where it is.
    #[serde(default)]
    pub position: Option<(f64, f64)>,
}

/// An answer of one of several kinds.
#[tool_type]
#[derive(Debug)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum Answer<T> {
    /// A value.
    Value {
        /// The value.
        value: T,
    },
    /// Nothing.
    Nothing,
}

/// Changes nothing.
///
/// # Errors
/// Never.
#[expect(clippy::missing_const_for_fn, reason = "hooks are no constants")]
pub fn prepare(args: Args) -> Result<Args> {
    Ok(args)
}

/// Refuses nothing.
#[must_use]
pub const fn validate(_args: &Args) -> Option<String> {
    None
}

/// Fetch the weather.
///
/// # Errors
/// Never.
#[tool(name = "strictWeather", parallel = true, timeout = "5s", prepare = prepare, validate = validate)]
pub async fn weather(
    /// City name
    city: &str,
    #[arg(default = "celsius")] units: Units,
    #[arg(default = 3)] days: u8,
    note: Option<String>,
    ctx: &ToolContext,
) -> Result<String> {
    ctx.progress(json!({"days": days}));
    ready(()).await;
    Ok(format!("{city} {units:?} {days} {note:?}"))
}

/// Answer with data.
#[tool(inline)]
fn strict_place(place: Place, args: &Args) -> Answer<Place> {
    if args.is_empty() {
        return Answer::Nothing;
    }
    Answer::Value { value: place }
}

/// Answer with nothing.
#[tool]
const fn strict_nothing() {}

/// Answer with a part of the question.
#[tool]
pub(crate) fn strict_part(text: &str, mut map: BTreeMap<String, Vec<u8>>) -> Cow<'_, str> {
    map.clear();
    Cow::Borrowed(text.trim())
}

/// Still there for those who use it.
#[tool]
#[deprecated(note = "use another")]
#[must_use]
pub const fn strict_deprecated() -> u8 {
    1
}

/// A type that should not be used any more.
#[deprecated(note = "use another")]
pub type Old = u8;

/// Still takes it.
#[tool]
#[expect(deprecated, reason = "until the next version")]
#[must_use]
pub const fn strict_old(#[arg(default = 1)] old: Old) -> Old {
    old
}

/// Tools in a module of their own.
pub mod inner {
    use tool_sdk::prelude::*;

    /// A tool in a module.
    #[tool]
    #[must_use]
    pub const fn strict_inner() -> bool {
        true
    }
}

#[test]
fn strict_tools_are_tools() {
    let run = testing::run("strictWeather", json!({"city": "Rome"})).expect("it answers");
    assert_eq!(run.result, ToolResult::text("Rome Celsius 3 None"));
}
