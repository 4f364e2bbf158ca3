//! Settings → client.

use serde_json::{Map, Value};

use super::HttpModel;
use super::dialect::Dialect;
use super::place::{self, Place};
use super::settings::{HttpSettings, known, misconfigured};
use crate::agent::model::{ModelError, ModelErrorKind};
use crate::config::{Environment, ModelConfig};
use crate::{limits, transport};

impl HttpModel {
    /// The client of `[models.NAME]`.
    ///
    /// # Errors
    /// What is wrong with the section, by the names of its keys and variables.
    pub fn from_config(
        name: &str,
        config: &ModelConfig,
        environment: Environment<'_>,
    ) -> Result<Self, ModelError> {
        Self::new(HttpSettings::from_config(name, config, environment)?)
    }

    /// A client with these settings. Nothing is sent yet.
    ///
    /// # Errors
    /// A provider that is not served, an address that is none, or a key that can't be sent so.
    pub fn new(settings: HttpSettings) -> Result<Self, ModelError> {
        let known = known(settings.provider).ok_or_else(|| {
            misconfigured(format!(
                "{} = \"{}\" is not served; served are \"openai\", \"dashscope\" and \"anthropic\". \
                 Gemini answers in OpenAI's dialect too: provider = \"openai\" with base_url = \
                 \"https://generativelanguage.googleapis.com/v1beta/openai\"",
                settings.setting("provider"),
                settings.provider
            ))
        })?;
        let base_url = settings.base_url.as_deref().unwrap_or(known.base_url);
        let shown = place::shown(base_url);
        let endpoint = place::endpoint(base_url, known.dialect).map_err(|expected| {
            misconfigured(format!(
                "{} must be {expected}, found \"{shown}\"",
                settings.setting("base_url")
            ))
        })?;
        let key = settings.api_key.as_deref().map(str::trim);
        let place = Place {
            base_url: shown,
            model: settings.model.clone(),
            key: key.filter(|key| !key.is_empty()).map(str::to_owned),
            section: settings.section.clone(),
            key_variable: settings.key_variable,
            endpoint,
        };
        Ok(Self {
            client: client(&place, known.dialect)?,
            dialect: known.dialect,
            parameters: parameters(&settings, &place, known.dialect),
            content_when_empty: settings.content_when_empty,
            timeout: settings.timeout,
            tries: limits::MODEL_TRIES,
            pause: limits::MODEL_PAUSE,
            place,
        })
    }
}

/// The parameters with the limit of tokens, which `OpenAI` alone calls by a newer name.
fn parameters(settings: &HttpSettings, place: &Place, dialect: Dialect) -> Map<String, Value> {
    let mut parameters = Map::new();
    if let Some(tokens) = settings.max_tokens {
        let newer =
            dialect == Dialect::OpenAi && place.endpoint.host_str() == Some("api.openai.com");
        let name = if newer {
            "max_completion_tokens"
        } else {
            "max_tokens"
        };
        parameters.insert(name.to_owned(), tokens.into());
    }
    parameters.extend(settings.parameters.clone());
    parameters
}

fn client(place: &Place, dialect: Dialect) -> Result<reqwest::Client, ModelError> {
    let plain = place.endpoint.scheme() == "http";
    if plain && place.key.is_some() && !place::is_near(&place.endpoint) {
        return Err(misconfigured(format!(
            "the key would travel to {} without encryption; write `https://` in {}",
            place.base_url,
            place.setting("base_url")
        )));
    }
    let headers = place.headers(dialect).ok_or_else(|| {
        let text = format!("{} holds letters that no key has", place.key_setting());
        ModelError::new(ModelErrorKind::Unauthorized, text)
    })?;
    // No redirects: the key must not follow to another host, and a request that is sent to the wrong
    // address should be told so.
    let client = transport::client(&place.endpoint, limits::MODEL_CONNECT).default_headers(headers);
    client
        .build()
        .map_err(|error| misconfigured(transport::no_client(&error)))
}
