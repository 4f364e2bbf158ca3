//! The agent: a conversation with a language model that may call tools.

#[cfg(feature = "models")]
pub mod http;
pub mod model;

#[cfg(feature = "models")]
pub use http::{HttpModel, HttpSettings};
pub use model::{DeltaSink, Model, ModelError, ModelErrorKind};
