use tool_sdk::prelude::*;

fn takes_value(_: Value) -> Option<String> {
    None
}

fn returns_bool(_: &Args) -> bool {
    true
}

async fn is_async(_: &Args) -> Option<String> {
    None
}

fn takes_two(_: &Args, _: &ToolContext) -> Option<String> {
    None
}

#[tool(validate = takes_value)]
fn a() {}

#[tool(validate = returns_bool)]
fn b() {}

#[tool(validate = is_async)]
fn c() {}

#[tool(validate = takes_two)]
fn d() {}

#[tool(validate = |_| None)]
fn e() {}

#[tool(validate = missing::hook)]
fn f() {}

fn main() {}
