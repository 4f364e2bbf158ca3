use tool_sdk::prelude::*;

#[tool]
fn f(#[arg(rename = "context")] ctx: &ToolContext, #[arg(default = 1)] all: &Args) {
    let _ = (ctx, all);
}

fn main() {}
