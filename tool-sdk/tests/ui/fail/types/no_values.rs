use tool_sdk::prelude::*;

#[tool]
fn strange(function: fn(u8) -> u8, pointer: *const u8, nothing: (), any: impl Into<String>) {
    let _ = (function, pointer, nothing);
    let _: String = any.into();
}

fn main() {}
