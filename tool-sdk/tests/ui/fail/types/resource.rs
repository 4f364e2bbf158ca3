use std::fs::File;
use std::rc::Rc;

use tool_sdk::prelude::*;

#[tool]
fn read(file: File, name: Option<Rc<File>>) {
    let _ = (file, name);
}

fn main() {}
