//! Functions of one name are tools of different names.
use tool_sdk::prelude::*;

mod first {
    use tool_sdk::prelude::*;

    #[tool(name = "first")]
    pub fn run() {}
}

mod second {
    use tool_sdk::prelude::*;

    #[tool(name = "second")]
    pub fn run() {}
}

#[tool]
fn run() {
    first::run();
    second::run();
}

#[test]
fn all_are_called() {
    run();
}
