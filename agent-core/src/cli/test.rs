//! `toolsmith test`: runs the examples that tools declare, through the whole pipeline.

use std::sync::Arc;

use serde_json::Value;

use super::call::interruptible;
use super::context::Context;
use super::contract::Tested;
use super::output::{Colour, plain};
use super::{CommandError, Exit, output};
use crate::call::ExampleOutcome;
use crate::event::FailedPlugin;
use crate::ids::PluginName;
use crate::json_text::{shortened, spaced};
use crate::registry::{PluginState, PluginStatus, Scope, ToolEntry};

/// How much of a value one line shows, in characters.
const SHOWN: usize = 300;

pub(super) async fn run(context: &Context, name: Option<&str>) -> Result<Exit, CommandError> {
    let Wanted { tools, plugins } = Wanted::find(context, name).await?;
    let (abort, _watch) = interruptible();
    let mut outcomes = Vec::new();
    for entry in &tools {
        for example in &entry.spec().examples {
            if let Some(plugin) = entry.plugin() {
                context.speaker.set(plugin.as_str());
            }
            let outcome = context.caller.run_example(entry, example, &abort).await;
            if !context.output.json {
                context.output.text(&line(context, &outcome));
            }
            outcomes.push(outcome);
        }
    }
    let tested = Tested::new(outcomes, plugins);
    if context.output.json {
        context.output.json(&tested);
    } else {
        conclude(context, &tested);
    }
    Ok(if tested.ok { Exit::Done } else { Exit::Failed })
}

/// What is to be tested.
struct Wanted {
    tools: Vec<Arc<ToolEntry>>,
    /// Plugins among it that can't be.
    plugins: Vec<FailedPlugin>,
}

impl Wanted {
    /// Brings up to date what the name stands for: a plugin, a tool, or everything.
    async fn find(context: &Context, name: Option<&str>) -> Result<Self, CommandError> {
        let registry = context.caller.registry();
        let Some(name) = name else {
            context.refresh(Scope::All).await?;
            return Ok(Self::of(context, |_| true, |_| true));
        };
        let plugin = PluginName::new(name);
        context.refresh(Scope::Only(&plugin)).await?;
        let is_plugin = |status: &PluginStatus| status.name == plugin;
        if registry.plugins().iter().any(is_plugin) {
            let of_plugin = |entry: &ToolEntry| entry.plugin() == Some(&plugin);
            return Ok(Self::of(context, of_plugin, is_plugin));
        }
        context.refresh_for(name).await?;
        let table = registry.table();
        if let Some(entry) = table.get(name) {
            let is_owner = |status: &PluginStatus| entry.plugin() == Some(&status.name);
            return Ok(Self::of(
                context,
                |entry| entry.spec().name == name,
                is_owner,
            ));
        }
        match registry.failed_with(name) {
            Some((plugin, _)) => Ok(Self::of(context, |_| false, |status| status.name == plugin)),
            None => Err(CommandError::usage(table.unknown(name))
                .with_hint("NAME is a tool or a plugin; `toolsmith list` shows both".to_owned())),
        }
    }

    fn of(
        context: &Context,
        tools: impl Fn(&ToolEntry) -> bool,
        plugins: impl Fn(&PluginStatus) -> bool,
    ) -> Self {
        let registry = context.caller.registry();
        let table = registry.table();
        let entries = table.entries().iter().filter(|entry| tools(entry));
        let failed = registry.plugins().into_iter();
        let failed = failed.filter(|status| !serves(status) && plugins(status));
        Self {
            tools: entries.cloned().collect(),
            plugins: failed
                .map(|status| FailedPlugin {
                    plugin: status.name,
                    reason: status.reason.unwrap_or_default(),
                })
                .collect(),
        }
    }
}

/// Whether the newest content of a plugin is what its tools are of; one that was not looked at is
/// not judged.
fn serves(status: &PluginStatus) -> bool {
    matches!(status.state, PluginState::Live | PluginState::Building)
}

/// One example on one line.
fn line(context: &Context, outcome: &ExampleOutcome) -> String {
    let call = format!("{} {}", outcome.tool, shown(&outcome.arguments));
    if outcome.ok {
        return format!("{} {call}", context.output.coloured(Colour::Green, "ok"));
    }
    let mark = context.output.coloured(Colour::Red, "FAILED");
    let found = match (&outcome.error, &outcome.found) {
        (Some(error), _) => format!(
            "{}: {}",
            error.kind,
            plain(&shortened(&error.message, SHOWN))
        ),
        (None, Some(found)) => shown(found),
        (None, None) => "nothing".to_owned(),
    };
    format!(
        "{mark} {call}: expected {}, found {found}",
        expectation(outcome)
    )
}

fn expectation(outcome: &ExampleOutcome) -> String {
    match (&outcome.expected, &outcome.expected_pattern) {
        (Some(value), _) => shown(value),
        (None, Some(pattern)) => format!("a text that matches {pattern:?}"),
        (None, None) => "no error".to_owned(),
    }
}

fn shown(value: &Value) -> String {
    plain(&shortened(&spaced(value), SHOWN))
}

/// The last line, and what could not be tested.
fn conclude(context: &Context, tested: &Tested) {
    for FailedPlugin { plugin, reason } in &tested.plugins {
        output::complain(&format!("plugin `{plugin}` does not serve: {reason}"), "");
    }
    let count = tested.examples.len();
    let summary = match (count, tested.failed) {
        (0, _) => "no examples: a tool declares them with #[tool(example(…))]".to_owned(),
        (1, 0) => "1 example: ok".to_owned(),
        (1, _) => "1 example: failed".to_owned(),
        (_, 0) => format!("{count} examples: all ok"),
        (_, failed) => format!("{count} examples: {} ok, {failed} failed", tested.passed),
    };
    context.output.text(&summary);
}
