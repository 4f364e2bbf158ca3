//! Chat Completions, the dialect of `OpenAI` and of the many servers that imitate it.
//!
//! Owns the request's body; its messages, the answer and the stream have files of their own.

mod conversation;
mod reply;
mod stream;

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::schema::{opened, rooted};
use crate::json_text::shortened;
use crate::message::Prompt;
use crate::tool::ToolSpec;

pub use conversation::conversation;
pub use reply::reply;
pub use stream::Stream;

/// Longest description of a tool, in characters (`g2.desc-length.1`).
const DESCRIPTION: usize = 1024;

/// The tools as the list that a request holds, each in A8's shape (R33).
pub fn tools(specs: &[Arc<ToolSpec>]) -> Value {
    let tools = specs.iter().map(|spec| {
        let mut function = Map::new();
        function.insert("name".to_owned(), json!(spec.name));
        if !spec.description.is_empty() {
            // One character less, for the ellipsis.
            let description = match spec.description.chars().count() {
                0..=DESCRIPTION => spec.description.clone(),
                _ => shortened(&spec.description, DESCRIPTION - 1),
            };
            function.insert("description".to_owned(), description.into());
        }
        let parameters = opened(&rooted(&spec.input_schema));
        function.insert("parameters".to_owned(), parameters);
        json!({"type": "function", "function": function})
    });
    tools.collect()
}

/// The body of a request. What `parameters` holds goes into it as it is, in place of what would
/// stand there else.
pub fn request(
    prompt: &Prompt,
    model: &str,
    parameters: &Map<String, Value>,
    stream: bool,
) -> Value {
    let mut body = Map::from_iter([("model".to_owned(), json!(model))]);
    body.extend(prompt.conversation.clone());
    if !prompt.context.tools.is_empty() {
        body.insert("tools".to_owned(), tools(&prompt.context.tools));
        if prompt.context.calls_are_over {
            body.insert("tool_choice".to_owned(), json!("none"));
        }
    }
    if stream {
        body.insert("stream".to_owned(), json!(true));
        // The usage comes in a last chunk of its own, and only if it is asked for.
        body.insert("stream_options".to_owned(), json!({"include_usage": true}));
    }
    body.extend(parameters.clone());
    body.into()
}

#[cfg(test)]
mod tests;
