use tool_sdk::prelude::*;

#[tool(validate = missing::hook)]
fn a() {}

#[tool(prepare = missing)]
fn b() {}

fn main() {}
