use tool_sdk::prelude::*;

#[tool(name = "a", name = "b", inline, inline)]
fn tool_keys() {}

#[tool]
fn arg_keys(
    #[arg(default = 1, default = 2)] a: u8,
    #[arg(rename = "x")]
    #[arg(rename = "y")]
    b: u8,
) {
    let _ = (a, b);
}

fn main() {}
