//! An answer that comes as events.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::reply::{counted, stop_named};
use crate::format::FormatError;
use crate::format::received::{failure, parse, stop_reason};
use crate::format::stream::{Calls, Piece};
use crate::json_text::spaced;
use crate::message::{Block, Delta, Reply, StopReason};

/// An answer under way.
#[derive(Clone, Debug, Default)]
pub struct Stream {
    /// The blocks, by the number that the server gives them.
    parts: BTreeMap<u64, Part>,
    calls: Calls,
    stop: Option<StopReason>,
    done: bool,
    /// Several events bring counts; the latest number of each holds.
    usage: Map<String, Value>,
}

/// A block under way.
#[derive(Clone, Debug)]
enum Part {
    Text(String),
    Thought {
        thinking: String,
        signature: String,
    },
    Redacted(String),
    /// A call, which is among the calls; with the input that it began with.
    Call(Map<String, Value>),
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
        if data.trim().is_empty() {
            return Ok(Vec::new());
        }
        let event = parse(data)?;
        if let Some(failure) = failure(&event) {
            return Err(failure);
        }
        let index = event.get("index").and_then(Value::as_u64).unwrap_or(0);
        let mut news = None;
        match text(Some(&event), "type") {
            "message_start" => self.count(event.pointer("/message/usage")),
            "content_block_start" => news = self.begin(index, event.get("content_block")),
            "content_block_delta" => news = self.go_on(index, event.get("delta")),
            "message_delta" => {
                let reason = event.pointer("/delta/stop_reason").and_then(Value::as_str);
                self.stop = reason.map(stop_named).or(self.stop.take());
                self.count(event.get("usage"));
            }
            "message_stop" => self.done = true,
            // `ping`, `content_block_stop`, and what may be added with time.
            _ => {}
        }
        Ok(news.into_iter().collect())
    }

    /// Whether the model has said why it stops; what it cost may still follow.
    pub fn has_ended(&self) -> bool {
        self.stop.is_some() || self.done
    }

    /// Whether nothing follows any more.
    pub fn is_done(&self) -> bool {
        self.done
    }

    /// The whole answer.
    ///
    /// # Errors
    /// [`FormatError::Cut`] if the server has not said that the answer ends.
    pub fn finish(mut self) -> Result<Reply, FormatError> {
        if self.stop.is_none() && !self.done {
            return Err(FormatError::Cut);
        }
        let parts = std::mem::take(&mut self.parts).into_iter();
        let content: Vec<Block> = parts
            .filter_map(|(index, part)| self.block(index, part))
            .collect();
        Ok(Reply {
            stop: stop_reason(self.stop, &content),
            usage: counted(&self.usage.into()),
            content,
        })
    }

    fn block(&mut self, index: u64, part: Part) -> Option<Block> {
        match part {
            Part::Text(text) => (!text.is_empty()).then(|| Block::text(text)),
            Part::Thought {
                thinking,
                signature,
            } => Some(Block::Thinking {
                thinking,
                signature: (!signature.is_empty()).then_some(signature),
                redacted: None,
            }),
            Part::Redacted(data) => Some(Block::Thinking {
                thinking: String::new(),
                signature: None,
                redacted: Some(data),
            }),
            Part::Call(input) => self.calls.take(index, || spaced(&input.into())),
        }
    }

    fn count(&mut self, usage: Option<&Value>) {
        let counts = usage.and_then(Value::as_object).into_iter().flatten();
        let known = counts.filter(|(_, count)| !count.is_null());
        self.usage
            .extend(known.map(|(name, count)| (name.clone(), count.clone())));
    }

    fn begin(&mut self, index: u64, block: Option<&Value>) -> Option<Delta> {
        let mut news = None;
        let part = match text(block, "type") {
            "text" => {
                news = said(text(block, "text"));
                Part::Text(text(block, "text").to_owned())
            }
            "thinking" => {
                news = thought(text(block, "thinking"));
                Part::Thought {
                    thinking: text(block, "thinking").to_owned(),
                    signature: text(block, "signature").to_owned(),
                }
            }
            "redacted_thinking" => Part::Redacted(text(block, "data").to_owned()),
            "tool_use" => {
                let some = |text: &'_ str| (!text.is_empty()).then(|| text.to_owned());
                let (id, name) = (some(text(block, "id")), some(text(block, "name")));
                news = Some(self.calls.add(Piece {
                    index: Some(index),
                    id: id.as_deref(),
                    name: name.as_deref(),
                    arguments: "",
                }));
                let input = block.and_then(|block| block.get("input")?.as_object());
                Part::Call(input.cloned().unwrap_or_default())
            }
            _ => return None,
        };
        self.parts.insert(index, part);
        news
    }

    fn go_on(&mut self, index: u64, delta: Option<&Value>) -> Option<Delta> {
        let part = self.parts.get_mut(&index)?;
        match (text(delta, "type"), part) {
            ("text_delta", Part::Text(said_before)) => {
                said_before.push_str(text(delta, "text"));
                said(text(delta, "text"))
            }
            ("thinking_delta", Part::Thought { thinking, .. }) => {
                thinking.push_str(text(delta, "thinking"));
                thought(text(delta, "thinking"))
            }
            ("signature_delta", Part::Thought { signature, .. }) => {
                signature.push_str(text(delta, "signature"));
                None
            }
            ("input_json_delta", Part::Call(_)) => Some(self.calls.add(Piece {
                index: Some(index),
                arguments: text(delta, "partial_json"),
                ..Piece::default()
            })),
            // Citations, and what may be added with time.
            _ => None,
        }
    }
}

/// The text at a key; the empty one where there is none.
fn text<'v>(value: Option<&'v Value>, key: &str) -> &'v str {
    let text = value.and_then(|value| value.get(key)?.as_str());
    text.unwrap_or_default()
}

fn said(text: &str) -> Option<Delta> {
    let delta = || Delta::Text {
        text: text.to_owned(),
    };
    (!text.is_empty()).then(delta)
}

fn thought(thinking: &str) -> Option<Delta> {
    let delta = || Delta::Thinking {
        thinking: thinking.to_owned(),
    };
    (!thinking.is_empty()).then(delta)
}
