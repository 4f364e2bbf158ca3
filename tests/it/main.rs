//! Tests of the whole product, from outside: through the command, through the library, through
//! real files that change.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "helpers of tests fail the test"
)]

mod architecture;
mod arguments;
mod bad_files;
mod builds;
mod calls;
mod contract;
mod events;
mod hooks;
mod host;
mod order;
mod panics;
mod pipeline;
mod plugins;
mod reload;
mod standalone;
mod threads;
