//! What a host offers a plugin apart from a single call.

use std::fmt;

use abi_stable::StableAbi;
use abi_stable::std_types::{RStr, RString};
use serde::{Deserialize, Serialize};

/// Severity of a log line, the same five as in `log` and `tracing`.
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LogLevel(u8);

impl LogLevel {
    /// Something failed.
    pub const ERROR: Self = Self(1);
    /// Something is not as it should be.
    pub const WARN: Self = Self(2);
    /// Something worth knowing happened.
    pub const INFO: Self = Self(3);
    /// For the author of a plugin.
    pub const DEBUG: Self = Self(4);
    /// For the author of a plugin, in great detail.
    pub const TRACE: Self = Self(5);
}

/// What a plugin is handed at [`connect`](super::PluginModule::connect), before anything else.
#[repr(C)]
#[derive(StableAbi, Clone)]
#[non_exhaustive]
pub struct HostServices {
    /// The name under which the host knows the plugin; it is handed back with every log line.
    pub plugin: RString,
    /// The host's functions.
    pub table: HostTableRef,
}

impl HostServices {
    /// Services for the plugin of this name.
    pub fn new(plugin: impl Into<RString>, table: HostTableRef) -> Self {
        Self {
            plugin: plugin.into(),
            table,
        }
    }
}

impl fmt::Debug for HostServices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostServices")
            .field("plugin", &self.plugin)
            .finish_non_exhaustive()
    }
}

/// The host's functions. Fields behind the last prefix field may be added without a new revision.
#[repr(C)]
#[derive(StableAbi, Debug)]
#[sabi(kind(Prefix(prefix_ref = HostTableRef)))]
#[sabi(missing_field(panic))]
pub struct HostTable {
    /// One log line: plugin, level, target, message. Never blocks, never panics.
    #[sabi(last_prefix_field)]
    pub log: extern "C" fn(RStr<'_>, LogLevel, RStr<'_>, RStr<'_>),
}
