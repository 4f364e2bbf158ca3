//! Shows what happens in a chat: text on stdout, the rest on stderr, or every event as JSON.

use std::sync::{Arc, Mutex, PoisonError};

use super::super::context::partial_text;
use super::super::output::{self, Output};
use crate::event::{Event, EventKind, EventSink};
use crate::json_text::{one_line, shortened, spaced};
use crate::message::{Delta, Message, Role};
use crate::tool::ToolCallResult;

/// Longest line about a call, in characters.
const SHOWN: usize = 200;

/// A sink for people or programs.
pub(super) struct Show {
    output: Output,
    as_json: bool,
    /// Whether calls are left out.
    quiet: bool,
    /// Whether a piece of the message that is on was printed. Of one thread at a time.
    printed: Mutex<bool>,
}

impl Show {
    pub(super) fn new(output: Output, as_json: bool, quiet: bool) -> Self {
        Self {
            output,
            as_json,
            quiet,
            printed: Mutex::new(false),
        }
    }

    fn delta(&self, delta: &Delta) {
        let mut printed = self.printed.lock().unwrap_or_else(PoisonError::into_inner);
        match delta {
            Delta::Text { text } if !text.is_empty() => {
                self.output.piece(text);
                *printed = true;
            }
            Delta::Restart => {
                if std::mem::take(&mut *printed) {
                    self.output.piece("\n");
                }
                output::say("the connection was cut; the answer begins anew");
            }
            _ => {}
        }
    }

    /// A message that did not come in pieces is printed whole.
    fn end(&self, message: &Message) {
        if message.role != Role::Assistant {
            return;
        }
        let mut printed = self.printed.lock().unwrap_or_else(PoisonError::into_inner);
        let text = message.as_text();
        if std::mem::take(&mut *printed) {
            self.output.piece("\n");
        } else if !text.is_empty() {
            self.output.piece(&format!("{text}\n"));
        }
    }

    fn event_for_people(&self, kind: &EventKind) {
        match kind {
            EventKind::MessageUpdate { delta } => self.delta(delta),
            EventKind::MessageEnd { message, .. } => self.end(message),
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
            } => tell(&format!("✗ {tool_name}: {message}")),
            _ => {}
        }
    }
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
