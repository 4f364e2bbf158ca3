//! Every rule is shown twice: an act succeeds in a process that is free, and fails in one that is
//! confined.
//!
//! Confinement can't be undone, so acts run in processes of their own: the test starts its own
//! executable again with its own name, and that one sees in its environment that it is to act. The
//! test runner has a thread of its own in there, which stays free, so only the thread of the test is
//! confined, with all that it starts.
//!
//! Owns the harness. The acts are in the files beside.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Write as _};
use std::net::{TcpListener, UdpSocket};
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd, RawFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};

use nix::errno::Errno;
use rustix::process::Pid;
use serde::{Deserialize, Serialize};
use std::fs;
use tempfile::TempDir;

use super::{Confinement, Enforced, confine_thread};

mod files;
mod limits;
mod network;
mod processes;
mod refusals;
mod works;

const PLACE: &str = "SANDBOX_TEST_PLACE";
const CONFINED: &str = "SANDBOX_TEST_CONFINED";

/// What is done, how it goes when it is free, and how when it is confined: `ok`, the name of an
/// error number, or the kind of an error without one.
struct Act {
    name: &'static str,
    perform: fn(&Place) -> io::Result<()>,
    confined: &'static str,
}

/// It goes well for a free process, and for a confined one it ends as `confined` says.
fn act(name: &'static str, confined: &'static str, perform: fn(&Place) -> io::Result<()>) -> Act {
    Act {
        name,
        perform,
        confined,
    }
}

/// Where acts happen. Folders: `outside` is never granted, `scratch` always, `readable` and
/// `writable` are granted as they are called. In each is a file `note`.
#[derive(Debug, Serialize, Deserialize)]
struct Place {
    root: PathBuf,
    tcp: u16,
    udp: u16,
    parent: i32,
    /// A descriptor of `outside/note` that the process inherits.
    inherited: RawFd,
    /// A descriptor of `outside/note` that it opens, and keeps.
    #[serde(skip)]
    kept: Option<File>,
}

impl Place {
    fn path(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    fn parent(&self) -> Pid {
        Pid::from_raw(self.parent).unwrap()
    }

    /// The grants that most tests use.
    fn confinement(&self) -> Confinement {
        Confinement {
            read: vec![self.path("readable")],
            write: vec![self.path("writable")],
            libraries: vec![self.path("library.so")],
            ..Confinement::of(self.path("scratch"))
        }
    }
}

/// How one process ended, and what it said about each act.
struct Ran {
    status: ExitStatus,
    outcomes: Vec<String>,
    enforced: Option<Enforced>,
    output: String,
}

/// Runs the acts in a free and in a confined process and compares. `test` is the path of the
/// calling test beneath this module.
fn check(test: &str, grants: fn(&Place) -> Confinement, acts: &[Act]) {
    let confined = run(test, grants, acts);
    let Some((free, confined)) = confined else {
        return;
    };
    let shown = |outcomes: &[String]| {
        let mut lines = String::new();
        for (number, act) in acts.iter().enumerate() {
            let outcome = outcomes.get(number).map_or("nothing", String::as_str);
            writeln!(lines, "{}: {outcome}", act.name).unwrap();
        }
        lines
    };
    let expected = |outcome: fn(&Act) -> &'static str| {
        let outcomes: Vec<String> = acts.iter().map(|act| outcome(act).to_owned()).collect();
        shown(&outcomes)
    };
    assert_eq!(shown(&free.outcomes), expected(|_| "ok"), "{}", free.output);
    assert!(free.status.success(), "{}", free.output);
    assert_eq!(
        shown(&confined.outcomes),
        expected(|act| act.confined),
        "{}",
        confined.output
    );
    assert!(confined.status.success(), "{}", confined.output);
}

/// In the test itself: runs both processes. In those processes: acts, and answers `None`.
fn run(test: &str, grants: fn(&Place) -> Confinement, acts: &[Act]) -> Option<(Ran, Ran)> {
    if let Some(place) = std::env::var_os(PLACE) {
        let place = serde_json::from_str(place.to_str().unwrap()).unwrap();
        perform(place, std::env::var_os(CONFINED).is_some(), grants, acts);
        return None;
    }
    Some((start(test, false), start(test, true)))
}

