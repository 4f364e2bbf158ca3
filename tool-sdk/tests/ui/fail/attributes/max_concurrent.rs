//! At least one call has to run.
#![allow(unused)]

use tool_sdk::prelude::*;

#[tool(max_concurrent = 0)]
fn never() {}

#[tool(max_concurrent = "2")]
fn text() {}

#[tool(max_concurrent = -1)]
fn negative() {}

fn main() {}
