use tool_sdk::prelude::*;

#[tool]
unsafe fn read(address: u64) -> u64 {
    address
}

fn main() {
    unsafe { read(0) };
}
