//! The agent: a conversation with a language model that may call tools.

pub mod model;

pub use model::{DeltaSink, Model, ModelError, ModelErrorKind};
