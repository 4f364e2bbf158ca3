//! What is said to an agent, in the shapes that programs have it in.

use serde_json::Value;
use tool_sdk::Content;

use crate::message::{Block, Message, Role};

/// Something that is said to an agent: a text, a message, or a message as `OpenAI` spells it.
#[derive(Clone, Debug, PartialEq)]
pub struct Input(pub(super) Message);

/// Why a message can't be understood.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the message can't be understood: {0}")]
pub struct InputError(String);

impl From<&str> for Input {
    fn from(text: &str) -> Self {
        Self(Message::text(Role::User, text))
    }
}

impl From<String> for Input {
    fn from(text: String) -> Self {
        Self(Message::text(Role::User, text))
    }
}

impl From<Message> for Input {
    fn from(message: Message) -> Self {
        Self(message)
    }
}

impl TryFrom<&Value> for Input {
    type Error = InputError;

    /// Reads a message of a user as `OpenAI` spells it (Y20): `{"role": "user", "content": …}`, the
    /// content a text or a list of `text` and `image_url` parts with a `data:` address.
    fn try_from(message: &Value) -> Result<Self, InputError> {
        let role = message.get("role").and_then(Value::as_str);
        if role != Some("user") {
            let found = role.unwrap_or("none");
            return Err(InputError(format!(
                "expected the role `user`, got `{found}`"
            )));
        }
        let content = match message.get("content") {
            Some(Value::String(text)) => vec![Block::text(text)],
            Some(Value::Array(parts)) => parts.iter().map(part).collect::<Result<_, _>>()?,
            _ => {
                return Err(InputError(
                    "expected `content`, a text or a list of parts".to_owned(),
                ));
            }
        };
        let name = message.get("name").and_then(Value::as_str);
        Ok(Self(Message {
            role: Role::User,
            name: name.map(str::to_owned),
            content,
        }))
    }
}

fn part(part: &Value) -> Result<Block, InputError> {
    let text = part.get("text").and_then(Value::as_str);
    if let Some(text) = text {
        return Ok(Block::text(text));
    }
    let url = part.pointer("/image_url/url").and_then(Value::as_str);
    let data = url.and_then(|url| url.strip_prefix("data:")?.split_once(";base64,"));
    match data {
        Some((mime_type, data)) => Ok(Block::Content(Content::image(data, mime_type))),
        None => Err(InputError(format!(
            "expected a part with `text`, or with `image_url` and a `data:` address, got {part}"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Y20: what waits in the channel is in the shape of `OpenAI`.
    #[test]
    fn y20_messages_of_openai_are_understood() {
        let read = |message: Value| Input::try_from(&message).map(|input| input.0);
        let text = Message::text(Role::User, "Hello");
        assert_eq!(
            read(json!({"role": "user", "content": "Hello"})),
            Ok(text.clone())
        );
        let parts = json!([
            {"type": "text", "text": "Hello"},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}},
        ]);
        let mut both = text;
        both.content
            .push(Block::Content(Content::image("AA==", "image/png")));
        both.name = Some("Ann".to_owned());
        assert_eq!(
            read(json!({"role": "user", "name": "Ann", "content": parts})),
            Ok(both)
        );
        for (message, part) in [
            (json!({"role": "tool", "content": "x"}), "`tool`"),
            (json!({"content": "x"}), "`none`"),
            (json!({"role": "user"}), "`content`"),
            (
                json!({"role": "user", "content": [{"type": "video"}]}),
                "video",
            ),
        ] {
            assert!(read(message).unwrap_err().to_string().contains(part));
        }
    }
}
