//! What a model can't fill in is said at the field.
#![allow(unused)]

use tool_sdk::prelude::*;

#[tool_type]
struct Wide {
    id: u128,
    many: Vec<Option<i128>>,
    #[serde(skip)]
    counted: u128,
}

#[tool_type]
enum Choice {
    One(u128),
    Two { id: i128 },
}

fn main() {}
