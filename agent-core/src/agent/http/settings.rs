//! What a client must know, by hand or from the configuration.
//!
//! Does not own what becomes of it, which is `build`'s.

use std::fmt;
use std::time::Duration;

use serde_json::{Map, Value};

use super::dialect::Dialect;
use super::place;
use crate::agent::model::{ModelError, ModelErrorKind};
use crate::config::{Environment, ModelConfig, Provider, Unset};

/// What a client of a model's server must know. Everything but provider and model has a default.
#[derive(Clone)]
pub struct HttpSettings {
    pub(super) provider: Provider,
    pub(super) model: String,
    pub(super) base_url: Option<String>,
    pub(super) api_key: Option<String>,
    pub(super) content_when_empty: Option<String>,
    pub(super) max_tokens: Option<u32>,
    pub(super) parameters: Map<String, Value>,
    pub(super) timeout: Option<Duration>,
    pub(super) section: Option<String>,
    pub(super) key_variable: Option<&'static str>,
}

/// What is known of a provider.
pub(super) struct Known {
    pub(super) dialect: Dialect,
    pub(super) base_url: &'static str,
    key_variable: &'static str,
}

/// What is known of it; `None` if no client serves it.
pub(super) fn known(provider: Provider) -> Option<Known> {
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
        settings.with_usual_key(environment)
    }

    /// With the key that the provider's own server is used with by custom, such as what
    /// `OPENAI_API_KEY` holds. Another server's settings, and those that have a key, stay as they
    /// are.
    ///
    /// # Errors
    /// A variable that is not set; the text names it.
    pub fn with_usual_key(mut self, environment: Environment<'_>) -> Result<Self, ModelError> {
        let Some(known) = known(self.provider) else {
            return Ok(self);
        };
        if self.base_url.is_some() || self.api_key.is_some() {
            return Ok(self);
        }
        let variable = known.key_variable;
        let key = environment(variable).filter(|key| !key.trim().is_empty());
        self.key_variable = Some(variable);
        self.api_key = Some(key.ok_or_else(|| {
            let section = self.section.as_ref();
            let key = section.map_or_else(String::new, |section| format!("`{section}.api_key` or "));
            let text = format!(
                "{} asks for a key, and there is none: set {key}the environment variable `{variable}`",
                known.base_url
            );
            ModelError::new(ModelErrorKind::Unauthorized, text)
        })?);
        Ok(self)
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

    /// The key of the configuration that a person should look at.
    pub(super) fn setting(&self, key: &str) -> String {
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

pub(super) fn misconfigured(text: String) -> ModelError {
    ModelError::new(ModelErrorKind::Other, text)
}
