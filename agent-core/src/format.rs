//! One definition, many dialects. Pure functions: nothing here asks a network or a clock.
#![forbid(unsafe_code)]

pub mod mcp;
