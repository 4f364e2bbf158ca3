//! A small HTTP server on the loopback interface that replays prepared answers.
//!
//! It knows nothing of weather: a test says what is sent for which path, and reads afterwards what
//! was asked.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// What the server does with a request.
#[derive(Debug, Clone)]
pub(crate) enum Reply {
    /// Sends a complete answer: status line and body.
    Answer(&'static str, Vec<u8>),
    /// Never answers.
    Silence,
    /// Sends the head and then the body byte by byte, too slowly to ever end.
    Drip,
    /// Promises more than it sends, then closes the connection.
    Truncated,
}

impl Reply {
    /// A successful answer.
    pub(crate) fn ok(body: impl Into<Vec<u8>>) -> Self {
        Self::Answer("200 OK", body.into())
    }
}

/// The running server; it stops when it is dropped.
#[derive(Debug)]
pub(crate) struct Server {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
    thread: Option<JoinHandle<()>>,
}

/// The path that stops the server.
const STOP: &str = "/stop";

impl Server {
    /// Starts a server that has one reply for each of these paths.
    pub(crate) fn start(replies: Vec<(&'static str, Reply)>) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0));
        let bound = listener.and_then(|listener| Ok((listener.local_addr()?, listener)));
        let (address, listener) =
            bound.unwrap_or_else(|error| panic!("no free port on the loopback interface: {error}"));
        let asked = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&asked);
        let thread = thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let Some(target) = read_target(&stream) else {
                    continue;
                };
                if target == STOP {
                    return;
                }
                let path = target.split('?').next().unwrap_or_default();
                let reply = replies
                    .iter()
                    .find(|(known, _)| *known == path)
                    .map(|(_, reply)| reply.clone());
                log.lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .push(target);
                let reply =
                    reply.unwrap_or(Reply::Answer("404 Not Found", b"no such path".to_vec()));
                // A client that has given up closes its end first, so that sending fails.
                send(&stream, &reply).ok();
            }
        });
        Self {
            address,
            asked,
            thread: Some(thread),
        }
    }

    /// Scheme, host and port.
    pub(crate) fn base(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Host and port.
    pub(crate) fn host(&self) -> String {
        self.address.to_string()
    }

    /// The targets of all requests so far, as they were sent.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.asked
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Ok(mut stream) = TcpStream::connect(self.address) {
            write!(stream, "GET {STOP} HTTP/1.1\r\n\r\n").ok();
        }
        if let Some(thread) = self.thread.take() {
            thread.join().ok();
        }
    }
}

/// Reads a request's head and returns its target.
fn read_target(stream: &TcpStream) -> Option<String> {
    stream
        .set_read_timeout(Some(Duration::from_secs(10)))
        .ok()?;
    let mut lines = BufReader::new(stream).lines();
    let target = lines.next()?.ok()?.split(' ').nth(1)?.to_owned();
    // The rest of the head ends at the first empty line.
    while !lines.next()?.ok()?.is_empty() {}
    Some(target)
}

/// Sends a reply.
fn send(mut stream: &TcpStream, reply: &Reply) -> std::io::Result<()> {
    let head = |status: &str, length: usize| {
        format!(
            "HTTP/1.1 {status}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: {length}\r\n\
             Connection: close\r\n\r\n"
        )
    };
    match reply {
        Reply::Answer(status, body) => {
            stream.write_all(head(status, body.len()).as_bytes())?;
            stream.write_all(body)?;
        }
        Reply::Silence => {
            stream.read_to_end(&mut Vec::new())?;
        }
        Reply::Drip => {
            stream.write_all(head("200 OK", 10_000).as_bytes())?;
            for _ in 0..10_000 {
                stream.write_all(b" ")?;
                thread::sleep(Duration::from_millis(20));
            }
        }
        Reply::Truncated => {
            stream.write_all(format!("{}{{\"results\":[", head("200 OK", 5_000)).as_bytes())?;
        }
    }
    stream.shutdown(Shutdown::Both)
}
