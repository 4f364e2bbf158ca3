//! The child's side of a helper process.
//!
//! Owns what a helper does with its process and with requests. Everything foreign that it runs
//! stays in here: it is thrown away after use.

use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, channel};

use fs_err as fs;
use rustix::process::{Resource, Rlimit, Signal};

use super::frames;
use super::program::THIS_CAN;
use super::protocol::{ARGUMENT, Answer, Hello, Request};
use crate::ids::PluginName;
use crate::plugin::introduction::try_out;
use crate::plugin::verdict::Verdict;

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
        let outcome = serve();
        #[expect(clippy::exit, reason = "nothing of the program that this is may run")]
        std::process::exit(i32::from(outcome.is_err()));
    }
}

fn serve() -> io::Result<()> {
    let mut socket = take_socket()?;
    // Crashes are expected here, and reported; an image of memory for each helps nobody.
    let none = Rlimit {
        current: Some(0),
        maximum: Some(0),
    };
    rustix::process::setrlimit(Resource::Core, none)?;
    frames::write(&mut socket, &Hello::own())?;
    let requests = requests(socket.try_clone()?);
    for request in requests {
        match request {
            Request::Probe {
                library,
                plugin,
                package,
                markers,
            } => {
                let plugin = PluginName::new(plugin);
                let tried = try_out(Path::new(&library), &plugin, &package, &markers);
                let verdict = match tried {
                    Ok(introduced) => Verdict::Fit(introduced.into()),
                    Err(error) => Verdict::unfit(&error),
                };
                frames::write(&mut socket, &Answer::Probed(verdict))?;
            }
            Request::Finish => {
                frames::write(&mut socket, &Answer::Finished)?;
                end();
            }
        }
    }
    Ok(())
}

/// The socket that the host made standard input. In its place comes nothing, so that foreign code
/// that reads standard input reads no message.
fn take_socket() -> io::Result<UnixStream> {
    let socket = io::stdin().as_fd().try_clone_to_owned()?;
    rustix::stdio::dup2_stdin(fs::File::open("/dev/null")?)?;
    Ok(UnixStream::from(socket))
}

/// Reads requests on a thread of its own, so that the end of the host ends this process whatever
/// it is doing.
fn requests(mut socket: UnixStream) -> Receiver<Request> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        while let Ok(Some(request)) = frames::read(&mut socket) {
            if sender.send(request).is_err() {
                break;
            }
        }
        end();
    });
    receiver
}

/// Ends this process and all that it has started, without a chance for foreign code to run.
fn end() -> ! {
    // It leads a process group of its own.
    _ = rustix::process::kill_current_process_group(Signal::KILL);
    std::process::abort();
}
