use tool_sdk::prelude::*;

mod hooks {
    use tool_sdk::prelude::*;

    pub fn prepare(args: Args) -> Result<Args> {
        Ok(args)
    }

    pub fn prepare_with_another_error(args: Args) -> std::io::Result<Args> {
        Ok(args)
    }

    pub fn verdict(_: &Args) -> Option<String> {
        None
    }

    pub fn result<const N: usize>(_: &Args) -> Result<(), String> {
        Ok(())
    }

    pub fn general<T>(_: T) -> Option<String> {
        None
    }
}

#[tool(prepare = hooks::prepare, validate = hooks::verdict)]
fn a() {}

#[tool(prepare = hooks::prepare_with_another_error, validate = hooks::result::<1>)]
async fn b() {}

#[tool(validate = hooks::general)]
fn c() {}

fn main() {}
