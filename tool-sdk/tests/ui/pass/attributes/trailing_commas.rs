use tool_sdk::prelude::*;

#[tool()]
fn a(#[arg()] x: u8,) -> u8 {
    x
}

#[tool(name = "b2", label = "B", parallel = true, inline,)]
fn b(#[arg(default = 1,)] #[arg(rename = "y",)] x: u8,) -> u8 {
    x
}

fn main() {}
