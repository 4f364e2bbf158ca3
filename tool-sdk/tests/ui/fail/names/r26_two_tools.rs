//! Requirement R26: two equal names in a crate fail its build.
use tool_sdk::prelude::*;

#[tool(name = "ping")]
fn first() {}

mod inner {
    use tool_sdk::prelude::*;

    #[tool]
    pub fn ping() {}
}

fn main() {}
