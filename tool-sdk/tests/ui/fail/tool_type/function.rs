use tool_sdk::prelude::*;

#[tool_type]
fn f() {}

fn main() {
    f();
}
