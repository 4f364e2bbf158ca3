//! What people and programs read: one writer for the real stdout, one for complaints.

use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;
use tool_sdk::Content;

use crate::format::content;
use crate::json_text::steers;

/// The stdout that the process was started with. Clones write to the same.
#[derive(Clone)]
pub(super) struct Output {
    /// A mutex, since events and answers may be written from different threads.
    writer: Arc<Mutex<Box<dyn Write + Send>>>,
    pub(super) json: bool,
    /// Whether a person looks at it on a terminal.
    colour: bool,
    /// Whether something could not be written.
    has_failed: Arc<AtomicBool>,
}

/// A colour of a word.
#[derive(Clone, Copy)]
pub(super) enum Colour {
    Green,
    Red,
}

impl Output {
    pub(super) fn new(writer: Box<dyn Write + Send>, json: bool) -> Self {
        Self {
            writer: Arc::new(Mutex::new(writer)),
            json,
            colour: false,
            has_failed: Arc::default(),
        }
    }

    /// The same with or without colours.
    pub(super) fn with_colour(self, colour: bool) -> Self {
        Self { colour, ..self }
    }

    /// Whether something could not be written, for another reason than that nobody reads on.
    pub(super) fn has_failed(&self) -> bool {
        self.has_failed.load(Ordering::Relaxed)
    }

    /// A word in this colour, where there are colours.
    pub(super) fn coloured(&self, colour: Colour, word: &str) -> String {
        let code = match colour {
            Colour::Green => 32,
            Colour::Red => 31,
        };
        if self.colour {
            format!("\x1b[1;{code}m{word}\x1b[0m")
        } else {
            word.to_owned()
        }
    }

    /// Whether a person looks at it on a terminal.
    pub(super) fn is_terminal(&self) -> bool {
        self.colour
    }

    /// One text and a newline.
    pub(super) fn text(&self, text: &str) {
        self.write(text);
    }

    /// A piece of a text that goes on.
    pub(super) fn piece(&self, text: &str) {
        self.print(&self.shown(text));
    }

    /// Foreign text: on a terminal without what would steer it.
    fn shown<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if self.colour {
            harmless(text)
        } else {
            Cow::Borrowed(text)
        }
    }

    /// One JSON value and a newline.
    pub(super) fn json(&self, value: &impl Serialize) {
        match serde_json::to_string(value) {
            Ok(text) => self.write(&text),
            Err(error) => complain("an answer is no JSON", &error.to_string()),
        }
    }

    fn write(&self, line: &str) {
        self.print(&format!("{line}\n"));
    }

    fn print(&self, text: &str) {
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let written = writer
            .write_all(text.as_bytes())
            .and_then(|()| writer.flush());
        // A reader that went away wants no more; there is nobody to tell. The rest is told once.
        if let Err(error) = written
            && error.kind() != io::ErrorKind::BrokenPipe
            && !self.has_failed.swap(true, Ordering::Relaxed)
        {
            complain("the answer could not be written", &error.to_string());
        }
    }
}

/// One line to stderr, and what to do next on a line of its own.
pub(super) fn complain(message: &str, hint: &str) {
    let label = if io::stderr().is_terminal() {
        "\x1b[1;31merror\x1b[0m"
    } else {
        "error"
    };
    say(&format!("{label}: {message}"));
    if !hint.is_empty() {
        say(&format!("  {hint}"));
    }
}

/// One line to stderr.
#[expect(
    clippy::print_stderr,
    reason = "the one place where the command speaks to people"
)]
pub(super) fn say(line: &str) {
    eprintln!("{line}");
}

/// Foreign lines without what would steer a terminal.
pub(super) fn harmless(text: &str) -> Cow<'_, str> {
    let steers = |letter: char| steers(letter) && letter != '\n' && letter != '\t';
    if !text.contains(steers) {
        return Cow::Borrowed(text);
    }
    // Lines of other systems end with both.
    let text = text.replace('\r', "");
    Cow::Owned(text.replace(steers, &char::REPLACEMENT_CHARACTER.to_string()))
}

/// The prompt of the console.
pub(super) fn prompt() {
    let mut stderr = io::stderr().lock();
    // A terminal that went away needs no prompt.
    drop(stderr.write_all(b"> ").and_then(|()| stderr.flush()));
}

/// Text that can't steer a terminal: control characters are blanks.
pub(super) fn plain(text: &str) -> String {
    text.replace(char::is_control, " ")
}

/// A result as people read it: text as it is, anything else as one line.
pub(super) fn readable(blocks: &[Content]) -> String {
    let blocks: Vec<String> = blocks.iter().map(content::line).collect();
    blocks.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_other_than_text_are_one_line() {
        let content = [
            Content::text("a\nb"),
            Content::image("A".repeat(16_000), "image/png"),
            Content::resource("file:///x", "y"),
        ];
        let text = "a\nb\n[image image/png, 12 kB]\n[resource file:///x, unknown type]";
        assert_eq!(readable(&content), text);
    }
}
