//! The host's side of a helper process: start, ask, end.

use std::collections::VecDeque;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream as StdUnixStream;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, BufReader};
use tokio::net::UnixStream;
use tokio::process::{Child, Command};

use super::frames;
use super::program::HelperProgram;
use super::protocol::{ARGUMENT, Answer, Hello, LOST_CONNECTION, Request};
use crate::json_text::{one_line, shortened};
use crate::limits;

/// How long the pipes of a helper are read after it has ended.
const LAST_WORDS: Duration = Duration::from_millis(100);

/// How many of its last lines are kept.
const KEPT_LINES: usize = 8;

/// The number of the signal that no process can catch.
const KILL: i32 = rustix::process::Signal::KILL.as_raw();

/// Longest line that is kept, in bytes.
const KEPT_LINE: u64 = 400;

/// Why a helper process could not do what it was asked for.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HelperError {
    /// There is no program to start.
    #[error(
        "no program to try libraries out with: expected `toolsmith` in PATH; install it, set \
         TOOLSMITH_HELPER to it, or call `agent_core::helper::init()` first in `main`"
    )]
    NoProgram,
    /// The program can't be opened.
    #[error("the helper program `{}` can't be used: {source}", .path.display())]
    Program {
        /// The program.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The program can't be started, or the connection to it can't be made.
    #[error("the helper program `{}` can't be started: {source}", .path.display())]
    Start {
        /// The program.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The program is something else.
    #[error(
        "`{}` is no helper program of this version (expected {expected}, found {found}): set \
         TOOLSMITH_HELPER to a `toolsmith` of this version", .path.display()
    )]
    NoHelper {
        /// The program.
        path: PathBuf,
        /// What this host speaks.
        expected: String,
        /// What the program said.
        found: String,
    },
    /// The program runs, but says nothing.
    #[error(
        "`{}` is no helper program, it said nothing within {limit:?}: set TOOLSMITH_HELPER to a \
         `toolsmith` of this version", .path.display()
    )]
    Silent {
        /// The program.
        path: PathBuf,
        /// How long it was waited for.
        limit: Duration,
    },
    /// The process has ended.
    #[error("it ended the process that tried it out ({how})")]
    Died {
        /// Exit code or signal, and its last words.
        how: String,
        /// Whether it was by SIGKILL: by a person, or because memory ran out.
        killed: bool,
    },
    /// The process lives, but can't be spoken to any more.
    #[error("it cut the process that tried it out off from the host ({how})")]
    CutOff {
        /// What was heard, and its last words.
        how: String,
    },
    /// No answer came in time.
    #[error("it did not answer within {limit:?} when it was tried out")]
    TimedOut {
        /// The limit.
        limit: Duration,
    },
}

impl HelperError {
    /// Whether it says something of what was tried out, and not of the helper program.
    pub(super) fn is_of_a_candidate(&self) -> bool {
        matches!(
            self,
            Self::Died { .. } | Self::CutOff { .. } | Self::TimedOut { .. }
        )
    }

    /// What was seen of a process that can't be used.
    fn how(self) -> String {
        match self {
            Self::Died { how, .. } | Self::CutOff { how } => how,
            other => other.to_string(),
        }
    }
}

/// A running helper process. It is ended, with all that it has started, when this is dropped.
#[derive(Debug)]
pub struct Helper {
    path: PathBuf,
    child: Child,
    /// Its process group; `None` when it has been waited for, since another may have the number
    /// then.
    group: Option<rustix::process::Pid>,
    socket: UnixStream,
    words: LastWords,
}

impl Helper {
    /// Starts a helper and waits for its greeting.
    pub async fn start(program: &HelperProgram) -> Result<Self, HelperError> {
        let path = program.path().to_owned();
        let started = Self::spawn(program).map_err(|source| HelperError::Start {
            path: path.clone(),
            source,
        });
        let mut helper = started?;
        let limit = limits::HELPER_START;
        let greeting = frames::receive::<Hello>(&mut helper.socket);
        let found = match tokio::time::timeout(limit, greeting).await {
            Ok(Ok(Some(hello))) if hello.fits() => return Ok(helper),
            Ok(Ok(Some(hello))) => format!("protocol {}, {}", hello.protocol, hello.abi),
            Ok(Ok(None)) => helper.ended(None).await.how(),
            Ok(Err(error)) => helper.ended(Some(error)).await.how(),
            Err(_) => return Err(HelperError::Silent { path, limit }),
        };
        let own = Hello::own();
        Err(HelperError::NoHelper {
            path,
            expected: format!("protocol {}, {}", own.protocol, own.abi),
            found,
        })
    }

    fn spawn(program: &HelperProgram) -> io::Result<Self> {
        let (ours, theirs) = StdUnixStream::pair()?;
        ours.set_nonblocking(true)?;
        let mut child = Command::new(program.executable())
            .arg0(HelperProgram::name())
            .arg(ARGUMENT)
            .env("RUST_BACKTRACE", "0")
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()?;
        let words = LastWords::default();
        words.follow(child.stdout.take());
        words.follow(child.stderr.take());
        let number = child.id().and_then(|id| i32::try_from(id).ok());
        Ok(Self {
            path: program.path().to_owned(),
            child,
            group: number.and_then(rustix::process::Pid::from_raw),
            socket: UnixStream::from_std(ours)?,
            words,
        })
    }

