//! Conversations with servers that speak like the providers': through the library, and through
//! `toolsmith chat` as a person or a program uses it.
//!
//! The servers run in the test and check what they are sent by the providers' rules, so that no test
//! passes with a request that a real server would refuse.

mod configuration;
mod conversations;
mod failures;
mod fixture;
mod interrupts;
mod lifecycle;
mod output;
mod permissions;
mod piped;
mod replies;
mod rules;
mod secrets;
mod server;
mod terminal;
