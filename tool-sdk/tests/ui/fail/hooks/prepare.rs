use tool_sdk::prelude::*;

fn takes_reference(args: &Args) -> Result<Args> {
    Ok(args.clone())
}

fn returns_args(args: Args) -> Args {
    args
}

#[tool(prepare = takes_reference)]
fn a() {}

#[tool(prepare = returns_args)]
fn b() {}

fn main() {}
