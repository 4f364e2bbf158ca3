//! Write a tool for language models as a plain Rust function.
//!
//! ```
//! use tool_sdk::prelude::*;
//!
//! /// Greet a person.
//! #[tool(name = "greet", label = "Greeting", parallel = true)]
//! fn greet(
//!     /// Name of the person
//!     name: String,
//!     /// How many exclamation marks
//!     #[arg(default = 1)]
//!     marks: u8,
//! ) -> String {
//!     format!("Hello, {name}{}", "!".repeat(marks.into()))
//! }
//!
//! // It stays a function …
//! assert_eq!(greet("Ada".into(), 2), "Hello, Ada!!");
//!
//! // … and is a tool.
//! let run = tool_sdk::testing::run("greet", json!({"name": "Ada"})).unwrap();
//! assert_eq!(run.result, ToolResult::text("Hello, Ada!"));
//! ```
//!
//! A plugin crate has this crate as its one dependency and builds as a `cdylib`. Schema,
//! validation and export come from the signature and its doc comments; nothing else is written.
//!
//! | module | what it owns |
//! |---|---|
//! | [`prelude`] | what an ordinary plugin uses |
//! | [`http`] | requests that the host makes for a tool |
//! | [`testing`] | running a tool without a host |
//! | [`mod@tool`] | what a host knows of a tool; tools that are linked into a program |
//! | [`mod@panic`] | panics as hosts report them |
//! | [`abi`] | the border between plugin and host |
//!
//! [`macro@tool`] has every key of `#[tool(…)]` and `#[arg(…)]`. The guide `docs/authors.md` of the
//! repository shows each of them with the schema that it makes.
//!
//! | feature | gives |
//! |---|---|
//! | `async`, on by default | `async fn` tools, and the runtime that they run on as `tool_sdk::tokio` |
//! | `chrono` | dates and times of chrono 0.4 as arguments and results, as `tool_sdk::chrono` |
//! | `jiff` | dates, times and durations of jiff 0.2, as `tool_sdk::jiff` |
//! | `url` | `Url`, as `tool_sdk::url` |
//! | `uuid` | `Uuid`, as `tool_sdk::uuid` |

#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;
pub mod abi;
mod args;
mod context;
mod docs;
mod error;
mod finite;
pub mod http;
mod log;
pub mod panic;
pub mod prelude;
mod result;
#[cfg(feature = "async")]
mod runtime;
mod schema;
mod state;
pub mod testing;
pub mod tool;

use __private as private;

pub use args::Args;
pub use context::ToolContext;
pub use error::{ErrorKind, ToolError};
pub use result::{Content, Resource, ToolResult};
pub use state::PluginContext;
pub use tool_macros::{plugin_state, tool, tool_type};

/// The runtime that `async fn` tools run on, so that a plugin needs no dependency of its own for
/// sleeping, files, sockets and child processes.
///
/// ```
/// use std::time::Duration;
///
/// use tool_sdk::prelude::*;
/// use tool_sdk::tokio::time::timeout;
///
/// /// Say how many bytes a file has.
/// #[tool]
/// async fn file_size(path: &str) -> Result<u64> {
///     let looking = tool_sdk::tokio::fs::metadata(path);
///     let metadata = timeout(Duration::from_secs(5), looking).await??;
///     Ok(metadata.len())
/// }
///
/// let run = tool_sdk::testing::run("file_size", json!({"path": "Cargo.toml"})).unwrap();
/// assert!(run.result.content[0].as_text().is_some());
/// ```
#[cfg(feature = "async")]
pub use tokio;

/// Dates and times as arguments and results.
#[cfg(feature = "chrono")]
pub use chrono04 as chrono;

/// Dates, times and durations as arguments and results: jiff 0.2, the version that schemars knows.
///
/// Some of its types take less from a model than they could hold. A duration is hours, minutes and
/// seconds, for `Span` too. `Zoned` can't be an argument: no schema can say which zones there are.
#[cfg(feature = "jiff")]
pub use jiff02 as jiff;

/// URLs as arguments and results.
#[cfg(feature = "url")]
pub use url2 as url;

/// UUIDs as arguments and results.
#[cfg(feature = "uuid")]
pub use uuid1 as uuid;
