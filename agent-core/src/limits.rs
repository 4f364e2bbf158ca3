//! Every limit the host sets by itself, each with its reason.
//!
//! Owns the numbers. Does not own the places that enforce them, nor limits that a person sets in
//! `toolsmith.toml` or an author on a tool: those replace the defaults found here.

use std::time::Duration;

/// How long a call may run where neither the tool nor the configuration says otherwise.
pub const TOOL_TIMEOUT: Duration = Duration::from_mins(1);

/// How long a `prepare` or `validate` hook may run; a hook looks at arguments and does no work.
pub const HOOK_TIMEOUT: Duration = Duration::from_secs(5);

/// Longest text of one result that is shown to a model; the rest is cut, and the text says so.
pub const RESULT_TEXT: usize = 256 * 1024;

/// How long the whole text of a result that was cut is kept.
pub const RESULT_AGE: Duration = Duration::from_hours(7 * 24);

/// Longest arguments of one call, in bytes of JSON text.
pub const ARGUMENT_TEXT: usize = 16 * 1024 * 1024;

/// Deepest nesting of arrays and objects in arguments: what `serde_json` reads, in the host and in a
/// plugin.
pub const ARGUMENT_DEPTH: usize = 127;

/// How often an agent asks its model in one run.
pub const ITERATIONS: usize = 10;

/// How often in a row the same call may fail in the same way before the model is told so.
pub const HINTED_FAILURES: usize = 3;

/// How often in a row the same call may fail in the same way before it is not made again.
pub const REPEATED_FAILURES: usize = 5;

/// How long a run waits at its end for readers of events that lag behind.
pub const SINK_TIMEOUT: Duration = Duration::from_secs(1);

/// How long a command that was interrupted waits for the tools that it told to stop: an `async fn` has
/// a tenth of a second for it, and a machine may be busy.
pub const LAST_CALLS: Duration = Duration::from_millis(250);

/// Threads of the tool pool that may be at work at once; a call beyond them waits for a free one.
pub const POOL_THREADS: usize = 64;

/// How long a thread of the tool pool waits for another call before it ends.
pub const POOL_IDLE: Duration = Duration::from_secs(10);

/// Threads that calls of one plugin may leave hanging; its next calls are refused until one ends.
pub const HUNG_THREADS: usize = 8;

/// How long an `inline` tool may hold its caller's thread before it is demoted to the pool.
pub const INLINE_BUDGET: Duration = Duration::from_millis(10);

/// How long a plugin may take to open what its tools share.
pub const OPEN_TIMEOUT: Duration = Duration::from_secs(30);

/// How long the drained generation of a plugin may take to close its state and its runtime.
pub const RETIRE_TIMEOUT: Duration = Duration::from_secs(5);

/// How long a new library may take to introduce itself in a helper process, and to be loaded after
/// that.
pub const PROBE_TIMEOUT: Duration = Duration::from_secs(10);

/// How long a helper process may take to start on a machine that is busy with builds.
pub const HELPER_START: Duration = Duration::from_secs(10);

/// Longest message between host and helper process, in bytes.
pub const FRAME_BYTES: usize = 64 * 1024 * 1024;

/// Longest body of such a message, in bytes: the rest is room for its head.
pub const FRAME_BODY: usize = FRAME_BYTES - 1024 * 1024;

/// How long a message may wait for the other process to read it: one that reads nothing that long
/// does not work any more.
pub const FRAME_WRITE: Duration = Duration::from_secs(10);

/// How long a call in a plugin's process may go on after nobody waits for it any more; then the
/// process counts as hung and another one takes its place.
pub const WORKER_GRACE: Duration = Duration::from_secs(2);

/// How often in a row a plugin's process may end by itself before it is not started again.
pub const WORKER_CRASHES: u32 = 5;

/// The pause before a plugin's process that ended twice in a row is started again; it doubles from
/// time to time.
pub const WORKER_PAUSE: Duration = Duration::from_millis(100);

/// Replaced libraries of one plugin that may stay mapped in the host, where nothing is ever unmapped;
/// then its next version runs in a process of its own.
pub const RETIRED_IMAGES: usize = 200;

/// The same by their sizes together, in bytes.
pub const RETIRED_BYTES: u64 = 200 * 1000 * 1000;

/// How long a command in `dev` waits for builds before it makes do with what there is: the version
/// before, or a list that shows what is being built.
pub const BUILD_PATIENCE: Duration = Duration::from_secs(20);

/// How long one build may take, waiting for another builder included.
pub const BUILD_TIME: Duration = Duration::from_mins(10);

/// Memory of each compiler of a sandboxed build, in bytes: optimising a large dependency takes one.
pub const BUILD_MEMORY: u64 = 4 << 30;

