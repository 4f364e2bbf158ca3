use tool_sdk::prelude::*;

#[tool]
fn list() -> impl Iterator<Item = u8> {
    [1].into_iter()
}

#[tool]
async fn text() -> Result<impl Into<String>> {
    Ok("text")
}

fn main() {}
