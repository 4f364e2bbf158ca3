//! The border between a plugin and its host: every type that crosses, and nothing else.
//!
//! Both sides are built at different times, by possibly different compilers, each with its own
//! `std`. So only `abi_stable` types cross, arguments and results cross as UTF-8 JSON, bodies of HTTP
//! messages as bytes, and every function that crosses catches panics on the side that it belongs to.
//!
//! | file | what it owns |
//! |---|---|
//! | [`module`] | the root module: what the host may ask of a plugin |
//! | [`services`] | what a plugin may ask of its host, apart from a call |
//! | [`task`] | one call seen from the plugin: progress, abort, exactly one answer |
//! | [`http`] | one HTTP request that the plugin leaves to its host |
//! | [`reply`] | the one shape of an answer |
//! | [`stamp`] | bytes that are readable before a library is loaded |
//! | `export` | the plugin's side of the root module |
//!
//! # Revision history
//!
//! Any change that `abi_stable`'s prefix types do not cover raises [`REVISION`].
//!
//! A library may know functions of its host that the host does not have: fields behind the last
//! prefix field. A host that has more of them than a library knows refuses it, and it is built again.
//!
//! | revision | what changed |
//! |---|---|
//! | 1 | first |

mod export;
pub mod http;
pub mod module;
pub mod reply;
pub mod services;
pub mod stamp;
pub mod task;

pub use module::{Invocation, PluginModule, PluginModuleRef, ToolIndex};
pub use reply::{Reply, Status};
pub use services::{HostServices, HostTable, HostTableRef, LogLevel};
pub use stamp::Stamp;
pub use task::{CallPort, CallTarget, TaskId};

/// The root module of this program, whose tools are linked into it and not loaded.
pub fn this_program() -> PluginModuleRef {
    export::root_module()
}

/// The revision of this border as text, so that it can be part of the stamp's literal.
macro_rules! revision {
    () => {
        "1"
    };
}
pub(crate) use revision;

/// The revision of this border. A library with another one is refused before it is loaded.
pub const REVISION: &str = revision!();

/// Prefix of the one-byte marker that each `#[tool]` exports; the tool's name follows.
pub const MARKER_PREFIX: &str = "__toolsmith_tool__";

/// Name of the exported [`Stamp`] bytes.
pub const STAMP_SYMBOL: &str = "__toolsmith_stamp";
