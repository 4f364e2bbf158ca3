//! One request and its answer.

use std::pin::pin;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::{Stream, StreamExt, TryStreamExt, try_unfold};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap};
use reqwest::{Response, StatusCode};
use sse_stream::SseByteStream;
use tokio::time::{Instant, timeout, timeout_at};

use super::dialect::Dialect;
use super::failure::{Failure, is_page};
use super::place::Place;
use crate::format::{FormatError, received};
use crate::limits;
use crate::message::{Delta, Reply};

/// The type of whole answers.
const JSON: &str = "application/json";

/// The type of streams.
const EVENTS: &str = "text/event-stream";

/// How much is kept of what may be no stream, in bytes: enough for a page's title.
const START: usize = 4096;

/// Everything that a try needs.
pub(super) struct Exchange<'a> {
    pub(super) client: &'a reqwest::Client,
    pub(super) dialect: Dialect,
    pub(super) place: &'a Place,
    pub(super) body: String,
    pub(super) streamed: bool,
    /// How long the server may be silent before its answer begins.
    pub(super) first_byte: Duration,
    /// How long it may be silent within the answer.
    pub(super) idle: Duration,
}

/// Why the bytes of an answer end too early.
#[derive(Debug, thiserror::Error)]
enum Broken {
    #[error("silence")]
    Silent,
    #[error("too long")]
    TooLong,
    #[error(transparent)]
    Transport(reqwest::Error),
}

