//! What has to compile: each module is a crate's worth of tools that the macros take as they are.
//! What such tools do is for `behaviour`; what the macros refuse is for `ui`.

#![expect(
    clippy::allow_attributes,
    clippy::allow_attributes_without_reason,
    clippy::pedantic,
    clippy::too_many_arguments,
    clippy::unwrap_used,
    let_underscore_drop,
    unreachable_pub,
    unused_qualifications,
    reason = "these tools are there for their signatures"
)]

mod aliases;
mod crates_called_like_std;
mod deprecated;
mod derives_kept;
mod every_key;
// Public, so that its lints about what others see have something to see.
pub mod forbid_unsafe_code;
mod from_macro_rules;
mod hooks;
mod lent_results;
mod many_parameters;
mod modifiers;
mod no_imports;
mod same_function_names;
mod serde_attributes;
mod state;
// Without its commas it would show nothing.
#[rustfmt::skip]
mod trailing_commas;

use tool_sdk::testing;

/// Each is a tool of this program, described without a complaint.
#[test]
fn all_are_tools() {
    for tool in [
        "aliased",
        "allowed",
        "bare",
        "beside_serde",
        "beside_std",
        "bounded",
        "comma",
        "comma-named",
        "constant",
        "derived",
        "either",
        "every-key",
        "expected",
        "external",
        "first",
        "from_all",
        "from_context",
        "greet",
        "hooked",
        "hooked_by_constant",
        "hooked_by_general",
        "kinds",
        "lent",
        "made",
        "many",
        "old",
        "plain",
        "queried",
        "run",
        "second",
        "trimmed",
        "with_serde",
    ] {
        if let Err(error) = testing::describe(tool) {
            panic!("`{tool}`: {error}");
        }
    }
}
