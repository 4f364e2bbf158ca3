//! One compile names every problem of the item, and calls of the function raise no others.
use tool_sdk::prelude::*;

#[tool(name = "get weather", paralel = true, timeout = "30", inline)]
async fn get_weather(
    #[arg(defualt = "x")] city: &String,
    (lat, lon): (f64, f64),
    huge: u128,
    #[arg(rename = "huge")] other: u64,
) -> impl Into<String> {
    format!("{city}{lat}{lon}{huge}{other}")
}

fn main() {
    let _ = get_weather;
}
