//! One definition, many dialects. Pure functions: nothing here asks a network or a clock.
#![forbid(unsafe_code)]

pub mod anthropic;
mod arguments;
pub mod blocks;
pub mod content;
mod error;
pub mod mcp;
mod names;
pub mod openai;
pub(crate) mod received;
mod schema;
mod stream;

pub use error::FormatError;
