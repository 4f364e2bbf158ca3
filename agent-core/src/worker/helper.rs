//! The child's side of a helper process.
//!
//! Owns what a helper does with its process and with requests. Everything foreign that it runs
//! stays in here: it is thrown away after use.

use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use fs_err as fs;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Resource, Rlimit, Signal, WaitOptions};

use super::frames;
use super::program::THIS_CAN;
use super::protocol::{ARGUMENT, Answer, Hello, LOST_CONNECTION, Request};
use super::sandbox::{Confinement, Enforced, confine, limit_memory};
use super::serve::serve;
use crate::ids::PluginName;
use crate::plugin::introduction::try_out;
use crate::plugin::verdict::Verdict;

/// How long threads are watched that libraries have started.
const THREADS_WATCHED: Duration = Duration::from_millis(300);

/// To be called first in `main` of a program that embeds the library: makes this executable the
/// program that helpers are.
///
/// In a process that was started as a helper it does not return. Elsewhere it returns at once; an
/// executable that has not called it is never started as a helper.
pub fn init() {
    THIS_CAN.store(true, Ordering::Relaxed);
    if std::env::args_os()
        .nth(1)
        .is_some_and(|first| first == ARGUMENT)
    {
        let outcome = run();
        #[expect(clippy::exit, reason = "nothing of the program that this is may run")]
        std::process::exit(if outcome.is_ok() { 0 } else { LOST_CONNECTION });
    }
}

fn run() -> io::Result<()> {
    // Where foreign code has closed it, closing it again is an error that ends the process.
    let mut socket = ManuallyDrop::new(take_socket()?);
    // Crashes are expected here, and reported; an image of memory for each helps nobody.
    let none = Rlimit {
        current: Some(0),
        maximum: Some(0),
    };
    rustix::process::setrlimit(Resource::Core, none)?;
    adopt_orphans();
    frames::write(&mut *socket, &Hello::own())?;
    let mut next = frames::read(&mut *socket)?;
    let restricted = match &next {
        // While there is one thread.
        Some((Request::Confine(confinement), _)) => Some(confine_this(confinement, &socket)),
        Some((Request::LimitMemory { bytes, grouped }, _)) => {
            Some(limit_memory(*bytes, *grouped).map_err(|error| error.to_string()))
        }
        _ => None,
    };
    if let Some(restricted) = restricted {
        tell_restrictions(restricted, &mut socket)?;
        next = frames::read(&mut *socket)?;
    }
    end_with_the_host(socket.try_clone()?)?;
    while let Some((request, _)) = next {
        match request {
            Request::Probe {
                library,
                plugin,
                package,
                markers,
            } => {
                let plugin = PluginName::new(plugin);
                let verdict = verdict(Path::new(&library), &plugin, &package, &markers);
                frames::write(&mut *socket, &Answer::Probed(verdict))?;
            }
            Request::Run { program, arguments } => {
                let home = std::env::var_os("TMPDIR").unwrap_or_default();
                // It comes back only where it fails.
                let error = Command::new(program)
                    .args(arguments)
                    .env("HOME", home)
                    .exec();
                frames::write(&mut *socket, &Answer::NotRun(error.to_string()))?;
                end();
            }
            Request::Finish => {
                wait_for_threads();
                frames::write(&mut *socket, &Answer::Finished)?;
                end();
            }
            Request::Serve { library, plugin } => serve(socket, Path::new(&library), &plugin),
            other => {
                return Err(io::Error::other(format!(
                    "{other:?} before a library serves"
                )));
            }
        }
        // What cannot be read ends this process too, without a chance for foreign code to run.
        next = frames::read(&mut *socket).unwrap_or_default();
    }
    end();
}

/// Gives up what is not granted. A process that is confined in part has to end.
fn confine_this(confinement: &Confinement, socket: &UnixStream) -> Result<Enforced, String> {
    let entered = std::env::set_current_dir(&confinement.scratch);
    entered.map_err(|error| format!("its folder can't be entered: {error}"))?;
    confine(confinement, &[socket.as_fd()]).map_err(|error| error.to_string())
}

/// Tells what is enforced now. Where that is not what was asked for, this process ends.
fn tell_restrictions(
    restricted: Result<Enforced, String>,
    socket: &mut UnixStream,
) -> io::Result<()> {
    match restricted {
        Ok(enforced) => frames::write(socket, &Answer::Confined(enforced)),
        Err(reason) => {
            frames::write(socket, &Answer::NotConfined(reason))?;
            end();
        }
    }
}

