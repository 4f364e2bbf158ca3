//! Tests of the whole product, from outside: through the command, through the library, through
//! real files that change.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "helpers of tests fail the test"
)]

mod agent;
mod agreement;
mod architecture;
mod arguments;
mod around;
mod bad_files;
mod batches;
mod builds;
mod calls;
mod chat;
mod concurrency;
mod configuration;
mod contract;
mod events;
mod examples;
mod guide;
mod hooks;
mod host;
mod http;
mod killed;
mod many_tools;
mod of_folder;
mod order;
mod overflow;
mod panics;
mod permissions;
mod pinned;
mod pipeline;
mod plugins;
mod presets;
mod reload;
mod schemas;
mod soak;
mod standalone;
mod state;
mod statics;
mod threads;
mod tiers;
mod watching;
mod written;
