//! A comma may stand behind the last of everything.
use tool_sdk::prelude::*;

#[tool()]
fn comma(#[arg()] x: u8,) -> u8 {
    x
}

#[tool(name = "comma-named", label = "B", parallel = true, inline,)]
fn commas(#[arg(default = 1,)] #[arg(rename = "y",)] x: u8,) -> u8 {
    x
}
