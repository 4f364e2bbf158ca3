//! `toolsmith schema`: what a model is shown of the tools. Always a JSON array.

use clap::ValueEnum;
use serde_json::Value;

use super::context::Context;
use super::{CommandError, Exit};
use crate::format;
use crate::registry::Scope;

/// Whose dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    Mcp,
}

pub(super) async fn run(
    context: &Context,
    name: Option<&str>,
    format: Format,
) -> Result<Exit, CommandError> {
    match name {
        Some(name) => context.refresh_for(name).await?,
        None => context.refresh(Scope::All).await?,
    }
    show(context, name, format)
}

/// Prints the schemas as they are now.
pub(super) fn show(
    context: &Context,
    name: Option<&str>,
    format: Format,
) -> Result<Exit, CommandError> {
    let table = context.caller.registry().table();
    let shown = |entry: &crate::registry::ToolEntry| match format {
        Format::Mcp => format::mcp::tool(entry.spec()),
    };
    let schemas: Vec<Value> = match name {
        None => table
            .entries()
            .iter()
            .filter(|entry| entry.schema().is_ok())
            .map(|entry| shown(entry))
            .collect(),
        Some(name) => {
            let entry = table
                .get(name)
                .ok_or_else(|| CommandError::usage(table.unknown(name)))?;
            vec![shown(entry)]
        }
    };
    if context.output.json {
        context.output.json(&schemas);
    } else {
        context
            .output
            .text(&serde_json::to_string_pretty(&schemas).unwrap_or_default());
    }
    Ok(Exit::Done)
}
