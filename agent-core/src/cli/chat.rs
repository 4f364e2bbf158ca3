//! `toolsmith chat`: a conversation with a language model that may call the project's tools.
//!
//! With `-p` one question, from a terminal a dialogue, from a pipe one question a line. Text goes to
//! stdout, what happens around it to stderr. An interrupt ends what runs and keeps the conversation.

mod ask;
mod describe;
mod kept;
mod model;
mod show;
mod signals;
mod told;

use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, ValueEnum};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::sync::mpsc;

use super::context::Context;
use super::progress::Quiet;
use super::{CommandError, Exit, let_tools_stop, output};
use crate::agent::{Agent, Run};
use crate::config::{AgentMode, ToolExecution};
use crate::json_text::{one_line, shortened};
use crate::limits;
use crate::registry::Scope;
use crate::tool::problem::closest;

use ask::{Questions, Screen};
use kept::Kept;
use signals::{Signals, Wish};
use told::Answered;

/// Flags of the command.
#[derive(Debug, Args)]
pub(super) struct Options {
    /// Ask this once, print the answer, and end.
    #[arg(short, long, value_name = "TEXT", allow_hyphen_values = true)]
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

pub(super) async fn run(context: &Context, options: &Options) -> Result<Exit, CommandError> {
    if options.prompt.as_deref().is_some_and(is_blank) {
        let text = "the question is empty; expected its text behind `--prompt`";
        return Err(CommandError::usage(text));
    }
    // What is wrong with the model is told before anything is built.
    let model = model::choose(&context.config, options)?;
    let is_dialogue = options.prompt.is_none() && std::io::stdin().is_terminal();
    let screen = is_dialogue.then(Screen::find).flatten();
    let (asking, questions) = ask::questions(screen);
    let kept = options
        .conversation
        .as_deref()
        .map(Kept::open)
        .transpose()?;
    let (kept, conversation) = kept.unzip();
    let conversation = conversation.unwrap_or_default();
    let agent = describe::agent(context, options, model, asking, conversation)?;
    context.show_calls_elsewhere();
    let signals = Signals::listen().map_err(CommandError::failed)?;
    context.refresh(Scope::All).await?;
    tell_of_unknown(context);
    let _watch = context.caller.registry().watch(Arc::new(Quiet));
    let mut chat = Chat {
        context,
        options,
        agent,
        kept,
        questions,
        signals,
        is_dialogue,
    };
    match &options.prompt {
        Some(prompt) => chat.once(prompt).await,
        None => chat.go_on().await,
    }
}

fn is_quit(line: &str) -> bool {
    matches!(line.trim(), "/quit" | "/exit")
}

fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

/// A conversation that is on.
struct Chat<'a> {
    context: &'a Context,
    options: &'a Options,
    agent: Agent,
    kept: Option<Kept>,
    questions: Questions,
    signals: Signals,
    /// Whether a person sits at a terminal.
    is_dialogue: bool,
}

