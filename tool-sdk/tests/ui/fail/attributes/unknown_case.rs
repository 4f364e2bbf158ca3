//! Names are spelled as serde spells them.
#![allow(unused)]

use tool_sdk::prelude::*;

#[tool(rename_all = "camel")]
fn cases(max_results: u8) {}

fn main() {}
