//! Derives of the author are not made twice.
use tool_sdk::__private::{schemars, serde};
use tool_sdk::prelude::*;

#[tool_type]
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
#[serde(crate = "tool_sdk::__private::serde", deny_unknown_fields)]
struct Place {
    name: String,
}

#[tool]
fn derived(place: Place) -> String {
    place.name
}
