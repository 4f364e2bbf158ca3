//! Calls on several threads share state.
#![allow(unused)]

use std::cell::Cell;

use tool_sdk::prelude::*;

#[plugin_state]
fn open() -> Result<Cell<u8>> {
    Ok(Cell::new(1))
}

fn main() {}
