//! A request of a tool, checked: nothing of it is sent before all of it is known to be right.

use std::time::Duration;

use bytes::Bytes;
use reqwest::header::{
    ACCEPT, ACCEPT_LANGUAGE, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, EXPECT, HOST, HeaderMap,
    HeaderName, HeaderValue, PROXY_AUTHORIZATION, TE, TRAILER, TRANSFER_ENCODING, UPGRADE,
    USER_AGENT,
};
use reqwest::{Method, StatusCode, Url};
use tool_sdk::ToolError;
use tool_sdk::abi::http::RequestHead;

use crate::limits;
use crate::plugin::HttpRequest;

/// A request that may be sent.
#[derive(Clone, Debug)]
pub(super) struct Checked {
    pub(super) method: Method,
    pub(super) url: Url,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
    pub(super) timeout: Duration,
    /// Longest body of the answer.
    pub(super) max_size: u64,
}

/// Scheme, host and port: what may be told of an address.
pub(super) fn origin(url: &Url) -> String {
    url.origin().ascii_serialization()
}

impl Checked {
    /// Reads what a tool asks for.
    pub(super) fn read(request: HttpRequest) -> Result<Self, ToolError> {
        let HttpRequest { head, body } = request;
        let size = u64::try_from(body.len()).unwrap_or(u64::MAX);
        if size > limits::HTTP_MOST_BYTES {
            return Err(ToolError::new(format!(
                "the body of a request has at most {} bytes, this one {size}",
                limits::HTTP_MOST_BYTES
            )));
        }
        Ok(Self {
            method: method(&head.method)?,
            url: url(&head)?,
            headers: headers(&head.headers)?,
            body: body.into(),
            timeout: match head.timeout_ms {
                Some(limit) => Duration::from_millis(limit),
                None => limits::HTTP_TIMEOUT,
            },
            max_size: max_size(head.max_size)?,
        })
    }

    /// Turns to the address that an answer of this status names.
    pub(super) fn follow(&mut self, status: StatusCode, location: &str) -> Result<(), ToolError> {
        let from = origin(&self.url);
        let next = self
            .url
            .join(location)
            .map_err(|error| ToolError::new(format!("{from} sends on to no address: {error}")))?;
        let next = checked(next).map_err(|error| {
            ToolError::new(format!("{from} sends on to where no request goes: {error}"))
        })?;
        if self.url.scheme() == "https" && next.scheme() == "http" {
            let to = origin(&next);
            return Err(
                ToolError::new(format!("{from} sends on to {to}, which is not encrypted"))
                    .with_hint("a tool that wants this asks there in the first place"),
            );
        }
        // As all clients do it: only 307 and 308 repeat a request that sends something.
        let repeats = matches!(
            status,
            StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT
        );
        let reads = matches!(self.method, Method::GET | Method::HEAD);
        if !repeats && !reads && (status == StatusCode::SEE_OTHER || self.method == Method::POST) {
            self.method = Method::GET;
            self.body = Bytes::new();
            self.headers.remove(CONTENT_TYPE);
        }
        if self.url.origin() != next.origin() {
            // Any other header may hold a key of the first server.
            let harmless = [ACCEPT, ACCEPT_LANGUAGE, CONTENT_TYPE, USER_AGENT];
            let kept = harmless.into_iter().flat_map(|name| {
                let values = self.headers.get_all(&name).iter().cloned();
                values
                    .map(|value| (name.clone(), value))
                    .collect::<Vec<_>>()
            });
            self.headers = kept.collect();
        }
        self.url = next;
        Ok(())
    }
}

fn method(name: &str) -> Result<Method, ToolError> {
    let method = Method::from_bytes(name.as_bytes());
    match method {
        Ok(method) if !matches!(method, Method::CONNECT | Method::TRACE) => Ok(method),
        _ => Err(ToolError::new(format!(
            "a request has a method such as GET or POST, found {name:?}"
        ))),
    }
}

/// The address with what is added to its query.
fn url(head: &RequestHead) -> Result<Url, ToolError> {
    let url = Url::parse(&head.url).map_err(|error| {
        // Without the address: it may hold a key.
        ToolError::new(format!("the address of a request can't be read: {error}"))
            .with_hint("it begins with `http://` or `https://`")
    })?;
    let mut url = checked(url)?;
    if !head.query.is_empty() {
        url.query_pairs_mut().extend_pairs(&head.query);
    }
    Ok(url)
}

fn checked(mut url: Url) -> Result<Url, ToolError> {
    let scheme = url.scheme();
    if !matches!(scheme, "http" | "https") || !url.has_host() {
        return Err(ToolError::new(format!(
            "the address of a request begins with `http://` or `https://`, found `{scheme}:`"
        )));
    }
    if !url.username().is_empty() || url.password().is_some() {
        let text = "the address of a request holds a user's name or password";
        return Err(ToolError::new(text).with_hint("send them in the header `authorization`"));
    }
    url.set_fragment(None);
    Ok(url)
}

/// Those that belong to the connection are the host's affair.
fn headers(given: &[(String, String)]) -> Result<HeaderMap, ToolError> {
    const MORE: [&str; 2] = ["keep-alive", "proxy-connection"];
    let own = [
        CONNECTION,
        CONTENT_LENGTH,
        EXPECT,
        HOST,
        PROXY_AUTHORIZATION,
        TE,
        TRAILER,
        TRANSFER_ENCODING,
        UPGRADE,
    ];
    let size: usize = given
        .iter()
        .map(|(name, value)| name.len() + value.len())
        .sum();
    if given.len() > limits::HTTP_HEADERS || size > limits::HTTP_HEADER_BYTES {
        return Err(ToolError::new(format!(
            "a request has at most {} headers of {} bytes together, this one {} of {size}",
            limits::HTTP_HEADERS,
            limits::HTTP_HEADER_BYTES,
            given.len()
        )));
    }
    let mut headers = HeaderMap::new();
    for (name, value) in given {
        let Ok(header) = HeaderName::from_bytes(name.as_bytes()) else {
            return Err(ToolError::new(format!("no header is called {name:?}")));
        };
        if own.contains(&header) || MORE.contains(&header.as_str()) {
            let text = format!("the header `{header}` is set by the host, not by a tool");
            return Err(ToolError::new(text).with_hint("leave it out"));
        }
        let Ok(mut value) = HeaderValue::from_bytes(value.as_bytes()) else {
            let text =
                format!("the value of the header `{header}` has letters that no header holds");
            return Err(ToolError::new(text));
        };
        value.set_sensitive(true);
        headers.append(header, value);
    }
    Ok(headers)
}

fn max_size(asked: Option<u64>) -> Result<u64, ToolError> {
    match asked {
        Some(size) if size > limits::HTTP_MOST_BYTES => Err(ToolError::new(format!(
            "`max_size` is at most {} bytes, found {size}",
            limits::HTTP_MOST_BYTES
        ))),
        Some(size) => Ok(size),
        None => Ok(limits::HTTP_ANSWER_BYTES),
    }
}
