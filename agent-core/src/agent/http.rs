//! Models behind HTTP: `OpenAI`, everything that imitates it, and Anthropic.
//!
//! Owns the course of a request, tries included. What is sent and how it is read is `format`'s;
//! settings, one exchange, the pauses and the words of failures have files of their own.

mod build;
mod dialect;
mod exchange;
mod failure;
mod place;
mod retry;
mod settings;

use std::fmt;
use std::time::Duration;

use serde_json::{Map, Value};

use self::dialect::Dialect;
use self::exchange::Exchange;
use self::failure::Failure;
use self::place::Place;
use super::model::{DeltaSink, Model, ModelError};
use crate::limits;
use crate::message::{Context, Delta, Prompt, Reply};
use crate::tool::BoxFuture;

pub use self::settings::HttpSettings;

/// A model behind a server.
///
/// ```no_run
/// # async fn ask() -> Result<(), agent_core::agent::ModelError> {
/// use agent_core::agent::{HttpModel, HttpSettings, Model};
/// use agent_core::config::Provider;
/// use agent_core::message::{Context, Message, Prompt, Role};
///
/// let settings = HttpSettings::new(Provider::OpenAi, "qwen3:8b")
///     .with_base_url("http://127.0.0.1:11434/v1");
/// let model = HttpModel::new(settings)?;
/// let mut context = Context::default();
/// context.messages.push(Message::text(Role::User, "Hello!"));
/// let conversation = model.format(&context);
/// let reply = model.complete(Prompt { context, conversation }).await?;
/// # Ok(())
/// # }
/// ```
pub struct HttpModel {
    client: reqwest::Client,
    dialect: Dialect,
    place: Place,
    content_when_empty: Option<String>,
    parameters: Map<String, Value>,
    timeout: Option<Duration>,
    tries: u32,
    pause: Duration,
}

impl HttpModel {
    async fn ask(
        &self,
        prompt: &Prompt,
        mut deltas: Option<DeltaSink<'_>>,
    ) -> Result<Reply, ModelError> {
        let streamed = deltas.is_some();
        let model = &self.place.model;
        let body = self
            .dialect
            .request(prompt, model, &self.parameters, streamed);
        let exchange = Exchange {
            client: &self.client,
            dialect: self.dialect,
            place: &self.place,
            body: body.to_string(),
            streamed,
            first_byte: self.timeout.unwrap_or(limits::MODEL_FIRST_BYTE),
            idle: self.timeout.unwrap_or(limits::MODEL_IDLE),
        };
        let mut tried = 0;
        loop {
            let mut told = false;
            let mut tell = |delta: Delta| {
                if let Some(deltas) = &mut deltas {
                    told = true;
                    deltas(delta);
                }
            };
            let failure = match exchange.run(&mut tell).await {
                Ok(reply) => return Ok(reply),
                Err(failure) => failure,
            };
            tried += 1;
            let Some(pause) = self.pause_before_next(tried, &failure) else {
                let asked = failure.error.retry_after;
                let mut error = failure.told(tried);
                if let Some(asked) = asked.filter(|asked| *asked > limits::MODEL_RETRY_AFTER) {
                    error.message = format!("{}; the server asks to wait {asked:?}", error.message);
                }
                return Err(error);
            };
            tracing::warn!("{}; trying again in {pause:?}", failure.error);
            tokio::time::sleep(pause).await;
            if told && let Some(deltas) = &mut deltas {
                deltas(Delta::Restart);
            }
        }
    }

    /// How long to wait before the next try; `None` if there is none.
    fn pause_before_next(&self, tried: u32, failure: &Failure) -> Option<Duration> {
        if !failure.again || tried >= self.tries {
            return None;
        }
        let pause = match failure.error.retry_after {
            Some(asked) => asked,
            None => retry::back_off(self.pause, tried),
        };
        (pause <= limits::MODEL_RETRY_AFTER).then_some(pause)
    }
}

impl Model for HttpModel {
    fn format(&self, context: &Context) -> Map<String, Value> {
        self.dialect
            .conversation(context, self.content_when_empty.as_deref())
    }

    fn complete(&self, prompt: Prompt) -> BoxFuture<'_, Result<Reply, ModelError>> {
        Box::pin(async move { self.ask(&prompt, None).await })
    }

    fn stream<'a>(
        &'a self,
        prompt: Prompt,
        deltas: DeltaSink<'a>,
    ) -> BoxFuture<'a, Result<Reply, ModelError>> {
        Box::pin(async move { self.ask(&prompt, Some(deltas)).await })
    }
}

impl fmt::Debug for HttpModel {
    /// Without the key, and without parameters, which may hold one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpModel")
            .field("base_url", &self.place.base_url)
            .field("model", &self.place.model)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
