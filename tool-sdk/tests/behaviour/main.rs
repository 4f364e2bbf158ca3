//! What tools made with `#[tool]` do: how hosts see them, and what a call of each comes to. All
//! run without a host, through `tool_sdk::testing`.

#![expect(
    clippy::needless_pass_by_value,
    clippy::unnecessary_wraps,
    reason = "these tools are there for their signatures"
)]
#![expect(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "what is missing fails the test"
)]

/// Makes tools that take one value of each type.
macro_rules! taking {
    ($($name:ident: $type:ty,)*) => {$(
        #[tool]
        fn $name(value: $type) {
            let _ = &value;
        }
    )*};
}

mod agreement;
mod arguments;
mod attributes;
mod constraints;
mod descriptions;
mod finite;
mod formats;
mod functions;
mod hooks;
mod results;
mod state;
mod tool_types;

use tool_sdk::prelude::*;
use tool_sdk::testing;

/// A module of its own, from which tools are named by path.
mod constraints_home {
    use tool_sdk::prelude::*;

    #[tool]
    pub(super) fn here() {}
}

/// The description of a tool as hosts get it, without the place of its source.
fn described(tool: &str) -> Value {
    let mut description = json!(testing::describe(tool).unwrap());
    let fields = description.as_object_mut().unwrap();
    fields.remove("file");
    fields.remove("line");
    description
}

/// The input schema of a tool.
fn schema(tool: &str) -> Value {
    described(tool)["inputSchema"].take()
}

/// The schemas of a tool's arguments.
fn properties(tool: &str) -> Value {
    schema(tool)["properties"].take()
}

/// The text that a call comes to, or that of its error behind `error: `.
fn called(tool: &str, arguments: Value) -> String {
    match testing::run(tool, arguments) {
        Ok(run) => {
            let texts = run.result.content.iter().filter_map(Content::as_text);
            texts.collect::<Vec<_>>().join("\n")
        }
        Err(error) => format!("error: {error}"),
    }
}
