//! The internal form of a conversation. Providers' shapes exist in `format` only.
//!
//! Owns what is said ([`Message`]), what a model is asked with ([`Context`], [`Prompt`]) and what it
//! answers ([`Reply`], [`Delta`]). Which message may follow which is the conversation's affair.

pub mod prompt;
pub mod reply;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tool_sdk::Content;

use crate::json_value;
use crate::tool::ToolCallResult;

pub use prompt::{Context, Prompt};
pub use reply::{Delta, Reply, StopReason};

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum Role {
    /// Instructions.
    System,
    /// A person.
    User,
    /// The model.
    Assistant,
    /// The result of a tool.
    Tool,
}

/// One message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// Name of the speaker, where several share a role.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What is said.
    pub content: Vec<Block>,
}

/// One block of a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(
    tag = "type",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
#[non_exhaustive]
pub enum Block {
    /// The model calls a tool.
    ToolUse {
        /// Id of the call.
        id: String,
        /// Name of the tool.
        name: String,
        /// The arguments as the model sent them.
        input: Arguments,
    },
    /// The answer to a call.
    ToolResult {
        /// Id of the call.
        tool_call_id: String,
        /// Name of the tool.
        tool_name: String,
        /// What the model sees.
        content: Vec<Content>,
        /// Whether the call failed.
        is_error: bool,
    },
    /// What the model thought.
    Thinking {
        /// The thought; empty where the provider keeps it to itself.
        thinking: String,
        /// What the provider wants back to believe the thought.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signature: Option<String>,
        /// The thought as only the provider can read it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        redacted: Option<String>,
    },
    /// Text, a picture, a sound or a document, as in the result of a tool.
    #[serde(untagged)]
    Content(Content),
}

/// The arguments of a call as they were sent. A string in JSON is the text that was sent; anything
/// else is the value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Arguments {
    /// As text that should be JSON.
    Text(String),
    /// As JSON.
    Json(Value),
}

impl Arguments {
    /// The object that was sent, or `None` where it is none. Nothing at all is an empty object
    /// (R11).
    pub fn object(&self) -> Option<Map<String, Value>> {
        let value = match self {
            Self::Json(value) => value.clone(),
            Self::Text(text) if text.trim().is_empty() => Value::Null,
            Self::Text(text) => json_value::parse(text).ok()?,
        };
        match value {
            Value::Object(object) => Some(object),
            Value::Null => Some(Map::new()),
            _ => None,
        }
    }
}

impl Message {
    /// A message of one text block.
    pub fn text(role: Role, text: impl Into<String>) -> Self {
        Self::new(role, vec![Block::text(text)])
    }

    /// A message of these blocks, by nobody in particular.
    pub fn new(role: Role, content: Vec<Block>) -> Self {
        Self {
            role,
            name: None,
            content,
        }
    }

    /// The message that carries a call's result back to the model.
    pub fn tool_result(result: &ToolCallResult) -> Self {
        let block = Block::ToolResult {
            tool_call_id: result.tool_call_id.to_string(),
            tool_name: result.tool_name.to_string(),
            content: result.content.clone(),
            is_error: result.is_error,
        };
        Self::new(Role::Tool, vec![block])
    }

    /// The text blocks, joined by newlines.
    pub fn as_text(&self) -> String {
        let texts: Vec<&str> = self.content.iter().filter_map(Block::as_text).collect();
        texts.join("\n")
    }
}

impl Block {
    /// A block of text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Content(Content::text(text))
    }

    /// The text, where the block is one.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Content(content) => content.as_text(),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Checks that a message is written like this and read back as it was.
    #[expect(clippy::needless_pass_by_value, reason = "callers write `json!(…)`")]
    fn check(block: Block, json: Value) {
        let message = Message::new(Role::Assistant, vec![block]);
        let expected = json!({"role": "assistant", "content": [json]});
        assert_eq!(serde_json::to_value(&message).unwrap(), expected);
        assert_eq!(
            serde_json::from_value::<Message>(expected).unwrap(),
            message
        );
    }

    #[test]
    fn every_block_reads_back_as_it_was() {
        let call = |input| Block::ToolUse {
            id: "call_1".to_owned(),
            name: "getWeather".to_owned(),
            input,
        };
        check(
            call(Arguments::Json(json!({"city": "Tokyo"}))),
            json!({"type": "toolUse", "id": "call_1", "name": "getWeather", "input": {"city": "Tokyo"}}),
        );
        // Broken text is kept as it was sent.
        check(
            call(Arguments::Text("{\"city\": ".to_owned())),
            json!({"type": "toolUse", "id": "call_1", "name": "getWeather", "input": "{\"city\": "}),
        );
        check(
            Block::ToolResult {
                tool_call_id: "call_1".to_owned(),
                tool_name: "getWeather".to_owned(),
                content: vec![Content::text("Sunny"), Content::image("AA==", "image/png")],
                is_error: false,
            },
            json!({
                "type": "toolResult", "toolCallId": "call_1", "toolName": "getWeather",
                "isError": false, "content": [
                    {"type": "text", "text": "Sunny"},
                    {"type": "image", "data": "AA==", "mimeType": "image/png"},
                ],
            }),
        );
        check(
            Block::Thinking {
                thinking: "Hm".to_owned(),
                signature: Some("s".to_owned()),
                redacted: None,
            },
            json!({"type": "thinking", "thinking": "Hm", "signature": "s"}),
        );
        check(
            Block::text("Hello"),
            json!({"type": "text", "text": "Hello"}),
        );
    }

    /// R11: nothing at all is an empty object, whatever is none is not replaced by one.
    #[test]
    fn r11_arguments_are_an_object_or_none() {
        let text = |text: &str| Arguments::Text(text.to_owned()).object();
        assert_eq!(text(r#"{"a": 1}"#), json!({"a": 1}).as_object().cloned());
        for empty in ["", " \n", "null", "{}"] {
            assert_eq!(text(empty), Some(Map::new()), "{empty:?}");
        }
        for other in ["{\"a\": ", "[]", "5", "city"] {
            assert_eq!(text(other), None, "{other:?}");
        }
        assert_eq!(Arguments::Json(Value::Null).object(), Some(Map::new()));
        assert_eq!(Arguments::Json(json!("{}")).object(), None);
    }
}
