//! Everything that is shown is enforced, so a format has to be one that hosts check.
#![allow(unused)]

use tool_sdk::prelude::*;

#[tool]
fn formats(#[arg(format = "datetime")] at: String, #[arg(format = "zip-code")] zip: String) {}

fn main() {}
