//! The one shape in which a plugin answers: a status and a text.

use abi_stable::StableAbi;
use abi_stable::std_types::RString;
use serde::{Deserialize, Serialize};

/// What the text of a [`Reply`] is.
///
/// A number rather than an enum, so that a newer plugin can send a status which an older host
/// does not know without undefined behaviour.
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Status(u8);

impl Status {
    /// The result is this text and nothing else. It spares the usual answer a round of JSON.
    pub const TEXT: Self = Self(0);
    /// The text is a JSON [`ToolResult`](crate::ToolResult).
    pub const RESULT: Self = Self(1);
    /// The text is a JSON [`ToolError`](crate::ToolError).
    pub const ERROR: Self = Self(2);
    /// The text is a JSON [`PanicReport`](crate::panic::PanicReport).
    pub const PANIC: Self = Self(3);
    /// The text is a JSON value whose meaning the asked function defines.
    pub const VALUE: Self = Self(4);
    /// The call was cancelled and the tool gave no answer of its own.
    pub const ABORTED: Self = Self(5);
}

/// An answer that crosses the border.
#[repr(C)]
#[derive(StableAbi, Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// What `body` is.
    pub status: Status,
    /// The text; its memory is returned to the side that made it.
    pub body: RString,
}

impl Reply {
    /// An answer of this status.
    pub fn new(status: Status, body: impl Into<RString>) -> Self {
        Self {
            status,
            body: body.into(),
        }
    }
}
