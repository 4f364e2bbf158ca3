//! The process of a compiler: cargo or rustc with everything that it starts, as one group.
//!
//! Owns starting, ending and the lines that come out. Does not know what the lines mean.
//!
//! Rustc, linkers and build scripts belong to the group of whoever started them, and end with it
//! when the run is given up, be it by a call of its caller, by the time limit or because nobody
//! waits for it any longer.

use std::future::pending;
use std::io;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, BufReader};
use tokio::process::{Child, Command};
use tokio_util::sync::CancellationToken;

use super::error::BuildError;
use crate::limits::{BUILD_OUTPUT_GRACE, BUILD_OUTPUT_LINE};
use crate::worker::confined::{Running, Surroundings};

/// Who may end a run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stop<'a> {
    /// The caller.
    pub(super) cancel: &'a CancellationToken,
    /// A newer request.
    pub(super) superseded: &'a CancellationToken,
}

impl Stop<'_> {
    /// Ends when someone wants the run to end, and says who.
    pub(super) async fn wanted(self, package: &str) -> BuildError {
        let package = package.to_owned();
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => BuildError::Cancelled { package },
            () = self.superseded.cancelled() => BuildError::Superseded { package },
        }
    }
}

/// What may end a run of a package before it has ended by itself.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds<'a> {
    pub(super) package: &'a str,
    pub(super) limit: Duration,
    pub(super) stop: Stop<'a>,
}

/// A program with everything that it starts.
pub(super) struct Group {
    child: Child,
    /// What a confined one needs as long as it runs.
    _surroundings: Option<Surroundings>,
    /// The group's number, until the program has ended and been waited for: up to then no other
    /// process can have it.
    number: Option<rustix::process::Pid>,
}

impl Group {
    /// Starts a program in a group of its own, without input.
    pub(super) fn start(mut command: Command) -> io::Result<Self> {
        let child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()?;
        Ok(Self::led_by(child, None))
    }

    /// A program that runs confined.
    pub(super) fn of(running: Running) -> Self {
        let Running {
            child,
            surroundings,
        } = running;
        Self::led_by(child, Some(surroundings))
    }

    fn led_by(child: Child, surroundings: Option<Surroundings>) -> Self {
        let number = child.id().and_then(|id| i32::try_from(id).ok());
        Self {
            number: number.and_then(rustix::process::Pid::from_raw),
            child,
            _surroundings: surroundings,
        }
    }

    /// Hands on each line that comes out until the program has ended, or ends it with all it has
    /// started.
    pub(super) async fn run(
        mut self,
        bounds: Bounds<'_>,
        output: impl FnMut(&str),
        complaints: impl FnMut(&str),
    ) -> Result<ExitStatus, BuildError> {
        let ended = tokio::select! {
            biased;
            wanted = bounds.stop.wanted(bounds.package) => Err(wanted),
            () = tokio::time::sleep(bounds.limit) => Err(BuildError::TimedOut {
                package: bounds.package.to_owned(),
                limit: bounds.limit,
            }),
            status = self.follow(output, complaints) => status.map_err(BuildError::Io),
        };
        if ended.is_err() {
            self.kill();
            // Whoever builds next finds nothing of this run at work.
            drop(self.child.wait().await);
        }
        // Its number may belong to another process from now on.
        self.number = None;
        ended
    }

    async fn follow(
        &mut self,
        output: impl FnMut(&str),
        complaints: impl FnMut(&str),
    ) -> io::Result<ExitStatus> {
        let (stdout, stderr) = (self.child.stdout.take(), self.child.stderr.take());
        let reading =
            async { tokio::join!(each_line(stdout, output), each_line(stderr, complaints)) };
        tokio::pin!(reading);
        tokio::select! {
            biased;
            _ = &mut reading => self.child.wait().await,
            status = self.child.wait() => {
                // A process that a build script left behind may hold the pipes open for ever.
                // What the program has said is in them already.
                _ = tokio::time::timeout(BUILD_OUTPUT_GRACE, &mut reading).await;
                status
            }
        }
    }

    fn kill(&self) {
        if let Some(number) = self.number {
            // Whatever has ended by itself needs no signal.
            _ = rustix::process::kill_process_group(number, rustix::process::Signal::KILL);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Hands on each line without its end; a line beyond every measure is cut.
async fn each_line(pipe: Option<impl AsyncRead + Unpin>, mut hand_on: impl FnMut(&str)) {
    let Some(pipe) = pipe else {
        return pending().await;
    };
    let mut pipe = BufReader::new(pipe);
    let mut line = Vec::new();
    loop {
        line.clear();
        let mut limited = (&mut pipe).take(BUILD_OUTPUT_LINE as u64);
        match limited.read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => return,
            Ok(_) => hand_on(String::from_utf8_lossy(&line).trim_end_matches(['\n', '\r'])),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn lines_are_handed_on_whole_and_without_their_ends() {
        let mut lines = Vec::new();
        each_line(Some(&b"one\r\n\ntwo \xff\nlast"[..]), |line| {
            lines.push(line.to_owned());
        })
        .await;
        assert_eq!(lines, ["one", "", "two \u{fffd}", "last"]);
    }
}
