use tool_sdk::prelude::*;

#[tool(name = weather, label = 5, parallel = "yes", inline = true, timeout = 30)]
fn wrong() {}

#[tool(name, parallel, description)]
fn missing() {}

#[tool("getWeather")]
fn positional() {}

#[tool(name = "semicolon"; label = "x")]
fn semicolon() {}

fn main() {}
