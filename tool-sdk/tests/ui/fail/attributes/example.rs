//! An example is an object of arguments and what comes of it.
#![allow(unused)]

use tool_sdk::prelude::*;

#[tool(example)]
fn bare() {}

#[tool(example = "x")]
fn text() {}

#[tool(example("x"))]
fn no_object(a: String) {}

#[tool(example({"a": "x"} "x"))]
fn no_comma(a: String) {}

#[tool(example({"a": "x"}, regex = "x"))]
fn another_key(a: String) {}

#[tool(example({"a": "x"}, pattern = 1))]
fn no_pattern(a: String) {}

fn main() {}
