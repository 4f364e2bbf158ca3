use tool_sdk::prelude::*;

struct Place {
    city: String,
}

#[tool]
fn visit(place: Place, others: Vec<Place>) -> String {
    format!("{}{}", place.city, others.len())
}

fn main() {}
