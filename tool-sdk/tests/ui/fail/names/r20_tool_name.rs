//! Requirement R20: names are checked where they are written.
use tool_sdk::prelude::*;

#[tool(name = "calendar.read")]
fn dotted() {}

#[tool(name = "")]
fn empty() {}

#[tool(name = "a2345678901234567890123456789012345678901234567890123456789012345")]
fn long() {}

#[tool]
fn größe() {}

fn main() {}
