use tool_sdk::prelude::*;

#[tool(inline)]
async fn wait() {}

fn main() {}
