//! What came of trying a library out, in a form that is kept beside its copy.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tool_sdk::abi::ToolIndex;
use tool_sdk::tool::{StateDescription, ToolDescription};

use super::PluginError;
use crate::json_text::one_line;

/// Rises whenever a library may be judged differently than before: verdicts of older rules are
/// forgotten.
const RULES: u32 = 4;

/// What a plugin says of itself, as far as it is its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Introduced {
    /// The package whose tools it serves.
    pub package: String,
    /// Its tools with their indices, by name in byte order.
    pub tools: Vec<(ToolIndex, ToolDescription)>,
    /// What it opens for them.
    pub states: Vec<StateDescription>,
}

/// What came of trying a library out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Verdict {
    /// It may serve.
    Fit(Arc<Introduced>),
    /// Something that it holds or says may not be published. Every reason; never empty.
    Unfit(Vec<Reason>),
    /// It ended or held up the process that tried it.
    Fatal(Reason),
}

/// One reason why a library may not serve: for programs by its code, for people in one sentence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Reason {
    /// Which kind of reason; a word in camelCase that stays the same from version to version.
    pub code: String,
    /// The sentence.
    pub message: String,
    /// The tool that is to blame, where it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
}

impl Reason {
    /// A reason that blames no tool.
    pub fn new(code: &str, message: impl Into<String>) -> Self {
        Self {
            code: code.to_owned(),
            message: message.into(),
            tool: None,
        }
    }
}

impl Verdict {
    /// A library that may not be published, for this reason or these reasons. Names and texts of the
    /// library may be part of them.
    pub(crate) fn unfit(error: &PluginError) -> Self {
        let reasons = error.reasons().into_iter().map(|reason| Reason {
            message: one_line(&reason.message),
            ..reason
        });
        Self::Unfit(reasons.collect())
    }

    /// A library that did to the process that tried it what it may not do to its host.
    pub(crate) fn misbehaved(message: impl Into<String>) -> Self {
        Self::Unfit(vec![Reason::new("misbehaved", message)])
    }

    /// A library that ended the process that tried it.
    pub(crate) fn crashed(message: impl Into<String>) -> Self {
        Self::Fatal(Reason::new("crashed", message))
    }

    /// A library that held up the process that tried it.
    pub(crate) fn timed_out(message: impl Into<String>) -> Self {
        Self::Fatal(Reason::new("timedOut", message))
    }

    /// What the plugin says of itself, or why it may not serve.
    pub fn introduced(&self) -> Result<&Arc<Introduced>, PluginError> {
        match self {
            Self::Fit(introduced) => Ok(introduced),
            Self::Unfit(reasons) => Err(PluginError::Unfit(together(reasons))),
            Self::Fatal(reason) => Err(PluginError::Quarantined(reason.message.clone())),
        }
    }
}

fn together(reasons: &[Reason]) -> String {
    let texts: Vec<&str> = reasons.iter().map(|one| one.message.as_str()).collect();
    texts.join("; ")
}

/// A verdict with what it depends on besides the library's bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct KeptVerdict {
    rules: u32,
    /// The package that the library was tried as.
    package: String,
    tried: Tried,
    verdict: Verdict,
}

/// How a library was tried out: what is fit for a process that is confined is not for one that is
/// free, and the other way round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Tried {
    /// In a process with the rights of the host.
    Free,
    /// In a sandbox.
    Confined,
}

impl KeptVerdict {
    pub(super) fn new(package: &str, tried: Tried, verdict: Verdict) -> Self {
        Self {
            rules: RULES,
            package: package.to_owned(),
            tried,
            verdict,
        }
    }

    pub(super) fn about(&self, package: &str, tried: Tried) -> Option<&Verdict> {
        let fits = self.rules == RULES && self.package == package && self.tried == tried;
        fits.then_some(&self.verdict)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_holds_for_the_way_in_which_it_was_found() {
        let kept = KeptVerdict::new("a", Tried::Confined, Verdict::crashed("x"));
        assert!(kept.about("a", Tried::Confined).is_some());
        assert!(kept.about("a", Tried::Free).is_none());
        assert!(kept.about("b", Tried::Confined).is_none());
        // One of a version that did not tell them apart is as good as none.
        let older = r#"{"rules":3,"package":"a","verdict":{"unfit":[]}}"#;
        assert!(serde_json::from_str::<KeptVerdict>(older).is_err());
    }

    #[test]
    fn several_reasons_are_kept_apart_and_told_in_one_sentence() {
        let bad = |tool: &str| PluginError::BadTool {
            tool: tool.to_owned(),
            reason: "no".to_owned(),
        };
        let verdict = Verdict::unfit(&PluginError::Several(vec![bad("a"), bad("b")]));
        let Verdict::Unfit(reasons) = &verdict else {
            panic!("{verdict:?}")
        };
        let told = reasons
            .iter()
            .map(|one| (one.code.as_str(), one.tool.as_deref()));
        assert_eq!(
            told.collect::<Vec<_>>(),
            [("badTool", Some("a")), ("badTool", Some("b"))]
        );
        assert_eq!(
            verdict.introduced().unwrap_err().to_string(),
            "tool `a`: no; tool `b`: no"
        );
    }
}
