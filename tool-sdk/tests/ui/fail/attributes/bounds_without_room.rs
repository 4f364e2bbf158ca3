//! Between two bounds there has to be a value.
#![allow(unused)]

use tool_sdk::prelude::*;

#[tool]
fn empty(
    #[arg(min = 10, max = 1)] a: u8,
    #[arg(exclusive_min = 0.5, exclusive_max = 0.5)] b: f64,
    #[arg(min_length = 3, max_length = 2)] c: &str,
    #[arg(one_of = [])] d: String,
    #[arg(min = -1, max = -2)] e: Vec<i64>,
) {
}

fn main() {}
