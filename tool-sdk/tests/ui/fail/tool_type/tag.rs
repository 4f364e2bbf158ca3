//! A tag tells variants apart, and a struct has none.
#![allow(unused)]

use tool_sdk::prelude::*;

#[tool_type]
#[serde(tag = "kind")]
struct Circle {
    radius: f64,
}

fn main() {}
