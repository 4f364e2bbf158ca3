//! The host's side of a helper process: start, ask, end.

use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream as StdUnixStream;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tempfile::TempDir;
use tokio::net::UnixStream;
use tokio::process::{Child, Command};

use super::frames;
use super::helpers::Scratch;
use super::program::HelperProgram;
use super::protocol::{ARGUMENT, Answer, Hello, LOST_CONNECTION, Request};
use super::sandbox::cgroup::Group;
use super::sandbox::{self, Confinement, Enforced};
use super::words::{LAST_WORDS, Words};
use crate::ids::PluginName;
use crate::limits;

/// The number of the signal that no process can catch.
const KILL: i32 = rustix::process::Signal::KILL.as_raw();

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
    /// It can't be confined as was asked for.
    #[error("{0}")]
    NotConfined(String),
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
    pub(super) fn how(self) -> String {
        match self {
            Self::Died { how, .. } | Self::CutOff { how } => how,
            other => other.to_string(),
        }
    }
}

/// A running helper process that can be asked.
#[derive(Debug)]
pub struct Helper {
    process: Process,
    socket: UnixStream,
}

impl Helper {
    /// Starts a helper and waits for its greeting.
    pub async fn start(
        program: &HelperProgram,
        environment: &Environment,
    ) -> Result<Self, HelperError> {
        let path = program.path().to_owned();
        let started = Self::spawn(program, environment).map_err(|source| HelperError::Start {
            path: path.clone(),
            source,
        });
        let mut helper = started?;
        let limit = limits::HELPER_START;
        let greeting = frames::receive::<Hello>(&mut helper.socket);
        let found = match tokio::time::timeout(limit, greeting).await {
            Ok(Ok(Some((hello, _)))) if hello.fits() => return Ok(helper),
            Ok(Ok(Some((hello, _)))) => format!("protocol {}, {}", hello.protocol, hello.abi),
            Ok(Ok(None)) => helper.process.ended(None).await.how(),
            Ok(Err(error)) => helper.process.ended(Some(error)).await.how(),
            Err(_) => return Err(HelperError::Silent { path, limit }),
        };
        let own = Hello::own();
        Err(HelperError::NoHelper {
            path,
            expected: format!("protocol {}, {}", own.protocol, own.abi),
            found,
        })
    }

    fn spawn(program: &HelperProgram, environment: &Environment) -> io::Result<Self> {
        let Spawned {
            mut child,
            socket,
            scratch,
        } = spawn(program, environment)?;
        let words = Words::default();
        words.follow(child.stdout.take());
        words.follow(child.stderr.take());
        let number = child.id().and_then(|id| i32::try_from(id).ok());
        let process = Process {
            child,
            group: number.and_then(rustix::process::Pid::from_raw),
            words,
            cgroup: None,
            scratch,
        };
        Ok(Self { process, socket })
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
            Ok(Ok(Some((answer, _)))) => Ok(answer),
            Ok(Ok(None)) => Err(self.process.ended(None).await),
            // What foreign code may have written into the socket is no answer.
            Ok(Err(error)) => Err(self.process.ended(Some(error)).await),
            Err(_) => Err(HelperError::TimedOut { limit }),
        }
    }

    /// Whether it has not ended yet.
    pub(super) fn lives(&mut self) -> bool {
        matches!(self.process.child.try_wait(), Ok(None))
    }

    /// Confines it for good. `confinement` need not name its folder.
    pub(super) async fn confine(
        &mut self,
        mut confinement: Confinement,
    ) -> Result<Enforced, HelperError> {
        let process = &mut self.process;
        if let Some(scratch) = &process.scratch {
            scratch.path().clone_into(&mut confinement.scratch);
        }
        confinement.limits.grouped = process.enter(Group::new(&confinement.limits));
        self.restrict(&Request::Confine(Box::new(confinement)))
            .await
    }

    /// Limits its memory for good, and nothing else.
    pub(super) async fn limit_memory(&mut self, bytes: u64) -> Result<Enforced, HelperError> {
        let grouped = self.process.enter(Group::of_memory(bytes));
        self.restrict(&Request::LimitMemory { bytes, grouped })
            .await
    }

    async fn restrict(&mut self, request: &Request) -> Result<Enforced, HelperError> {
        match self.ask(request, limits::HELPER_START).await? {
            Answer::Confined(enforced) => Ok(enforced),
            Answer::NotConfined(reason) => Err(HelperError::NotConfined(reason)),
            other => Err(HelperError::NotConfined(format!("it said {other:?}"))),
        }
    }

    /// Writes what it prints into the log from now on, under the name of this plugin.
    pub(super) fn log_as(&self, plugin: &PluginName) {
        self.process.words.log_as(plugin);
    }

    /// The process and the connection to it, for a conversation of another kind.
    pub(super) fn into_parts(self) -> (Process, UnixStream) {
        (self.process, self.socket)
    }
}

