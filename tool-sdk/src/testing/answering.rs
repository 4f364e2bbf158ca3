//! Servers of a test: a closure that answers the requests of a tool.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use crate::abi::http::RequestHead;
use crate::error::{ErrorKind, ToolError};
use crate::http::Response;

type Server = dyn Fn(&SentRequest) -> Result<Response, ToolError> + Send + Sync;

/// Who answers, if anybody does.
#[derive(Clone, Default)]
pub(crate) struct Answering(Option<Arc<Server>>);

impl Answering {
    pub(crate) fn with(
        server: impl Fn(&SentRequest) -> Result<Response, ToolError> + Send + Sync + 'static,
    ) -> Self {
        Self(Some(Arc::new(server)))
    }

    pub(crate) fn answer(&self, request: &SentRequest) -> Result<Response, ToolError> {
        match &self.0 {
            Some(server) => server(request),
            None => Err(
                ToolError::of(ErrorKind::Unavailable, "no host makes requests in a test")
                    .with_hint(
                        "answer them: `testing::run_answering`, or `testing::Plugin::answering`",
                    ),
            ),
        }
    }
}

/// A request as a tool sent it.
#[derive(Clone)]
pub struct SentRequest {
    head: RequestHead,
    body: Vec<u8>,
}

impl SentRequest {
    pub(crate) fn new(head: RequestHead, body: Vec<u8>) -> Self {
        Self { head, body }
    }

    /// `GET`, `POST`, …
    pub fn method(&self) -> &str {
        &self.head.method
    }

    /// The address as the tool wrote it, without what [`Request::query`](crate::http::Request::query)
    /// added.
    pub fn url(&self) -> &str {
        &self.head.url
    }

    /// The first value of this name that [`Request::query`](crate::http::Request::query) added.
    pub fn query(&self, name: &str) -> Option<&str> {
        let mut pairs = self.head.query.iter();
        pairs.find_map(|(known, value)| (known == name).then_some(value.as_str()))
    }

    /// The first header of this name, in whatever letters.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.head.headers.iter();
        headers
            .find_map(|(known, value)| known.eq_ignore_ascii_case(name).then_some(value.as_str()))
    }

    /// The body.
    pub fn body(&self) -> &[u8] {
        &self.body
    }

    /// The body as JSON.
    ///
    /// # Errors
    /// It is none.
    pub fn json(&self) -> Result<Value, ToolError> {
        Ok(serde_json::from_slice(&self.body)?)
    }
}

impl fmt::Debug for SentRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SentRequest")
            .field("method", &self.head.method)
            .field("url", &self.head.url)
            .finish_non_exhaustive()
    }
}
