//! What may stand before `fn` and behind the signature.
use tool_sdk::prelude::*;

#[tool]
pub(crate) const fn constant() -> u8 {
    1
}

#[tool]
pub extern "C" fn external(a: u8) -> u8 {
    a
}

#[tool]
fn bounded(a: String) -> String
where
    String: Clone,
{
    a
}
