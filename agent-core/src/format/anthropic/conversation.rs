//! A conversation as `system` and the `messages` of a request.
//!
//! The dialect's rules: user and assistant take turns, and the user begins and ends; text is never
//! blank; calls stand at the end of a message and their results at the beginning of the next
//! (`g5.anthropic-layout.1`); every call has an id of its own in plain letters.

use serde_json::{Map, Value, json};
use tool_sdk::Content;

use crate::format::names::CallIds;
use crate::format::{arguments, content, names};
use crate::message::{Block, Context, Message, Role};

/// What the user is made to say where the conversation would begin with the assistant.
const BEGINNING: &str = "(The conversation begins.)";

/// What the user is made to say where the conversation would end with the assistant.
const END: &str = "(Go on.)";

/// Instructions and messages: `{"system": …, "messages": […]}`, without `system` where there are no
/// instructions. Instructions in the middle are words of the user (A25).
pub fn conversation(context: &Context) -> Map<String, Value> {
    let mut writer = Writer::default();
    let is_system = |message: &&Message| message.role == Role::System;
    let head: Vec<&Message> = context.messages.iter().take_while(is_system).collect();
    let mut instructions = vec![context.system_prompt.clone()];
    instructions.extend(head.iter().map(|message| message.as_text()));
    instructions.retain(|text| !is_blank(text));

    for message in context.messages.iter().skip(head.len()) {
        writer.message(message);
    }
    let mut conversation = Map::new();
    if !instructions.is_empty() {
        conversation.insert("system".to_owned(), instructions.join("\n\n").into());
    }
    conversation.insert("messages".to_owned(), writer.finish());
    conversation
}

#[derive(Default)]
struct Writer {
    turns: Vec<Turn>,
    ids: CallIds,
}

/// Everything that one side says until the other one speaks.
struct Turn {
    assistant: bool,
    blocks: Vec<Value>,
}

impl Writer {
    fn message(&mut self, message: &Message) {
        let assistant = message.role == Role::Assistant;
        for block in &message.content {
            let written = match block {
                Block::ToolUse { id, name, input } => Some(json!({
                    "type": "tool_use", "id": self.ids.call(id), "name": names::tool(name),
                    "input": arguments::object(input),
                })),
                Block::ToolResult {
                    tool_call_id,
                    content,
                    is_error,
                    ..
                } => Some(result(&self.ids.result(tool_call_id), content, *is_error)),
                Block::Thinking {
                    thinking,
                    signature,
                    redacted,
                } => thought(thinking, signature.as_deref(), redacted.as_deref()),
                Block::Content(content) => shown(content),
            };
            if let Some(written) = written {
                self.add(assistant, written);
            }
        }
    }

    fn add(&mut self, assistant: bool, block: Value) {
        match self.turns.last_mut() {
            Some(turn) if turn.assistant == assistant => turn.blocks.push(block),
            _ => self.turns.push(Turn {
                assistant,
                blocks: vec![block],
            }),
        }
    }

    fn finish(mut self) -> Value {
        let turns = std::mem::take(&mut self.turns);
        for turn in turns {
            for block in turn.in_order() {
                self.add(turn.assistant, block);
            }
        }
        if self.turns.first().is_none_or(|turn| turn.assistant) {
            self.turns.insert(0, Turn::of_user(BEGINNING));
        }
        if self.turns.last().is_some_and(Turn::waits_for_nothing) {
            self.turns.push(Turn::of_user(END));
        }
        let messages = self.turns.into_iter().map(|turn| {
            let role = if turn.assistant { "assistant" } else { "user" };
            json!({"role": role, "content": turn.blocks})
        });
        messages.collect()
    }
}

impl Turn {
    fn of_user(text: &str) -> Self {
        Self {
            assistant: false,
            blocks: vec![text_block(text)],
        }
    }

    /// Calls last, results first; no thought may be the last word.
    fn in_order(&self) -> Vec<Value> {
        let mut blocks = self.blocks.clone();
        blocks.sort_by_key(|block| match kind(block) {
            "tool_result" => 0,
            "tool_use" => 2,
            _ => 1,
        });
        while blocks
            .last()
            .is_some_and(|block| kind(block).ends_with("thinking"))
        {
            blocks.pop();
        }
        blocks
    }

    /// Whether the assistant spoke, and called nothing.
    fn waits_for_nothing(&self) -> bool {
        self.assistant
            && self
                .blocks
                .last()
                .is_none_or(|block| kind(block) != "tool_use")
    }
}

fn kind(block: &Value) -> &str {
    block
        .get("type")
        .and_then(Value::as_str)
        .unwrap_or_default()
}

/// The dialect refuses text of nothing but blanks.
fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

fn text_block(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

/// A block of content, unless it is blank.
fn shown(block: &Content) -> Option<Value> {
    if let Content::Image { data, mime_type } = block
        && content::is_picture(mime_type)
    {
        let source = json!({"type": "base64", "media_type": mime_type, "data": data});
        return Some(json!({"type": "image", "source": source}));
    }
    let text = content::readable(block);
    (!is_blank(&text)).then(|| text_block(&text))
}

/// A result; pictures stand in it as they are (`g5.images.1`).
fn result(id: &str, content: &[Content], is_error: bool) -> Value {
    let mut result = Map::from_iter([
        ("type".to_owned(), json!("tool_result")),
        ("tool_use_id".to_owned(), json!(id)),
    ]);
    let shown: Vec<Value> = content.iter().filter_map(shown).collect();
    if !shown.is_empty() {
        result.insert("content".to_owned(), shown.into());
    }
    if is_error {
        result.insert("is_error".to_owned(), json!(true));
    }
    result.into()
}

/// A thought as it came. One without a signature is not Anthropic's and would be refused.
fn thought(thinking: &str, signature: Option<&str>, redacted: Option<&str>) -> Option<Value> {
    if let Some(data) = redacted {
        return Some(json!({"type": "redacted_thinking", "data": data}));
    }
    let signature = signature?;
    Some(json!({"type": "thinking", "thinking": thinking, "signature": signature}))
}
