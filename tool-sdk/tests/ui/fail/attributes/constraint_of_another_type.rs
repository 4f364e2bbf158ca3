//! A constraint is about values that the argument takes.
#![allow(unused)]

use std::collections::HashMap;

use tool_sdk::prelude::*;

#[tool]
fn misplaced(
    #[arg(min = 1)] name: String,
    #[arg(max = 9, exclusive_max = 9)] table: Option<HashMap<String, u8>>,
    #[arg(min_length = 1)] count: u8,
    #[arg(max_length = 1)] flag: bool,
    #[arg(pattern = "^[0-9]+$")] digits: Vec<u64>,
    #[arg(format = "date")] day: &str,
    #[arg(format = "date")] year: i32,
) {
}

fn main() {}
