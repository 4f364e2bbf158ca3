//! Tools of this program that take every type of argument there is, under every key of `#[arg]`.
//!
//! Each answers what it got, as the JSON of its arguments under their names on the wire.

mod collections;
mod enums;
mod keys;
mod names;
mod numbers;
mod structs;
mod texts;

/// The JSON of arguments, each under its own name.
macro_rules! echo {
    ($($name:ident),* $(,)?) => {
        tool_sdk::prelude::json!({$(stringify!($name): $name),*})
    };
}
use echo;
