//! What a helper process prints: the last lines for the report of its end, all of them for the log
//! where it serves a plugin.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};

use crate::ids::PluginName;
use crate::json_text::{one_line, shortened};

/// How long the pipes of a helper are read after it has ended.
pub(super) const LAST_WORDS: Duration = Duration::from_millis(100);

/// How many of its last lines are kept.
const KEPT_LINES: usize = 8;

/// Longest line that is kept, in bytes.
const KEPT_LINE: usize = 400;

/// How much is read at once: what a pipe holds.
const PIPE: usize = 64 * 1024;

/// How many lines a second are written into the log; a plugin that prints without a pause would
/// else fill the disk.
const LOGGED_LINES: u32 = 200;

/// The last lines that a helper printed. Clones share them.
#[derive(Clone, Debug, Default)]
pub(super) struct Words(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    /// A mutex, since two pipes are read at once; held for moments only.
    lines: Mutex<VecDeque<String>>,
    /// One for each pipe that is read.
    readers: Mutex<Vec<tokio::task::JoinHandle<()>>>,
    /// Whose lines are logged.
    plugin: OnceLock<PluginName>,
    pace: Mutex<Pace>,
}

/// How much was logged of late.
#[derive(Debug, Default)]
struct Pace {
    second: Option<Instant>,
    lines: u32,
}

impl Words {
    /// Logs every line from now on, under the name of this plugin.
    pub(super) fn log_as(&self, plugin: &PluginName) {
        // A process serves one plugin for its whole life.
        self.0.plugin.set(plugin.clone()).unwrap_or_default();
    }

    pub(super) fn follow(&self, pipe: Option<impl AsyncRead + Send + Unpin + 'static>) {
        let Some(pipe) = pipe else { return };
        let shared = Arc::clone(&self.0);
        let reader = tokio::spawn(async move {
            let mut pipe = BufReader::with_capacity(PIPE, pipe);
            let mut line = Vec::new();
            loop {
                let read = match pipe.fill_buf().await {
                    Ok([]) | Err(_) => break,
                    Ok(read) => read,
                };
                let end = read.iter().position(|byte| *byte == b'\n');
                let part = read.get(..end.unwrap_or(read.len())).unwrap_or_default();
                // What is too much of one line is read and forgotten.
                let room = KEPT_LINE.saturating_sub(line.len());
                line.extend(part.iter().take(room));
                let used = end.map_or(read.len(), |end| end + 1);
                pipe.consume(used);
                if end.is_some() {
                    shared.keep(&line);
                    line.clear();
                }
            }
            shared.keep(&line);
        });
        lock(&self.0.readers).push(reader);
    }

    /// Everything that is in the pipes by now.
    pub(super) async fn say(&self) -> String {
        let readers: Vec<_> = lock(&self.0.readers).drain(..).collect();
        for reader in readers {
            // A process that was left behind may hold the pipe open.
            drop(tokio::time::timeout(LAST_WORDS, reader).await);
        }
        let lines = lock(&self.0.lines);
        let all: Vec<&str> = lines.iter().map(String::as_str).collect();
        shortened(&all.join(" / "), 600)
    }
}

impl Shared {
    fn keep(&self, line: &[u8]) {
        let text = one_line(&String::from_utf8_lossy(line));
        if text.is_empty() || is_of_a_backtrace(&text) {
            return;
        }
        if let Some(plugin) = self.plugin.get() {
            match lock(&self.pace).step(Instant::now()) {
                Step::Log => tracing::info!(target: "plugin", plugin = plugin.as_str(), "{text}"),
                Step::Last => tracing::warn!(
                    target: "plugin", plugin = plugin.as_str(),
                    "it prints more than {LOGGED_LINES} lines a second; the rest is left out"
                ),
                Step::LeaveOut => {}
            }
        }
        let mut lines = lock(&self.lines);
        if lines.len() == KEPT_LINES {
            lines.pop_front();
        }
        lines.push_back(text);
    }
}

/// What becomes of a line in the log.
#[derive(Debug, PartialEq, Eq)]
enum Step {
    Log,
    /// The first one too many.
    Last,
    LeaveOut,
}

impl Pace {
    fn step(&mut self, now: Instant) -> Step {
        let is_same = |second: Instant| now.duration_since(second) < Duration::from_secs(1);
        if !self.second.is_some_and(is_same) {
            *self = Self {
                second: Some(now),
                lines: 0,
            };
        }
        self.lines = self.lines.saturating_add(1);
        match self.lines.checked_sub(LOGGED_LINES) {
            None | Some(0) => Step::Log,
            Some(1) => Step::Last,
            Some(_) => Step::LeaveOut,
        }
    }
}

/// A second panic prints a backtrace, whatever the environment says: the lines of one would push
/// the message out.
fn is_of_a_backtrace(text: &str) -> bool {
    let digits = text.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let is_frame = digits.len() < text.len() && digits.starts_with(": ");
    is_frame || text.starts_with("at ") || text == "stack backtrace:"
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_backtrace_are_told_from_words() {
        for frame in [
            "stack backtrace:",
            "12:  0x55 - main",
            "at ./csu/libc-start.c:360:3",
        ] {
            assert!(is_of_a_backtrace(frame), "{frame}");
        }
        for words in [
            "thread 'main' panicked at src/lib.rs:1:2:",
            "12",
            "12 apples: many",
            "boom",
        ] {
            assert!(!is_of_a_backtrace(words), "{words}");
        }
    }

    #[test]
    fn a_flood_of_lines_is_logged_at_a_steady_pace() {
        let mut pace = Pace::default();
        let begin = Instant::now();
        let steps: Vec<Step> = (0..1000).map(|_| pace.step(begin)).collect();
        let count = |wanted: &Step| steps.iter().filter(|step| *step == wanted).count();
        assert_eq!(
            (
                count(&Step::Log),
                count(&Step::Last),
                count(&Step::LeaveOut)
            ),
            (200, 1, 799)
        );
        assert_eq!(pace.step(begin + Duration::from_secs(1)), Step::Log);
    }
}
