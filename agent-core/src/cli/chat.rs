//! `toolsmith chat`: a conversation with a language model that may call the project's tools.
//!
//! With `-p` one question, from a terminal a dialogue, from a pipe one question a line. Text goes to
//! stdout as it comes, what happens around it to stderr. An interrupt ends what runs and keeps the
//! conversation.

mod ask;
mod model;
mod show;

use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, ValueEnum};
use fs_err as fs;
use serde::Serialize;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::sync::mpsc;

use super::context::Context;
use super::progress::Quiet;
use super::{CommandError, Exit, interrupted, output, terminated};
use crate::agent::{Agent, Conversation, Run};
use crate::config::{AgentMode, FILE_NAME, ToolExecution};
use crate::event::EndReason;
use crate::message::Message;
use crate::registry::Scope;

use ask::Questions;

/// Flags of the command.
#[derive(Debug, Args)]
pub(super) struct Options {
    /// Ask this once, print the answer, and end.
    #[arg(short, long, value_name = "TEXT")]
    prompt: Option<String>,
    /// A model of the configuration, or with `--provider` or `--base-url` its name at the server.
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// Whose dialect the server speaks.
    #[arg(long, value_name = "PROVIDER", value_parser = model::provider)]
    provider: Option<crate::config::Provider>,
    /// Address of the server, for example `http://127.0.0.1:11434/v1`.
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,
    /// How the model is told of tools.
    #[arg(long, value_name = "MODE", value_parser = mode)]
    mode: Option<AgentMode>,
    /// Instructions, or `@FILE`.
    #[arg(long, value_name = "TEXT")]
    system: Option<String>,
    /// Which calls of one answer overlap: `per-tool`, `sequential` or `parallel`.
    #[arg(long, value_name = "HOW", value_parser = tool_execution)]
    tool_execution: Option<ToolExecution>,
    /// Print every event on a line of its own instead of the text.
    #[arg(long, value_name = "FORMAT")]
    events: Option<Events>,
    /// Go on with the conversation in this file, and keep it there.
    #[arg(long, value_name = "FILE")]
    conversation: Option<PathBuf>,
}

/// How events are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Events {
    /// One JSON object a line.
    Json,
}

fn mode(word: &str) -> Result<AgentMode, String> {
    model::word(word, AgentMode::from_word, AgentMode::ALL)
}

fn tool_execution(word: &str) -> Result<ToolExecution, String> {
    model::word(word, ToolExecution::from_word, ToolExecution::ALL)
}

/// What one run came to, for programs.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Answered {
    reason: EndReason,
    iterations: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response: Option<Message>,
}

pub(super) async fn run(context: &Context, options: &Options) -> Result<Exit, CommandError> {
    // What is wrong with the model is told before anything is built.
    let model = model::choose(&context.config, options)?;
    let (asking, questions) = ask::questions();
    let is_dialogue = options.prompt.is_none() && std::io::stdin().is_terminal();
    let agent = describe(context, options, model, is_dialogue.then_some(asking))?;
    context.show_calls_elsewhere();
    context.refresh(Scope::All).await?;
    let _watch = context.caller.registry().watch(Arc::new(Quiet));
    let mut chat = Chat {
        context,
        options,
        agent,
        questions,
        is_dialogue,
    };
    match &options.prompt {
        Some(prompt) => chat.once(prompt).await,
        None => chat.go_on().await,
    }
}

