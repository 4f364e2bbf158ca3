//! What an opener fails with has to say why.
#![allow(unused)]

use tool_sdk::prelude::*;

struct Db;
struct Failure;

#[plugin_state]
fn open() -> Result<Db, Failure> {
    Err(Failure)
}

fn main() {}
