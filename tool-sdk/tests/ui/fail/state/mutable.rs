//! Calls share state, so none of them may change it alone.
#![allow(unused)]

use tool_sdk::prelude::*;

struct Db;

#[plugin_state]
fn open() -> Db {
    Db
}

#[tool]
fn write(db: &mut Db) {}

fn main() {}
