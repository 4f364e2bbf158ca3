//! `toolsmith dev`: build, load, watch, and answer commands, one a line.
//!
//! On a terminal it prompts; from a pipe it reads. Commands run one after the other, the first one
//! when everything was looked at once. A command looks at the plugins folder before it runs, so
//! what was saved before it was given counts.

use std::io::IsTerminal;
use std::sync::Arc;

use clap::ValueEnum;
use tokio::io::{AsyncBufReadExt, BufReader};

use super::context::Context;
use super::progress::Quiet;
use super::{CommandError, Exit, call, interrupted, list, output, schema};
use crate::call::Caller;
use crate::ids::PluginName;
use crate::json_text::shortened;
use crate::limits;
use crate::registry::Scope;

pub(super) async fn run(context: &Context) -> Result<Exit, CommandError> {
    context.refresh(Scope::All).await?;
    let _watch = context.caller.registry().watch(Arc::new(Quiet));
    let interactive = std::io::stdin().is_terminal();
    if interactive && !context.output.json {
        list::show(context);
        output::say("Commands: list, call NAME [JSON], schema NAME, reload [CRATE], quit");
    }
    // A person who types a command consents to it; a program that sends one can't.
    let caller = if interactive {
        context.consenting()
    } else {
        context.caller.clone()
    };
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    loop {
        if interactive {
            output::prompt();
        }
        let line = tokio::select! {
            line = lines.next_line() => line,
            () = interrupted() => break,
        };
        match line {
            Ok(Some(line)) => match Line::parse(&line) {
                Line::Quit => break,
                command => answer(context, &caller, command).await,
            },
            Ok(None) => break,
            Err(error) => output::complain("the line is not readable", &error.to_string()),
        }
    }
    Ok(Exit::Done)
}

/// One line of input.
#[derive(Debug, PartialEq, Eq)]
enum Line<'a> {
    Nothing,
    List,
    Call { name: &'a str, arguments: &'a str },
    Schema { name: &'a str, format: &'a str },
    Reload { plugin: &'a str },
    Quit,
    Unknown(&'a str),
}

impl<'a> Line<'a> {
    fn parse(line: &'a str) -> Self {
        let line = line.trim();
        let word = |text: &'a str| match text.split_once(char::is_whitespace) {
            Some((word, rest)) => (word, rest.trim_start()),
            None => (text, ""),
        };
        let (command, rest) = word(line);
        let (first, behind) = word(rest);
        match command {
            "" => Self::Nothing,
            _ if command.starts_with('#') => Self::Nothing,
            "list" if rest.is_empty() => Self::List,
            "call" if !first.is_empty() => Self::Call {
                name: first,
                arguments: behind,
            },
            "schema" if !first.is_empty() => Self::Schema {
                name: first,
                format: behind,
            },
            "reload" => Self::Reload { plugin: rest },
            "quit" if rest.is_empty() => Self::Quit,
            _ => Self::Unknown(line),
        }
    }
}

async fn answer(context: &Context, caller: &Caller, command: Line<'_>) {
    let answered = match command {
        Line::Nothing | Line::Quit => Ok(()),
        Line::Unknown(line) => Err(CommandError::usage(format!(
            "unknown command `{}`; there are: list, call NAME [JSON], schema NAME [FORMAT], reload [CRATE], quit",
            shortened(line, 80)
        ))),
        // What is being built is shown as that.
        Line::List => context
            .refresh_within(None, limits::BUILD_PATIENCE)
            .await
            .map(|_| list::show(context)),
        Line::Call { name, arguments } => match bring_up(context, name).await {
            Ok(()) => {
                call::make(context, caller, name, arguments.to_owned()).await;
                Ok(())
            }
            Err(error) => Err(error),
        },
        Line::Schema { name, format } => show_schema(context, name, format).await,
        Line::Reload { plugin: "" } => context.refresh(Scope::Forced).await,
        Line::Reload { plugin } => reload(context, &PluginName::new(plugin)).await,
    };
    if let Err(CommandError { message, hint, .. }) = answered {
        output::complain(&message, hint.as_deref().unwrap_or_default());
    }
}

/// Brings a tool up to date. One that serves is not waited for any longer than this: its build may
/// take very long, or hang.
async fn bring_up(context: &Context, tool: &str) -> Result<(), CommandError> {
    let table = context.caller.registry().table();
    let Some(plugin) = table.get(tool).and_then(|entry| entry.plugin().cloned()) else {
        return context.refresh_known(tool).await;
    };
    let limit = limits::BUILD_PATIENCE;
    if !context.refresh_within(Some(&plugin), limit).await? {
        output::say(&format!(
            "`{plugin}` has not been built after {limit:?}; the version before it answers"
        ));
    }
    Ok(())
}

async fn show_schema(context: &Context, name: &str, format: &str) -> Result<(), CommandError> {
    let format = if format.is_empty() { "mcp" } else { format };
    let format = schema::Format::from_str(format, false).map_err(|_| {
        let known: Vec<String> = schema::Format::value_variants()
            .iter()
            .filter_map(|format| Some(format.to_possible_value()?.get_name().to_owned()))
            .collect();
        CommandError::usage(format!(
            "unknown format `{format}`; there are: {}",
            known.join(", ")
        ))
    })?;
    context.refresh_known(name).await?;
    schema::show(context, Some(name), format).map(|_| ())
}

async fn reload(context: &Context, plugin: &PluginName) -> Result<(), CommandError> {
    context.refresh(Scope::All).await?;
    let known = context.caller.registry().plugins();
    if known.iter().any(|status| status.name == *plugin) {
        return Ok(());
    }
    let names: Vec<String> = known.iter().map(|status| status.name.to_string()).collect();
    Err(CommandError::usage(format!(
        "no plugin `{plugin}`; there are: {}",
        names.join(", ")
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_pipe_contract() {
        let check = |line, expected| assert_eq!(Line::parse(line), expected, "{line}");
        check("", Line::Nothing);
        check("  # call x", Line::Nothing);
        check("list", Line::List);
        check(
            "call a {\"x\": 1} ",
            Line::Call {
                name: "a",
                arguments: "{\"x\": 1}",
            },
        );
        check(
            "call a",
            Line::Call {
                name: "a",
                arguments: "",
            },
        );
        check(
            "schema a mcp",
            Line::Schema {
                name: "a",
                format: "mcp",
            },
        );
        check("reload", Line::Reload { plugin: "" });
        check("reload get-time", Line::Reload { plugin: "get-time" });
        check("quit", Line::Quit);
        check("call", Line::Unknown("call"));
        check("dance now", Line::Unknown("dance now"));
    }
}
