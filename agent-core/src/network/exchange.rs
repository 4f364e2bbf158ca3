//! The course of a request: its turn, its hops, its answer.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use reqwest::header::LOCATION;
use reqwest::{Response, StatusCode};
use tokio::sync::{Semaphore, SemaphorePermit};
use tool_sdk::ToolError;
use tool_sdk::abi::http::ResponseHead;

use super::request::{Checked, origin};
use super::{PluginNetwork, failure, grants};
use crate::ids::PluginName;
use crate::limits;
use crate::plugin::{HttpRequest, HttpResponse};

/// How many requests of each plugin may be made, by its name: its generations share them.
#[derive(Default)]
pub(super) struct Turns(Mutex<BTreeMap<PluginName, Arc<Turn>>>);

/// What one plugin has of each.
struct Turn {
    /// Requests that run.
    running: Semaphore,
    /// Those, and the ones that wait.
    open: Semaphore,
    /// The bodies of all of them, in units of [`UNIT`] bytes.
    bodies: Semaphore,
}

/// A semaphore counts up to 2³² at once, which may be fewer than the bytes of bodies.
const UNIT: usize = 1024;

impl Turns {
    fn of(&self, plugin: &PluginName) -> Arc<Turn> {
        let mut turns = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let new = || {
            Arc::new(Turn {
                running: Semaphore::new(limits::HTTP_AT_ONCE),
                open: Semaphore::new(limits::HTTP_OPEN),
                bodies: Semaphore::new(limits::HTTP_OPEN_BYTES / UNIT),
            })
        };
        Arc::clone(turns.entry(plugin.clone()).or_insert_with(new))
    }
}

impl Turn {
    /// Room for a request with a body of this length, for as long as what is answered is kept.
    fn enter(&self, body: usize) -> Result<[SemaphorePermit<'_>; 2], ToolError> {
        let open = self.open.try_acquire();
        let open = open.map_err(|_| failure::of_number(limits::HTTP_OPEN))?;
        let units = u32::try_from(body.div_ceil(UNIT)).unwrap_or(u32::MAX);
        let bodies = self.bodies.try_acquire_many(units);
        let bodies = bodies.map_err(|_| failure::of_bodies(limits::HTTP_OPEN_BYTES))?;
        Ok([open, bodies])
    }
}

impl PluginNetwork {
    /// Makes a request, and notes it.
    pub(super) async fn make(&self, request: HttpRequest) -> Result<HttpResponse, ToolError> {
        let turn = self.network.turns.of(&self.plugin);
        let _room = turn.enter(request.body.len())?;
        let request = Checked::read(request)?;
        let (began, method, origin) =
            (Instant::now(), request.method.clone(), origin(&request.url));
        let limit = request.timeout;
        let outcome = tokio::time::timeout(limit, self.exchange(request, &turn)).await;
        let outcome = outcome.unwrap_or_else(|_| Err(failure::of_time(&origin, limit)));
        let (plugin, elapsed) = (self.plugin.as_str(), began.elapsed());
        match &outcome {
            Ok(answer) => {
                let (status, bytes) = (answer.head.status, answer.body.len());
                tracing::debug!(target: "plugin", plugin, %method, origin, status, bytes, ?elapsed, "HTTP request");
            }
            Err(error) => {
                let failed = error.kind().as_str();
                tracing::debug!(target: "plugin", plugin, %method, origin, failed, ?elapsed, "HTTP request");
            }
        }
        outcome
    }

    async fn exchange(&self, mut request: Checked, turn: &Turn) -> Result<HttpResponse, ToolError> {
        // A plugin's turns are never closed.
        let _turn = turn.running.acquire().await?;
        self.check(&request)?;
        for _ in 0..=limits::HTTP_REDIRECTS {
            let response = self.send(&request).await?;
            let Some(location) = sent_on(&response) else {
                return read(response, &request).await;
            };
            let from = origin(&request.url);
            request.follow(response.status(), &location)?;
            self.check(&request).map_err(|error| {
                let text = format!("{from} sends on, but {}", error.message());
                let refused = ToolError::of(error.kind(), text);
                match error.hint() {
                    Some(hint) => refused.with_hint(hint),
                    None => refused,
                }
            })?;
        }
        let last = origin(&request.url);
        Err(failure::of_redirects(&last, limits::HTTP_REDIRECTS))
    }

    fn check(&self, request: &Checked) -> Result<(), ToolError> {
        let granted = (self.network.grants)(&self.plugin);
        grants::check(&self.plugin, self.isolation, granted, &request.url)
    }

    async fn send(&self, request: &Checked) -> Result<Response, ToolError> {
        let Checked {
            method,
            url,
            headers,
            body,
            ..
        } = request;
        let client = self.network.clients.of(url).await?;
        let mut sending = client
            .request(method.clone(), url.clone())
            .headers(headers.clone());
        if !body.is_empty() {
            sending = sending.body(body.clone());
        }
        let sent = sending.send().await;
        sent.map_err(|error| failure::of_transport(&origin(url), error))
    }
}

/// Where the answer sends the request.
fn sent_on(response: &Response) -> Option<String> {
    let is_redirect = matches!(
        response.status(),
        StatusCode::MOVED_PERMANENTLY
            | StatusCode::FOUND
            | StatusCode::SEE_OTHER
            | StatusCode::TEMPORARY_REDIRECT
            | StatusCode::PERMANENT_REDIRECT
    );
    let location = response.headers().get(LOCATION).filter(|_| is_redirect)?;
    Some(String::from_utf8_lossy(location.as_bytes()).into_owned())
}

/// Reads the answer to its end, as far as the limit.
async fn read(mut response: Response, request: &Checked) -> Result<HttpResponse, ToolError> {
    let origin = origin(&request.url);
    let headers = response.headers().iter();
    let headers = headers.map(|(name, value)| {
        let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
        (name.as_str().to_owned(), value)
    });
    let mut head = ResponseHead::default();
    head.status = response.status().as_u16();
    head.headers = headers.collect();
    let mut body = Vec::new();
    let limit = request.max_size;
    loop {
        let chunk = response.chunk().await;
        let chunk = chunk.map_err(|error| failure::of_transport(&origin, error))?;
        let Some(chunk) = chunk else { break };
        let size = body.len().saturating_add(chunk.len());
        if u64::try_from(size).unwrap_or(u64::MAX) > limit {
            return Err(failure::of_size(&origin, limit));
        }
        body.extend_from_slice(&chunk);
    }
    head.origin = origin;
    Ok(HttpResponse { head, body })
}
