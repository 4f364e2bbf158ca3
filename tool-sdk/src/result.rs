//! What a tool answers: content for the model, details for programs, and whether the loop ends.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// One block of content, as models and MCP clients know them. A tool may return one, or a `Vec` of
/// them.
///
/// ```
/// use tool_sdk::prelude::*;
///
/// /// Draw a dot.
/// #[tool]
/// fn draw_dot() -> Vec<Content> {
///     vec![Content::text("A dot:"), Content::image("iVBORw0KGgo=", "image/png")]
/// }
///
/// let result = tool_sdk::testing::run("draw_dot", json!({})).unwrap().result;
/// assert_eq!(result.content[0].as_text(), Some("A dot:"));
/// assert_eq!(
///     json!(result.content[1]),
///     json!({"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"})
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(
    tag = "type",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
#[non_exhaustive]
pub enum Content {
    /// Text.
    Text {
        /// The text.
        text: String,
    },
    /// A picture.
    Image {
        /// The bytes in base64.
        data: String,
        /// For example `image/png`.
        mime_type: String,
    },
    /// A sound.
    Audio {
        /// The bytes in base64.
        data: String,
        /// For example `audio/wav`.
        mime_type: String,
    },
    /// A document with an address of its own.
    Resource {
        /// The document.
        resource: Resource,
    },
}

/// A document inside a result: its address, and its text or its bytes.
///
/// [`Content::resource`] makes one of text. For bytes set the fields:
///
/// ```
/// use tool_sdk::prelude::*;
///
/// let mut resource = Resource::default();
/// resource.uri = "file:///logo.png".to_owned();
/// resource.mime_type = Some("image/png".to_owned());
/// resource.blob = Some("iVBORw0KGgo=".to_owned());
/// assert_eq!(
///     json!(Content::Resource { resource }),
///     json!({
///         "type": "resource",
///         "resource": {
///             "uri": "file:///logo.png",
///             "mimeType": "image/png",
///             "blob": "iVBORw0KGgo=",
///         },
///     })
/// );
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Resource {
    /// Address, for example `file:///notes.md`.
    pub uri: String,
    /// For example `text/markdown`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// The document as text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The document's bytes in base64.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blob: Option<String>,
}

impl Content {
    /// A text block.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }

    /// A picture from base64 text.
    pub fn image(data: impl Into<String>, mime_type: impl Into<String>) -> Self {
        Self::Image {
            data: data.into(),
            mime_type: mime_type.into(),
        }
    }

    /// A sound from base64 text.
    pub fn audio(data: impl Into<String>, mime_type: impl Into<String>) -> Self {
        Self::Audio {
            data: data.into(),
            mime_type: mime_type.into(),
        }
    }

    /// A document given as text.
    pub fn resource(uri: impl Into<String>, text: impl Into<String>) -> Self {
        let resource = Resource {
            uri: uri.into(),
            text: Some(text.into()),
            ..Resource::default()
        };
        Self::Resource { resource }
    }

    /// The text of a text block.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text { text } => Some(text),
            _ => None,
        }
    }
}

/// The whole result of a tool. Most tools return a `String` or anything serialisable instead and
/// let it be made.
///
/// ```
/// use tool_sdk::prelude::*;
///
/// let result = ToolResult::text("Done!").details(json!({"rows": 3})).terminate();
/// assert_eq!(result.content, [Content::text("Done!")]);
/// assert_eq!(
///     json!(result),
///     json!({
///         "content": [{"type": "text", "text": "Done!"}],
///         "details": {"rows": 3},
///         "usage": null,
///         "terminate": true,
///         "isError": false,
///     })
/// );
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ToolResult {
    /// What the model sees.
    pub content: Vec<Content>,
    /// For programs; the model does not see it.
    #[serde(default)]
    pub details: Map<String, Value>,
    /// What the call cost, in whatever shape the tool chooses.
    #[serde(default)]
    pub usage: Option<Value>,
    /// Whether the agent's loop ends after this batch of calls.
    #[serde(default)]
    pub terminate: bool,
    /// Whether the content describes a failure.
    #[serde(default)]
    pub is_error: bool,
    /// The result as data, where the tool has an output schema.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub structured_content: Option<Value>,
}

impl ToolResult {
    /// A result of one text block.
    pub fn text(text: impl Into<String>) -> Self {
        Self::content([Content::text(text)])
    }

    /// A result of these blocks.
    pub fn content(content: impl IntoIterator<Item = Content>) -> Self {
        Self {
            content: content.into_iter().collect(),
            ..Self::default()
        }
    }

    /// A failure that the model should read. Most tools return `Err(…)` instead; this is for
    /// failures that have blocks or details besides.
    pub fn error(text: impl Into<String>) -> Self {
        Self {
            is_error: true,
            ..Self::text(text)
        }
    }

    /// Sets the details. Anything but a JSON object is kept under the key `value`.
    #[must_use]
    pub fn details(mut self, details: Value) -> Self {
        self.details = match details {
            Value::Object(map) => map,
            other => Map::from_iter([("value".to_owned(), other)]),
        };
        self
    }

    /// Sets what the call cost.
    #[must_use]
    pub fn usage(mut self, usage: Value) -> Self {
        self.usage = Some(usage);
        self
    }

    /// Ends the agent's loop after this batch of calls.
    #[must_use]
    pub fn terminate(mut self) -> Self {
        self.terminate = true;
        self
    }

    /// Sets the result as data, beside content that says the same. A tool that returns a struct
    /// with `#[tool_type]` has it set already, and an output schema besides.
    #[must_use]
    pub fn structured(mut self, value: Value) -> Self {
        self.structured_content = Some(value);
        self
    }

    /// The text if the result is one text block and nothing else.
    pub fn as_plain_text(&self) -> Option<&str> {
        let Self {
            content,
            details,
            usage,
            terminate,
            is_error,
            structured_content,
        } = self;
        let plain = details.is_empty()
            && usage.is_none()
            && !terminate
            && !is_error
            && structured_content.is_none();
        match content.as_slice() {
            [Content::Text { text }] if plain => Some(text),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn y8_result_has_the_four_fields_in_order() {
        let text = serde_json::to_string(&ToolResult::text("Done!")).unwrap();
        assert_eq!(
            text,
            r#"{"content":[{"type":"text","text":"Done!"}],"details":{},"usage":null,"terminate":false,"isError":false}"#
        );
    }

    #[test]
    fn y9_every_block_keeps_its_shape() {
        let blocks = [
            (Content::text("a"), json!({"type": "text", "text": "a"})),
            (
                Content::image("AA==", "image/png"),
                json!({"type": "image", "data": "AA==", "mimeType": "image/png"}),
            ),
            (
                Content::audio("AA==", "audio/wav"),
                json!({"type": "audio", "data": "AA==", "mimeType": "audio/wav"}),
            ),
            (
                Content::resource("file:///a", "b"),
                json!({"type": "resource", "resource": {"uri": "file:///a", "text": "b"}}),
            ),
        ];
        for (block, expected) in blocks {
            assert_eq!(serde_json::to_value(&block).unwrap(), expected);
            assert_eq!(serde_json::from_value::<Content>(expected).unwrap(), block);
        }
    }
}
