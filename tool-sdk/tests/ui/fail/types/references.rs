use std::path::Path;

use tool_sdk::prelude::*;

#[tool]
fn slices(bytes: &[u8], names: &[&str]) {
    let _ = (bytes, names);
}

#[tool]
fn borrowed(text: &String, path: &Path, list: &Vec<String>, value: &Value) {
    let _ = (text, path, list, value);
}

#[tool]
fn changed(list: &mut Vec<String>, bytes: &mut [u8], ctx: &mut ToolContext, args: &mut Args) {
    let _ = (list, bytes, ctx, args);
}

#[tool]
fn eternal(text: &'static str) {
    let _ = text;
}

#[tool]
fn dynamic(value: &dyn ToString) {
    let _ = value;
}

fn main() {}
