//! Life of a library file, from bytes to tools.
//!
//! 1. [`judge`] reads the bytes: a complete ELF file of this machine, with our stamp, and the
//!    names of its tools. Nothing of it runs.
//! 2. [`store`] keeps a private copy under its content's hash, so that whoever overwrites or
//!    deletes the file touches no page that is mapped here.
//! 3. A helper process maps the copy first: `introduction` hears what it holds and refuses what
//!    may not be published. The [`verdict`] is kept beside the copy.
//! 4. [`load`] maps the copy and checks the layout of its root module. It is the only `dlopen`,
//!    and nothing is ever unmapped: threads, thread-locals and handlers of a library may outlive
//!    every call.
//! 5. [`bridge`] makes each of its tools a [`HostTool`](crate::tool::HostTool); [`state`] opens
//!    what they share.
//! 6. [`lease`] counts the calls of each loaded generation and retires it when it is replaced and
//!    the last call has ended.
//!
//! A call's [`http`] requests are the host's to make.
//!
//! [`linked`] does the same for tools that are part of this program.
//!
//! Plain functions run on the threads of [`pool`], async ones on their plugin's own runtime.
//! `unsafe` stands in [`load`] only.

pub mod bridge;
pub mod http;
pub(crate) mod introduction;
pub mod judge;
pub mod lease;
pub mod linked;
pub mod load;
pub mod pool;
pub mod state;
pub mod store;
pub mod verdict;

use std::path::PathBuf;

pub use bridge::LoadedPlugin;
pub use http::{HttpRequest, HttpResponse, HttpService};
pub use judge::Judgement;
pub use lease::{Generation, Lease};
pub use pool::ToolPool;
pub use state::PluginState;
pub use store::Store;
pub use verdict::Reason;

/// Why a library file does not serve. One sentence each.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PluginError {
    /// The file could not be read or copied.
    #[error("{context}: {source}")]
    Io {
        /// What was tried, with the path.
        context: String,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The file is no ELF file at all.
    #[error("not a shared library: {reason}")]
    NotALibrary {
        /// What is wrong with it.
        reason: String,
    },
    /// The file ends before its contents do.
    #[error("the file is incomplete: {what} ends at byte {expected}, the file at {found}")]
    Incomplete {
        /// Which part is cut.
        what: String,
        /// Where that part ends.
        expected: u64,
        /// Where the file ends.
        found: u64,
    },
    /// A library for another machine.
    #[error("built for {found}, expected {expected}")]
    WrongMachine {
        /// This machine.
        expected: String,
        /// The file's machine.
        found: String,
    },
    /// A library that was not built with the SDK.
    #[error(
        "no toolsmith plugin: it exports no stamp (expected symbol `{expected}`); is tool-sdk its dependency?"
    )]
    NoStamp {
        /// The symbol that was looked for.
        expected: String,
    },
    /// A library of another revision of the border.
    #[error(
        "built with {found}, expected abi {expected}: rebuild it with this version of tool-sdk"
    )]
    WrongRevision {
        /// The host's revision.
        expected: String,
        /// The library's stamp.
        found: String,
    },
    /// The system's loader refused the library.
    #[error("the library could not be loaded: {reason}")]
    NotLoadable {
        /// The loader's reason.
        reason: String,
    },
    /// The root module has another layout.
    #[error("the library's root module does not fit this host: {reason}")]
    WrongLayout {
        /// The first difference.
        reason: String,
    },
    /// The plugin failed or panicked while it introduced itself.
    #[error("the plugin failed in `{step}`: {reason}")]
    Failed {
        /// Which function of the root module.
        step: &'static str,
        /// What it said.
        reason: String,
    },
    /// Markers and registered tools differ: the linker dropped something.
    #[error(
        "the library exports the tools [{exported}] but registers [{registered}]: its linker dropped some"
    )]
    LostTools {
        /// Names by exported marker.
        exported: String,
        /// Names by registration.
        registered: String,
    },
    /// A panic of the plugin could not be caught.
    #[error(
        "tool `{tool}` was compiled with panic = \"abort\", so its panics can't be caught: remove that from the profile"
    )]
    PanicAborts {
        /// The first such tool.
        tool: String,
    },
    /// The library holds tools of several packages and none is its own.
    #[error("the library's tools belong to the packages [{found}], none of them is `{expected}`")]
    NoOwnTools {
        /// The package that was built, or the file's name.
        expected: String,
        /// The packages of its tools.
        found: String,
    },
    /// An opener of state can't be used.
    #[error("state {reason}")]
    BadState {
        /// What is wrong.
        reason: String,
    },
    /// The plugin's settings do not fit.
    #[error("{0}")]
    Settings(String),
    /// The plugin's state could not be opened.
    #[error("the plugin's state could not be opened: {reason}")]
    NotOpened {
        /// What the plugin said.
        reason: String,
    },
    /// It was tried out and may not serve.
    #[error("{0}")]
    Unfit(String),
    /// It ended or held up the process that tried it out.
    #[error("{0}; it is not tried again until its content changes or `reload` asks for it")]
    Quarantined(String),
    /// It has no process to run in.
    #[error("it could not be started in a process of its own: {0}")]
    NotStarted(String),
    /// It could not be tried out.
    #[error("{0}")]
    NotTried(String),
    /// The library did not come back from its constructors in this process.
    #[error("its constructors did not return within {limit:?}")]
    Hangs {
        /// The limit.
        limit: std::time::Duration,
    },
    /// More than one thing is wrong.
    #[error("{}", each(.0))]
    Several(Vec<PluginError>),
    /// A tool's name or schema is not usable.
    #[error("tool `{tool}`: {reason}")]
    BadTool {
        /// The tool.
        tool: String,
        /// What is wrong.
        reason: String,
    },
}

