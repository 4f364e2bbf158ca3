//! Messages, the dialect of Anthropic.
//!
//! Owns the request's body; its messages, the answer and the stream have files of their own.

mod conversation;
mod reply;
mod stream;

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::schema::rooted;
use crate::limits;
use crate::message::Prompt;
use crate::tool::ToolSpec;

pub use conversation::conversation;
pub use reply::reply;
pub use stream::Stream;

/// The tools as the list that a request holds (A20).
pub fn tools(specs: &[Arc<ToolSpec>]) -> Value {
    let tools = specs.iter().map(|spec| {
        let mut tool = Map::from_iter([("name".to_owned(), json!(spec.name))]);
        if !spec.description.is_empty() {
            tool.insert("description".to_owned(), json!(spec.description));
        }
        tool.insert("input_schema".to_owned(), rooted(&spec.input_schema));
        Value::Object(tool)
    });
    tools.collect()
}

/// The body of a request. What `parameters` holds goes into it as it is, in place of what would
/// stand there else; `max_tokens`, which this dialect demands, is
/// [`limits::MODEL_ANSWER_TOKENS`] where it is not among them.
pub fn request(
    prompt: &Prompt,
    model: &str,
    parameters: &Map<String, Value>,
    stream: bool,
) -> Value {
    let mut body = Map::from_iter([
        ("model".to_owned(), json!(model)),
        ("max_tokens".to_owned(), json!(limits::MODEL_ANSWER_TOKENS)),
    ]);
    body.extend(prompt.conversation.clone());
    if prompt.context.tools.is_empty() {
        body.extend(uncallable(&prompt.conversation));
    } else {
        body.insert("tools".to_owned(), tools(&prompt.context.tools));
        if prompt.context.calls_are_over {
            body.insert("tool_choice".to_owned(), json!({"type": "none"}));
        }
    }
    if stream {
        body.insert("stream".to_owned(), json!(true));
    }
    body.extend(parameters.clone());
    body.into()
}

/// The tools that a conversation mentions while none may be called: the dialect refuses calls and
/// results in a request without tools.
fn uncallable(conversation: &Map<String, Value>) -> Map<String, Value> {
    let messages = conversation.get("messages").and_then(Value::as_array);
    let contents = messages.into_iter().flatten();
    let contents = contents.filter_map(|message| message.get("content")?.as_array());
    let names: BTreeSet<&str> = contents
        .flatten()
        .filter(|block| block.get("type").is_some_and(|kind| kind == "tool_use"))
        .filter_map(|block| block.get("name")?.as_str())
        .collect();
    if names.is_empty() {
        return Map::new();
    }
    let tools = names.into_iter().map(|name| {
        let schema = json!({"type": "object", "properties": {}});
        json!({"name": name, "description": "Can't be called now.", "input_schema": schema})
    });
    Map::from_iter([
        ("tools".to_owned(), tools.collect()),
        ("tool_choice".to_owned(), json!({"type": "none"})),
    ])
}

#[cfg(test)]
mod tests;
