//! The process of a run: cargo with everything that it starts, as one group.
//!
//! Owns starting, ending and the lines that come out. Does not know what the lines mean.

use std::ffi::OsString;
use std::future::pending;
use std::process::Stdio;

use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, BufReader};
use tokio::process::{Child, Command};

use super::Run;
use crate::build::error::BuildError;
use crate::limits::BUILD_OUTPUT_LINE;

/// Cargo with everything that it starts.
pub(super) struct Group {
    pub(super) child: Child,
    /// The group's number, until cargo has ended and been waited for: up to then no other process
    /// can have it.
    number: Option<rustix::process::Pid>,
}

impl Group {
    pub(super) fn start(run: &Run<'_>, locked: bool) -> Result<Self, BuildError> {
        let program = run.environment.cargo();
        let mut command = Command::new(&program);
        command
            .args(arguments(run, locked))
            // A crate's own toolchain file and cargo configuration count, as they would for a
            // person who builds it.
            .current_dir(&run.manifest.folder)
            .env_clear()
            .envs(run.environment.variables())
            .env("CARGO_TERM_PROGRESS_WHEN", "never")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true);
        match command.spawn() {
            Ok(child) => {
                let number = child.id().and_then(|id| i32::try_from(id).ok());
                Ok(Self {
                    number: number.and_then(rustix::process::Pid::from_raw),
                    child,
                })
            }
            Err(error)
                if error.kind() == std::io::ErrorKind::NotFound && run.manifest.folder.is_dir() =>
            {
                Err(BuildError::CargoMissing { program })
            }
            Err(source) => Err(BuildError::CargoStart { program, source }),
        }
    }

    /// Ends cargo and everything it has started.
    pub(super) fn kill(&self) {
        if let Some(number) = self.number {
            // Whatever has ended by itself needs no signal.
            _ = rustix::process::kill_process_group(number, rustix::process::Signal::KILL);
        }
    }

    /// Cargo has been waited for: its number may belong to another process from now on.
    pub(super) fn ended(&mut self) {
        self.number = None;
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}

fn arguments(run: &Run<'_>, locked: bool) -> Vec<OsString> {
    let format = if run.colour {
        "json-diagnostic-rendered-ansi"
    } else {
        "json"
    };
    let mut arguments: Vec<OsString> = vec![
        "build".into(),
        "--manifest-path".into(),
        run.manifest.file().into(),
        "--lib".into(),
        "--target-dir".into(),
        run.target.into(),
        "--message-format".into(),
        format.into(),
        "--color=never".into(),
    ];
    arguments.extend(run.profile.arguments().into_iter().map(OsString::from));
    if locked {
        arguments.push("--locked".into());
    }
    arguments
}

/// Hands on each line without its end; a line beyond every measure is cut.
pub(super) async fn each_line(pipe: Option<impl AsyncRead + Unpin>, mut hand_on: impl FnMut(&str)) {
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
