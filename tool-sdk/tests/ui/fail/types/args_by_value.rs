use tool_sdk::prelude::*;

#[tool]
fn all(args: Args) -> usize {
    args.len()
}

#[tool]
fn surroundings(ctx: ToolContext) -> String {
    ctx.call_id().to_owned()
}

fn main() {}