/// What a line of the input is.
enum Line {
    /// Words to the model.
    Said(String),
    /// Nothing, or a command that is done.
    Obeyed,
    /// The wish to end.
    Quit,
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
                _ = self.signals.next() => None,
            };
            let Some(line) = line else { return Ok(last) };
            match self.read(&line) {
                Line::Obeyed => {}
                Line::Quit => return Ok(last),
                Line::Said(text) => match self.ask_anew(text, &mut lines).await {
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

    /// One run with the tools as the plugins folder has them now. What takes very long to build is
    /// not waited for: the version before it answers.
    async fn ask_anew(
        &mut self,
        text: String,
        lines: &mut mpsc::UnboundedReceiver<String>,
    ) -> Result<Then, CommandError> {
        let limit = limits::BUILD_PATIENCE;
        let is_done = tokio::select! {
            biased;
            wish = self.signals.next() => return Ok(self.given_up(wish)),
            done = self.context.refresh_within(None, limit) => done?,
        };
        if !is_done {
            output::say(&format!(
                "not every plugin has been built after {limit:?}; the versions before answer"
            ));
        }
        self.ask(text, lines).await
    }

    /// What follows when somebody wants an end. Without a person nobody asks on: the lines that wait
    /// were written before.
    fn given_up(&self, wish: Wish) -> Then {
        if wish == Wish::End || !self.is_dialogue {
            Then::End(Exit::Failed)
        } else {
            Then::GoOn(Exit::Failed)
        }
    }

    /// What a line means. Only a person at a terminal gives commands.
    fn read(&self, line: &str) -> Line {
        match line.trim() {
            "" => Line::Obeyed,
            text if self.is_dialogue && is_quit(text) => Line::Quit,
            "/tools" if self.is_dialogue => {
                super::list::show(self.context);
                Line::Obeyed
            }
            command if self.is_dialogue && command.starts_with('/') => {
                output::complain("unknown command; there are: /tools, /quit", "");
                Line::Obeyed
            }
            text => Line::Said(text.to_owned()),
        }
    }

    /// One run. What is typed meanwhile answers a question, is a command, or is said to the model.
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
                wish = self.signals.next() => {
                    is_ending |= matches!(self.given_up(wish), Then::End(_));
                    agent.abort();
                }
                Some(()) = self.questions.next() => {}
                line = lines.recv(), if self.is_dialogue && !self.questions.are_closed() => {
                    is_ending |= self.hear(line);
                    if is_ending {
                        agent.abort();
                    }
                }
            }
        };
        if let Some(kept) = &mut self.kept {
            kept.keep(&self.agent.conversation())?;
        }
        let exit = self.told(run.map_err(CommandError::failed)?);
        if is_ending {
            let_tools_stop().await;
        }
        Ok(if is_ending {
            Then::End(exit)
        } else {
            Then::GoOn(exit)
        })
    }

    /// Takes what was typed during a run. Whether the chat is to end.
    fn hear(&mut self, line: Option<String>) -> bool {
        let Some(line) = line else {
            // Whoever has gone answers no question. The model may still have its say.
            self.questions.close();
            return false;
        };
        // Also in place of an answer to a question.
        if is_quit(&line) {
            return true;
        }
        let Some(line) = self.questions.answer(line) else {
            return false;
        };
        match self.read(&line) {
            Line::Obeyed => false,
            Line::Quit => true,
            Line::Said(text) => {
                self.agent.send(text);
                output::say("  heard at the next turn");
                false
            }
        }
    }

    fn told(&self, run: Run) -> Exit {
        let answered = Answered::new(run, self.agent.take_response());
        answered.tell();
        if self.context.output.json && self.options.events.is_none() {
            self.context.output.json(&answered);
        }
        answered.exit()
    }
}

/// Tells of names that may be slips of the pen. Their tools may still come while the chat goes on.
fn tell_of_unknown(context: &Context) {
    let table = context.caller.registry().table();
    let names = || {
        table
            .entries()
            .iter()
            .map(|entry| entry.spec().name.as_str())
    };
    for name in &context.allowed {
        if context.quiet || table.get(name).is_some() {
            continue;
        }
        let hint = closest(name, names());
        let hint = hint.map_or_else(String::new, |name| format!("; did you mean `{name}`?"));
        let name = shortened(&one_line(name), limits::NAME_SHOWN);
        output::say(&format!(
            "warning: `--allow {name}` names no tool that there is now{hint}"
        ));
    }
}

/// The lines of standard input.
fn lines() -> mpsc::UnboundedReceiver<String> {
    let (sender, receiver) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        let mut lines = BufReader::new(tokio::io::stdin()).split(b'\n');
        while let Ok(Some(line)) = lines.next_segment().await {
            // A letter that is no UTF-8 must not cost the questions behind it.
            let line = String::from_utf8_lossy(&line).into_owned();
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    receiver
}
