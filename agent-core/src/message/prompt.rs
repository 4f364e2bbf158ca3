//! What a model is asked with.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::Message;
use crate::tool::ToolSpec;

/// What the model is to know this time: the instructions, what was said, the tools that it may call.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Context {
    /// The instructions at the head of the conversation; empty where there are none.
    pub system_prompt: String,
    /// What was said.
    pub messages: Vec<Message>,
    /// The tools that may be called, in R3's order.
    pub tools: Vec<Arc<ToolSpec>>,
    /// Whether the model is to answer without calling any. It is shown the tools all the same:
    /// providers refuse a conversation with calls of tools that they are not told of.
    pub calls_are_over: bool,
}

/// A context together with its conversation in the words of a provider.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Prompt {
    /// What the model is to know.
    pub context: Context,
    /// The part of the request's body that holds instructions and messages, as
    /// `{"messages": […]}` of `OpenAI`, or `{"system": …, "messages": […]}` of Anthropic.
    pub conversation: Map<String, Value>,
}
