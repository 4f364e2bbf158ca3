use tool_sdk::prelude::*;

struct NoJson;

#[tool]
fn f(
    #[arg(default = "5")] number: i64,
    #[arg(default = 5)] text: &str,
    #[arg(default = 5)] ratio: f64,
    #[arg(default = NoJson)] value: Value,
) {
    let _ = (number, text, ratio, value);
}

fn main() {}
