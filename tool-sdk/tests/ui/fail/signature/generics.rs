use tool_sdk::prelude::*;

#[tool]
fn of_type<T: Clone>(value: T) -> String {
    let _ = value;
    String::new()
}

#[tool]
fn of_const<const N: usize>(value: [u8; N]) -> usize {
    value.len()
}

#[tool]
fn of_lifetime<'a>(text: &'a str) -> &'a str {
    text
}

fn main() {
    of_type(1);
    of_const([1]);
    of_lifetime("");
}