/// A helper process that has said nothing yet.
pub(super) struct Spawned {
    pub(super) child: Child,
    pub(super) socket: UnixStream,
    /// The folder of a bare one.
    pub(super) scratch: Option<TempDir>,
}

/// Starts the process, in a group of its own.
pub(super) fn spawn(program: &HelperProgram, environment: &Environment) -> io::Result<Spawned> {
    let (ours, theirs) = StdUnixStream::pair()?;
    ours.set_nonblocking(true)?;
    let mut command = Command::new(program.executable());
    let scratch = match environment {
        Environment::Inherited => None,
        Environment::Bare { variables, scratch } => {
            let scratch = scratch.make()?;
            command
                .env_clear()
                .envs(sandbox::ENVIRONMENT)
                .env("TMPDIR", scratch.path())
                .envs(variables.iter().cloned());
            Some(scratch)
        }
    };
    let child = command
        .arg0(HelperProgram::name())
        .arg(ARGUMENT)
        .env("RUST_BACKTRACE", "0")
        .stdin(Stdio::from(OwnedFd::from(theirs)))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true)
        .spawn()?;
    Ok(Spawned {
        child,
        socket: UnixStream::from_std(ours)?,
        scratch,
    })
}

/// Puts a process into a control group, where there are groups for us; else its own limits have to do.
pub(super) fn grouped(child: &Child, group: io::Result<Group>) -> Option<Group> {
    let group = group.ok()?;
    group.add(child.id()?).ok()?;
    Some(group)
}

/// The environment of a helper process.
#[derive(Clone, Debug)]
pub enum Environment {
    /// The variables of this process.
    Inherited,
    /// These variables, and a folder of its own.
    Bare {
        /// Its variables, besides those that say where its folder is.
        variables: Vec<(OsString, OsString)>,
        /// Where its folder is made.
        scratch: Scratch,
    },
}

/// A helper process. It is ended, with all that it has started, when this is dropped.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    /// Its process group; `None` when it has been waited for, since another may have the number
    /// then.
    group: Option<rustix::process::Pid>,
    words: Words,
    /// What limits it, where it is confined and the system has control groups for us.
    cgroup: Option<Group>,
    /// The folder of a bare one; removed with it.
    scratch: Option<TempDir>,
}

impl Process {
    /// How it ended, now that it has, or will at once. `heard` is what was no message of it.
    pub(super) async fn ended(&mut self, heard: Option<io::Error>) -> HelperError {
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

    /// Puts it into a control group. Whether it is in it.
    fn enter(&mut self, group: io::Result<Group>) -> bool {
        self.cgroup = grouped(&self.child, group);
        self.cgroup.is_some()
    }

    /// Waits until it has ended by itself.
    pub(super) async fn wait(&mut self) {
        if self.child.wait().await.is_ok() {
            self.group = None;
        }
    }

    /// Ends it at once, with all that it has started.
    pub(super) fn kill(&self) {
        if let Some(group) = self.group {
            // What has ended by itself needs no signal.
            _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
    }
}

impl Drop for Process {
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
