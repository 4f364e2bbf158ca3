//! What host and helper say to each other.

use std::ffi::OsString;

use serde::{Deserialize, Serialize};

use crate::plugin::verdict::Verdict;

/// Changes whenever a message does: a host and a helper of different revisions part at once.
pub(super) const PROTOCOL: u32 = 2;

/// The argument that makes a program a helper.
pub(super) const ARGUMENT: &str = "--toolsmith-helper";

/// The exit code of a helper that can't answer any more. Foreign code may use it too, and is then
/// told to have done just that.
pub(super) const LOST_CONNECTION: i32 = 117;

/// The helper's first words.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Hello {
    pub(super) protocol: u32,
    /// Revision of the border that it knows.
    pub(super) abi: String,
    /// Its version, for messages.
    pub(super) version: String,
}

impl Hello {
    pub(super) fn own() -> Self {
        Self {
            protocol: PROTOCOL,
            abi: tool_sdk::abi::REVISION.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }

    pub(super) fn fits(&self) -> bool {
        let own = Self::own();
        self.protocol == own.protocol && self.abi == own.abi
    }
}

/// What the host asks for.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Request {
    /// Map a library, and hear what it says of itself.
    Probe {
        library: OsString,
        plugin: String,
        /// The package whose tools it should serve.
        package: String,
        /// The names of tools that its file exports.
        markers: Vec<String>,
    },
    /// Answer, and end.
    Finish,
}

/// What the helper answers.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Answer {
    Probed(Verdict),
    Finished,
}
