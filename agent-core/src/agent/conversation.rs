//! What was said, with every call answered exactly once, by construction.
//!
//! A model's message with calls opens them; each is answered, and only then may something else be
//! said. Whoever takes the messages at any moment gets a valid history: calls that are still open
//! are answered in it as aborted. What may follow what is decided here and nowhere else.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use tool_sdk::{Content, ErrorKind};
use uuid::Uuid;

use crate::message::{Arguments, Block, Message, Role};
use crate::tool::{CallError, ToolCallResult};

/// Why a saved conversation can't be taken up again.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the conversation can't be taken up: message {at}: {reason}")]
pub struct ConversationError {
    /// Which message, from 0.
    pub at: usize,
    /// What is wrong with it.
    pub reason: String,
}

/// A conversation. Its JSON is the list of its messages.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Conversation {
    messages: Vec<Message>,
    /// The calls of the last message of a model, in their order, each with its answer.
    open: Vec<OpenCall>,
}

#[derive(Clone, Debug, PartialEq)]
struct OpenCall {
    id: String,
    name: String,
    answer: Option<Message>,
}

/// A call of a model as it stands in the conversation.
#[derive(Clone, Debug, PartialEq)]
pub struct Requested {
    /// Its id, which no other call of the message has.
    pub id: String,
    /// The name that the model called.
    pub name: String,
    /// The arguments as they were sent.
    pub arguments: Arguments,
}

impl Conversation {
    /// A conversation that goes on from these messages.
    pub fn resume(messages: Vec<Message>) -> Result<Self, ConversationError> {
        check(&messages)?;
        Ok(Self {
            messages,
            open: Vec::new(),
        })
    }

    /// What was said. Calls that are open are answered as aborted.
    pub fn messages(&self) -> Vec<Message> {
        let answers = self.open.iter().map(OpenCall::answer);
        self.messages.iter().cloned().chain(answers).collect()
    }

    /// Whether calls wait for their answers.
    pub fn is_open(&self) -> bool {
        self.open.iter().any(|call| call.answer.is_none())
    }

    /// Whether this is the last thing that was said, and nobody has answered it.
    pub fn awaits_answer_to(&self, message: &Message) -> bool {
        message.role == Role::User && self.open.is_empty() && self.messages.last() == Some(message)
    }

    /// Adds what somebody said who is not the model, and returns it as it is kept. Calls that are
    /// open are answered as aborted before.
    ///
    /// Calls and results are left out, since only a model calls and only its calls are answered;
    /// so is empty text. Where nothing is left, nothing was said.
    pub fn say(&mut self, mut message: Message) -> Option<Message> {
        self.close();
        message.content.retain(|block| match block {
            Block::ToolUse { .. } | Block::ToolResult { .. } => false,
            other => !is_empty(other),
        });
        let is_said = message.role != Role::Tool && !message.content.is_empty();
        is_said.then(|| {
            self.messages.push(message.clone());
            message
        })
    }

    /// Adds what a model said and opens its calls. Returns the message as it is kept, and the calls.
    ///
    /// A call that is in there twice, by id, name and arguments, is kept once; one that has the id of
    /// another one gets a new id, and so does one without (R22, Y26). Empty text is left out, and so
    /// is a message without any block, since no provider takes it back.
    pub fn reply(&mut self, mut message: Message) -> (Message, Vec<Requested>) {
        self.close();
        let mut requested: Vec<Requested> = Vec::new();
        message.content.retain_mut(|block| {
            let Block::ToolUse { id, name, input } = block else {
                return !is_empty(block);
            };
            let twin = requested.iter().find(|other| other.id == *id);
            let is_same =
                twin.is_some_and(|twin| twin.name == *name && same(&twin.arguments, input));
            if is_same {
                return false;
            }
            if twin.is_some() || id.is_empty() {
                *id = Uuid::new_v4().to_string();
            }
            requested.push(Requested {
                id: id.clone(),
                name: name.clone(),
                arguments: input.clone(),
            });
            true
        });
        if !message.content.is_empty() {
            self.messages.push(message.clone());
        }
        self.open = requested.iter().map(OpenCall::new).collect();
        (message, requested)
    }

