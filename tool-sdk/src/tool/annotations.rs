//! What a tool does to the world, as its author says it.

use serde::{Deserialize, Serialize};

/// What a tool does to the world, in the words of MCP's tool annotations. Each is unset when the
/// author did not say; hosts then assume the worst.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Annotations {
    /// It changes nothing.
    #[serde(
        default,
        rename = "readOnlyHint",
        skip_serializing_if = "Option::is_none"
    )]
    pub read_only: Option<bool>,
    /// It may delete or overwrite.
    #[serde(
        default,
        rename = "destructiveHint",
        skip_serializing_if = "Option::is_none"
    )]
    pub destructive: Option<bool>,
    /// A second call with the same arguments changes nothing more.
    #[serde(
        default,
        rename = "idempotentHint",
        skip_serializing_if = "Option::is_none"
    )]
    pub idempotent: Option<bool>,
    /// It deals with more than a closed set of things: the web, other people.
    #[serde(
        default,
        rename = "openWorldHint",
        skip_serializing_if = "Option::is_none"
    )]
    pub open_world: Option<bool>,
}

impl Annotations {
    /// Nothing said.
    pub const NONE: Self = Self {
        read_only: None,
        destructive: None,
        idempotent: None,
        open_world: None,
    };

    /// Whether nothing was said.
    pub fn is_empty(&self) -> bool {
        *self == Self::NONE
    }
}
