//! What changes nothing destroys nothing.
#![allow(unused)]

use tool_sdk::prelude::*;

#[tool(read_only, destructive)]
fn contradiction() {}

#[tool(idempotent = "yes", open_world = 1)]
fn no_booleans() {}

fn main() {}
