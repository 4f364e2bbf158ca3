//! A conversation as the `messages` of a request.

use serde_json::{Map, Value, json};
use tool_sdk::Content;

use crate::format::{arguments, content, names};
use crate::limits::NAME_LENGTH;
use crate::message::{Block, Context, Message, Role};

/// Instructions and messages: `{"messages": […]}`.
///
/// `content_when_empty` is the content of an assistant message that holds calls only, else null
/// (R34). Thoughts stay out: no server of this dialect wants them back.
pub fn conversation(context: &Context, content_when_empty: Option<&str>) -> Map<String, Value> {
    let mut writer = Writer {
        content_when_empty,
        messages: Vec::new(),
        pictures: Vec::new(),
        picture_count: 0,
    };
    if !context.system_prompt.is_empty() {
        let prompt = json!({"role": "system", "content": context.system_prompt});
        writer.messages.push(prompt);
    }
    for message in &context.messages {
        writer.message(message);
    }
    writer.show_pictures();
    Map::from_iter([("messages".to_owned(), writer.messages.into())])
}

struct Writer<'a> {
    content_when_empty: Option<&'a str>,
    messages: Vec<Value>,
    /// Pictures of results, as parts of the user message that follows the last result: this dialect
    /// takes nothing but text in a result.
    pictures: Vec<Value>,
    /// How many pictures of results there are in the whole conversation.
    picture_count: usize,
}

impl Writer<'_> {
    fn message(&mut self, message: &Message) {
        let contents: Vec<&Content> = message
            .content
            .iter()
            .filter_map(|block| match block {
                Block::Content(content) => Some(content),
                _ => None,
            })
            .collect();
        let results = message
            .content
            .iter()
            .any(|block| matches!(block, Block::ToolResult { .. }));
        if !results {
            self.show_pictures();
        }
        match message.role {
            Role::Assistant => self.assistant(message, &contents),
            Role::System => self.speak("system", message, text_of(&contents)),
            Role::User | Role::Tool => {}
        }
        for block in &message.content {
            self.result(block);
        }
        if matches!(message.role, Role::User | Role::Tool) && !contents.is_empty() {
            self.show_pictures();
            self.speak("user", message, user_content(&contents));
        }
    }

    /// Adds a message with this content, unless there is none.
    fn speak(&mut self, role: &str, message: &Message, content: Option<Value>) {
        if let Some(content) = content {
            self.messages.push(spoken(role, message, content).into());
        }
    }

    fn assistant(&mut self, message: &Message, contents: &[&Content]) {
        let calls: Vec<Value> = message.content.iter().filter_map(call).collect();
        let text = text_of(contents);
        if calls.is_empty() {
            return self.speak("assistant", message, text);
        }
        let content = text.unwrap_or_else(|| json!(self.content_when_empty));
        let mut said = spoken("assistant", message, content);
        said.insert("tool_calls".to_owned(), calls.into());
        self.messages.push(said.into());
    }

    fn result(&mut self, block: &Block) {
        let Block::ToolResult {
            tool_call_id,
            tool_name,
            content,
            ..
        } = block
        else {
            return;
        };
        let lines: Vec<String> = content
            .iter()
            .map(|content| self.result_line(content, tool_name))
            .collect();
        let mut text = lines.join("\n");
        if text.is_empty() {
            content::NOTHING.clone_into(&mut text);
        }
        self.messages.push(json!({
            "role": "tool", "tool_call_id": tool_call_id, "content": text,
        }));
    }

    /// One block of a result; a picture is named here and shown behind the last result
    /// (`g5.images.1`).
    fn result_line(&mut self, block: &Content, tool_name: &str) -> String {
        let Some(picture) = picture(block) else {
            return content::readable(block);
        };
        self.picture_count += 1;
        let name = format!("image {}", self.picture_count);
        let title = format!("[{name}, from the result of {tool_name}]");
        self.pictures.push(text_part(&title));
        self.pictures.push(picture);
        format!("[{name}, shown in the next user message]")
    }

    fn show_pictures(&mut self) {
        if !self.pictures.is_empty() {
            let parts = std::mem::take(&mut self.pictures);
            self.messages
                .push(json!({"role": "user", "content": parts}));
        }
    }
}

fn spoken(role: &str, message: &Message, content: Value) -> Map<String, Value> {
    let mut said = Map::new();
    said.insert("role".to_owned(), role.into());
    if let Some(name) = message.name.as_deref().and_then(speaker) {
        said.insert("name".to_owned(), name.into());
    }
    said.insert("content".to_owned(), content);
    said
}

/// A name that servers take.
fn speaker(name: &str) -> Option<String> {
    let name: String = names::plain(name).chars().take(NAME_LENGTH).collect();
    (!name.is_empty()).then_some(name)
}

fn call(block: &Block) -> Option<Value> {
    let Block::ToolUse { id, name, input } = block else {
        return None;
    };
    let function = json!({"name": names::tool(name), "arguments": arguments::text(input)});
    Some(json!({"id": id, "type": "function", "function": function}))
}

/// Everything as one text, unless there is nothing to say.
fn text_of(contents: &[&Content]) -> Option<Value> {
    let lines = contents.iter().map(|block| content::readable(block));
    let lines: Vec<String> = lines.filter(|line| !line.is_empty()).collect();
    (!lines.is_empty()).then(|| lines.join("\n").into())
}

/// Text where there is nothing else, since every server takes that; else parts.
fn user_content(contents: &[&Content]) -> Option<Value> {
    let is_part = |block: &&Content| picture(block).is_some() || sound(block).is_some();
    if !contents.iter().any(is_part) {
        return text_of(contents);
    }
    let parts = contents.iter().map(|block| {
        picture(block)
            .or_else(|| sound(block))
            .unwrap_or_else(|| text_part(&content::readable(block)))
    });
    let parts: Vec<Value> = parts.filter(|part| part["text"] != "").collect();
    Some(parts.into())
}

fn text_part(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn picture(block: &Content) -> Option<Value> {
    match block {
        Content::Image { data, mime_type } if content::is_picture(mime_type) => {
            let url = format!("data:{mime_type};base64,{data}");
            Some(json!({"type": "image_url", "image_url": {"url": url}}))
        }
        _ => None,
    }
}

fn sound(block: &Content) -> Option<Value> {
    let Content::Audio { data, mime_type } = block else {
        return None;
    };
    let format = match mime_type.as_str() {
        "audio/wav" | "audio/x-wav" | "audio/wave" => "wav",
        "audio/mpeg" | "audio/mp3" => "mp3",
        _ => return None,
    };
    Some(json!({"type": "input_audio", "input_audio": {"data": data, "format": format}}))
}
