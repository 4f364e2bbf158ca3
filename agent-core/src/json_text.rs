//! JSON as the text that models see: one blank behind `,` and `:`, as Python prints it (R16).

use std::io;

use serde::Serialize;
use serde_json::Value;
use serde_json::ser::{Formatter, Serializer};

/// The value on one line with `", "` and `": "`; key order and every character kept.
pub fn spaced(value: &Value) -> String {
    let mut bytes = Vec::new();
    let mut serializer = Serializer::with_formatter(&mut bytes, Spaced);
    // Writing a value into memory has no way to fail.
    if value.serialize(&mut serializer).is_err() {
        return value.to_string();
    }
    String::from_utf8(bytes).unwrap_or_else(|_| value.to_string())
}

/// Cuts a text behind `limit` characters, with an ellipsis.
pub fn shortened(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// A foreign text as part of a sentence on one line: blanks of every kind are one blank, and what a
/// terminal would obey is a replacement character.
pub fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words
        .join(" ")
        .replace(steers, &char::REPLACEMENT_CHARACTER.to_string())
}

/// Whether a letter does something to a terminal, or to the order in which others are read, instead of
/// being shown.
pub fn steers(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

struct Spaced;

impl Formatter for Spaced {
    fn begin_array_value<W: ?Sized + io::Write>(
        &mut self,
        to: &mut W,
        first: bool,
    ) -> io::Result<()> {
        if first { Ok(()) } else { to.write_all(b", ") }
    }

    fn begin_object_key<W: ?Sized + io::Write>(
        &mut self,
        to: &mut W,
        first: bool,
    ) -> io::Result<()> {
        if first { Ok(()) } else { to.write_all(b", ") }
    }

    fn begin_object_value<W: ?Sized + io::Write>(&mut self, to: &mut W) -> io::Result<()> {
        to.write_all(b": ")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn r16_spacing_is_that_of_python() {
        let value = json!({"b": [1, 2.5, null], "a": {"ü": "x\n"}, "e": {}, "f": []});
        let text = r#"{"b": [1, 2.5, null], "a": {"ü": "x\n"}, "e": {}, "f": []}"#;
        assert_eq!(spaced(&value), text);
    }

    #[test]
    fn foreign_text_becomes_one_line_that_a_terminal_only_shows() {
        assert_eq!(
            one_line(" a\tb\r\nc \u{1b}[31m\0 y\u{202e}gnp"),
            "a b c \u{fffd}[31m\u{fffd} y\u{fffd}gnp"
        );
    }

    #[test]
    fn shortening_counts_characters() {
        assert_eq!(shortened("äöü", 3), "äöü");
        assert_eq!(shortened("äöü", 2), "äö…");
    }
}
