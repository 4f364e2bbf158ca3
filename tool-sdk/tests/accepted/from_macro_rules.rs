//! Every piece may come from `macro_rules!`.
use tool_sdk::prelude::*;

macro_rules! make {
    ($(#[$meta:meta])* $vis:vis fn $function:ident($arg:ident: $ty:ty, $pat:pat => $ctx:ty) -> $ret:ty $body:block, $name:literal, $default:expr, $hook:path) => {
        $(#[$meta])*
        #[tool(name = $name, validate = $hook)]
        $vis fn $function(#[arg(default = $default)] $arg: $ty, $pat: $ctx) -> $ret $body
    };
}

fn pass(_: &Args) -> Option<String> {
    None
}

make! {
    /// Docs.
    pub fn f(a: Vec<u8>, _ => &ToolContext) -> Result<usize> { Ok(a.len()) }, "made", [1, 2], self::pass
}
