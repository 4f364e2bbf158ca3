//! One run: turns until the model has had its say, or something else ends it.

use serde_json::Value;

use super::guard::RepeatGuard;
use super::turn::Turned;
use super::{AgentError, Inner, Run, usage};
use crate::abort::AbortSignal;
use crate::event::{EndReason, EventKind};
use crate::message::{Message, Role, StopReason};

/// A run that is on. Its end is told exactly once, also when whoever waits for it stops waiting.
pub(super) struct Running<'a> {
    pub(super) agent: &'a Inner,
    pub(super) abort: AbortSignal,
    pub(super) guard: RepeatGuard,
    /// How often the model was asked.
    pub(super) iterations: usize,
    /// Why the last answer ends.
    pub(super) stop_reason: Option<StopReason>,
    usage: Option<Value>,
    ended: bool,
}

/// Runs the agent until it ends.
pub(super) async fn run(agent: &Inner) -> Result<Run, AgentError> {
    let mut run = Running::start(agent);
    let reason = run.go().await;
    run.end(reason.as_ref().copied());
    Ok(Run {
        reason: reason?,
        iterations: run.iterations,
        stop_reason: run.stop_reason.clone(),
        usage: run.usage.clone(),
    })
}

impl<'a> Running<'a> {
    fn start(agent: &'a Inner) -> Self {
        let abort = AbortSignal::new();
        let mut talk = agent.talk();
        talk.abort = Some(abort.clone());
        talk.response = None;
        drop(talk);
        agent.caller.events().emit(|| EventKind::AgentStart);
        Self {
            abort,
            guard: RepeatGuard::new(agent.settings.repeat_limit),
            agent,
            iterations: 0,
            stop_reason: None,
            usage: None,
            ended: false,
        }
    }

    async fn go(&mut self) -> Result<EndReason, AgentError> {
        loop {
            self.hear();
            if self.abort.is_aborted() {
                return Ok(EndReason::Aborted);
            }
            if self.iterations >= self.agent.settings.max_iterations {
                return if self.agent.settings.closing_turn {
                    self.closing_turn().await
                } else {
                    Ok(EndReason::MaxIterations)
                };
            }
            self.iterations += 1;
            match self.turn().await? {
                Turned::Called => {}
                Turned::Aborted => return Ok(EndReason::Aborted),
                Turned::Terminated(message) => {
                    self.agent.talk().response = Some(message);
                    return Ok(EndReason::Terminated);
                }
                Turned::Said(message) => {
                    let mut talk = self.agent.talk();
                    talk.response = Some(message);
                    // What was said meanwhile has not been answered.
                    if talk.inbox.is_empty() {
                        return Ok(EndReason::Final);
                    }
                }
            }
        }
    }

    /// Y20: everything that waits becomes part of the conversation.
    fn hear(&self) {
        let mut talk = self.agent.talk();
        let sent = std::mem::take(&mut talk.inbox);
        let heard = sent.into_iter();
        let heard = heard.filter_map(|message| talk.conversation.say(message));
        let heard: Vec<Message> = heard.collect();
        drop(talk);
        for message in heard {
            self.tell(&message);
        }
    }

    /// Tells of a message that is complete from the start.
    pub(super) fn tell(&self, message: &Message) {
        let events = self.agent.caller.events();
        let message = || message.clone();
        events.emit(|| EventKind::MessageStart { message: message() });
        events.emit(|| EventKind::MessageEnd {
            message: message(),
            usage: None,
            stop_reason: None,
        });
    }

    /// Adds to what the run cost.
    pub(super) fn spend(&mut self, cost: Option<&Value>) {
        if let Some(cost) = cost {
            usage::add(&mut self.usage, cost);
        }
    }

    /// A last question without calls, whose answer is the response.
    async fn closing_turn(&mut self) -> Result<EndReason, AgentError> {
        self.iterations += 1;
        let Some(message) = self.last_turn().await? else {
            return Ok(EndReason::Aborted);
        };
        self.agent.talk().response = Some(message);
        Ok(EndReason::MaxIterations)
    }

    /// Answers what is open as aborted, and tells of every answer as the model will read it.
    pub(super) fn close(&self) {
        let answers = self.agent.talk().conversation.close();
        for answer in answers {
            self.tell(&answer);
        }
    }

    fn end(&mut self, reason: Result<EndReason, &AgentError>) {
        self.ended = true;
        self.close();
        self.agent.talk().abort = None;
        self.agent.caller.events().emit(|| EventKind::AgentEnd {
            reason: reason.unwrap_or(EndReason::Error),
            usage: self.usage.clone(),
            error: reason.err().map(ToString::to_string),
        });
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if !self.ended {
            self.abort.abort();
            self.end(Ok(EndReason::Aborted));
        }
    }
}

/// What the model is told at its last turn; no part of the conversation.
pub(super) fn last_question() -> Message {
    let text = "You have failed to generate response within the maximum iterations. Now respond \
                directly by summarizing the current situation.";
    Message::text(Role::User, text)
}
