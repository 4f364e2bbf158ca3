//! The tests of the tool without a host around it.

mod answers;
mod changes;
mod places;
mod request;
