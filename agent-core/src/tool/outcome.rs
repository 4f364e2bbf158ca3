//! The one result of a call, whatever happened to it: success, error, panic, timeout, abort.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tool_sdk::{Content, ErrorKind, ToolError, ToolResult};

use super::Problem;

/// What a call came to, in the shape that programs read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolCallResult {
    /// The id that the model gave the call, unchanged.
    pub tool_call_id: Arc<str>,
    /// The name that was called.
    pub tool_name: Arc<str>,
    /// What the model sees.
    pub content: Vec<Content>,
    /// For programs.
    pub details: Map<String, Value>,
    /// What the call cost, in whatever shape the tool chose.
    pub usage: Option<Value>,
    /// Whether the agent's loop ends after this batch of calls.
    pub terminate: bool,
    /// Whether the call failed.
    pub is_error: bool,
    /// The result as data, where the tool gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub structured_content: Option<Value>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<CallError>,
}

/// Why a call failed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CallError {
    /// The kind.
    pub kind: ErrorKind,
    /// What happened.
    pub message: String,
    /// Each thing that is wrong with the arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<Problem>,
}

impl CallError {
    /// An error without problems of arguments.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            problems: Vec::new(),
        }
    }
}

impl From<ToolError> for CallError {
    fn from(error: ToolError) -> Self {
        Self::new(error.kind(), error.to_string())
    }
}

impl ToolCallResult {
    /// The result of a tool that ran.
    pub fn of_tool(id: impl Into<Arc<str>>, name: impl Into<Arc<str>>, result: ToolResult) -> Self {
        let ToolResult {
            content,
            details,
            usage,
            terminate,
            is_error,
            structured_content,
            ..
        } = result;
        let error = is_error.then(|| CallError::new(ErrorKind::ToolError, joined(&content)));
        Self {
            tool_call_id: id.into(),
            tool_name: name.into(),
            error,
            content,
            details,
            usage,
            terminate,
            is_error,
            structured_content,
        }
    }

    /// The result of a call that failed.
    pub fn of_error(id: impl Into<Arc<str>>, name: impl Into<Arc<str>>, error: CallError) -> Self {
        Self {
            tool_call_id: id.into(),
            tool_name: name.into(),
            content: vec![Content::text(&error.message)],
            details: Map::new(),
            usage: None,
            terminate: false,
            is_error: true,
            structured_content: None,
            error: Some(error),
        }
    }

    /// The text blocks, joined by newlines.
    pub fn text(&self) -> String {
        joined(&self.content)
    }
}

/// The text blocks, joined by newlines.
pub(crate) fn joined(content: &[Content]) -> String {
    let texts: Vec<&str> = content.iter().filter_map(Content::as_text).collect();
    texts.join("\n")
}
