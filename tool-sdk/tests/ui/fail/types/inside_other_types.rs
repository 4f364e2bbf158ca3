use std::collections::HashMap;

use tool_sdk::prelude::*;

#[tool]
fn nested(
    text: Option<&str>,
    list: Vec<&[u8]>,
    map: HashMap<String, Box<dyn Send>>,
    pair: (u8, i128),
) {
    let _ = (text, list, map, pair);
}

fn main() {}
