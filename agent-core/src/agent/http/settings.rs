//! What a client must know, by hand or from the configuration.

use std::fmt;
use std::time::Duration;

use reqwest::redirect::Policy;
use serde_json::{Map, Value};

use super::HttpModel;
use super::dialect::Dialect;
use super::place::{self, Place};
use crate::agent::model::{ModelError, ModelErrorKind};
use crate::config::{Environment, ModelConfig, Provider, Unset};
use crate::limits;

/// What a client of a model's server must know. Everything but provider and model has a default.
#[derive(Clone)]
pub struct HttpSettings {
    provider: Provider,
    model: String,
    base_url: Option<String>,
    api_key: Option<String>,
    content_when_empty: Option<String>,
    max_tokens: Option<u32>,
    parameters: Map<String, Value>,
    timeout: Option<Duration>,
    section: Option<String>,
    key_variable: Option<&'static str>,
}

/// What is known of a provider.
struct Known {
    dialect: Dialect,
    base_url: &'static str,
    key_variable: &'static str,
}

fn known(provider: Provider) -> Option<Known> {
    let (dialect, base_url, key_variable) = match provider {
        Provider::OpenAi => (
            Dialect::OpenAi,
            "https://api.openai.com/v1",
            "OPENAI_API_KEY",
        ),
        Provider::DashScope => (
            Dialect::OpenAi,
            "https://dashscope.aliyuncs.com/compatible-mode/v1",
            "DASHSCOPE_API_KEY",
        ),
        Provider::Anthropic => (
            Dialect::Anthropic,
            "https://api.anthropic.com",
            "ANTHROPIC_API_KEY",
        ),
        Provider::Gemini => return None,
    };
    Some(Known {
        dialect,
        base_url,
        key_variable,
    })
}

impl HttpSettings {
    /// A model of this name at the provider's own server, or at that of
    /// [`with_base_url`](Self::with_base_url).
    pub fn new(provider: Provider, model: impl Into<String>) -> Self {
        Self {
            provider,
            model: model.into(),
            base_url: None,
            api_key: None,
            content_when_empty: None,
            max_tokens: None,
            parameters: Map::new(),
            timeout: None,
            section: None,
            key_variable: None,
        }
    }

    /// The settings of `[models.NAME]`, with every variable replaced. Without `api_key` the
    /// provider's own server is sent what the provider's usual variable holds, such as
    /// `OPENAI_API_KEY`; another server is never sent that.
    ///
    /// # Errors
    /// A variable that is not set, or a key that is missing; the text names it.
    pub fn from_config(
        name: &str,
        config: &ModelConfig,
        environment: Environment<'_>,
    ) -> Result<Self, ModelError> {
        let section = format!("models.{name}");
        let unset = |key: &str, unset: &Unset| {
            misconfigured(format!(
                "`{section}.{key}` can't be used: {unset}; set it, or write a value in its place"
            ))
        };
        let base_url = config.base_url.as_ref();
        let base_url = base_url
            .map(|url| url.expand(environment))
            .transpose()
            .map_err(|error| unset("base_url", &error))?;
        let provider = match (config.provider, &base_url) {
            (Some(provider), _) => provider,
            // Whoever gives an address gives that of one of the many servers like this.
            (None, Some(_)) => Provider::OpenAi,
            (None, None) => {
                return Err(misconfigured(format!(
                    "`{section}` needs `provider` or `base_url`"
                )));
            }
        };
        let model = config.name.as_ref();
        let model = model.map_or_else(|| Ok(name.to_owned()), |name| name.expand(environment));
        let mut settings = Self::new(provider, model.map_err(|error| unset("name", &error))?);
        let key = config.api_key.as_ref();
        settings.api_key = key
            .map(|key| key.expand(environment))
            .transpose()
            .map_err(|error| unset("api_key", &error))?;
        for (parameter, value) in &config.parameters {
            let value = value
                .expand(environment)
                .map_err(|error| unset(&format!("parameters.{parameter}"), &error))?;
            settings.parameters.insert(parameter.clone(), value);
        }
        settings.base_url = base_url;
        settings
            .content_when_empty
            .clone_from(&config.content_when_empty);
        settings.max_tokens = config.max_tokens;
        settings.timeout = config.timeout;
        settings.section = Some(section);
        settings.take_usual_key(environment)?;
        Ok(settings)
    }