    /// Answers an open call; the model reads the note, if there is one, behind the result. An answer
    /// to a call that is not open, or that has its answer, is dropped.
    pub fn answer(&mut self, result: &ToolCallResult, note: Option<&str>) {
        let mut open = self.open.iter_mut();
        let waiting = open.find(|call| *call.id == *result.tool_call_id && call.answer.is_none());
        if let Some(call) = waiting {
            let mut message = Message::tool_result(result);
            // The name is the call's, whatever the tool is called elsewhere.
            for block in &mut message.content {
                if let Block::ToolResult {
                    tool_name, content, ..
                } = block
                {
                    tool_name.clone_from(&call.name);
                    content.extend(note.map(Content::text));
                }
            }
            call.answer = Some(message);
        }
    }

    /// Answers the calls that are open as aborted, and adds all answers in the order of the calls.
    /// Returns what was added.
    pub fn close(&mut self) -> Vec<Message> {
        let open = std::mem::take(&mut self.open);
        let answers: Vec<Message> = open.iter().map(OpenCall::answer).collect();
        self.messages.extend(answers.iter().cloned());
        answers
    }
}

impl OpenCall {
    fn new(call: &Requested) -> Self {
        Self {
            id: call.id.clone(),
            name: call.name.clone(),
            answer: None,
        }
    }

    fn answer(&self) -> Message {
        self.answer.clone().unwrap_or_else(|| {
            let error = CallError::new(ErrorKind::Aborted, "The call was aborted");
            Message::tool_result(&ToolCallResult::of_error(
                self.id.as_str(),
                self.name.as_str(),
                error,
            ))
        })
    }
}

fn is_empty(block: &Block) -> bool {
    block.as_text().is_some_and(str::is_empty)
}

/// Whether two calls have the same arguments, however they are spelled.
fn same(one: &Arguments, other: &Arguments) -> bool {
    one == other
        || one
            .object()
            .is_some_and(|object| other.object() == Some(object))
}

/// Checks that every call has one answer, in the order of the calls, before anything else is said.
fn check(messages: &[Message]) -> Result<(), ConversationError> {
    let mut open: Vec<&str> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let refuse = |reason: String| Err(ConversationError { at, reason });
        if message.content.is_empty() {
            return refuse("it is empty".to_owned());
        }
        if message.role != Role::Tool && !open.is_empty() {
            return refuse(format!(
                "the call `{}` before it is not answered",
                open.join("`, `")
            ));
        }
        let mut ids = HashSet::new();
        for block in &message.content {
            match (block, message.role) {
                (Block::ToolUse { id, .. }, Role::Assistant) => {
                    if id.is_empty() {
                        return refuse("a call has no id".to_owned());
                    }
                    if !ids.insert(id) {
                        return refuse(format!("two calls have the id `{id}`"));
                    }
                    open.push(id);
                }
                (Block::ToolResult { tool_call_id, .. }, Role::Tool) => {
                    let Some(call) = open.iter().position(|id| id == tool_call_id) else {
                        return refuse(format!(
                            "it answers `{tool_call_id}`, which is no open call"
                        ));
                    };
                    open.remove(call);
                }
                (Block::ToolUse { .. }, _) => {
                    return refuse("only the assistant calls tools".to_owned());
                }
                (Block::ToolResult { .. }, _) | (_, Role::Tool) => {
                    return refuse(
                        "results of tools, and nothing else, have the role `tool`".to_owned(),
                    );
                }
                _ => {}
            }
        }
    }
    if let Some(id) = open.first() {
        let at = messages.len();
        let reason = format!("the call `{id}` is not answered");
        return Err(ConversationError { at, reason });
    }
    Ok(())
}

impl Serialize for Conversation {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.messages().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Conversation {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let messages = Vec::deserialize(deserializer)?;
        Self::resume(messages).map_err(serde::de::Error::custom)
    }
}

/// The message that a run ends with when tools ended it: their content, in the order of the calls
/// (R38).
pub(super) fn last_words<'a>(results: impl Iterator<Item = &'a ToolCallResult>) -> Message {
    let terminating = results.filter(|result| result.terminate);
    let content = terminating.flat_map(|result| result.content.iter().cloned());
    let blocks: Vec<Content> = content.collect();
    Message::new(
        Role::Assistant,
        blocks.into_iter().map(Block::Content).collect(),
    )
}
