//! The `unsafe` of the marker's symbol is the macro's, not the crate's.
#![forbid(unsafe_code)]
#![deny(warnings, missing_docs, unreachable_pub, unused_qualifications)]

use tool_sdk::prelude::*;

/// Greets.
#[tool]
pub async fn greet(
    /// Whom
    name: &str,
    ctx: &ToolContext,
) -> Result<String> {
    Ok(format!("{name}, {}", ctx.call_id()))
}
