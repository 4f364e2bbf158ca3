//! One turn: ask the model once, make the calls that it wants, answer them.

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Map, Value};

use super::conversation::{Requested, last_words};
use super::guard::Fingerprint;
use super::run::{Running, last_question};
use super::{AgentError, Inner, Terminate, window};
use crate::call::schedule::Batch;
use crate::call::unwind::guarded;
use crate::call::{Finalized, ToolCall};
use crate::config::Permission;
use crate::event::{Emitter, EventKind};
use crate::message::{Block, Context, Delta, Message, Prompt, Reply, Role, StopReason};
use crate::registry::Pinned;

/// What a turn came to.
pub(super) enum Turned {
    /// Calls were made and answered.
    Called,
    /// The model had its say.
    Said(Message),
    /// Tools ended the loop with these words.
    Terminated(Message),
    /// It was aborted.
    Aborted,
}

/// A turn whose start was told.
struct Turn<'a>(&'a Emitter);

impl<'a> Turn<'a> {
    fn start(events: &'a Emitter) -> Self {
        events.emit(|| EventKind::TurnStart);
        Self(events)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.0.emit(|| EventKind::TurnEnd);
    }
}

impl<'a> Running<'a> {
    /// Asks the model once and makes its calls.
    pub(super) async fn turn(&mut self) -> Result<Turned, AgentError> {
        let _turn = Turn::start(self.agent.caller.events());
        let tools = Arc::new(self.tools());
        let context = self.context(&tools);
        let Some((reply, heard)) = self.ask(context).await? else {
            return Ok(Turned::Aborted);
        };
        let is_cut = reply.stop == StopReason::Length && reply.content.last().is_some_and(is_call);
        let (message, requested) = heard.end(reply);
        if requested.is_empty() {
            return Ok(Turned::Said(message));
        }
        let batch = self.make(&requested, is_cut, tools).await;
        if self.abort.is_aborted() {
            return Ok(Turned::Aborted);
        }
        let terminates = match self.agent.settings.terminate {
            Terminate::Any => batch.any_terminates(),
            Terminate::All => batch.all_terminate(),
        };
        if !terminates {
            return Ok(Turned::Called);
        }
        let words = last_words(batch.results.iter().map(|one| &*one.result));
        self.agent.talk().conversation.reply(words.clone());
        self.tell(&words);
        Ok(Turned::Terminated(words))
    }

    /// Asks the model for a last word, without calls.
    pub(super) async fn last_turn(&mut self) -> Result<Option<Message>, AgentError> {
        let _turn = Turn::start(self.agent.caller.events());
        let mut context = self.context(&self.tools());
        context.calls_are_over = true;
        context.messages.push(last_question());
        let Some((mut reply, heard)) = self.ask(context).await? else {
            return Ok(None);
        };
        reply.content.retain(|block| !is_call(block));
        let (message, _) = heard.end(reply);
        Ok(Some(message))
    }

    /// The tools of this turn.
    fn tools(&self) -> Pinned {
        let agent = self.agent;
        let all = agent.caller.registry().pin();
        let all = all.with(agent.own_tools.iter().cloned());
        let shown = all.only(|entry| agent.groups.shows(&entry.spec().name));
        shown
            .with(agent.groups.tool())
            .prefixed(&agent.settings.prefix)
    }

    fn context(&self, tools: &Pinned) -> Context {
        let agent = self.agent;
        let callable = tools
            .table()
            .entries()
            .iter()
            .filter(|entry| entry.schema().is_ok() && entry.permission() != Permission::Deny);
        let instructions = agent.groups.instructions();
        let prompts = [agent.settings.system_prompt.as_str(), &instructions];
        let prompts: Vec<&str> = prompts
            .into_iter()
            .filter(|text| !text.is_empty())
            .collect();
        Context {
            system_prompt: prompts.join("\n\n"),
            messages: agent.talk().conversation.messages(),
            tools: callable.map(|entry| Arc::clone(entry.spec())).collect(),
            calls_are_over: false,
        }
    }

    /// Y21: prepares the context, puts it in the provider's words, asks. `None` when aborted.
    async fn ask(&mut self, context: Context) -> Result<Option<(Reply, Heard<'a>)>, AgentError> {
        let abort = self.abort.clone();
        let prompt = tokio::select! {
            biased;
            () = abort.aborted() => return Ok(None),
            prompt = self.prompt(context) => prompt?,
        };
        self.stop_reason = None;
        let heard = Heard::start(self.agent);
        let asked = tokio::select! {
            biased;
            () = abort.aborted() => None,
            asked = self.answer(prompt, &heard) => Some(asked),
        };
        match asked {
            Some(Ok(reply)) => {
                self.spend(reply.usage.as_ref());
                self.stop_reason = Some(reply.stop.clone());
                Ok(Some((reply, heard)))
            }
            Some(Err(error)) => {
                heard.fail();
                Err(error)
            }
            None => Ok(None),
        }
    }

    async fn prompt(&self, context: Context) -> Result<Prompt, AgentError> {
        let hooks = &self.agent.hooks;
        let context = match &hooks.prepare_context {
            None => context,
            Some(hook) => {
                let prepared = guarded(|| hook.prepare(context)).await;
                let mut context = finished("`prepare_context`", prepared)?;
                context.messages = window::paired(&context.messages);
                context
            }
        };
        let conversation = match &hooks.format_messages {
            None => self.format(&context)?,
            Some(hook) => {
                let formatted = guarded(|| hook.format(context.clone())).await;
                finished("`format_messages`", formatted)?
            }
        };
        Ok(Prompt {
            context,
            conversation,
        })
    }

