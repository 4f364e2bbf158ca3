use tool_sdk::prelude::*;

struct Failure;

#[tool]
fn f() -> Result<String, Failure> {
    Err(Failure)
}

fn main() {}
