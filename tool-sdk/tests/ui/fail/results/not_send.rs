//! An async tool runs on a runtime with several threads.
use std::rc::Rc;

use tool_sdk::prelude::*;

async fn pause() {}

#[tool]
async fn f() -> String {
    let text = Rc::new(String::new());
    pause().await;
    text.to_string()
}

fn main() {}
