//! The tests of the tool, against a server on this machine that stands in for Open-Meteo.
//!
//! The files in `tests/answers` have the shape and all the fields of the service's own answers to the
//! requests that the tool makes; the weather in them is made up.

mod faults;
mod places;
mod reports;
mod server;
