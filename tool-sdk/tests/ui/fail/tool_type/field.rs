use std::fs::File;

use tool_sdk::prelude::*;

#[tool_type]
struct Place {
    file: File,
}

fn main() {}
