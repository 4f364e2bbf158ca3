//! Which words a server understands: the one place that chooses between the formats.

use serde_json::{Map, Value};

use crate::format::{FormatError, anthropic, openai};
use crate::message::{Context, Delta, Prompt, Reply};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    OpenAi,
    Anthropic,
}

/// An answer under way.
pub(super) enum Stream {
    OpenAi(openai::Stream),
    Anthropic(anthropic::Stream),
}

impl Dialect {
    pub(super) fn conversation(
        self,
        context: &Context,
        content_when_empty: Option<&str>,
    ) -> Map<String, Value> {
        match self {
            Self::OpenAi => openai::conversation(context, content_when_empty),
            Self::Anthropic => anthropic::conversation(context),
        }
    }

    pub(super) fn request(
        self,
        prompt: &Prompt,
        model: &str,
        parameters: &Map<String, Value>,
        streamed: bool,
    ) -> Value {
        match self {
            Self::OpenAi => openai::request(prompt, model, parameters, streamed),
            Self::Anthropic => anthropic::request(prompt, model, parameters, streamed),
        }
    }

    pub(super) fn reply(self, response: &Value) -> Result<Reply, FormatError> {
        match self {
            Self::OpenAi => openai::reply(response),
            Self::Anthropic => anthropic::reply(response),
        }
    }

    pub(super) fn stream(self) -> Stream {
        match self {
            Self::OpenAi => Stream::OpenAi(openai::Stream::new()),
            Self::Anthropic => Stream::Anthropic(anthropic::Stream::new()),
        }
    }

    /// What follows the base address. Addresses of `OpenAI`'s dialect hold the version by custom,
    /// those of Anthropic's do not.
    pub(super) fn path(self) -> &'static [&'static str] {
        match self {
            Self::OpenAi => &["chat", "completions"],
            Self::Anthropic => &["v1", "messages"],
        }
    }
}

impl Stream {
    pub(super) fn data(&mut self, data: &str) -> Result<Vec<Delta>, FormatError> {
        match self {
            Self::OpenAi(stream) => stream.data(data),
            Self::Anthropic(stream) => stream.data(data),
        }
    }

    pub(super) fn has_ended(&self) -> bool {
        match self {
            Self::OpenAi(stream) => stream.has_ended(),
            Self::Anthropic(stream) => stream.has_ended(),
        }
    }

    pub(super) fn is_done(&self) -> bool {
        match self {
            Self::OpenAi(stream) => stream.is_done(),
            Self::Anthropic(stream) => stream.is_done(),
        }
    }

    pub(super) fn finish(self) -> Result<Reply, FormatError> {
        match self {
            Self::OpenAi(stream) => stream.finish(),
            Self::Anthropic(stream) => stream.finish(),
        }
    }
}
