//! The host's end of the connection to a plugin's process: many calls at once, each answered once.
//!
//! A message is written by whoever has one, without waiting; what the process does not take at once
//! is written by a task of the connection. Another task reads until the process has ended, and tells
//! everybody who still waits how it did.

use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::io::BufReader;
use tokio::net::unix::OwnedReadHalf;
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;
use tool_sdk::abi::Reply;
use tool_sdk::abi::http::AnswerPort;

use super::client::{Helper, Process};
use super::frames;
use super::outbox::Outbox;
use super::protocol::{Answer, Number, Request};
use super::services::{CallServices, WayBack};
use crate::ids::PluginName;
use crate::limits;
use crate::plugin::bridge::write_log;

/// How a process ended.
pub(super) type End = Arc<str>;

/// A process that serves a plugin. Clones are the same connection; when the last one is dropped, the
/// process is ended.
#[derive(Clone)]
pub(super) struct Connection(Arc<Handles>);

/// Ends the process when nobody has it any more.
struct Handles(Arc<Shared>);

impl Drop for Handles {
    fn drop(&mut self) {
        self.0.kill.cancel();
    }
}

struct Shared {
    plugin: PluginName,
    runtime: Handle,
    outbox: Arc<Outbox>,
    /// Held for moments only.
    waits: Mutex<Waits>,
    last: AtomicU64,
    /// Raised to end the process.
    kill: CancellationToken,
    /// Raised when the process has ended.
    ended: CancellationToken,
}

#[derive(Default)]
struct Waits {
    by_number: HashMap<Number, Wait>,
    /// How the process ended, or why it will.
    end: Option<End>,
    /// Set when it takes no new calls: it is ended after the last one.
    condemned: Option<End>,
}

enum Wait {
    /// Somebody waits.
    For {
        answer: oneshot::Sender<Result<Reply, End>>,
        services: Option<CallServices>,
    },
    /// Nobody waits any more, and the process has not answered yet.
    GivenUp,
}

impl Waits {
    /// What a call that is waited for has of the host.
    fn services(&self, number: Number) -> Option<&CallServices> {
        match self.by_number.get(&number) {
            Some(Wait::For { services, .. }) => services.as_ref(),
            _ => None,
        }
    }

    fn is_waited_for(&self) -> bool {
        let mut waits = self.by_number.values();
        waits.any(|wait| matches!(wait, Wait::For { .. }))
    }
}

impl Connection {
    /// Over a helper that has said that it serves. `on_end` hears how the process ended, unless it was
    /// because nobody needs it any more.
    pub(super) fn new(
        helper: Helper,
        plugin: PluginName,
        on_end: impl FnOnce(&End) + Send + 'static,
    ) -> Self {
        let (process, socket) = helper.into_parts();
        let (reading, writing) = socket.into_split();
        let shared = Arc::new(Shared {
            plugin,
            runtime: Handle::current(),
            outbox: Arc::new(Outbox::new(writing)),
            waits: Mutex::default(),
            last: AtomicU64::new(0),
            kill: CancellationToken::new(),
            ended: CancellationToken::new(),
        });
        tokio::spawn(Arc::clone(&shared).read(process, reading, on_end));
        tokio::spawn(Arc::clone(&shared).write());
        Self(Arc::new(Handles(shared)))
    }

    fn shared(&self) -> &Arc<Shared> {
        &self.0.0
    }

    /// Whether it takes new calls.
    pub(super) fn is_open(&self) -> bool {
        let waits = self.shared().lock();
        waits.end.is_none() && waits.condemned.is_none()
    }

    /// Asks and waits for the one reply. Where the future is dropped before, the process is told that
    /// nobody waits any more. An error is how the process ended.
    pub(super) async fn ask(
        &self,
        request: impl FnOnce(Number) -> Request,
        body: &str,
        services: Option<CallServices>,
    ) -> Result<Reply, End> {
        self.shared().ask(request, body, services).await
    }

