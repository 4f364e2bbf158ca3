use tool_sdk::prelude::*;

#[tool]
fn wide(unsigned: u128, signed: i128) {
    let _ = (unsigned, signed);
}

fn main() {}
