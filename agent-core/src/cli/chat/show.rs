//! Shows what happens in a chat: text on stdout, the rest on stderr, or every event as JSON.
//!
//! A person at a terminal reads text as it comes. A program reads stdout to its end and can't tell
//! which text is void or was not the last word, so it gets the last word alone.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::super::context::partial_text;
use super::super::output::{self, Output};
use crate::event::{EndReason, Event, EventKind, EventSink};
use crate::json_text::{one_line, shortened, spaced};
use crate::limits;
use crate::message::{Block, Delta, Message, Role};
use crate::tool::ToolCallResult;

/// Longest line about a call, in characters.
const SHOWN: usize = 200;

/// A sink for people or programs.
pub(super) struct Show {
    output: Output,
    as_json: bool,
    /// Whether calls are left out.
    quiet: bool,
    /// Of one thread at a time.
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Whether a piece of the message that is on was printed.
    printed: bool,
    /// What may be the last word of the run, where stdout is no terminal.
    held: String,
}

impl Show {
    pub(super) fn new(output: Output, as_json: bool, quiet: bool) -> Self {
        Self {
            output,
            as_json,
            quiet,
            state: Mutex::default(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn delta(&self, delta: &Delta) {
        let mut state = self.state();
        match delta {
            Delta::Text { text } if !text.is_empty() && self.output.is_terminal() => {
                self.output.piece(text);
                state.printed = true;
            }
            Delta::Restart => {
                if std::mem::take(&mut state.printed) {
                    self.output.piece("\n");
                }
                output::say("the connection was cut; the answer begins anew");
            }
            _ => {}
        }
    }

    fn end(&self, message: &Message) {
        if message.role != Role::Assistant {
            return;
        }
        let (mut state, text) = (self.state(), message.as_text());
        if !self.output.is_terminal() {
            let before = std::mem::replace(&mut state.held, text);
            self.aside(&before);
            if message.content.iter().any(is_call) {
                self.aside(&std::mem::take(&mut state.held));
            }
        } else if std::mem::take(&mut state.printed) {
            self.output.piece("\n");
        } else if !text.is_empty() {
            // It did not come in pieces.
            self.output.piece(&format!("{text}\n"));
        }
    }

    /// What was held is the last word, unless the run broke off.
    fn end_of_run(&self, reason: EndReason) {
        let text = std::mem::take(&mut self.state().held);
        match reason {
            EndReason::Aborted | EndReason::Error => self.aside(&text),
            _ if text.is_empty() => {}
            _ => self.output.piece(&format!("{text}\n")),
        }
    }

    /// Text that is not the last word, for people.
    fn aside(&self, text: &str) {
        if !self.quiet && !text.is_empty() {
            output::say(&output::harmless(text));
        }
    }

    fn event_for_people(&self, kind: &EventKind) {
        match kind {
            EventKind::MessageUpdate { delta } => self.delta(delta),
            EventKind::MessageEnd { message, .. } => self.end(message),
            EventKind::AgentEnd { reason, .. } => self.end_of_run(*reason),
            _ if self.quiet => {}
            EventKind::ToolExecutionStart {
                tool_name, args, ..
            } => {
                tell(&format!("→ {tool_name} {}", spaced(args)));
            }
            EventKind::ToolExecutionUpdate { partial_result, .. } => {
                output::say(&format!("  {}", line(&partial_text(partial_result))));
            }
            EventKind::ToolExecutionEnd {
                tool_name,
                result,
                duration_ms,
                ..
            } => tell(&ended(tool_name, result, *duration_ms)),
            EventKind::ToolCallRejected {
                tool_name, message, ..
            } => tell(&format!(
                "✗ {}: {message}",
                shortened(tool_name, limits::NAME_SHOWN)
            )),
            _ => {}
        }
    }
}

fn is_call(block: &Block) -> bool {
    matches!(block, Block::ToolUse { .. })
}

fn ended(tool: &str, result: &ToolCallResult, duration_ms: u64) -> String {
    let mark = if result.is_error { "✗" } else { "✓" };
    let text = result.text();
    format!("{mark} {tool} ({duration_ms} ms): {text}")
}

fn tell(text: &str) {
    output::say(&line(text));
}

fn line(text: &str) -> String {
    shortened(&one_line(text), SHOWN)
}

impl EventSink for Show {
    fn event(&self, event: &Arc<Event>) {
        if self.as_json {
            self.output.json(event);
        } else if !self.output.json {
            self.event_for_people(&event.kind);
        }
    }
}
