//! Everything that an ordinary plugin needs: `use tool_sdk::prelude::*;`.
//!
//! | name | what it is |
//! |---|---|
//! | [`#[tool]`](macro@tool) | makes a function a tool |
//! | [`#[tool_type]`](macro@tool_type) | lets a struct or an enum be an argument or a result |
//! | [`#[plugin_state]`](macro@plugin_state) | opens what the tools of a plugin share |
//! | [`Result`] | what a tool returns that may fail; [`ToolError`] unless said otherwise |
//! | [`ToolError`], [`ErrorKind`] | how a tool fails: the text for the model, what to do next, the kind |
//! | [`ToolResult`], [`Content`], [`Resource`] | a result in all its parts; most tools return a `String` or a struct |
//! | [`ToolContext`] | a parameter `ctx: &ToolContext`: progress, cancellation, HTTP requests, the call's id, the log |
//! | [`PluginContext`] | the same for `#[plugin_state]`: the plugin's name, the log |
//! | [`Args`] | all arguments of a call as JSON: in hooks, and as a parameter `all: &Args` |
//! | [`Value`], [`Map`], [`json!`], [`serde_json`] | JSON |
//!
//! ```
//! use tool_sdk::prelude::*;
//!
//! /// How far to look.
//! #[tool_type]
//! #[serde(rename_all = "lowercase")]
//! enum Range {
//!     Near,
//!     Far,
//! }
//!
//! /// Models say `place` now and then.
//! fn place_is_city(mut args: Args) -> Result<Args> {
//!     if let Some(place) = args.remove("place") {
//!         args.insert("city".to_owned(), place);
//!     }
//!     Ok(args)
//! }
//!
//! /// Find cafés in a city.
//! #[tool(name = "findCafes", prepare = place_is_city)]
//! fn find_cafes(
//!     /// Name of the city
//!     city: &str,
//!     #[arg(default = "near")] range: Range,
//!     ctx: &ToolContext,
//! ) -> Result<ToolResult> {
//!     ctx.progress(json!({"looking in": city}));
//!     let found = match range {
//!         Range::Near => 1,
//!         Range::Far => 7,
//!     };
//!     if city.is_empty() {
//!         return Err(ToolError::new("no city given").with_hint("give the name of a city"));
//!     }
//!     Ok(ToolResult::text(format!("{found} cafés in {city}")).details(json!({"found": found})))
//! }
//!
//! let run = tool_sdk::testing::run("findCafes", json!({"place": "Vienna"})).unwrap();
//! assert_eq!(run.result.content, [Content::text("1 cafés in Vienna")]);
//! assert_eq!(run.progress, [json!({"looking in": "Vienna"})]);
//! ```

pub use serde_json::{self, Map, Value, json};
pub use tool_macros::{plugin_state, tool, tool_type};

pub use crate::args::Args;
pub use crate::context::ToolContext;
pub use crate::error::{ErrorKind, ToolError};
pub use crate::result::{Content, Resource, ToolResult};
pub use crate::state::PluginContext;

/// The result of a tool, with [`ToolError`] unless said otherwise.
///
/// `?` works on every error, on `String` and on `&str`. With a second type it is the `Result` of
/// the standard library.
///
/// ```
/// use tool_sdk::prelude::*;
///
/// fn parsed(text: &str) -> Result<u8> {
///     Ok(text.trim().parse()?)
/// }
///
/// fn judged(number: u8) -> Result<(), String> {
///     if number < 7 { Ok(()) } else { Err(format!("{number} is too much")) }
/// }
///
/// assert_eq!(parsed(" 5 ").unwrap(), 5);
/// assert_eq!(judged(9).unwrap_err(), "9 is too much");
/// ```
pub type Result<T, E = ToolError> = std::result::Result<T, E>;
