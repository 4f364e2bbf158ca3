//! Everything that an ordinary plugin needs: `use tool_sdk::prelude::*;`.

pub use serde_json::{self, Map, Value, json};
pub use tool_macros::{plugin_state, tool, tool_type};

pub use crate::args::Args;
pub use crate::context::ToolContext;
pub use crate::error::{ErrorKind, ToolError};
pub use crate::result::{Content, Resource, ToolResult};
pub use crate::state::PluginContext;

/// The result of a tool, with [`ToolError`] unless said otherwise.
pub type Result<T, E = ToolError> = std::result::Result<T, E>;
