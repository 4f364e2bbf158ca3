//! Bounds have the type of the values, lengths are whole and not negative.
#![allow(unused)]

use tool_sdk::prelude::*;

#[tool]
fn typed(
    #[arg(min = -1)] b: Option<u32>,
    #[arg(max = "9")] c: i64,
    #[arg(min_length = -1)] d: String,
    #[arg(pattern = 5)] e: String,
    #[arg(one_of = [1, "2"])] f: u8,
) {
}

fn main() {}