fn perform(mut place: Place, confined: bool, grants: fn(&Place) -> Confinement, acts: &[Act]) {
    let kept = File::open(place.path("outside/note")).unwrap();
    if confined {
        let grants = grants(&place);
        // It crosses to a helper as JSON.
        let json = serde_json::to_string(&grants).unwrap();
        let grants: Confinement = serde_json::from_str(&json).unwrap();
        let enforced = confine_thread(&grants, &[kept.as_fd()]).unwrap();
        say(&format!(
            "ENFORCED {}",
            serde_json::to_string(&enforced).unwrap()
        ));
    }
    place.kept = Some(kept);
    for act in acts {
        let outcome = match (act.perform)(&place) {
            Ok(()) => "ok".to_owned(),
            Err(error) => name(&error),
        };
        say(&format!("ACT {outcome}"));
    }
}

/// On a line of its own, whatever the test runner has begun to print.
fn say(line: &str) {
    writeln!(io::stdout(), "\n{line}").unwrap();
}

fn name(error: &io::Error) -> String {
    match error.raw_os_error() {
        Some(number) => format!("{:?}", Errno::from_raw(number)),
        None => format!("{:?}", error.kind()),
    }
}

fn start(test: &str, confined: bool) -> Ran {
    let world = World::new();
    let module = module_path!().split_once("::").unwrap().1;
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "--nocapture", "--test-threads=1"])
        .arg(format!("{module}::{test}"))
        .env_clear()
        .env(PLACE, serde_json::to_string(&world.place).unwrap())
        .env("SECRET", "of the process")
        .stdin(Stdio::from(world.theirs()))
        .current_dir(world.place.path("scratch"));
    if confined {
        command.env(CONFINED, "1");
    }
    let ended = command.output().unwrap();
    let output = format!(
        "{}\n{}{}",
        ended.status,
        String::from_utf8_lossy(&ended.stdout),
        String::from_utf8_lossy(&ended.stderr)
    );
    let after = |start: &'static str| {
        output
            .lines()
            .filter_map(move |line| line.strip_prefix(start))
    };
    Ran {
        status: ended.status,
        outcomes: after("ACT ").map(str::to_owned).collect(),
        enforced: after("ENFORCED ")
            .next()
            .map(|json| serde_json::from_str(json).unwrap()),
        output: output.clone(),
    }
}

/// What surrounds one process: folders, and servers that it must not reach.
struct World {
    place: Place,
    /// Both ends of the socket that is its standard input.
    socket: (UnixStream, UnixStream),
    _servers: (TcpListener, UdpSocket, UnixListener),
    _note: File,
    _folder: TempDir,
}

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["outside", "scratch", "readable", "writable"] {
            fs::create_dir(folder.path().join(name)).unwrap();
            fs::write(folder.path().join(name).join("note"), name).unwrap();
        }
        fs::write(folder.path().join("library.so"), "library").unwrap();
        let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
        let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
        let unix = UnixListener::bind(folder.path().join("socket")).unwrap();
        let note = File::open(folder.path().join("outside/note")).unwrap();
        rustix::io::fcntl_setfd(&note, rustix::io::FdFlags::empty()).unwrap();
        let socket = UnixStream::pair().unwrap();
        (&socket.0).write_all(b"ping").unwrap();
        Self {
            place: Place {
                root: folder.path().to_owned(),
                tcp: tcp.local_addr().unwrap().port(),
                udp: udp.local_addr().unwrap().port(),
                parent: rustix::process::getpid().as_raw_nonzero().get(),
                inherited: note.as_raw_fd(),
                kept: None,
            },
            socket,
            _servers: (tcp, udp, unix),
            _note: note,
            _folder: folder,
        }
    }

    fn theirs(&self) -> OwnedFd {
        self.socket.1.try_clone().unwrap().into()
    }
}