fn describe(
    context: &Context,
    options: &Options,
    model: crate::agent::HttpModel,
    asking: Option<ask::Asking>,
) -> Result<Agent, CommandError> {
    let config = &context.config.agent;
    let expand = |template: &Option<crate::config::Template>| {
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
        .sink(show::Show::new(
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
    if let Some(file) = &options.conversation {
        builder = builder.conversation(read(file)?);
    }
    builder.build().map_err(CommandError::failed)
}

/// A text that is given, or that a file holds.
fn given(text: &str) -> Result<String, CommandError> {
    match text.strip_prefix('@') {
        Some(path) => fs::read_to_string(path).map_err(CommandError::usage),
        None => Ok(text.to_owned()),
    }
}

/// The conversation that a file holds; none where there is no file yet.
fn read(file: &PathBuf) -> Result<Conversation, CommandError> {
    match fs::read_to_string(file) {
        Ok(text) => serde_json::from_str(&text).map_err(|error| {
            CommandError::usage(format!(
                "`{}` holds no conversation: {error}",
                file.display()
            ))
        }),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Conversation::default()),
        Err(error) => Err(CommandError::usage(error)),
    }
}

/// A conversation that is on.
struct Chat<'a> {
    context: &'a Context,
    options: &'a Options,
    agent: Agent,
    questions: Questions,
    /// Whether a person sits at a terminal.
    is_dialogue: bool,
}

/// What comes after a run.
enum Then {
    GoOn(Exit),
    End(Exit),
}

impl Chat<'_> {
    async fn once(&mut self, prompt: &str) -> Result<Exit, CommandError> {
        let (_sender, mut nothing) = mpsc::unbounded_channel();
        match self.ask(prompt.to_owned(), &mut nothing).await? {
            Then::GoOn(exit) | Then::End(exit) => Ok(exit),
        }
    }

    /// Question after question. The exit code is that of the last one.
    async fn go_on(&mut self) -> Result<Exit, CommandError> {
        let mut lines = lines();
        let mut last = Exit::Done;
        if self.is_dialogue {
            output::say("Ask, or give a command: /tools, /quit. An interrupt ends an answer.");
        }
        loop {
            if self.is_dialogue {
                output::prompt();
            }
            let line = tokio::select! {
                line = lines.recv() => line,
                () = interrupted() => None,
            };
            let Some(line) = line else { return Ok(last) };
            match line.trim() {
                "" => {}
                "/quit" | "/exit" if self.is_dialogue => return Ok(last),
                "/tools" if self.is_dialogue => super::list::show(self.context),
                command if self.is_dialogue && command.starts_with('/') => {
                    output::complain("unknown command; there are: /tools, /quit", "");
                }
                text => match self.ask(text.to_owned(), &mut lines).await {
                    Ok(Then::GoOn(exit)) => last = exit,
                    Ok(Then::End(exit)) => return Ok(exit),
                    // The conversation goes on; the next question may fare better.
                    Err(error) if self.is_dialogue => {
                        output::complain(&error.message, error.hint.as_deref().unwrap_or_default());
                        last = Exit::Failed;
                    }
                    Err(error) => return Err(error),
                },
            }
        }
    }

    /// One run. What is typed meanwhile answers a question, or is said to the model.
    async fn ask(
        &mut self,
        text: String,
        lines: &mut mpsc::UnboundedReceiver<String>,
    ) -> Result<Then, CommandError> {
        let agent = self.agent.clone();
        let mut run = std::pin::pin!(agent.run(text));
        let mut is_ending = false;
        let run = loop {
            tokio::select! {
                biased;
                run = &mut run => break run,
                _ = tokio::signal::ctrl_c() => agent.abort(),
                () = terminated(), if !is_ending => {
                    is_ending = true;
                    agent.abort();
                }
                Some(()) = self.questions.next() => {}
                Some(line) = lines.recv(), if self.is_dialogue => {
                    if let Some(line) = self.questions.answer(line) {
                        agent.send(line);
                    }
                }
            }
        };
        self.keep()?;
        let exit = self.told(run.map_err(CommandError::failed)?);
        Ok(if is_ending {
            Then::End(exit)
        } else {
            Then::GoOn(exit)
        })
    }

    /// Keeps the conversation where it was to be kept.
    fn keep(&self) -> Result<(), CommandError> {
        let Some(file) = &self.options.conversation else {
            return Ok(());
        };
        let text = serde_json::to_string_pretty(&self.agent.conversation());
        let text = text.map_err(CommandError::failed)?;
        // Whoever reads the file finds all of it or what was there before.
        let unfinished = file.with_extension("unfinished");
        fs::write(&unfinished, text)
            .and_then(|()| fs::rename(&unfinished, file))
            .map_err(CommandError::failed)
    }

    fn told(&self, run: Run) -> Exit {
        let exit = match run.reason {
            EndReason::Final | EndReason::Terminated => Exit::Done,
            _ => Exit::Failed,
        };
        match run.reason {
            EndReason::MaxIterations => output::say(&format!(
                "ended after {} questions to the model; `max_iterations` in `[agent]` of {FILE_NAME} \
                 allows more",
                run.iterations
            )),
            EndReason::Aborted => output::say("aborted"),
            _ => {}
        }
        let response = self.agent.take_response();
        if self.context.output.json && self.options.events.is_none() {
            self.context.output.json(&Answered {
                reason: run.reason,
                iterations: run.iterations,
                usage: run.usage,
                response,
            });
        }
        exit
    }
}

/// The lines of standard input.
fn lines() -> mpsc::UnboundedReceiver<String> {
    let (sender, receiver) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        let mut lines = BufReader::new(tokio::io::stdin()).lines();
        while let Ok(Some(line)) = lines.next_line().await {
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    receiver
}