    /// The key that the provider's own server is used with by custom.
    fn take_usual_key(&mut self, environment: Environment<'_>) -> Result<(), ModelError> {
        let Some(known) = known(self.provider) else {
            return Ok(());
        };
        if self.base_url.is_some() || self.api_key.is_some() {
            return Ok(());
        }
        let variable = known.key_variable;
        let key = environment(variable).filter(|key| !key.trim().is_empty());
        self.key_variable = Some(variable);
        self.api_key = Some(key.ok_or_else(|| {
            let section = self.section.as_deref().unwrap_or_default();
            let text = format!(
                "{} asks for a key, and there is none: set `{section}.api_key` or the environment \
                 variable `{variable}`",
                known.base_url
            );
            ModelError::new(ModelErrorKind::Unauthorized, text)
        })?);
        Ok(())
    }

    /// Another server than the provider's own, for example `http://127.0.0.1:11434/v1`.
    #[must_use]
    pub fn with_base_url(mut self, base_url: impl Into<String>) -> Self {
        self.base_url = Some(base_url.into());
        self
    }

    /// The key that the server asks for.
    #[must_use]
    pub fn with_api_key(mut self, key: impl Into<String>) -> Self {
        self.api_key = Some(key.into());
        self
    }

    /// The content of an assistant message that holds only calls (R34).
    #[must_use]
    pub fn with_content_when_empty(mut self, content: impl Into<String>) -> Self {
        self.content_when_empty = Some(content.into());
        self
    }

    /// Tokens that one answer may have.
    #[must_use]
    pub fn with_max_tokens(mut self, tokens: u32) -> Self {
        self.max_tokens = Some(tokens);
        self
    }

    /// What goes into the body of every request as it is.
    #[must_use]
    pub fn with_parameters(mut self, parameters: Map<String, Value>) -> Self {
        self.parameters = parameters;
        self
    }

    /// How long the server may be silent, before its answer begins and within it.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    fn setting(&self, key: &str) -> String {
        match &self.section {
            Some(section) => format!("`{section}.{key}`"),
            None => format!("`{key}`"),
        }
    }
}

impl fmt::Debug for HttpSettings {
    /// Without the key, and without parameters, which may hold one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpSettings")
            .field("provider", &self.provider)
            .field("model", &self.model)
            .field("base_url", &self.base_url.as_deref().map(place::shown))
            .finish_non_exhaustive()
    }
}

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
    // A program that has chosen its cryptography keeps it: then this does nothing.
    drop(rustls::crypto::ring::default_provider().install_default());
    let mut builder = reqwest::Client::builder()
        .user_agent(concat!("toolsmith/", env!("CARGO_PKG_VERSION")))
        .default_headers(headers)
        .connect_timeout(limits::MODEL_CONNECT)
        // The key must not follow to another host, and a request that is sent to the wrong
        // address should be told so.
        .redirect(Policy::none());
    if plain {
        // A machine without certificates reaches its own servers all the same.
        builder = builder.tls_certs_only([]);
    }
    if place::is_loopback(&place.endpoint) {
        builder = builder.no_proxy();
    }
    builder.build().map_err(|error| {
        let reason = super::failure::root_cause(&error);
        misconfigured(format!(
            "no connections can be made: {reason}; where certificates are missing, install the \
             package `ca-certificates`"
        ))
    })
}

fn misconfigured(text: String) -> ModelError {
    ModelError::new(ModelErrorKind::Other, text)
}
