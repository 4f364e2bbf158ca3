use tool_sdk::prelude::*;

#[tool(nmae = "a", Label = "b", title = "c")]
fn tool_keys() {}

#[tool]
fn arg_keys(#[arg(defualt = 1)] a: u8, #[arg(minimum = 1)] b: u8) {
    let _ = (a, b);
}

fn main() {}
