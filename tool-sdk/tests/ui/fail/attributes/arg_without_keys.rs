use tool_sdk::prelude::*;

#[tool]
fn f(#[arg] a: u8, #[arg = "x"] b: u8, #[arg("x")] c: u8) {
    let _ = (a, b, c);
}

fn main() {}
