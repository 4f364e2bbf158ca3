//! What a model answers, whole and piece by piece.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Block, Message, Role};

/// One answer of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// Text, thoughts and calls, in the order in which they came. Every call has an id.
    pub content: Vec<Block>,
    /// Why it ends here.
    pub stop: StopReason,
    /// What it cost: `{"inputTokens": …, "outputTokens": …}` and whatever else the provider counts.
    pub usage: Option<Value>,
}

/// Why an answer ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum StopReason {
    /// The model has said everything.
    End,
    /// The model waits for the results of its calls.
    ToolUse,
    /// The limit of tokens was reached: the last call may be cut off (R25).
    Length,
    /// The provider did not let the model go on.
    Refused,
    /// What the provider calls it.
    #[serde(untagged)]
    Other(String),
}

/// A piece of an answer that is on its way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(
    tag = "type",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
#[non_exhaustive]
pub enum Delta {
    /// More text.
    Text {
        /// What follows.
        text: String,
    },
    /// More of a thought.
    Thinking {
        /// What follows.
        thinking: String,
    },
    /// More of a call.
    ToolUse {
        /// Which call of the answer, from 0.
        index: usize,
        /// Its id, once.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<String>,
        /// Its tool, once.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        /// What follows of the text of its arguments.
        arguments: String,
    },
    /// The connection was cut, and the answer begins anew: what came of it is void.
    Restart,
}

impl Reply {
    /// An answer of these blocks. It waits for results where there are calls.
    pub fn new(content: Vec<Block>) -> Self {
        let calls = content
            .iter()
            .any(|block| matches!(block, Block::ToolUse { .. }));
        Self {
            content,
            stop: if calls {
                StopReason::ToolUse
            } else {
                StopReason::End
            },
            usage: None,
        }
    }

    /// An answer of one text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::new(vec![Block::text(text)])
    }

    /// The answer as a message.
    pub fn into_message(self) -> Message {
        Message::new(Role::Assistant, self.content)
    }
}
