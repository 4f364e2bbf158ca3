use tool_sdk::prelude::*;

#[tool_type]
union Number {
    whole: u64,
    float: f64,
}

fn main() {}
