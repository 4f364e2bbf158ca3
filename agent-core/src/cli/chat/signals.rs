//! Signals, listened to from the start of a chat to its end: one that comes between two waits is
//! heard at the next.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// What somebody wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wish {
    /// What runs is to end: the terminal's interrupt.
    Interrupt,
    /// The chat is to end, as services and terminals that close say it.
    End,
}

/// Everything that a chat listens to.
pub(super) struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hangup: Signal,
}

impl Signals {
    /// Begins to listen.
    pub(super) fn listen() -> io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }

    /// Waits for the next one.
    pub(super) async fn next(&mut self) -> Wish {
        tokio::select! {
            _ = self.interrupt.recv() => Wish::Interrupt,
            _ = self.terminate.recv() => Wish::End,
            _ = self.hangup.recv() => Wish::End,
        }
    }
}
