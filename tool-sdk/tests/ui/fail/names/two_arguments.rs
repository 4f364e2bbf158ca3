use tool_sdk::prelude::*;

#[tool]
fn f(a: u8, #[arg(rename = "a")] b: u8) {
    let _ = (a, b);
}

fn main() {}
