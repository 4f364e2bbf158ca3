//! An opener is an ordinary function, and has no keys.
#![allow(unused)]

use tool_sdk::prelude::*;

struct Db;

#[plugin_state(lazy)]
unsafe fn open<T>() -> Db {
    Db
}

impl Db {
    #[plugin_state]
    fn method(&self) -> Db {
        Db
    }
}

fn main() {}
