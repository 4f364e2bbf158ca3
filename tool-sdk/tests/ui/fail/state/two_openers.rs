//! One type is opened once.
#![allow(unused)]

use tool_sdk::prelude::*;

struct Db;

#[plugin_state]
fn open() -> Db {
    Db
}

#[plugin_state]
fn open_again() -> Result<Db> {
    Ok(Db)
}

#[tool]
fn query(db: &Db) {}

fn main() {}
