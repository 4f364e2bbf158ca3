//! State that no function opens; or an argument that was meant to be owned.
#![allow(unused)]

use tool_sdk::prelude::*;

struct Db;

#[tool]
fn query(db: &Db) {}

#[tool_type]
struct Filter {
    city: String,
}

#[tool]
async fn search(filter: &Filter) {}

fn main() {}
