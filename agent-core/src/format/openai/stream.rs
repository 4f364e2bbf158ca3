//! An answer that comes in chunks.

use serde_json::Value;

use super::reply::{counted, stop_named, thinking};
use crate::format::FormatError;
use crate::format::blocks;
use crate::format::received::{failure, parse, stop_reason};
use crate::format::stream::{Calls, Piece};
use crate::json_text::spaced;
use crate::message::{Block, Delta, Reply, StopReason};

/// What ends a stream that is whole.
const DONE: &str = "[DONE]";

/// An answer under way.
#[derive(Clone, Debug, Default)]
pub struct Stream {
    thinking: String,
    text: String,
    calls: Calls,
    refused: bool,
    finish: Option<StopReason>,
    done: bool,
    usage: Option<Value>,
}

impl Stream {
    /// An answer of which nothing has come yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the data of one event and tells what is new in it.
    ///
    /// # Errors
    /// Data that is no JSON, or a failure that the server reports.
    pub fn data(&mut self, data: &str) -> Result<Vec<Delta>, FormatError> {
        match data.trim() {
            "" => return Ok(Vec::new()),
            DONE => {
                self.done = true;
                return Ok(Vec::new());
            }
            _ => {}
        }
        let chunk = parse(data)?;
        if let Some(failure) = failure(&chunk) {
            return Err(failure);
        }
        if let Some(usage) = chunk.get("usage").and_then(counted) {
            self.usage = Some(usage);
        }
        match chunk.pointer("/choices/0") {
            Some(choice) => self.choice(choice),
            None => Ok(Vec::new()),
        }
    }

    /// Whether the model has said why it stops; what it cost may still follow.
    pub fn has_ended(&self) -> bool {
        self.finish.is_some() || self.done
    }

    /// Whether nothing follows any more.
    pub fn is_done(&self) -> bool {
        self.done
    }

    /// The whole answer.
    ///
    /// # Errors
    /// [`FormatError::Cut`] if the server has not said that the answer ends.
    pub fn finish(self) -> Result<Reply, FormatError> {
        if self.finish.is_none() && !self.done {
            return Err(FormatError::Cut);
        }
        let mut content = Vec::new();
        if !self.thinking.is_empty() {
            content.push(Block::Thinking {
                thinking: self.thinking,
                signature: None,
                redacted: None,
            });
        }
        content.extend(blocks::said(&self.text));
        content.extend(self.calls.into_blocks());
        let named = if self.refused {
            Some(StopReason::Refused)
        } else {
            self.finish
        };
        Ok(Reply {
            stop: stop_reason(named, &content),
            usage: self.usage,
            content,
        })
    }

    fn choice(&mut self, choice: &Value) -> Result<Vec<Delta>, FormatError> {
        if let Some(failure) = failure(choice) {
            return Err(failure);
        }
        let finish = choice.get("finish_reason").and_then(Value::as_str);
        // Some servers write nothing as the empty text.
        if let Some(finish) = finish.filter(|finish| !finish.is_empty()) {
            self.finish = Some(stop_named(finish));
        }
        let Some(delta) = choice.get("delta") else {
            return Ok(Vec::new());
        };
        let mut news = Vec::new();
        if let Some(thinking) = thinking(delta) {
            news.push(self.think(thinking));
        }
        let content = delta.get("content").and_then(blocks::read);
        for block in content.into_iter().flatten() {
            match block {
                Block::Thinking { thinking, .. } => news.push(self.think(&thinking)),
                block => news.extend(block.as_text().map(|text| self.say(text))),
            }
        }
        if let Some(refusal) = delta.get("refusal").and_then(Value::as_str) {
            self.refused = true;
            news.push(self.say(refusal));
        }
        let calls = delta.get("tool_calls").and_then(Value::as_array);
        for call in calls.into_iter().flatten() {
            news.extend(self.call(call, call.get("function")));
        }
        news.extend(self.call(delta, delta.get("function_call")));
        Ok(news)
    }

    fn think(&mut self, thinking: &str) -> Delta {
        self.thinking.push_str(thinking);
        let thinking = thinking.to_owned();
        Delta::Thinking { thinking }
    }

    fn say(&mut self, text: &str) -> Delta {
        self.text.push_str(text);
        let text = text.to_owned();
        Delta::Text { text }
    }

    fn call(&mut self, call: &Value, function: Option<&Value>) -> Option<Delta> {
        let function = function.filter(|function| function.is_object())?;
        let arguments = match function.get("arguments") {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(value) => spaced(value),
        };
        let text = |text: Option<&Value>| text.and_then(Value::as_str).map(str::to_owned);
        let (id, name) = (text(call.get("id")), text(function.get("name")));
        Some(self.calls.add(Piece {
            index: call.get("index").and_then(Value::as_u64),
            id: id.as_deref().filter(|id| !id.is_empty()),
            name: name.as_deref().filter(|name| !name.is_empty()),
            arguments: &arguments,
        }))
    }
}
