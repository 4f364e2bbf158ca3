use tool_sdk::prelude::*;

#[tool_type(rename_all = "camelCase")]
struct Place {
    city_name: String,
}

#[tool]
fn visit(place: Place) -> String {
    place.city_name
}

fn main() {}
