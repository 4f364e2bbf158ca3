//! Functions of every shape that fits are hooks.
use tool_sdk::prelude::*;

mod checks {
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

#[tool(prepare = checks::prepare, validate = checks::verdict)]
fn hooked() {}

#[tool(prepare = checks::prepare_with_another_error, validate = checks::result::<1>)]
async fn hooked_by_constant() {}

#[tool(validate = checks::general)]
fn hooked_by_general() {}
