use tool_sdk::prelude::*;

#[tool]
struct Weather {
    city: String,
}

#[tool]
mod tools {}

trait Tool {
    #[tool]
    fn call(city: String) -> String;
}

fn main() {}
