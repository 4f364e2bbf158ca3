//! One definition, many dialects. Pure functions: nothing here asks a network or a clock.
#![forbid(unsafe_code)]

mod arguments;
pub mod content;
pub mod mcp;
pub mod openai;
