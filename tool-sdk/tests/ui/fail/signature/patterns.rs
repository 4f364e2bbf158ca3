use tool_sdk::prelude::*;

#[tool]
fn area((width, height): (u32, u32), [_a, _b]: [u8; 2], _: bool, _unused: i8) -> u32 {
    width * height
}

fn main() {
    area((1, 2), [1, 2], true, 0);
}
