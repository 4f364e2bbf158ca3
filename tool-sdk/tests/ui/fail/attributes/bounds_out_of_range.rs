//! A bound that the type can't hold is found by the compiler, as for any literal of the type.
#![allow(unused)]

use tool_sdk::prelude::*;

#[tool]
fn bounds(#[arg(max = 256)] a: u8, #[arg(min = 70_000)] b: Option<i16>, #[arg(example = 300)] c: u8) {}

fn main() {}
