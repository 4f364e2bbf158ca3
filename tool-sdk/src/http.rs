//! HTTP requests of a tool, which its host makes: [`ToolContext::http`].
//!
//! Owns the request as a tool writes it. `response` has what comes back, `waiting` the time between.
//! No socket and no cryptography is needed in a plugin, so this works in every isolation, and builds
//! fast. Where the configuration grants a plugin certain servers, the host reaches only those for it.
//!
//! | what | how much |
//! |---|---|
//! | time for the whole exchange | 30 seconds, or [`Request::timeout`]; the call's end ends it too |
//! | body of an answer | 10 MiB, or [`Request::max_size`] up to 32 MiB |
//! | body of a request | 32 MiB |
//! | redirects | up to 5 are followed; to another server only harmless headers go along |
//! | cookies, compression | none |

mod response;
mod waiting;

use std::fmt;
use std::future::IntoFuture;
use std::time::Duration;

use serde::Serialize;

pub use response::Response;
pub use waiting::Answer;

use crate::abi::http::RequestHead;
use crate::context::ToolContext;
use crate::error::ToolError;

/// Where a tool begins its requests: [`ToolContext::http`].
#[derive(Clone, Debug)]
pub struct Http {
    context: ToolContext,
}

impl Http {
    pub(crate) fn new(context: ToolContext) -> Self {
        Self { context }
    }

    /// A `GET` request.
    pub fn get(&self, url: impl Into<String>) -> Request {
        self.request("GET", url)
    }

    /// A `POST` request.
    pub fn post(&self, url: impl Into<String>) -> Request {
        self.request("POST", url)
    }

    /// A `PUT` request.
    pub fn put(&self, url: impl Into<String>) -> Request {
        self.request("PUT", url)
    }

    /// A `DELETE` request.
    pub fn delete(&self, url: impl Into<String>) -> Request {
        self.request("DELETE", url)
    }

    /// A request of any method; `url` begins with `http://` or `https://`.
    pub fn request(&self, method: impl Into<String>, url: impl Into<String>) -> Request {
        Request {
            context: self.context.clone(),
            head: RequestHead {
                method: method.into(),
                url: url.into(),
                ..RequestHead::default()
            },
            body: Vec::new(),
            problem: None,
        }
    }
}

/// A request that is not sent yet. A plain `fn` sends it with [`Request::send`], an `async fn` with
/// `.await`.
///
/// What is wrong with it is said when it is sent.
#[must_use = "a request is sent by `.send()`, or by `.await` in an `async fn`"]
pub struct Request {
    context: ToolContext,
    head: RequestHead,
    body: Vec<u8>,
    /// Why it can't be sent.
    problem: Option<ToolError>,
}

impl Request {
    /// Adds a header.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.head.headers.push((name.into(), value.into()));
        self
    }

    /// Adds names and values to the query of the address; the host encodes them.
    pub fn query<K: AsRef<str>, V: ToString>(mut self, pairs: &[(K, V)]) -> Self {
        let pairs = pairs.iter();
        let pairs = pairs.map(|(name, value)| (name.as_ref().to_owned(), value.to_string()));
        self.head.query.extend(pairs);
        self
    }

    /// Makes JSON the body, and says so in `content-type` if that is not set.
    pub fn json(mut self, value: impl Serialize) -> Self {
        match serde_json::to_vec(&value) {
            Ok(body) => self.body = body,
            Err(error) => {
                let text = format!("the body of a request is no JSON: {error}");
                self.problem = Some(ToolError::new(text));
            }
        }
        self.content_type("application/json")
    }

    /// Makes bytes or a text the body.
    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    /// How long the whole exchange may take, instead of 30 seconds.
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.head.timeout_ms = Some(u64::try_from(limit.as_millis()).unwrap_or(u64::MAX));
        self
    }

    /// How many bytes the body of the answer may have, instead of 10 MiB.
    pub fn max_size(mut self, bytes: usize) -> Self {
        self.head.max_size = Some(u64::try_from(bytes).unwrap_or(u64::MAX));
        self
    }

    /// Sends the request and waits for the answer on this thread. For plain functions: in an
    /// `async fn`, `.await` the request.
    ///
    /// # Errors
    /// The host could not reach the server, may not, or got no whole answer in time. An answer with
    /// the status of a failure is no error: see [`Response::error_for_status`].
    pub fn send(self) -> Result<Response, ToolError> {
        waiting::block_on(self.into_future())
    }

    fn content_type(self, kind: &str) -> Self {
        let is_set = |(name, _): &(String, String)| name.eq_ignore_ascii_case("content-type");
        if self.head.headers.iter().any(is_set) {
            self
        } else {
            self.header("content-type", kind)
        }
    }
}

impl IntoFuture for Request {
    type Output = Result<Response, ToolError>;
    type IntoFuture = Answer;

    /// Sends the request. Dropping the future gives it up.
    fn into_future(self) -> Answer {
        match self.problem {
            Some(problem) => Answer::ready(Err(problem)),
            None => self.context.fetch(self.head, self.body),
        }
    }
}

impl fmt::Debug for Request {
    /// Without address, headers and body, which may hold a secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request")
            .field("method", &self.head.method)
            .finish_non_exhaustive()
    }
}