/// What comes of trying a library out.
fn verdict(library: &Path, plugin: &PluginName, package: &str, markers: &[String]) -> Verdict {
    let (before, settings) = (std::env::current_dir(), process_settings());
    let tried = try_out(library, plugin, package, markers);
    for (before, after) in settings.iter().zip(process_settings()) {
        if *before != after {
            // What comes next in this process would find it changed already.
            return Verdict::misbehaved(format!(
                "loading it changes a setting of its process, which would be the host's (`{before}` \
                 became `{after}`): a library may not do that"
            ));
        }
    }
    // In the host it would be the host's, and every relative path would mean something else.
    if let (Ok(before), Ok(after)) = (before, std::env::current_dir())
        && before != after
    {
        drop(std::env::set_current_dir(before));
        let after = after.display();
        return Verdict::misbehaved(format!(
            "loading it changes the working directory of its process (to `{after}`): a library may \
             not do that to its host"
        ));
    }
    if has_children() {
        end_children();
        return Verdict::misbehaved(
            "loading it starts a process that goes on: a library may not leave one to its host",
        );
    }
    match tried {
        Ok(introduced) => Verdict::Fit(introduced.into()),
        Err(error) => Verdict::unfit(&error),
    }
}

/// What libraries have no business with and every other part of a process depends on: the mode of
/// new files, and which signals are ignored or caught. Empty where the system does not tell.
fn process_settings() -> Vec<String> {
    const SETTINGS: [&str; 3] = ["Umask:", "SigIgn:", "SigCgt:"];
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let lines = status
        .lines()
        .filter(|line| SETTINGS.iter().any(|name| line.starts_with(name)));
    lines.map(|line| line.replace('\t', " ")).collect()
}

/// Threads that libraries have started are watched for a while: one that ends the process soon
/// after it was started should do so here, and not in the host.
fn wait_for_threads() {
    /// This one, and the one that watches the host.
    const OWN: usize = 2;
    let begin = Instant::now();
    let threads = || fs::read_dir("/proc/self/task").map_or(0, Iterator::count);
    while threads() > OWN && begin.elapsed() < THREADS_WATCHED {
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The socket that the host made standard input. In its place comes nothing, so that foreign code
/// that reads standard input reads no message.
fn take_socket() -> io::Result<UnixStream> {
    let socket = io::stdin().as_fd().try_clone_to_owned()?;
    rustix::stdio::dup2_stdin(fs::File::open("/dev/null")?)?;
    Ok(UnixStream::from(socket))
}

/// Waits on a thread of its own until the host's end of the socket is closed, so that the end of the
/// host ends this process whatever it is doing.
///
/// The thread runs when this returns: a thread that begins needs the lock of the loader, which a
/// library holds for as long as it is being mapped.
fn end_with_the_host(socket: UnixStream) -> io::Result<()> {
    let socket = ManuallyDrop::new(socket);
    let (runs, running) = std::sync::mpsc::sync_channel(1);
    let wait = move || {
        // It is waited for.
        runs.send(()).unwrap_or_default();
        let mut closed = [PollFd::new(&*socket, PollFlags::HUP)];
        // Interrupted by a signal, it waits on.
        while matches!(poll(&mut closed, None), Err(Errno::INTR)) {}
        let [closed] = closed;
        if closed.revents().contains(PollFlags::NVAL) {
            // A library was faster, and has closed this end.
            end_children();
            lost();
        }
        end();
    };
    let thread = std::thread::Builder::new().name("host-watch".to_owned());
    thread.spawn(wait)?;
    running.recv().map_err(io::Error::other)
}

/// Ends this process where it can't say any more why: a plugin has closed the way to the host, or the
/// host does not read.
pub(super) fn lost() -> ! {
    #[expect(clippy::exit, reason = "the exit code is all that the host will hear")]
    std::process::exit(LOST_CONNECTION);
}

/// A process whose parent has ended becomes this one's child, so that it is ended with it even if it
/// has left the process group.
fn adopt_orphans() {
    #[cfg(target_os = "linux")]
    {
        // Where that is not allowed, the process group has to do.
        _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
    }
}

/// Ends this process and all that it has started, without a chance for foreign code to run.
pub(super) fn end() -> ! {
    end_children();
    // It leads a process group of its own.
    _ = rustix::process::kill_current_process_group(Signal::KILL);
    std::process::abort();
}

/// Whether something that was started here is running, adopted orphans included.
fn has_children() -> bool {
    loop {
        match rustix::process::wait(WaitOptions::NOHANG) {
            Ok(Some(_ended)) => {}
            Ok(None) => return true,
            Err(_none) => return false,
        }
    }
}

/// Ends children, and the children of those, which become ours then.
fn end_children() {
    /// Enough for a deep chain; a library that starts processes as fast as they are ended wins.
    const ROUNDS: usize = 100;
    for _ in 0..ROUNDS {
        let children = children();
        if children.is_empty() {
            return;
        }
        for child in children {
            _ = rustix::process::kill_process(child, Signal::KILL);
            _ = rustix::process::waitpid(Some(child), WaitOptions::empty());
        }
    }
}

/// The processes whose parent this one is.
fn children() -> Vec<Pid> {
    let own = rustix::process::getpid().as_raw_nonzero().get();
    let is_own = |pid: &Pid| {
        let status = fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero()));
        // Behind the name, which may hold anything, stand the state and the parent.
        let parent = status.ok().and_then(|status| {
            let (_, behind) = status.rsplit_once(')')?;
            behind.split_whitespace().nth(1)?.parse().ok()
        });
        parent == Some(own)
    };
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers.filter_map(Pid::from_raw).filter(is_own).collect()
}
