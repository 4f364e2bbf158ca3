use tool_sdk::prelude::*;

#[tool]
fn f(#[arg(default = 256)] byte: u8, #[arg(default = -129)] small: i8) {
    let _ = (byte, small);
}

fn main() {}