/// How long cargo's output is read after cargo itself has ended: a process that a build script
/// left behind may hold the pipes open for ever.
pub const BUILD_OUTPUT_GRACE: Duration = Duration::from_millis(500);

/// Lines of cargo's own words that are kept for a failure that brings no diagnostics.
pub const BUILD_OUTPUT_LINES: usize = 40;

/// Longest line of a build's output; a longer one is cut there.
pub const BUILD_OUTPUT_LINE: usize = 16 * 1024 * 1024;

/// How often a builder that waits for another process asks whether it is done.
pub const BUILD_LOCK_POLL: Duration = Duration::from_millis(50);

/// Files of one folder that count as inputs of a build; a larger folder is no source folder.
pub const BUILD_TREE_FILES: usize = 20_000;

/// Builds of one package to whose libraries an undone edit can return.
pub const BUILD_HISTORY: usize = 32;

/// Longest name of a crate, a tool or a server, in bytes: what every provider accepts as a name.
pub const NAME_LENGTH: usize = 64;

/// Steps that a pattern with look-around may take on one value; patterns without it are linear.
pub const PATTERN_STEPS: usize = 100_000;

/// Longest text that a pattern with look-around is tried on, in characters: each of its steps may
/// read the text to its end.
pub const PATTERN_TEXT: usize = 4096;

/// Bytes of stored libraries that no path holds any more.
pub const STORE_BYTES: u64 = 100 * 1000 * 1000;

/// How long a stored library is kept that no path holds any more.
pub const STORE_AGE: Duration = Duration::from_hours(7 * 24);

/// How much of a name that somebody may have made up is shown in messages, in characters. Names that
/// tools may have are shorter.
pub const NAME_SHOWN: usize = 100;

/// Tokens that an answer may have where the configuration says nothing and the provider demands a
/// number: a whole file in one call fits, and every current model takes it.
pub const MODEL_ANSWER_TOKENS: u32 = 8192;

/// How long a model's server may take to accept a connection: a server that lives does it in
/// moments, the other side of the world included.
pub const MODEL_CONNECT: Duration = Duration::from_secs(10);

/// How long a model's server may take until its answer begins: a local one may have to read a
/// model from disk first, and an answer that is not streamed begins when it is whole.
pub const MODEL_FIRST_BYTE: Duration = Duration::from_mins(10);

/// How long a server may be silent within an answer: some think for minutes and send nothing.
pub const MODEL_IDLE: Duration = Duration::from_mins(5);

/// How long a server may take to end a stream whose answer has ended. What still follows is the count
/// of tokens, which comes at once; some servers forget the end.
pub const MODEL_LAST_EVENTS: Duration = Duration::from_secs(2);

/// Longest answer of a model, in bytes as they come.
pub const MODEL_ANSWER_BYTES: usize = 64 * 1024 * 1024;

/// How often a request is sent before its failure is told: overload passes in seconds, or not soon.
pub const MODEL_TRIES: u32 = 4;

/// The pause before a request is sent again; it doubles from try to try.
pub const MODEL_PAUSE: Duration = Duration::from_millis(500);

/// The longest pause that a server may ask for; beyond it a person should hear of it instead.
pub const MODEL_RETRY_AFTER: Duration = Duration::from_mins(1);

/// How long an HTTP request of a tool may take where the tool does not say: half the time of a call,
/// so that the tool can still tell what happened.
pub const HTTP_TIMEOUT: Duration = Duration::from_secs(30);

/// How long a server may take to accept a connection for such a request.
pub const HTTP_CONNECT: Duration = Duration::from_secs(10);

/// Longest body of an answer where the tool does not say, in bytes.
pub const HTTP_ANSWER_BYTES: u64 = 10 * 1024 * 1024;

/// Longest body of a request, and of an answer whatever the tool says, in bytes: half a message
/// between host and helper process.
pub const HTTP_MOST_BYTES: u64 = 32 * 1024 * 1024;

/// Headers of one request.
pub const HTTP_HEADERS: usize = 100;

/// Names and values of the headers of one request together, in bytes: more than servers take.
pub const HTTP_HEADER_BYTES: usize = 64 * 1024;

/// How often a request is sent on to another address.
pub const HTTP_REDIRECTS: usize = 5;

/// Requests of one plugin that run at once; others wait, and their time limit runs.
pub const HTTP_AT_ONCE: usize = 64;

/// Requests of one plugin that are open at once, those that wait included: one that goes on beyond
/// them would fill the host's memory.
pub const HTTP_OPEN: usize = 256;

/// The bodies of those requests together, in bytes: four of the longest.
pub const HTTP_OPEN_BYTES: usize = 128 * 1024 * 1024;
