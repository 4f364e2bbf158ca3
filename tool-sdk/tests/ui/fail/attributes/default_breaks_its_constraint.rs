//! What stands in for an absent argument must be allowed itself, and so must an example.
#![allow(unused)]

use tool_sdk::prelude::*;

#[tool]
fn broken(
    #[arg(default = 0, min = 1)] a: u8,
    #[arg(default = 11, max = 10)] b: Option<u8>,
    #[arg(default = 0.0, exclusive_min = 0)] c: f64,
    #[arg(default = "", min_length = 1)] d: &str,
    #[arg(default = "ééé", max_length = 2)] e: String,
    #[arg(default = "red", one_of = ["green", "blue"])] f: String,
    #[arg(default = "red", one_of = ["red"], example = "green")] g: String,
    #[arg(example = 5, max = 4)] h: i64,
) {
}

fn main() {}
