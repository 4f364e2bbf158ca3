//! Clients against a server that answers as it is told, on this machine.

mod answers;
mod configuration;
mod failures;
mod server;
mod tries;

use std::time::Duration;

use serde_json::{Value, json};

use self::server::{Answer, Piece, Server};
use super::{HttpModel, HttpSettings};
use crate::agent::model::{Model, ModelError};
use crate::config::Provider;
use crate::message::{Context, Delta, Message, Prompt, Reply, Role};

const KEY: &str = "sk-hunter2";

/// The settings of a model at this address.
fn settings(provider: Provider, base_url: &str) -> HttpSettings {
    HttpSettings::new(provider, "qwen3:8b")
        .with_base_url(base_url)
        .with_api_key(KEY)
}

/// A client whose pauses are short.
fn client(settings: HttpSettings) -> HttpModel {
    let mut model = HttpModel::new(settings).unwrap();
    model.pause = Duration::from_millis(1);
    model
}

/// A client of a server that imitates `OpenAI`.
fn openai(server: &Server) -> HttpModel {
    client(settings(Provider::OpenAi, &format!("{}/v1", server.url)))
}

fn prompt(model: &HttpModel) -> Prompt {
    let context = Context {
        messages: vec![Message::text(Role::User, "Hi")],
        ..Context::default()
    };
    Prompt {
        conversation: model.format(&context),
        context,
    }
}

async fn complete(model: &HttpModel) -> Result<Reply, ModelError> {
    model.complete(prompt(model)).await
}

/// The streamed answer, and what was handed out of it.
async fn stream(model: &HttpModel) -> (Result<Reply, ModelError>, Vec<Delta>) {
    let mut deltas = Vec::new();
    let mut sink = |delta| deltas.push(delta);
    let reply = model.stream(prompt(model), &mut sink).await;
    (reply, deltas)
}

/// A whole answer of this text.
fn whole(text: &str) -> Answer {
    let choice =
        json!({"message": {"role": "assistant", "content": text}, "finish_reason": "stop"});
    Answer::json(200, &json!({"choices": [choice]}))
}

/// One event of a stream with more text.
fn event(text: &str) -> String {
    let chunk = json!({"choices": [{"index": 0, "delta": {"content": text}}]});
    format!("data: {chunk}\n\n")
}

/// The event that ends a stream.
fn end() -> String {
    let chunk: Value = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]});
    format!("data: {chunk}\n\ndata: [DONE]\n\n")
}

/// A streamed answer of these pieces.
fn streamed(pieces: impl IntoIterator<Item = Piece>) -> Answer {
    Answer::new(200, "text/event-stream", pieces)
}

fn text(text: &str) -> Delta {
    Delta::Text {
        text: text.to_owned(),
    }
}
