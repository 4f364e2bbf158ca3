//! Modules with the names of crates do not get in the way.
use tool_sdk::prelude::*;

mod core {}
mod std {}
mod serde {}
mod schemars {}
mod linkme {}

#[tool]
fn beside_std(a: Option<u8>) -> Result<String> {
    Ok(format!("{a:?}"))
}

#[tool_type]
struct Place {
    name: String,
}

#[tool]
fn beside_serde(place: Place) -> String {
    place.name
}
