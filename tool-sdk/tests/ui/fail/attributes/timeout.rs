use tool_sdk::prelude::*;

#[tool(timeout = "30")]
fn no_unit() {}

#[tool(timeout = "30 seconds")]
fn other_unit() {}

#[tool(timeout = "0s")]
fn no_time() {}

fn main() {}
