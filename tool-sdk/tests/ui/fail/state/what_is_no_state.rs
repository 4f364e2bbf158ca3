//! Tools find state by its type.
#![allow(unused)]

use tool_sdk::prelude::*;

#[plugin_state]
fn nothing() {}

#[plugin_state]
fn nothing_else() -> Result<()> {
    Ok(())
}

#[plugin_state]
fn hidden() -> Result<impl Send + Sync> {
    Ok(1)
}

#[plugin_state]
fn lent() -> &'static str {
    "x"
}

#[plugin_state]
struct Db;

fn main() {}
