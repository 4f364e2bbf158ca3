use tool_sdk::prelude::*;

#[tool(name = "first")]
#[tool(name = "second")]
fn both() {}

fn main() {
    both();
}
