use tool_sdk::prelude::*;

#[tool]
fn f() -> ! {
    panic!()
}

fn main() {}