impl PluginError {
    /// Several errors as one.
    fn all(mut errors: Vec<Self>) -> Option<Self> {
        let last = errors.pop()?;
        if errors.is_empty() {
            return Some(last);
        }
        errors.push(last);
        Some(Self::Several(errors))
    }

    pub(crate) fn io(context: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let context = context.into();
        move |source| Self::Io { context, source }
    }

    /// Which kind of error it is, for programs: a word that stays the same from version to version.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Io { .. } => "unreadable",
            Self::NotALibrary { .. } => "notALibrary",
            Self::Incomplete { .. } => "incomplete",
            Self::WrongMachine { .. } => "wrongMachine",
            Self::NoStamp { .. } => "noStamp",
            Self::WrongRevision { .. } => "wrongRevision",
            Self::NotLoadable { .. } => "notLoadable",
            Self::WrongLayout { .. } => "wrongLayout",
            Self::Failed { .. } => "introductionFailed",
            Self::LostTools { .. } => "lostTools",
            Self::PanicAborts { .. } => "panicAborts",
            Self::NoOwnTools { .. } => "noOwnTools",
            Self::BadState { .. } => "badState",
            Self::Settings(_) => "badSettings",
            Self::NotOpened { .. } => "notOpened",
            Self::Unfit(_) | Self::Several(_) => "unfit",
            Self::Quarantined(_) => "crashed",
            Self::NotTried(_) => "notTried",
            Self::NotStarted(_) => "notStarted",
            Self::Hangs { .. } => "timedOut",
            Self::BadTool { .. } => "badTool",
        }
    }

    /// Each of its reasons by itself.
    pub fn reasons(&self) -> Vec<Reason> {
        let tool = match self {
            Self::Several(errors) => return errors.iter().flat_map(Self::reasons).collect(),
            Self::PanicAborts { tool } | Self::BadTool { tool, .. } => Some(tool.clone()),
            _ => None,
        };
        vec![Reason {
            tool,
            ..Reason::new(self.code(), self.to_string())
        }]
    }

    /// Whether the file may become right by itself, because someone still writes it.
    pub fn may_be_unfinished(&self) -> bool {
        matches!(
            self,
            Self::Incomplete { .. } | Self::NotALibrary { .. } | Self::Io { .. }
        )
    }
}

fn each(errors: &[PluginError]) -> String {
    let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
    texts.join("; ")
}

/// A library file together with what it is expected to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LibrarySource {
    /// The file.
    pub path: PathBuf,
    /// Package whose tools it serves; the file's name where it is not known.
    pub package: String,
}
