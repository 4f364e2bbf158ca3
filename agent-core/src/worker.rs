//! Helper processes: code that nobody has tried runs there first.
//!
//! Life of a helper:
//!
//! 1. [`program`] finds the executable once and keeps it open, so that a rebuild can't pull it
//!    away.
//! 2. [`client`] starts it in a process group of its own. Its standard input is a socket; what it
//!    and everything in it print is kept for the report of a crash.
//! 3. The two speak `frames`: a greeting, then requests and answers of `protocol`.
//! 4. It ends when it is told to, when its time is up, or when the host is gone: it reads the end
//!    of the socket on a thread of its own, so that nothing that it runs can keep it alive.
//!
//! [`helper`] is the child's side, [`probe`] the first use: trying libraries out before the host
//! maps them. [`confined`] is another: a helper that confines itself and becomes a compiler.

pub mod client;
pub mod confined;
mod connection;
mod frames;
pub mod helper;
pub mod helpers;
pub mod probe;
pub mod program;
mod protocol;
pub mod sandbox;
mod serve;
pub mod supervisor;
pub mod tools;
mod words;

pub use client::{Helper, HelperError};
pub use helpers::{Helpers, Sandbox};
pub use probe::{Candidate, Prober};
pub use program::HelperProgram;
pub use tools::start_plugin;
