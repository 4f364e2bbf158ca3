use tool_sdk::prelude::*;

struct Service;

impl Service {
    /// State has no place in a tool's receiver.
    #[tool]
    fn ping(&self) -> String {
        "pong".to_owned()
    }
}

fn main() {
    Service.ping();
}
