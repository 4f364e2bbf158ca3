//! What a run came to: words for people on stderr, one JSON value for programs, the exit code.
//!
//! Does not own the text of answers, which is `show`'s.

use serde::Serialize;
use serde_json::Value;

use super::super::{Exit, output};
use crate::agent::Run;
use crate::config::FILE_NAME;
use crate::event::EndReason;
use crate::json_text::{one_line, shortened};
use crate::limits;
use crate::message::{Message, StopReason};

/// What one run came to, for programs.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Answered {
    reason: EndReason,
    #[serde(skip_serializing_if = "Option::is_none")]
    stop_reason: Option<StopReason>,
    iterations: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response: Option<Message>,
}

impl Answered {
    pub(super) fn new(run: Run, response: Option<Message>) -> Self {
        Self {
            reason: run.reason,
            stop_reason: run.stop_reason,
            iterations: run.iterations,
            usage: run.usage,
            response,
        }
    }

    /// Tells a person what is not in the answer's text.
    pub(super) fn tell(&self) {
        match self.reason {
            EndReason::MaxIterations => output::say(&format!(
                "ended at the limit of questions to the model (asked {} times, the closing one \
                 included); `max_iterations` in `[agent]` of {FILE_NAME} sets it",
                self.iterations
            )),
            EndReason::Aborted => output::say("aborted"),
            _ => {}
        }
        if let Some(words) = self.lack() {
            output::say(&words);
        }
    }

    pub(super) fn exit(&self) -> Exit {
        match self.reason {
            EndReason::Final | EndReason::Terminated => Exit::Done,
            _ => Exit::Failed,
        }
    }

    /// What the answer of a model lacks although the provider gave it.
    fn lack(&self) -> Option<String> {
        let response = self.response.as_ref()?;
        if self.reason == EndReason::Terminated {
            return None;
        }
        let expected = "expected a whole answer, found one that";
        Some(match self.stop_reason.as_ref()? {
            StopReason::Length => format!(
                "{expected} was cut off by the limit of tokens; raise `max_tokens` in \
                 `[models.NAME]` of {FILE_NAME}, or ask for less"
            ),
            StopReason::Refused => format!(
                "{expected} the provider or the model held back as not allowed; ask in other words"
            ),
            StopReason::Other(word) => {
                let word = shortened(&one_line(word), limits::NAME_SHOWN);
                format!("{expected} ends for the reason `{word}`; it may lack its end")
            }
            _ if response.as_text().trim().is_empty() => {
                "expected an answer, found one without any text; ask again, or in other words"
                    .to_owned()
            }
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Role;

    /// What is told of an answer that ends a run like this.
    fn lack(stop_reason: StopReason, text: &str) -> String {
        let answered = Answered {
            reason: EndReason::Final,
            stop_reason: Some(stop_reason),
            iterations: 1,
            usage: None,
            response: Some(Message::text(Role::Assistant, text)),
        };
        answered.lack().unwrap_or_default()
    }

    #[test]
    fn answers_that_only_look_whole_are_told() {
        assert_eq!(lack(StopReason::End, "Hi."), "");
        for (stop, text, part) in [
            (StopReason::Length, "This is the e", "`max_tokens`"),
            (StopReason::Refused, "I can't", "held back"),
            (StopReason::End, " \n", "without any text"),
            (
                StopReason::Other("recitation\u{1b}".to_owned()),
                "Hi.",
                "`recitation\u{fffd}`",
            ),
        ] {
            let told = lack(stop, text);
            assert!(told.contains(part), "{part}: {told}");
        }
    }
}
