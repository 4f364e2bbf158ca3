use tool_sdk::prelude::*;

type B = bool;

#[tool]
fn flags(all: (B, B, B, B, B, B, B, B, B, B, B, B, B, B, B, B, B)) {
    let _ = all;
}

fn main() {}