impl Exchange<'_> {
    /// Sends the request and reads the answer; what comes of a stream is told at once.
    pub(super) async fn run(&self, tell: &mut (dyn FnMut(Delta) + Send)) -> Result<Reply, Failure> {
        let response = self.send().await?;
        let status = response.status();
        if self.streamed && status.is_success() && may_be_stream(response.headers()) {
            return self.read_stream(response, tell).await;
        }
        let headers = response.headers().clone();
        let body = self.read_whole(response).await;
        if !status.is_success() {
            // The status says enough where the rest did not come.
            let body = body.unwrap_or_default();
            return Err(if is_page(&body) {
                Failure::of_page(self.place, status, &body)
            } else {
                Failure::of_status(self.place, status, &headers, &body)
            });
        }
        let body = body?;
        if is_page(&body) {
            return Err(Failure::of_page(self.place, status, &body));
        }
        let kind = kind(&headers);
        let response = received::parse(&body).map_err(|error| {
            if kind.starts_with(JSON) || body.trim().is_empty() {
                Failure::of_format(self.place, &error)
            } else {
                Failure::of_kind(self.place, &kind, &body)
            }
        })?;
        let reply = self.dialect.reply(&response);
        reply.map_err(|error| Failure::of_format(self.place, &error))
    }

    async fn send(&self) -> Result<Response, Failure> {
        let accepted = if self.streamed {
            "text/event-stream, application/json"
        } else {
            JSON
        };
        let request = self
            .client
            .post(self.place.endpoint.clone())
            .header(CONTENT_TYPE, JSON)
            .header(ACCEPT, accepted)
            .body(self.body.clone());
        match timeout(self.first_byte, request.send()).await {
            Ok(sent) => sent.map_err(|error| Failure::of_transport(self.place, error)),
            Err(_) => Err(Failure::of_silence(self.place, self.first_byte)),
        }
    }

    async fn read_whole(&self, response: Response) -> Result<String, Failure> {
        let bytes = chunks(response, self.idle).try_fold(Vec::new(), |mut whole, chunk| {
            whole.extend_from_slice(&chunk);
            std::future::ready(Ok(whole))
        });
        let bytes = bytes.await.map_err(|broken| self.broken(broken))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    async fn read_stream(
        &self,
        response: Response,
        tell: &mut (dyn FnMut(Delta) + Send),
    ) -> Result<Reply, Failure> {
        let (status, kind) = (response.status(), kind(response.headers()));
        let mut answer = self.dialect.stream();
        let mut broken = None;
        let mut heard = false;
        let start = Mutex::new(Vec::new());
        let bytes = chunks(response, self.idle).inspect_ok(|chunk| {
            let mut start = start.lock().unwrap_or_else(PoisonError::into_inner);
            let missing = START.saturating_sub(start.len()).min(chunk.len());
            start.extend_from_slice(&chunk.slice(..missing));
        });
        let mut events = pin!(SseByteStream::new(Box::pin(bytes)));
        let mut grace = None;
        while !answer.is_done() {
            let next = match grace {
                None => events.next().await,
                // Whoever has the whole answer does not wait long for a server that forgets the end.
                Some(end) => timeout_at(end, events.next()).await.unwrap_or(None),
            };
            let event = match next {
                Some(Ok(event)) => event,
                Some(Err(error)) => {
                    broken = Some(self.undecoded(error));
                    break;
                }
                None => break,
            };
            let data = event.data.unwrap_or_default();
            heard |= !data.is_empty();
            let news = answer.data(&data);
            let news = news.map_err(|error| Failure::of_format(self.place, &error))?;
            if answer.has_ended() && (grace.is_none() || !news.is_empty()) {
                grace = Some(Instant::now() + limits::MODEL_LAST_EVENTS);
            }
            for delta in news {
                tell(delta);
            }
        }
        // An answer that was whole before the connection broke is an answer.
        answer.finish().map_err(|error| match (error, broken) {
            (FormatError::Cut, Some(broken)) => broken,
            (FormatError::Cut, None) if !heard => {
                let start = start.lock().unwrap_or_else(PoisonError::into_inner);
                self.no_stream(status, &kind, &String::from_utf8_lossy(&start))
            }
            (error, _) => Failure::of_format(self.place, &error),
        })
    }

    /// What came whole is no stream of events.
    fn no_stream(&self, status: StatusCode, kind: &str, start: &str) -> Failure {
        if is_page(start) {
            Failure::of_page(self.place, status, start)
        } else if kind.starts_with(EVENTS) || start.trim().is_empty() {
            Failure::of_format(self.place, &FormatError::Cut)
        } else {
            Failure::of_kind(self.place, kind, start)
        }
    }

    fn broken(&self, broken: Broken) -> Failure {
        match broken {
            Broken::Silent => Failure::of_silence(self.place, self.idle),
            Broken::TooLong => Failure::of_length(self.place, limits::MODEL_ANSWER_BYTES),
            Broken::Transport(error) => Failure::of_transport(self.place, error),
        }
    }

    fn undecoded(&self, error: sse_stream::Error) -> Failure {
        let found = error.to_string();
        if let sse_stream::Error::Body(error) = error
            && let Ok(broken) = error.downcast::<Broken>()
        {
            return self.broken(*broken);
        }
        let expected = "a stream of events";
        Failure::of_format(self.place, &FormatError::Malformed { expected, found })
    }
}

/// The bytes of an answer as they come, no longer than an answer may be and never silent for longer
/// than `idle`.
fn chunks(response: Response, idle: Duration) -> impl Stream<Item = Result<Bytes, Broken>> + Send {
    try_unfold((response, 0), move |(mut response, read)| async move {
        let chunk = timeout(idle, response.chunk())
            .await
            .map_err(|_| Broken::Silent)?
            .map_err(Broken::Transport)?;
        let Some(chunk) = chunk else {
            return Ok(None);
        };
        let read = read + chunk.len();
        if read > limits::MODEL_ANSWER_BYTES {
            return Err(Broken::TooLong);
        }
        Ok(Some((chunk, (response, read))))
    })
}

/// Whether the answer is a stream: some servers answer in one piece although a stream was asked for,
/// and some call a stream by another name.
fn may_be_stream(headers: &HeaderMap) -> bool {
    let kind = kind(headers);
    !kind.starts_with(JSON) && !kind.starts_with("text/html")
}

/// What a server calls its answer, in small letters; empty where it says nothing.
fn kind(headers: &HeaderMap) -> String {
    let kind = headers.get(CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok());
    kind.unwrap_or_default().to_ascii_lowercase()
}
