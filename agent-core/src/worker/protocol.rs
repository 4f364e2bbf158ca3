//! What host and helper say to each other. What is in a message's body stands at each message.

use std::ffi::OsString;

use serde::{Deserialize, Serialize};
use tool_sdk::abi::http::RequestId;
use tool_sdk::abi::{LogLevel, Status, ToolIndex};

use super::sandbox::{Confinement, Enforced};
use crate::plugin::verdict::Verdict;

/// Changes whenever a message does: a host and a helper of different revisions part at once.
pub(super) const PROTOCOL: u32 = 4;

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

/// Numbers what the host asks of one worker, from 1; never used twice.
pub(super) type Number = u64;

/// What the host asks for.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub(super) enum Request {
    /// Give up what is not granted. The first of all requests, if it comes.
    Confine(Box<Confinement>),
    /// Use no more memory than this, in bytes. The first of all requests, if it comes; answered as the
    /// one before. Whether a control group sees to it already.
    LimitMemory { bytes: u64, grouped: bool },
    /// Become this program, whose home is this process's own folder. That the socket is closed is the
    /// answer that it worked.
    Run {
        program: OsString,
        arguments: Vec<OsString>,
    },
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
    /// Map a library that was tried out, and serve its tools from now on.
    Serve { library: OsString, plugin: String },
    /// Open what the tools of a package share. Body: the settings, as JSON.
    Open { number: Number, package: String },
    /// Call a tool or one of its hooks. Body: the arguments, as JSON.
    Call {
        number: Number,
        tool: ToolIndex,
        what: What,
        call_id: String,
    },
    /// Nobody waits for this any more.
    Abort { number: Number },
    /// Answer, to show that somebody reads.
    Ping { number: Number },
    /// The answer to an HTTP request of a call: what [`AnswerPort`](tool_sdk::abi::http::AnswerPort)
    /// takes. Body: the response's body.
    HttpAnswer {
        request: RequestId,
        status: Status,
        head: String,
    },
    /// Close what the tools share, within this time, and end.
    Retire { deadline_ms: u64 },
}

/// What of a tool is called, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum What {
    /// An `async fn`.
    Async,
    /// A plain `fn`.
    Blocking,
    /// A plain `fn` that never waits.
    Inline,
    /// The hook of that name. Whether it never waits.
    Prepare { inline: bool },
    /// The hook of that name. Whether it never waits.
    Validate { inline: bool },
}

/// What the helper says.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub(super) enum Answer {
    /// It is confined or limited, and how.
    Confined(Enforced),
    /// It can't be confined or limited as was asked for, and why.
    NotConfined(String),
    /// It can't become the program, and why.
    NotRun(String),
    Probed(Verdict),
    Finished,
    Serving,
    /// The library can't serve, and why.
    NotServing(String),
    /// The one answer to a request with this number. Body: the reply's text.
    Reply {
        number: Number,
        status: Status,
    },
    /// A partial result of a call. Body: JSON.
    Progress {
        number: Number,
    },
    /// A call begins an HTTP request. Body: the request's body.
    Http {
        number: Number,
        request: RequestId,
        head: String,
    },
    /// Nobody waits for the answer to an HTTP request any more.
    CancelHttp {
        number: Number,
        request: RequestId,
    },
    /// A line of the plugin's log. Body: the message.
    Log {
        level: LogLevel,
        origin: String,
    },
}
