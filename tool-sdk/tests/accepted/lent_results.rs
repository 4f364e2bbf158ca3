//! A result may borrow from the arguments and from the context.
use std::borrow::Cow;

use tool_sdk::prelude::*;

#[tool]
fn trimmed(text: &str) -> &str {
    text.trim()
}

#[tool]
async fn lent(text: &str) -> Result<Option<&str>> {
    Ok(text.get(1..))
}

#[tool]
fn either(text: &str) -> Cow<'_, str> {
    text.into()
}

#[tool]
fn from_context(ctx: &ToolContext) -> &str {
    ctx.call_id()
}

#[tool]
fn from_all(args: &Args) -> Vec<&String> {
    args.keys().collect()
}