    /// Lets the process close what it has open, and ends it.
    pub(super) async fn retire(&self) {
        let shared = self.shared();
        _ = shared.condemn("its plugin was replaced");
        let limit = limits::RETIRE_TIMEOUT;
        let deadline_ms = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
        if shared
            .outbox
            .send(&Request::Retire { deadline_ms }, &[])
            .is_ok()
        {
            // Some time for the way there and back.
            let grace = limit + Duration::from_millis(500);
            drop(tokio::time::timeout(grace, shared.ended.cancelled()).await);
        }
        shared.kill.cancel();
    }
}

/// Somebody's wait for a reply.
struct Waiting<'a> {
    shared: &'a Arc<Shared>,
    number: Number,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let (shared, number) = (self.shared, self.number);
        {
            let mut waits = shared.lock();
            let Some(wait) = waits.by_number.get_mut(&number) else {
                // It is answered.
                return;
            };
            *wait = Wait::GivenUp;
        }
        drop(shared.outbox.send(&Request::Abort { number }, &[]));
        shared.end_if_condemned();
        let (runtime, shared) = (shared.runtime.clone(), Arc::downgrade(shared));
        runtime.spawn(async move {
            tokio::time::sleep(limits::WORKER_GRACE).await;
            let Some(shared) = shared.upgrade() else {
                return;
            };
            let hangs = shared.lock().by_number.contains_key(&number);
            if hangs {
                shared.replace_hung().await;
            }
        });
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Waits> {
        self.waits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn ask(
        self: &Arc<Self>,
        request: impl FnOnce(Number) -> Request,
        body: &str,
        services: Option<CallServices>,
    ) -> Result<Reply, End> {
        let number = self.last.fetch_add(1, Ordering::Relaxed) + 1;
        let (answer, answered) = oneshot::channel();
        {
            let mut waits = self.lock();
            if let Some(end) = &waits.end {
                return Err(Arc::clone(end));
            }
            let wait = Wait::For { answer, services };
            waits.by_number.insert(number, wait);
        }
        let waiting = Waiting {
            shared: self,
            number,
        };
        if let Err(error) = self.outbox.send(&request(number), body.as_bytes()) {
            self.end(&format!("it can't be spoken to: {error}"));
        }
        let reply = answered.await;
        drop(waiting);
        reply.unwrap_or_else(|_| Err("its connection was dropped".into()))
    }

    /// Another process takes the calls from now on. Those that wait for this one keep it, as long as it
    /// shows that it reads what it is told.
    async fn replace_hung(self: &Arc<Self>) {
        let grace = limits::WORKER_GRACE;
        let why = format!("a call did not end within {grace:?} after it was given up");
        if !self.condemn(&why) {
            return;
        }
        let plugin = self.plugin.as_str();
        tracing::warn!(target: "plugin", plugin, "{why}; another process takes the next calls");
        let ping = self.ask(|number| Request::Ping { number }, "", None);
        if tokio::time::timeout(grace, ping).await.is_err() {
            self.end(&format!("it does nothing any more; {why}"));
        }
    }

    /// Takes no new calls from now on, and ends when nobody waits for one. Whether that is new.
    fn condemn(&self, why: &str) -> bool {
        {
            let mut waits = self.lock();
            if waits.end.is_some() || waits.condemned.is_some() {
                return false;
            }
            waits.condemned = Some(why.into());
        }
        self.end_if_condemned();
        true
    }

    fn end_if_condemned(&self) {
        let waits = self.lock();
        if waits.condemned.is_some() && !waits.is_waited_for() {
            self.kill.cancel();
        }
    }

    /// Ends the process from this side, for this reason.
    fn end(&self, why: &str) {
        self.close(&End::from(why));
        self.kill.cancel();
    }

    /// Answers everybody who still waits.
    fn close(&self, end: &End) {
        let waits = {
            let mut waits = self.lock();
            waits.end.get_or_insert_with(|| Arc::clone(end));
            std::mem::take(&mut waits.by_number)
        };
        for wait in waits.into_values() {
            if let Wait::For { answer, .. } = wait {
                // Whoever gave up at this moment needs no answer.
                drop(answer.send(Err(Arc::clone(end))));
            }
        }
    }

    /// Reads until the process has ended.
    async fn read(
        self: Arc<Self>,
        mut process: Process,
        reading: OwnedReadHalf,
        on_end: impl FnOnce(&End) + Send,
    ) {
        let mut reading = BufReader::new(reading);
        let heard = loop {
            let frame = tokio::select! {
                biased;
                frame = frames::receive(&mut reading) => frame,
                () = self.kill.cancelled() => break None,
            };
            match frame {
                Ok(Some((answer, body))) => {
                    if let Err(error) = self.take(answer, body) {
                        break Some(error);
                    }
                }
                Ok(None) => break None,
                Err(error) => break Some(error),
            }
        };
        if self.kill.is_cancelled() {
            process.kill();
            process.wait().await;
        } else {
            let end = process.ended(heard).await.how();
            self.lock().end.get_or_insert(end.into());
        }
        let failed = self.lock().end.clone();
        // Whoever has an answer finds the consequences drawn.
        if let Some(end) = &failed {
            on_end(end);
        }
        self.close(&failed.unwrap_or_else(|| "it was ended by the host".into()));
        self.ended.cancel();
    }

    /// Does what one message says.
    fn take(&self, answer: Answer, body: Vec<u8>) -> io::Result<()> {
        let text = |body| String::from_utf8(body).map_err(io::Error::other);
        match answer {
            Answer::Reply { number, status } => {
                self.check(number)?;
                let text = text(body)?;
                let wait = self.lock().by_number.remove(&number);
                // A second answer to a call finds nobody, and changes nothing.
                if let Some(Wait::For { answer, .. }) = wait {
                    drop(answer.send(Ok(Reply::new(status, text))));
                }
                self.end_if_condemned();
            }
            Answer::Progress { number } => {
                self.check(number)?;
                let sink = match self.lock().by_number.get(&number) {
                    Some(Wait::For {
                        services: Some(services),
                        ..
                    }) => Some(Arc::clone(&services.progress)),
                    _ => None,
                };
                if let Some(sink) = sink {
                    sink(serde_json::from_str(&text(body)?)?);
                }
            }
            Answer::Http {
                number,
                request,
                head,
            } => {
                self.check(number)?;
                let answer = AnswerPort::new(Arc::new(WayBack {
                    outbox: Arc::downgrade(&self.outbox),
                    request,
                }));
                // Dropped where nobody waits for the call: that is an answer, too.
                if let Some(services) = self.lock().services(number) {
                    services.requests.start_as(request, &head, body, answer);
                }
            }
            Answer::CancelHttp { number, request } => {
                self.check(number)?;
                if let Some(services) = self.lock().services(number) {
                    services.requests.cancel(request);
                }
            }
            Answer::Log { level, origin } => {
                write_log(self.plugin.as_str(), level, &origin, &text(body)?);
            }
            other => return Err(io::Error::other(format!("{other:?} out of turn"))),
        }
        Ok(())
    }

    /// Only what was asked for can be answered.
    fn check(&self, number: Number) -> io::Result<()> {
        if (1..=self.last.load(Ordering::Relaxed)).contains(&number) {
            return Ok(());
        }
        let text = format!("an answer to request {number}, which was never made");
        Err(io::Error::other(text))
    }

    /// Writes what is left of messages, until the process has ended.
    async fn write(self: Arc<Self>) {
        let stuck = tokio::select! {
            biased;
            () = self.ended.cancelled() => return,
            stuck = self.outbox.write_rest() => stuck,
        };
        // One that takes nothing any more has ended, which its reader is about to see.
        if let Err(error) = stuck
            && error.kind() == io::ErrorKind::Other
        {
            self.end(&error.to_string());
        }
    }
}
