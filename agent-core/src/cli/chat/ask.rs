//! Asks the person at the terminal whether a call may run.

use std::fs::File;
use std::io::{IsTerminal, Write};

use tokio::sync::{mpsc, oneshot};

use super::super::output;
use crate::call::{Approval, Approver, Question};
use crate::json_text::{one_line, spaced};
use crate::tool::BoxFuture;

/// Longest arguments that are shown whole with a question, in characters.
const SHOWN: usize = 8000;

type Asked = (Question, oneshot::Sender<Approval>);

/// Puts questions to the person.
pub(super) struct Asking(mpsc::UnboundedSender<Asked>);

/// Where a person sees a question.
pub(super) enum Screen {
    Stderr,
    /// The terminal of the process, where stderr leads elsewhere.
    Terminal(File),
}

/// The questions that wait for the person.
pub(super) struct Questions {
    waiting: mpsc::UnboundedReceiver<Asked>,
    /// The one that is shown.
    shown: Option<oneshot::Sender<Approval>>,
    /// `None` where nobody sees any.
    screen: Option<Screen>,
    closed: bool,
}

/// Both ends; whoever sees no question is not asked.
pub(super) fn questions(screen: Option<Screen>) -> (Option<Asking>, Questions) {
    let (sender, waiting) = mpsc::unbounded_channel();
    let asking = screen.is_some().then(|| Asking(sender));
    let questions = Questions {
        waiting,
        shown: None,
        screen,
        closed: false,
    };
    (asking, questions)
}

impl Screen {
    /// What the person at stdin looks at; `None` if that can't be reached.
    pub(super) fn find() -> Option<Self> {
        if std::io::stderr().is_terminal() {
            return Some(Self::Stderr);
        }
        let terminal = File::options().write(true).open("/dev/tty");
        terminal.ok().map(Self::Terminal)
    }

    /// Shows these lines, and that one is expected.
    fn show(&self, lines: &[&str]) {
        match self {
            Self::Stderr => {
                output::say(&lines.join("\n"));
                output::prompt();
            }
            Self::Terminal(terminal) => {
                // A terminal that went away needs no question.
                let text = format!("{}\n> ", lines.join("\n"));
                drop((&mut &*terminal).write_all(text.as_bytes()));
            }
        }
    }
}

impl Approver for Asking {
    fn approve(&self, question: Question) -> BoxFuture<'static, Approval> {
        let (answer, answered) = oneshot::channel();
        // Nobody listens any more when the chat has ended.
        drop(self.0.send((question, answer)));
        Box::pin(async move { answered.await.unwrap_or(Approval::Refuse(None)) })
    }
}

impl Questions {
    /// Shows the next question, when there is one.
    pub(super) async fn next(&mut self) -> Option<()> {
        let (question, answer) = self.waiting.recv().await?;
        let arguments = both_ends(&one_line(&spaced(&question.call.arguments)));
        let tool = &question.call.tool.name;
        // A key that was pressed before the question is no answer to it, and half a line no place for
        // it. Where there is no terminal nothing was typed.
        _ = rustix::termios::tcflush(std::io::stdin(), rustix::termios::QueueSelector::IFlush);
        if let Some(screen) = &self.screen {
            let question = format!("May `{tool}` run with {arguments}?");
            let answers = "  y: once, a: always this version of the tool, n or a reason: no";
            screen.show(&["", &question, answers]);
        }
        self.shown = Some(answer);
        Some(())
    }

    /// Refuses the question that is shown and all that follow.
    pub(super) fn close(&mut self) {
        self.shown = None;
        self.closed = true;
        self.waiting.close();
        // Whoever waits for an answer reads that none comes.
        while self.waiting.try_recv().is_ok() {}
    }

    /// Whether nobody answers any more.
    pub(super) fn are_closed(&self) -> bool {
        self.closed
    }

    /// Takes a line as the answer to the question that is shown, or gives it back. A question whose
    /// call was given up takes none.
    pub(super) fn answer(&mut self, line: String) -> Option<String> {
        match self.shown.take().filter(|answer| !answer.is_closed()) {
            None => Some(line),
            Some(answer) => {
                // The call may have been given up in this moment.
                drop(answer.send(approval(line.trim())));
                None
            }
        }
    }
}

/// A long text with its middle left out and counted: what matters may stand at its end.
fn both_ends(text: &str) -> String {
    let letters: Vec<char> = text.chars().collect();
    let Some(hidden) = letters
        .len()
        .checked_sub(SHOWN)
        .filter(|hidden| *hidden > 0)
    else {
        return text.to_owned();
    };
    let (head, rest) = letters.split_at(SHOWN / 2);
    let (_, tail) = rest.split_at(hidden);
    let (head, tail) = (String::from_iter(head), String::from_iter(tail));
    format!("{head} …[{hidden} characters are not shown here]… {tail}")
}

fn approval(line: &str) -> Approval {
    match line.to_ascii_lowercase().as_str() {
        "y" | "yes" => Approval::Once,
        "a" | "always" => Approval::Tool,
        "" | "n" | "no" => Approval::Refuse(None),
        _ => Approval::Refuse(Some(line.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_long_arguments_is_shown_and_what_is_hidden_is_counted() {
        assert_eq!(both_ends(&"ä".repeat(SHOWN)), "ä".repeat(SHOWN));
        let shown = both_ends(&format!("{}EVIL", "ä".repeat(SHOWN)));
        assert!(shown.ends_with("ääEVIL"));
        assert!(shown.contains("[4 characters are not shown here]"));
    }

    #[test]
    fn answers_in_words_of_a_person() {
        assert_eq!(approval("y"), Approval::Once);
        assert_eq!(approval("YES"), Approval::Once);
        assert_eq!(approval("a"), Approval::Tool);
        // Who presses Enter by accident has allowed nothing.
        assert_eq!(approval(""), Approval::Refuse(None));
        let reason = Approval::Refuse(Some("not that folder".to_owned()));
        assert_eq!(approval("not that folder"), reason);
    }
}