    /// In the words of the model, which is code of the program as well.
    fn format(&self, context: &Context) -> Result<Map<String, Value>, AgentError> {
        tool_sdk::panic::catch(|| self.agent.model.format(context)).map_err(|report| {
            AgentError::Hook {
                what: "the model's format",
                reason: report.to_string(),
            }
        })
    }

    async fn answer(&self, prompt: Prompt, heard: &Heard<'_>) -> Result<Reply, AgentError> {
        let model = &self.agent.model;
        let mut hear = |delta| heard.hear(delta);
        let answered = if self.agent.settings.stream {
            guarded(|| model.stream(prompt, &mut hear)).await
        } else {
            guarded(|| model.complete(prompt)).await
        };
        match answered {
            Ok(reply) => Ok(reply?),
            Err(report) => Err(AgentError::Hook {
                what: "the model",
                reason: format!("it panicked: {report}"),
            }),
        }
    }

    /// Makes the calls of one answer, and answers each as soon as it has ended.
    async fn make(&mut self, requested: &[Requested], is_cut: bool, tools: Arc<Pinned>) -> Batch {
        self.guard.next_round();
        let fingerprints = requested.iter().map(|call| {
            let fingerprint = Fingerprint::of(call, tools.table());
            (call.id.clone(), fingerprint)
        });
        let fingerprints: Vec<(String, Fingerprint)> = fingerprints.collect();
        let last = requested.len().saturating_sub(1);
        let calls = requested.iter().zip(&fingerprints).enumerate();
        let calls = calls.map(|(at, (call, (_, fingerprint)))| {
            let made =
                ToolCall::of_model(call.id.as_str(), call.name.as_str(), call.arguments.clone());
            if is_cut && at == last {
                made.cut_off()
            } else {
                self.guard.admit(made, fingerprint)
            }
        });
        let calls: Vec<ToolCall> = calls.collect();
        let guard = Mutex::new(&mut self.guard);
        let answered = |finalized: &Finalized| {
            let result = &*finalized.result;
            let known = fingerprints
                .iter()
                .find(|(id, _)| **id == *result.tool_call_id);
            let note = known.and_then(|(_, fingerprint)| {
                let mut guard = guard.lock().unwrap_or_else(PoisonError::into_inner);
                guard.note(fingerprint.clone(), result)
            });
            self.agent
                .talk()
                .conversation
                .answer(result, note.as_deref());
        };
        let caller = self.agent.caller.pinned(tools);
        let mode = self.agent.settings.tool_execution;
        let batch = caller.call_all(&calls, mode, &self.abort, &answered).await;
        self.close();
        for one in &batch.results {
            self.spend(one.result.usage.as_ref());
        }
        batch
    }
}

/// What a hook of the program came to.
fn finished<T>(
    what: &'static str,
    done: Result<Result<T, String>, tool_sdk::panic::PanicReport>,
) -> Result<T, AgentError> {
    match done {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(reason)) => Err(AgentError::Hook { what, reason }),
        Err(report) => Err(AgentError::Hook {
            what,
            reason: format!("it panicked: {report}"),
        }),
    }
}

fn is_call(block: &Block) -> bool {
    matches!(block, Block::ToolUse { .. })
}

/// An answer on its way. Its end is told exactly once, with what is kept of it.
struct Heard<'a> {
    agent: &'a Inner,
    /// The text so far. A mutex, since a model may speak from another thread.
    text: Mutex<String>,
    ended: bool,
}

impl<'a> Heard<'a> {
    fn start(agent: &'a Inner) -> Self {
        agent.caller.events().emit(|| EventKind::MessageStart {
            message: Message::new(Role::Assistant, Vec::new()),
        });
        Self {
            agent,
            text: Mutex::default(),
            ended: false,
        }
    }

    fn hear(&self, delta: Delta) {
        let mut text = self.text.lock().unwrap_or_else(PoisonError::into_inner);
        match &delta {
            Delta::Text { text: more } => text.push_str(more),
            Delta::Restart => text.clear(),
            _ => {}
        }
        drop(text);
        let events = self.agent.caller.events();
        events.emit(|| EventKind::MessageUpdate { delta });
    }

    /// The answer is complete: it becomes part of the conversation, and its calls are open.
    fn end(mut self, reply: Reply) -> (Message, Vec<Requested>) {
        let (usage, stop) = (reply.usage.clone(), reply.stop.clone());
        let kept = self.agent.talk().conversation.reply(reply.into_message());
        self.tell(kept.0.clone(), usage, Some(stop));
        kept
    }

    /// No answer will come. What came of it is told, but the model is asked anew.
    fn fail(mut self) {
        let message = self.so_far();
        self.tell(message, None, None);
    }

    fn tell(&mut self, message: Message, usage: Option<Value>, stop: Option<StopReason>) {
        self.ended = true;
        let events = self.agent.caller.events();
        events.emit(|| EventKind::MessageEnd {
            message,
            usage,
            stop_reason: stop,
        });
    }

    fn so_far(&self) -> Message {
        let text = self.text.lock().unwrap_or_else(PoisonError::into_inner);
        let text = Some(text.clone()).filter(|text| !text.is_empty());
        Message::new(Role::Assistant, text.map(Block::text).into_iter().collect())
    }
}

impl Drop for Heard<'_> {
    /// It was aborted. What came of the text was read by somebody.
    fn drop(&mut self) {
        if !self.ended {
            let message = self.so_far();
            let (message, _) = self.agent.talk().conversation.reply(message);
            self.tell(message, None, None);
        }
    }
}
