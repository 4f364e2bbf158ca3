//! The internal form of a conversation. Providers' shapes exist in `format` only.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tool_sdk::Content;

use crate::tool::ToolCallResult;

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
        /// The arguments, an object.
        input: Value,
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
        /// The thought.
        thinking: String,
    },
    /// Text, a picture, a sound or a document, as in the result of a tool.
    #[serde(untagged)]
    Content(Content),
}

impl Message {
    /// A message of one text block.
    pub fn text(role: Role, text: impl Into<String>) -> Self {
        Self {
            role,
            name: None,
            content: vec![Block::Content(Content::text(text))],
        }
    }

    /// The message that carries a call's result back to the model.
    pub fn tool_result(result: &ToolCallResult) -> Self {
        let block = Block::ToolResult {
            tool_call_id: result.tool_call_id.clone(),
            tool_name: result.tool_name.clone(),
            content: result.content.clone(),
            is_error: result.is_error,
        };
        Self {
            role: Role::Tool,
            name: None,
            content: vec![block],
        }
    }
}
