use tool_sdk::prelude::*;

#[tool]
fn f(größe: u8, #[arg(rename = "a b")] other: u8, #[arg(rename = "")] none: u8) {
    let _ = (größe, other, none);
}

fn main() {}