    /// Asks, and waits for the answer. After an error nothing more can be asked.
    pub(super) async fn ask(
        &mut self,
        request: &Request,
        limit: Duration,
    ) -> Result<Answer, HelperError> {
        let exchange = async {
            frames::send(&mut self.socket, request).await?;
            frames::receive(&mut self.socket).await
        };
        match tokio::time::timeout(limit, exchange).await {
            Ok(Ok(Some(answer))) => Ok(answer),
            Ok(Ok(None)) => Err(self.ended(None).await),
            // What foreign code may have written into the socket is no answer.
            Ok(Err(error)) => Err(self.ended(Some(error)).await),
            Err(_) => Err(HelperError::TimedOut { limit }),
        }
    }

    /// How it ended, now that it has, or will at once. `heard` is what was no message of it.
    async fn ended(&mut self, heard: Option<io::Error>) -> HelperError {
        let mut status = match tokio::time::timeout(LAST_WORDS, self.child.wait()).await {
            Ok(status) => status.ok(),
            Err(_) => None,
        };
        let killed = status.is_some_and(|status| status.signal() == Some(KILL));
        self.kill();
        if status.is_none() {
            // One that was ending all the while still has its own end.
            let late = self.child.wait().await.ok();
            status = late.filter(|late| late.signal() != Some(KILL));
        }
        self.group = None;
        let words = self.words.say().await;
        let mut parts = Vec::new();
        let lost = status.is_none_or(|status| status.code() == Some(LOST_CONNECTION));
        match status {
            Some(status) if !lost => parts.push(how(status)),
            _ if heard.is_none() => parts.push("it closed the connection".to_owned()),
            _ => {}
        }
        if let Some(heard) = heard {
            parts.push(format!("what it sent is no answer: {heard}"));
        }
        if !words.is_empty() {
            parts.push(format!("its last words: {words}"));
        }
        let how = parts.join("; ");
        if lost {
            HelperError::CutOff { how }
        } else {
            HelperError::Died { how, killed }
        }
    }

    fn kill(&self) {
        if let Some(group) = self.group {
            // What has ended by itself needs no signal.
            _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
    }

    /// The program, for messages.
    pub fn path(&self) -> &std::path::Path {
        &self.path
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        self.kill();
    }
}

fn how(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => match name_of_signal(signal) {
            Some(name) => format!("signal {signal}, {name}"),
            None => format!("signal {signal}"),
        },
        (None, None) => status.to_string(),
    }
}

fn name_of_signal(signal: i32) -> Option<&'static str> {
    use rustix::process::Signal;
    let known = [
        (Signal::ABORT, "SIGABRT"),
        (Signal::ALARM, "SIGALRM"),
        (Signal::BUS, "SIGBUS"),
        (Signal::FPE, "SIGFPE"),
        (Signal::ILL, "SIGILL"),
        (Signal::INT, "SIGINT"),
        (Signal::KILL, "SIGKILL"),
        (Signal::PIPE, "SIGPIPE"),
        (Signal::SEGV, "SIGSEGV"),
        (Signal::SYS, "SIGSYS"),
        (Signal::TERM, "SIGTERM"),
        (Signal::TRAP, "SIGTRAP"),
        (Signal::XCPU, "SIGXCPU"),
    ];
    let found = known.iter().find(|(known, _)| known.as_raw() == signal);
    found.map(|(_, name)| *name)
}

/// A second panic prints a backtrace, whatever the environment says: the lines of one would push
/// the message out.
fn is_of_a_backtrace(text: &str) -> bool {
    let digits = text.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let is_frame = digits.len() < text.len() && digits.starts_with(": ");
    is_frame || text.starts_with("at ") || text == "stack backtrace:"
}

/// The last lines that a helper printed.
#[derive(Clone, Debug, Default)]
struct LastWords {
    /// A mutex, since two pipes are read at once; held for moments only.
    lines: Arc<Mutex<VecDeque<String>>>,
    /// One for each pipe that is read.
    readers: Arc<Mutex<Vec<tokio::task::JoinHandle<()>>>>,
}

impl LastWords {
    fn follow(&self, pipe: Option<impl AsyncRead + Send + Unpin + 'static>) {
        let Some(pipe) = pipe else { return };
        let lines = Arc::clone(&self.lines);
        let reader = tokio::spawn(async move {
            let mut pipe = BufReader::new(pipe);
            let mut line = Vec::new();
            loop {
                line.clear();
                let mut limited = (&mut pipe).take(KEPT_LINE);
                match limited.read_until(b'\n', &mut line).await {
                    Ok(0) | Err(_) => return,
                    Ok(_) => {}
                }
                let text = one_line(&String::from_utf8_lossy(&line));
                if text.is_empty() || is_of_a_backtrace(&text) {
                    continue;
                }
                let mut lines = lines.lock().unwrap_or_else(PoisonError::into_inner);
                if lines.len() == KEPT_LINES {
                    lines.pop_front();
                }
                lines.push_back(text);
            }
        });
        let mut readers = self.readers.lock().unwrap_or_else(PoisonError::into_inner);
        readers.push(reader);
    }

    /// Everything that is in the pipes by now.
    async fn say(&self) -> String {
        let readers: Vec<_> = {
            let mut readers = self.readers.lock().unwrap_or_else(PoisonError::into_inner);
            readers.drain(..).collect()
        };
        for reader in readers {
            // A process that was left behind may hold the pipe open.
            drop(tokio::time::timeout(LAST_WORDS, reader).await);
        }
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        let all: Vec<&str> = lines.iter().map(String::as_str).collect();
        shortened(&all.join(" / "), 600)
    }
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
}
