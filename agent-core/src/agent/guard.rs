//! Notices that a model makes the same call again and again, and tells it.
//!
//! A call is the same when its tool, the tool's version and the arguments are. It is repeated when
//! it was made in the round before, or earlier in the same round: a round without it is a sign that
//! the model tries something else.

use serde_json::Value;
use tool_sdk::ErrorKind;

use super::conversation::Requested;
use crate::call::ToolCall;
use crate::ids::{ContentHash, GenerationNumber};
use crate::json_text::shortened;
use crate::limits;
use crate::message::Arguments;
use crate::registry::Table;
use crate::tool::{CallError, ToolCallResult};

/// What was called lately.
#[derive(Debug, Default)]
pub(super) struct RepeatGuard {
    /// How often the same call may be made, whether it fails or not.
    limit: Option<usize>,
    /// In this round and in the one before.
    now: Vec<Repeated>,
    before: Vec<Repeated>,
}

#[derive(Clone, Debug)]
struct Repeated {
    call: Fingerprint,
    times: usize,
    /// What it failed with, and how often in a row.
    failure: Option<(String, usize)>,
}

/// What a call is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fingerprint {
    tool: String,
    generation: GenerationNumber,
    arguments: ContentHash,
}

impl Fingerprint {
    pub(super) fn of(call: &Requested, tools: &Table) -> Self {
        // The same object may be spelled in several ways.
        let arguments = match (call.arguments.object(), &call.arguments) {
            (Some(object), _) => Value::Object(object).to_string(),
            (None, Arguments::Text(text)) => text.clone(),
            (None, Arguments::Json(value)) => value.to_string(),
        };
        let entry = tools.get(&call.name);
        Self {
            tool: call.name.clone(),
            generation: entry.map_or_else(GenerationNumber::default, |entry| entry.generation()),
            arguments: ContentHash::of(arguments.as_bytes()),
        }
    }
}

impl RepeatGuard {
    pub(super) fn new(limit: Option<usize>) -> Self {
        Self {
            limit,
            ..Self::default()
        }
    }

    /// Begins a round.
    pub(super) fn next_round(&mut self) {
        self.before = std::mem::take(&mut self.now);
    }

    fn last(&self, call: &Fingerprint) -> Option<&Repeated> {
        let all = self.now.iter().chain(&self.before);
        all.into_iter().find(|one| one.call == *call)
    }

    /// The call as it is to be made: refused, where it was made too often.
    pub(super) fn admit(&self, call: ToolCall, fingerprint: &Fingerprint) -> ToolCall {
        let Some(last) = self.last(fingerprint) else {
            return call;
        };
        let failures = last.failure.as_ref().map_or(0, |(_, times)| *times);
        let reason = if failures >= limits::REPEATED_FAILURES {
            format!(
                "it has failed in the same way {failures} times. Change the arguments, use another \
                 tool, or say what is missing"
            )
        } else if self.limit.is_some_and(|limit| last.times >= limit) {
            format!(
                "it was made {} times in a row. Use the answers that are there",
                last.times
            )
        } else {
            return call;
        };
        let name = shortened(&call.name, limits::NAME_SHOWN);
        let text = format!("The call of {name} was not made again: {reason}");
        call.refused(CallError::new(ErrorKind::Rejected, text))
    }

    /// Remembers what a call came to. A failure that repeats itself adds a hint to the message.
    pub(super) fn note(&mut self, call: Fingerprint, result: &ToolCallResult) -> Option<String> {
        let last = self.last(&call).cloned();
        let failed = result.is_error.then(|| result.text());
        let before = last.as_ref().and_then(|last| last.failure.clone());
        // A refusal of ours is no failure of another kind.
        let failure = match (failed, before) {
            (Some(text), Some((known, times))) if text == known => Some((known, times + 1)),
            (Some(_), Some(before)) if is_refused(result) => Some(before),
            (Some(text), _) => Some((text, 1)),
            (None, _) => None,
        };
        let times = last.map_or(0, |last| last.times) + 1;
        let failures = failure.as_ref().map_or(0, |(_, times)| *times);
        self.now.retain(|one| one.call != call);
        self.now.push(Repeated {
            call,
            times,
            failure,
        });
        let is_hinted = failures >= limits::HINTED_FAILURES && !is_refused(result);
        is_hinted.then(|| {
            format!(
                "[This call has failed in the same way {failures} times in a row. Change the \
                 arguments or try another way.]"
            )
        })
    }
}

fn is_refused(result: &ToolCallResult) -> bool {
    let error = result.error.as_ref();
    error.is_some_and(|error| error.kind == ErrorKind::Rejected)
}
