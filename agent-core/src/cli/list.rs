//! `toolsmith list`: the tools in order, and the plugins with their state.

use std::fmt::Write;

use super::context::Context;
use super::contract::List;
use super::output::plain;
use super::{CommandError, Exit};
use crate::registry::Scope;
use crate::tool::Isolation;

pub(super) async fn run(context: &Context) -> Result<Exit, CommandError> {
    context.refresh(Scope::All).await?;
    show(context);
    Ok(Exit::Done)
}

/// Prints the list as it is now.
pub(super) fn show(context: &Context) {
    let list = List::of(context.caller.registry());
    if context.output.json {
        context.output.json(&list);
    } else {
        context.output.text(&readable(&list));
    }
}

fn readable(list: &List) -> String {
    let mut text = String::from("Tools:");
    for tool in &list.tools {
        let first = plain(tool.description.lines().next().unwrap_or_default());
        let mark = mark(tool.deprecated.as_deref());
        _ = write!(text, "\n  {}: {}{mark}", tool.name, plain(&tool.label));
        if !first.is_empty() {
            _ = write!(text, " — {first}");
        }
        if let Some(reason) = &tool.reason {
            _ = write!(text, "\n    not callable: {reason}");
        }
    }
    if list.tools.is_empty() {
        text.push_str("\n  (none)");
    }
    text.push_str("\nPlugins:");
    for plugin in &list.plugins {
        let state = serde_json::to_value(plugin.state).unwrap_or_default();
        let state = state.as_str().unwrap_or_default();
        _ = write!(
            text,
            "\n  {}: {state}, generation {}",
            plugin.name, plugin.generation
        );
        if let Some(place) = place(plugin.isolation) {
            _ = write!(text, ", {place}");
        }
        if plugin.mapped_images > 1 {
            _ = write!(text, ", {} libraries mapped", plugin.mapped_images);
        }
        if let Some(enforced) = plugin.enforced.as_ref()
            && plugin.isolation == Isolation::Sandbox
        {
            _ = write!(text, "\n    sandbox: {enforced}");
        } else if plugin.isolation == Isolation::Worker && plugin.enforced.is_some() {
            text.push_str("\n    worker: its process is not confined, but limited in memory");
        } else if plugin.isolation == Isolation::Worker {
            text.push_str("\n    worker: its process is not confined");
        }
        if let Some(reason) = &plugin.reason {
            _ = write!(text, "\n    {reason}");
        }
    }
    if list.plugins.is_empty() {
        text.push_str("\n  (none)");
    }
    for notice in &list.notices {
        _ = write!(text, "\nNotice: {}", plain(notice));
    }
    text
}

/// Where a plugin runs, unless it is where most do.
fn place(isolation: Isolation) -> Option<&'static str> {
    match isolation {
        Isolation::Worker => Some("in a process of its own"),
        Isolation::Sandbox => Some("in a sandbox"),
        Isolation::None | Isolation::InProcess | Isolation::Remote => None,
    }
}

/// What a person sees of a tool that should not be used any more.
fn mark(deprecated: Option<&str>) -> String {
    match deprecated {
        None => String::new(),
        Some("") => " (deprecated)".to_owned(),
        Some(note) => format!(" (deprecated: {})", plain(note)),
    }
}
