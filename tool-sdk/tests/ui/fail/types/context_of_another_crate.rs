//! The name is only a hint; the compiler says that the type is another one.
use tool_sdk::prelude::{Value, tool};

pub struct ToolContext;

#[tool]
fn ping(ctx: &ToolContext, value: Value) -> Value {
    let _ = ctx;
    value
}

fn main() {}
