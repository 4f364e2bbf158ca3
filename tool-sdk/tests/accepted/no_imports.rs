//! Nothing has to be imported, not even the standard prelude.
#![no_implicit_prelude]

#[::tool_sdk::tool]
async fn plain(
    a: ::std::string::String,
    b: &str,
    ctx: &::tool_sdk::ToolContext,
) -> ::std::string::String {
    let _ = (b, ctx);
    a
}

#[::tool_sdk::tool(name = "bare")]
fn fallible(#[arg(default = 1)] a: u8) -> ::std::result::Result<u8, ::tool_sdk::ToolError> {
    ::std::result::Result::Ok(a)
}
