//! The way to a plugin's process. Whoever has a message writes it, without waiting; what the process
//! does not take at once is kept, and written by a task.

use std::io::{self, IoSlice};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::net::unix::OwnedWriteHalf;
use tokio::sync::Notify;

use super::frames;
use super::protocol::Request;
use crate::limits;

/// Messages on their way to a process.
pub(super) struct Outbox {
    socket: OwnedWriteHalf,
    /// Held for one attempt to write.
    rest: Mutex<Rest>,
    /// There is a rest.
    left: Notify,
}

/// What the process has not taken yet.
#[derive(Default)]
struct Rest {
    bytes: Vec<u8>,
    /// How many of them are written.
    written: usize,
}

impl Outbox {
    pub(super) fn new(socket: OwnedWriteHalf) -> Self {
        Self {
            socket,
            rest: Mutex::default(),
            left: Notify::new(),
        }
    }

    /// Writes a message, as far as the process takes it; the rest is written later. An error says that
    /// it is no message.
    pub(super) fn send(&self, request: &Request, body: &[u8]) -> io::Result<()> {
        let start = frames::start(request, body.len())?;
        let mut rest = self.rest();
        if !rest.bytes.is_empty() {
            rest.bytes.extend_from_slice(&start);
            rest.bytes.extend_from_slice(body);
            return Ok(());
        }
        let parts = [IoSlice::new(&start), IoSlice::new(body)];
        let written = match self.socket.try_write_vectored(&parts) {
            Ok(written) => written,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => 0,
            // It has ended, which its reader is about to see.
            Err(_) => return Ok(()),
        };
        if written < start.len() + body.len() {
            let of_body = written.saturating_sub(start.len());
            let start = start.get(written..).unwrap_or_default();
            rest.bytes.extend_from_slice(start);
            rest.bytes.extend(body.get(of_body..).unwrap_or_default());
            self.left.notify_one();
        }
        Ok(())
    }

    /// Writes what is left whenever something is. Ends when the process takes nothing for a while, or
    /// nothing any more.
    pub(super) async fn write_rest(&self) -> io::Result<()> {
        loop {
            self.left.notified().await;
            while !self.rest().bytes.is_empty() {
                let limit = limits::FRAME_WRITE;
                let writable = tokio::time::timeout(limit, self.socket.writable()).await;
                let stuck = |_| io::Error::other(format!("it read nothing within {limit:?}"));
                writable.map_err(stuck)??;
                self.write_some()?;
            }
        }
    }

    fn write_some(&self) -> io::Result<()> {
        let mut rest = self.rest();
        let Rest { bytes, written } = &mut *rest;
        let left = bytes.get(*written..).unwrap_or_default();
        match self.socket.try_write(left) {
            Ok(more) => *written += more,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
        if *written == bytes.len() {
            *rest = Rest::default();
        }
        Ok(())
    }

    fn rest(&self) -> MutexGuard<'_, Rest> {
        self.rest.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
