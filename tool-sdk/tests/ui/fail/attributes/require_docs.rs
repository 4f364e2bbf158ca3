//! Everything that a model sees is described where the author asks for it.
#![allow(unused)]

use tool_sdk::prelude::*;

#[tool(require_docs)]
fn nothing_said(a: u8, ctx: &ToolContext) {}

/// Says something.
///
/// # Arguments
/// * `first` - is described
#[tool(require_docs)]
fn something_said(first: u8, #[arg(description = "  ")] second: u8, /** Third. */ third: u8) {}

fn main() {}
