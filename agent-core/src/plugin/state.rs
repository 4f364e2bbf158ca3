//! Opening what the tools of a plugin share, from the plugin's settings.
//!
//! All openers of a plugin read one table of settings, each of them its own part. The table is
//! checked as arguments are; what is wrong with it is told without its values, which may be
//! secrets.

use std::fmt;

use serde_json::{Map, Value, json};
use tool_sdk::abi::Reply;
use tool_sdk::tool::StateDescription;

use super::PluginError;
use super::introduction::value;
use super::verdict::Introduced;
use crate::limits;
use crate::tool::{ArgumentSchema, BoxFuture, Checked};

/// Opens the state of a package, the first text, from settings as JSON, the second. An error says
/// why there is no reply.
pub type Opener =
    Box<dyn Fn(String, String) -> BoxFuture<'static, Result<Reply, String>> + Send + Sync>;

/// What the tools of a loaded plugin share.
pub struct PluginState {
    package: String,
    /// `None` where nothing is opened.
    settings: Option<ArgumentSchema>,
    opener: Opener,
}

impl PluginState {
    /// State that nobody has opened yet.
    pub(crate) fn new(introduced: &Introduced, opener: Opener) -> Result<Self, PluginError> {
        let Introduced {
            package, states, ..
        } = introduced;
        Ok(Self {
            settings: settings_schema(package, states)?,
            package: package.clone(),
            opener,
        })
    }

    /// Opens it from these settings; calls that run keep what they have. On an error nothing
    /// changes.
    pub async fn open(&self, settings: &Map<String, Value>) -> Result<(), PluginError> {
        let Some(checked) = checked(&self.package, self.settings.as_ref(), settings)? else {
            return Ok(());
        };
        opened((self.opener)(
            self.package.clone(),
            checked.arguments.to_string(),
        ))
        .await
    }
}

/// Waits until what was asked for is open, but not for ever.
pub(crate) async fn opened(
    opening: impl Future<Output = Result<Reply, String>>,
) -> Result<(), PluginError> {
    let limit = limits::OPEN_TIMEOUT;
    let not_opened = |reason: String| PluginError::NotOpened { reason };
    match tokio::time::timeout(limit, opening).await {
        Ok(Ok(reply)) => match value("open", reply) {
            Ok(_) => Ok(()),
            Err(PluginError::Failed { reason, .. }) => Err(not_opened(reason)),
            Err(other) => Err(other),
        },
        Ok(Err(reason)) => Err(not_opened(reason)),
        Err(_) => Err(not_opened(format!("it was not open within {limit:?}"))),
    }
}

/// Whether a plugin's state could be opened from these settings, as far as their schema tells.
pub fn check_settings(
    introduced: &Introduced,
    settings: &Map<String, Value>,
) -> Result<(), PluginError> {
    let Introduced {
        package, states, ..
    } = introduced;
    let schema = settings_schema(package, states)?;
    checked(package, schema.as_ref(), settings).map(drop)
}

/// The settings as the plugin gets them; nothing where it opens nothing.
fn checked(
    plugin: &str,
    schema: Option<&ArgumentSchema>,
    settings: &Map<String, Value>,
) -> Result<Option<Checked>, PluginError> {
    let Some(schema) = schema else {
        return without_settings(plugin, settings).map(|()| None);
    };
    let checked = schema.check(&settings.clone().into(), None);
    checked.map(Some).map_err(|problems| {
        let lines = problems.lines_without_values();
        let head = format!("Validation failed for the settings of plugin {plugin:?}");
        let place = format!("They stand under `[plugins.{plugin}.settings]` in toolsmith.toml");
        PluginError::Settings(format!("{head}:\n{lines}\n{place}"))
    })
}

/// Settings that nobody reads are a mistake of whoever wrote them.
fn without_settings(plugin: &str, settings: &Map<String, Value>) -> Result<(), PluginError> {
    if settings.is_empty() {
        return Ok(());
    }
    let text = format!(
        "plugin {plugin:?} takes no settings: it has no function with `#[plugin_state]`; \
         remove `[plugins.{plugin}.settings]`"
    );
    Err(PluginError::Settings(text))
}

impl fmt::Debug for PluginState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PluginState")
            .field("package", &self.package)
            .finish_non_exhaustive()
    }
}

/// What the settings of a plugin must be; `None` where nothing is opened.
pub(super) fn settings_schema(
    package: &str,
    states: &[StateDescription],
) -> Result<Option<ArgumentSchema>, PluginError> {
    if states.is_empty() {
        return Ok(None);
    }
    let compiled = ArgumentSchema::compile(&together(states)?);
    compiled.map(Some).map_err(|error| PluginError::BadState {
        reason: format!("of `{package}`: {error}"),
    })
}

/// The settings of all openers as one table.
fn together(states: &[StateDescription]) -> Result<Value, PluginError> {
    let mut properties = Map::new();
    let mut required: Vec<Value> = Vec::new();
    let mut definitions = Map::new();
    let mut closed = true;
    for state in states {
        let Some(schema) = &state.settings else {
            continue;
        };
        let part = |keyword: &str| schema.get(keyword).and_then(Value::as_object).cloned();
        join(
            &mut properties,
            part("properties").unwrap_or_default(),
            state,
        )?;
        join(&mut definitions, part("$defs").unwrap_or_default(), state)?;
        let names = schema.get("required").and_then(Value::as_array);
        required.extend(names.into_iter().flatten().cloned());
        closed &= schema.get("additionalProperties") == Some(&Value::Bool(false));
    }
    Ok(json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": !closed,
        "$defs": definitions,
    }))
}

/// Two openers may read the same setting, if they agree on what it is.
fn join(
    all: &mut Map<String, Value>,
    more: Map<String, Value>,
    state: &StateDescription,
) -> Result<(), PluginError> {
    for (name, schema) in more {
        let known = all.entry(name.clone()).or_insert_with(|| schema.clone());
        if *known != schema {
            let StateDescription {
                opens, file, line, ..
            } = state;
            return Err(PluginError::BadState {
                reason: format!(
                    "`{opens}` ({file}:{line}): another opener takes a setting `{name}` of \
                     another type; call one of them differently"
                ),
            });
        }
    }
    Ok(())
}
