//! What came of trying a library out, in a form that is kept beside its copy.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tool_sdk::abi::ToolIndex;
use tool_sdk::tool::{StateDescription, ToolDescription};

use super::PluginError;

/// Rises whenever a library may be judged differently than before: verdicts of older rules are
/// forgotten.
const RULES: u32 = 2;

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
    /// Something that it holds or says may not be published. Why, in one sentence.
    Unfit(String),
    /// It ended or held up the process that tried it. Why, in one sentence.
    Fatal(String),
}

impl Verdict {
    /// What the plugin says of itself, or why it may not serve.
    pub fn introduced(&self) -> Result<&Arc<Introduced>, PluginError> {
        match self {
            Self::Fit(introduced) => Ok(introduced),
            Self::Unfit(reason) => Err(PluginError::Unfit(reason.clone())),
            Self::Fatal(reason) => Err(PluginError::Quarantined(reason.clone())),
        }
    }
}

/// A verdict with what it depends on besides the library's bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct KeptVerdict {
    rules: u32,
    /// The package that the library was tried as.
    package: String,
    verdict: Verdict,
}

impl KeptVerdict {
    pub(super) fn new(package: &str, verdict: Verdict) -> Self {
        Self {
            rules: RULES,
            package: package.to_owned(),
            verdict,
        }
    }

    pub(super) fn about(&self, package: &str) -> Option<&Verdict> {
        (self.rules == RULES && self.package == package).then_some(&self.verdict)
    }
}
