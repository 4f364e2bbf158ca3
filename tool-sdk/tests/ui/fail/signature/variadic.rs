use tool_sdk::prelude::*;

#[tool]
unsafe extern "C" fn print(format: String, rest: ...) {
    let _ = (format, rest);
}

fn main() {}
