//! Helper processes: code that nobody has tried runs there first, and code that nobody trusts stays
//! there.
//!
//! Life of a helper:
//!
//! 1. [`program`] finds the executable once and keeps it open, so that a rebuild can't pull it
//!    away; [`helpers`] keeps one process of a kind waiting for work.
//! 2. [`client`] starts it in a process group of its own. Its standard input is a socket; what it
//!    and everything in it print (`words`) is kept for the report of its end.
//! 3. The two speak `frames`: a greeting, then requests and answers of `protocol`.
//! 4. Where it is to be confined, it gives up what is not granted ([`sandbox`]) before it does
//!    anything else.
//! 5. It ends when it is told to, when its time is up, or when the host is gone: it watches the
//!    host's end of the socket on a thread of its own, so that nothing that it runs can keep it alive.
//!
//! [`helper`] is the child's side. There are two uses:
//!
//! - [`probe`] tries libraries out before they are mapped elsewhere.
//! - A *worker* serves one version of a plugin for as long as that is in service. [`supervisor`] keeps
//!   its process running, `connection` carries calls and their answers (`outbox`, `services`),
//!   [`tools`] makes them tools like any others. The child's side is `serve`, whose threads are a
//!   `crew`.
//! - [`confined`] is a helper that confines itself and becomes a compiler.

pub mod client;
pub mod confined;
mod connection;
mod crew;
mod frames;
pub mod helper;
pub mod helpers;
mod outbox;
pub mod probe;
pub mod program;
mod protocol;
pub mod sandbox;
mod serve;
mod services;
pub mod supervisor;
pub mod tools;
mod words;

pub use client::{Helper, HelperError};
pub use helpers::{Helpers, Restriction, Sandbox};
pub use probe::{Candidate, Prober};
pub use program::HelperProgram;
pub use tools::start_plugin;
