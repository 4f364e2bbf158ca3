//! The agent of a chat, by flags and configuration.
//!
//! Does not own which model it asks, which is `model`'s.

use fs_err as fs;

use super::super::CommandError;
use super::super::context::Context;
use super::Options;
use super::ask::Asking;
use super::show::Show;
use crate::agent::{Agent, Conversation, HttpModel};
use crate::config::{AgentMode, Template};

/// The agent that the flags and the configuration describe.
pub(super) fn agent(
    context: &Context,
    options: &Options,
    model: HttpModel,
    asking: Option<Asking>,
    conversation: Conversation,
) -> Result<Agent, CommandError> {
    let config = &context.config.agent;
    let expand = |template: &Option<Template>| {
        let environment = |name: &str| std::env::var(name).ok();
        let expanded = template
            .as_ref()
            .map(|template| template.expand(&environment));
        expanded.transpose().map_err(CommandError::usage)
    };
    if options.mode.or(config.mode) == Some(AgentMode::React) {
        let text = "the mode `react` is not served yet; expected `api`";
        return Err(CommandError::usage(text));
    }
    let mut builder = Agent::builder(model)
        .tools(context.caller.registry().clone())
        .permissions(context.permissions.clone())
        .stream(true)
        .closing_turn(true)
        .sink(Show::new(
            context.output.clone(),
            options.events.is_some(),
            context.quiet,
        ));
    if let Some(name) = expand(&config.name)? {
        builder = builder.name(name);
    }
    let system = match &options.system {
        Some(text) => Some(given(text)?),
        None => expand(&config.system_prompt)?,
    };
    builder = builder.system_prompt(system.unwrap_or_default());
    if let Some(how) = options.tool_execution.or(config.tool_execution) {
        builder = builder.tool_execution(how);
    }
    if let Some(count) = config.max_iterations {
        builder = builder.max_iterations(usize::try_from(count).unwrap_or(usize::MAX));
    }
    if let Some(asking) = asking {
        builder = builder.approver(asking);
    }
    builder = builder.conversation(conversation);
    builder.build().map_err(CommandError::failed)
}

/// A text that is given, or that a file holds.
fn given(text: &str) -> Result<String, CommandError> {
    match text.strip_prefix('@') {
        Some(path) => fs::read_to_string(path).map_err(CommandError::usage),
        None => Ok(text.to_owned()),
    }
}
