//! `toolsmith schema`: what a model is shown of the tools. Always a JSON array.

use clap::ValueEnum;
use serde_json::Value;

use super::session::Session;
use super::{CommandError, Exit};
use crate::format;
use crate::registry::Scope;

/// Whose dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    Mcp,
}

pub(super) async fn run(
    session: &Session,
    name: Option<&str>,
    format: Format,
) -> Result<Exit, CommandError> {
    match name {
        Some(name) => session.refresh_for(name).await?,
        None => session.refresh(Scope::All).await?,
    }
    show(session, name, format)
}

/// Prints the schemas as they are now.
pub(super) fn show(
    session: &Session,
    name: Option<&str>,
    format: Format,
) -> Result<Exit, CommandError> {
    let table = session.caller.registry().table();
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
    if session.output.json {
        session.output.json(&schemas);
    } else {
        session
            .output
            .text(&serde_json::to_string_pretty(&schemas).unwrap_or_default());
    }
    Ok(Exit::Done)
}
