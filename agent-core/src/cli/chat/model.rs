//! Which model a chat is with: by flags, by the configuration, or by being the only one.

use super::super::CommandError;
use super::Options;
use crate::agent::{HttpModel, HttpSettings, ModelError};
use crate::config::{Config, FILE_NAME, Provider};
use crate::tool::problem::closest;

/// A word of the configuration as a flag's value; the error lists the words.
pub(super) fn word<T: Copy + std::fmt::Display>(
    word: &str,
    read: impl Fn(&str) -> Option<T>,
    all: &[T],
) -> Result<T, String> {
    read(word).ok_or_else(|| {
        let words: Vec<String> = all.iter().map(ToString::to_string).collect();
        format!("expected one of: {}", words.join(", "))
    })
}

/// Reads `--provider`.
pub(super) fn provider(text: &str) -> Result<Provider, String> {
    word(text, Provider::from_word, Provider::ALL)
}

/// The client of the model.
pub(super) fn choose(config: &Config, options: &Options) -> Result<HttpModel, CommandError> {
    let refused = |error: ModelError| CommandError::usage(error);
    if options.provider.is_some() || options.base_url.is_some() {
        let settings = by_flags(options)?.with_usual_key(&|name| std::env::var(name).ok());
        return HttpModel::new(settings.map_err(refused)?).map_err(refused);
    }
    let named = options.model.as_deref().or(config.agent.model.as_deref());
    let found = match named {
        Some(name) => config.models.get_key_value(name),
        None => config
            .models
            .iter()
            .next()
            .filter(|_| config.models.len() == 1),
    };
    let Some((name, model)) = found else {
        return Err(none(config, named));
    };
    HttpModel::from_config(name, model, &|name| std::env::var(name).ok()).map_err(refused)
}

/// A model without configuration.
fn by_flags(options: &Options) -> Result<HttpSettings, CommandError> {
    let Some(model) = &options.model else {
        let text =
            "`--provider` and `--base-url` need `--model NAME`, the model's name at the server";
        return Err(CommandError::usage(text));
    };
    let provider = options.provider.unwrap_or(Provider::OpenAi);
    let settings = HttpSettings::new(provider, model);
    Ok(match &options.base_url {
        Some(url) => settings.with_base_url(url),
        None => settings,
    })
}

/// There is no such model, or none at all: what to write.
fn none(config: &Config, named: Option<&str>) -> CommandError {
    let known: Vec<&str> = config.models.keys().map(String::as_str).collect();
    if known.is_empty() {
        let hint = format!(
            "write in {FILE_NAME}:\n\
             [models.gpt-5-mini]\n\
             provider = \"openai\"   # or \"anthropic\", \"dashscope\"; base_url = \"http://127.0.0.1:11434/v1\" for Ollama and others\n\
             api_key = \"${{OPENAI_API_KEY}}\""
        );
        return CommandError::usage("no model is configured").with_hint(hint);
    }
    let close = named.and_then(|name| closest(name, known.iter().copied()));
    let hint = close.map_or_else(String::new, |name| format!("; did you mean `{name}`?"));
    CommandError::usage(match named {
        Some(name) => format!(
            "there is no model `{name}` in {FILE_NAME}{hint} (models: {})",
            known.join(", ")
        ),
        None => format!(
            "there are several models; choose one with --model or `[agent] model` (models: {})",
            known.join(", ")
        ),
    })
}
