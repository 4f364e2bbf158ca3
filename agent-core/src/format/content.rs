//! Content blocks as text: the one line that stands for a block which can't be shown.
//!
//! Owns the words. Which blocks a provider takes as they are is the affair of its own module.

use tool_sdk::{Content, Resource};

/// What a model reads where a result holds nothing: servers refuse empty text (`g5.empty-result.1`).
pub(super) const NOTHING: &str = "(no output)";

/// A block on one line, for example `[image image/png, 12 kB]`; text as it is.
pub fn line(content: &Content) -> String {
    match content {
        Content::Text { text } => text.clone(),
        Content::Image { data, mime_type } => {
            format!("[image {mime_type}, {}]", decoded_size(data))
        }
        Content::Audio { data, mime_type } => {
            format!("[audio {mime_type}, {}]", decoded_size(data))
        }
        Content::Resource { resource } => resource_line(resource),
        _ => "[content of a kind that this version does not know]".to_owned(),
    }
}

/// A block as a model reads it where it takes nothing but text: documents of text in full, never
/// base64.
pub(super) fn readable(content: &Content) -> String {
    match content {
        Content::Resource {
            resource: resource @ Resource {
                text: Some(text), ..
            },
        } => format!("{}\n{text}", resource_line(resource)),
        other => line(other),
    }
}

fn resource_line(resource: &Resource) -> String {
    let kind = resource.mime_type.as_deref().unwrap_or("unknown type");
    format!("[resource {}, {kind}]", resource.uri)
}

/// How much base64 text decodes to.
fn decoded_size(base64: &str) -> String {
    let padding = base64
        .bytes()
        .rev()
        .take_while(|byte| *byte == b'=')
        .count();
    match (base64.len() / 4 * 3).saturating_sub(padding) {
        bytes @ 0..1000 => format!("{bytes} B"),
        bytes @ 1000..1_000_000 => format!("{} kB", bytes.div_ceil(1000)),
        bytes => format!("{} MB", bytes.div_ceil(1_000_000)),
    }
}

/// Whether models take pictures of this type; a request with any other is refused as a whole.
pub(super) fn is_picture(mime_type: &str) -> bool {
    ["image/png", "image/jpeg", "image/gif", "image/webp"].contains(&mime_type)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_names_kind_type_and_size() {
        let image = Content::image("A".repeat(16_000), "image/png");
        assert_eq!(line(&image), "[image image/png, 12 kB]");
        assert_eq!(
            line(&Content::audio("AA==", "audio/wav")),
            "[audio audio/wav, 1 B]"
        );
        let resource = Content::resource("file:///x", "y");
        assert_eq!(line(&resource), "[resource file:///x, unknown type]");
        assert_eq!(line(&Content::text("a\nb")), "a\nb");
    }

    #[test]
    fn documents_of_text_are_read_in_full() {
        let resource = Content::resource("file:///x", "y");
        assert_eq!(readable(&resource), "[resource file:///x, unknown type]\ny");
    }
}
