use tool_sdk::prelude::*;

#[tool(validate_only)]
fn anything_goes(city: String) {
    drop(city);
}

fn main() {}
