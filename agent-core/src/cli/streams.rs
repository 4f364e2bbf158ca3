//! Keeps the real stdout clean: whatever plugins print goes to the host's log, under the name of
//! the plugin that was at work, if only one was.
//!
//! Descriptor 1 is pointed at a pipe before the first library is mapped; the real stdout is moved
//! aside. A thread reads the pipe line by line and hands the lines to another one, which logs them.
//! The first must not log itself: its first thread-local with a destructor would wait for the lock of
//! the system's loader, and a constructor that prints holds that lock while it waits for the reader.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How long the end of the process waits for the last lines.
const LAST_LINES: Duration = Duration::from_millis(300);

/// Longest line that is logged whole, in bytes; what comes behind is the next.
const LINE_BYTES: u64 = 64 * 1024;

/// The name under which printed lines are logged.
#[derive(Clone, Debug, Default)]
pub(super) struct Speaker(Arc<Mutex<Option<String>>>);

impl Speaker {
    /// From now on this plugin is at work.
    pub(super) fn set(&self, plugin: &str) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(plugin.to_owned());
    }

    /// Nobody where several may be at work, as in a chat: one process has one stdout.
    fn name(&self) -> Option<String> {
        let name = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        name.clone()
    }
}

/// The redirection, until it is dropped.
#[derive(Debug)]
pub(super) struct Capture {
    real: File,
    ended: Receiver<()>,
}

/// Moves the real stdout aside.
pub(super) fn capture(speaker: Speaker) -> io::Result<Capture> {
    io::stdout().flush()?;
    let real = File::from(rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdout(), 3)?);
    let (reader, writer) = io::pipe()?;
    rustix::stdio::dup2_stdout(&writer)?;
    let (hand_on, lines) = channel();
    std::thread::Builder::new()
        .name("stdout-capture".to_owned())
        .spawn(move || read_lines(reader, &speaker, &hand_on))?;
    let (end, ended) = channel();
    std::thread::Builder::new()
        .name("stdout-log".to_owned())
        .spawn(move || {
            for Line { plugin, text } in lines {
                let text = String::from_utf8_lossy(&text);
                let text = text.trim_end();
                tracing::info!(target: "plugin", plugin, origin = "stdout", "{text}");
            }
            drop(end);
        })?;
    Ok(Capture { real, ended })
}

/// A line that was printed, and the plugin that was at work, where it is known.
struct Line {
    plugin: Option<String>,
    text: Vec<u8>,
}

fn read_lines(reader: io::PipeReader, speaker: &Speaker, hand_on: &Sender<Line>) {
    let mut reader = BufReader::new(reader);
    loop {
        let mut text = Vec::new();
        let mut limited = (&mut reader).take(LINE_BYTES);
        let read = limited.read_until(b'\n', &mut text);
        if !read.is_ok_and(|length| length > 0) {
            return;
        }
        let plugin = speaker.name();
        if hand_on.send(Line { plugin, text }).is_err() {
            return;
        }
    }
}

impl Capture {
    /// A writer to the real stdout.
    pub(super) fn real(&self) -> io::Result<File> {
        self.real.try_clone()
    }
}

impl Drop for Capture {
    /// Gives descriptor 1 back and waits for the last lines. A child process of a tool may hold
    /// the pipe open for longer; its lines are lost.
    fn drop(&mut self) {
        drop(io::stdout().flush());
        if rustix::stdio::dup2_stdout(&self.real).is_ok() {
            let ended = self.ended.recv_timeout(LAST_LINES);
            if ended == Err(RecvTimeoutError::Timeout) {
                tracing::debug!("something still holds the captured stdout");
            }
        }
    }
}
