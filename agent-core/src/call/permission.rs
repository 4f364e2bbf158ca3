//! Whether a call may run: by configuration, by what the tool says of itself, by a person's word.
//!
//! The question is the last step of prepare, so that a person sees the arguments that the tool gets.
//! An answer is about these arguments on this generation of the tool and about nothing else, unless
//! the person says more.

use std::collections::BTreeSet;
use std::fmt;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};

use tool_sdk::ErrorKind;

use super::hook::CallView;
use super::prepare::PreparedCall;
use super::unwind::guarded;
use crate::config::{FILE_NAME, Permission};
use crate::ids::{ContentHash, GenerationNumber, PluginName};
use crate::registry::{Table, ToolEntry};
use crate::tool::{BoxFuture, CallError};

/// What a person is asked.
#[derive(Clone, Debug)]
pub struct Question {
    /// The call, with the arguments that the tool will get.
    pub call: CallView,
    /// The version of the tool that would run.
    pub generation: GenerationNumber,
    /// What the arguments are.
    pub fingerprint: ContentHash,
}

/// What a person answers.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Approval {
    /// This call may run.
    Once,
    /// This call may run, and every call like it: same version of the tool, same arguments.
    Same,
    /// Every call of this version of the tool may run.
    Tool,
    /// It may not run; the model reads the reason.
    Refuse(Option<String>),
}

/// Asks a person. A call that is aborted meanwhile drops the future.
pub trait Approver: Send + Sync + 'static {
    /// The answer; calls of one answer of a model are asked for one after the other.
    fn approve(&self, question: Question) -> BoxFuture<'static, Approval>;
}

impl<F, R> Approver for F
where
    F: Fn(Question) -> R + Send + Sync + 'static,
    R: Future<Output = Approval> + Send + 'static,
{
    fn approve(&self, question: Question) -> BoxFuture<'static, Approval> {
        Box::pin(self(question))
    }
}

/// Who is asked, and what need not be asked. Clones remember the same answers.
///
/// ```
/// use agent_core::call::{Approval, Permissions, Question};
///
/// let permissions = Permissions::default()
///     .allowing(["writeFile".to_owned()])
///     .asking(|question: Question| async move {
///         println!("run {} with {}?", question.call.tool.label, question.call.arguments);
///         Approval::Refuse(Some("nobody is at the keyboard".to_owned()))
///     });
/// ```
#[derive(Clone, Default)]
pub struct Permissions {
    approver: Option<Arc<dyn Approver>>,
    allowed: Arc<BTreeSet<String>>,
    /// A mutex, since answers are few; held for a look at a set only.
    remembered: Arc<Mutex<BTreeSet<Remembered>>>,
}

/// What a person allowed. Generations are counted for each plugin by itself, and anew for one that
/// comes back, so that the number alone does not say which code it was.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Remembered {
    tool: String,
    generation: GenerationNumber,
    library: Option<(PluginName, ContentHash)>,
    /// Where only these were allowed.
    arguments: Option<ContentHash>,
}

impl Permissions {
    /// Asks here. Without it whatever would be asked for is refused.
    #[must_use]
    pub fn asking(mut self, approver: impl Approver) -> Self {
        self.approver = Some(Arc::new(approver));
        self
    }

    /// Tools that need not be asked for. What the configuration denies stays denied.
    #[must_use]
    pub fn allowing(mut self, tools: impl IntoIterator<Item = String>) -> Self {
        let mut allowed = BTreeSet::clone(&self.allowed);
        allowed.extend(tools);
        self.allowed = Arc::new(allowed);
        self
    }

    /// Asks, where the tool must be asked for. Whether somebody was asked.
    pub(super) async fn ask(&self, call: &PreparedCall<'_>) -> Result<bool, CallError> {
        // By the name that a person knows it by, whatever name the model is shown.
        let tool = own_name(&call.entry);
        if call.entry.permission() != Permission::Ask || self.allowed.contains(tool) {
            return Ok(false);
        }
        let generation = call.entry.generation();
        let fingerprint = ContentHash::of(call.arguments.to_string().as_bytes());
        let any = Remembered {
            tool: tool.to_owned(),
            generation,
            library: call.entry.library(),
            arguments: None,
        };
        let same = Remembered {
            arguments: Some(fingerprint),
            ..any.clone()
        };
        if self.remembers(&any) || self.remembers(&same) {
            return Ok(false);
        }
        let Some(approver) = &self.approver else {
            return Err(nobody_to_ask(tool));
        };
        let question = Question {
            call: call.view(),
            generation,
            fingerprint,
        };
        let refused = |text| Err(CallError::new(ErrorKind::Denied, text));
        match guarded(|| approver.approve(question)).await {
            Ok(Approval::Once) => {}
            Ok(Approval::Same) => self.remember(same),
            Ok(Approval::Tool) => self.remember(any),
            Ok(Approval::Refuse(None)) => {
                return refused(format!("The call of {tool} was refused"));
            }
            Ok(Approval::Refuse(Some(reason))) => {
                return refused(format!("The call of {tool} was refused: {reason}"));
            }
            Err(report) => return refused(format!("Nobody could be asked: {report}")),
        }
        Ok(true)
    }

    fn remembers(&self, what: &Remembered) -> bool {
        let remembered = self.remembered.lock();
        remembered
            .unwrap_or_else(PoisonError::into_inner)
            .contains(what)
    }

    fn remember(&self, what: Remembered) {
        let remembered = self.remembered.lock();
        remembered
            .unwrap_or_else(PoisonError::into_inner)
            .insert(what);
    }
}

impl fmt::Debug for Permissions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Permissions")
            .field("asks", &self.approver.is_some())
            .field("allowed", &self.allowed)
            .finish_non_exhaustive()
    }
}

fn own_name(entry: &ToolEntry) -> &str {
    &entry.tool().spec().name
}

/// What the configuration denies is refused before anything of the tool runs.
pub(super) fn not_denied(entry: &ToolEntry) -> Result<(), CallError> {
    if entry.permission() == Permission::Deny {
        Err(denied(entry))
    } else {
        Ok(())
    }
}

/// What the configuration has denied since is refused as well: who says so while a question waits
/// means this call too.
pub(super) fn not_denied_since(entry: &ToolEntry, now: &Table) -> Result<(), CallError> {
    let now = now.get(own_name(entry));
    let now = now.filter(|now| now.plugin() == entry.plugin());
    if now.is_some_and(|now| now.permission() == Permission::Deny) {
        Err(denied(entry))
    } else {
        Ok(())
    }
}

fn denied(entry: &ToolEntry) -> CallError {
    let (tool, own) = (&entry.spec().name, own_name(entry));
    let text =
        format!("Tool {tool} is denied by configuration: [tools.{own}] permission = \"deny\"");
    CallError::new(ErrorKind::Denied, text)
}

fn nobody_to_ask(tool: &str) -> CallError {
    let text = format!(
        "Tool {tool} needs a person's approval, and there is nobody to ask. To allow it, pass \
         `--allow {tool}` for one run, or write in {FILE_NAME}:\n[tools.{tool}]\npermission = \"allow\""
    );
    CallError::new(ErrorKind::NeedsApproval, text)
}
