//! A tool's record on the other side of the border → [`HostTool`].
//!
//! A plain `fn` is called on a thread of the pool, an `async fn` is started on its plugin's own
//! runtime and answers through a port, an `inline` tool is called on the spot until it once takes
//! too long.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use abi_stable::prefix_type::PrefixTypeTrait;
use abi_stable::std_types::RStr;
use serde_json::Value;
use tokio::sync::oneshot;
use tool_sdk::abi::http::{AnswerPort, RequestId};
use tool_sdk::abi::{
    CallPort, CallTarget, HostTable, HostTableRef, Invocation, LogLevel, PluginModuleRef, Reply,
    Status, TaskId, ToolIndex,
};
use tool_sdk::panic::PanicReport;
use tool_sdk::tool::ToolDescription;
use tool_sdk::{ErrorKind, ToolError, ToolResult};

use super::http::{HttpService, Requests};
use super::lease::Generation;
use super::pool::{OwnerId, PoolError, ToolPool};
use super::state::{Opener, PluginState};
use super::store::{StoredLibrary, Unshared};
use super::verdict::Introduced;
use super::{PluginError, http, introduction, load};
use crate::abort::AbortSignal;
use crate::ids::{GenerationNumber, PluginName};
use crate::limits;
use crate::tool::{BoxFuture, Execution, HostTool, ProgressSink, ToolSpec};

/// A plugin whose tools can be called.
pub struct LoadedPlugin {
    /// Counts its calls.
    pub generation: Arc<Generation>,
    /// Its tools, by name in byte order.
    pub tools: Vec<Arc<dyn HostTool>>,
    /// What its tools share. To be opened before the first call.
    pub state: PluginState,
    /// Size of its image in this process, in bytes; `None` where it is mapped elsewhere.
    pub image_size: Option<u64>,
}

impl std::fmt::Debug for LoadedPlugin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LoadedPlugin")
            .field("generation", &self.generation)
            .finish_non_exhaustive()
    }
}

/// Loads a stored library that was tried out, and takes its tools over. Blocks: it runs the
/// library's constructors.
pub fn load_plugin(
    library: &StoredLibrary,
    introduced: &Introduced,
    plugin: &PluginName,
    number: GenerationNumber,
    pool: &ToolPool,
    http: Arc<dyn HttpService>,
) -> Result<LoadedPlugin, PluginError> {
    let file = Unshared::of(library)?;
    let _mark = library.mark()?;
    let module = load::load(file.path())?;
    introduction::connect(module, plugin.as_str(), host_table())?;
    let generation = Generation::new(plugin.clone(), number, library.hash, move || {
        retire_elsewhere(module);
    });
    let home = Home::new(module, plugin.clone(), pool.clone(), http);
    let state = PluginState::new(introduced, home.opener())?;
    let tools = introduced.tools.iter();
    let tools = tools.map(|(index, tool)| home.tool(*index, tool) as Arc<dyn HostTool>);
    Ok(LoadedPlugin {
        generation,
        tools: tools.collect(),
        state,
        image_size: Some(library.size),
    })
}

/// What the tools of one plugin have in common.
#[derive(Clone)]
pub(super) struct Home {
    module: PluginModuleRef,
    plugin: PluginName,
    owner: OwnerId,
    pool: ToolPool,
    /// Makes the HTTP requests of its tools.
    http: Arc<dyn HttpService>,
}

impl Home {
    pub(super) fn new(
        module: PluginModuleRef,
        plugin: PluginName,
        pool: ToolPool,
        http: Arc<dyn HttpService>,
    ) -> Self {
        Self {
            module,
            plugin,
            owner: next_owner(),
            pool,
            http,
        }
    }

    pub(super) fn tool(&self, index: ToolIndex, tool: &ToolDescription) -> Arc<PluginTool> {
        Arc::new(PluginTool {
            spec: Arc::new(spec(tool)),
            index,
            is_async: tool.is_async,
            inline: AtomicBool::new(tool.inline),
            home: self.clone(),
        })
    }

    /// What opens the state of the plugin's packages.
    pub(super) fn opener(&self) -> Opener {
        let home = self.clone();
        Box::new(move |package, settings| {
            let open =
                move || home.module.open()(package.as_str().into(), settings.as_str().into());
            let (pool, owner) = (home.pool.clone(), home.owner);
            Box::pin(async move {
                let opened = pool.run(owner, open).await;
                opened.map_err(|error| error.to_string())
            })
        })
    }
}

fn next_owner() -> OwnerId {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// A drained generation closes on a thread of its own: it may wait for what it abandoned.
fn retire_elsewhere(module: PluginModuleRef) {
    let deadline = u64::try_from(limits::RETIRE_TIMEOUT.as_millis()).unwrap_or(u64::MAX);
    let started = std::thread::Builder::new()
        .name("plugin-retire".to_owned())
        .spawn(move || module.retire()(deadline));
    if let Err(error) = started {
        tracing::warn!(%error, "no thread to retire a plugin on; its runtime stays");
    }
}

pub(crate) fn spec(tool: &ToolDescription) -> ToolSpec {
    ToolSpec {
        name: tool.name.clone(),
        label: tool.label.clone(),
        description: tool.description.clone(),
        input_schema: tool.input_schema.clone(),
        output_schema: tool.output_schema.clone(),
        parallel: tool.parallel,
        max_concurrent: tool.max_concurrent,
        deprecated: tool.deprecated.clone(),
        annotations: tool.annotations,
        presets: tool.presets.clone(),
        examples: tool.examples.clone(),
        timeout: tool.timeout_ms.map(Duration::from_millis),
        has_prepare: tool.has_prepare,
        has_validate: tool.has_validate,
        validate_only: tool.validate_only,
    }
}

/// The functions that every plugin is handed.
pub(super) fn host_table() -> HostTableRef {
    static TABLE: OnceLock<HostTableRef> = OnceLock::new();
    *TABLE.get_or_init(|| HostTable { log }.leak_into_prefix())
}

/// Writes a line of a plugin's log.
pub(crate) fn write_log(plugin: &str, level: LogLevel, origin: &str, message: &str) {
    match level {
        LogLevel::ERROR => tracing::error!(target: "plugin", plugin, origin, "{message}"),
        LogLevel::WARN => tracing::warn!(target: "plugin", plugin, origin, "{message}"),
        LogLevel::INFO => tracing::info!(target: "plugin", plugin, origin, "{message}"),
        LogLevel::DEBUG => tracing::debug!(target: "plugin", plugin, origin, "{message}"),
        _ => tracing::trace!(target: "plugin", plugin, origin, "{message}"),
    }
}

extern "C" fn log(plugin: RStr<'_>, level: LogLevel, target: RStr<'_>, message: RStr<'_>) {
    let write = || write_log(&plugin, level, &target, &message);
    // A panic of a log writer must not unwind into the plugin.
    drop(std::panic::catch_unwind(std::panic::AssertUnwindSafe(
        write,
    )));
}

/// One tool of a loaded plugin.
pub struct PluginTool {
    spec: Arc<ToolSpec>,
    index: ToolIndex,
    is_async: bool,
    /// The author's promise never to wait, until it is broken.
    inline: AtomicBool,
    home: Home,
}

impl std::fmt::Debug for PluginTool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PluginTool")
            .field("name", &self.spec.name)
            .finish_non_exhaustive()
    }
}

impl PluginTool {
    /// On the spot.
    fn run_inline(&self, call: Execution<'_>) -> Result<ToolResult, ToolError> {
        let (arguments, call_id) = (call.arguments_text(), call.call_id);
        // It promised not to wait, and would hold up whoever makes its request.
        let port = CallPort::new(Target::new(call, None, None));
        let started = Instant::now();
        let reply = self.home.module.call()(self.index, Invocation::new(&arguments, call_id, port));
        let elapsed = started.elapsed();
        if elapsed > limits::INLINE_BUDGET {
            self.inline.store(false, Ordering::Relaxed);
            tracing::warn!(
                target: "plugin", plugin = self.home.plugin.as_str(), tool = self.spec.name.as_str(),
                ?elapsed, limit = ?limits::INLINE_BUDGET,
                "an inline tool held its caller too long and runs on the pool from now on"
            );
        }
        outcome(reply)
    }

    async fn run_on_pool(&self, call: Execution<'_>) -> Result<ToolResult, ToolError> {
        let arguments = call.arguments_text().into_owned();
        let call_id = call.call_id.to_owned();
        let target = Target::new(call, None, Some(self.requests()));
        let port = CallPort::new(Arc::clone(&target));
        let _given_up = GiveUp {
            target,
            cancel: None,
        };
        let (module, index) = (self.home.module, self.index);
        let work = move || module.call()(index, Invocation::new(&arguments, &call_id, port));
        outcome(self.on_pool(work).await?)
    }

    async fn run_async(&self, call: Execution<'_>) -> Result<ToolResult, ToolError> {
        let (answer, answered) = oneshot::channel();
        let (arguments, call_id) = (call.arguments_text(), call.call_id);
        let target = Target::new(call, Some(answer), Some(self.requests()));
        let port = CallPort::new(Arc::clone(&target));
        let mut given_up = GiveUp {
            target,
            cancel: None,
        };
        let task = self.home.module.start()(self.index, Invocation::new(&arguments, call_id, port));
        given_up.cancel = Some((self.home.module, task));
        let reply = answered.await;
        given_up.cancel = None;
        match reply {
            Ok(reply) => outcome(reply),
            Err(_) => Err(ToolError::of(
                ErrorKind::Crashed,
                "The tool ended without an answer",
            )),
        }
    }

    /// For one call, which runs here.
    fn requests(&self) -> Requests {
        Requests::of_call(Arc::clone(&self.home.http))
    }

    async fn on_pool<R: Send + 'static>(
        &self,
        work: impl FnOnce() -> R + Send + 'static,
    ) -> Result<R, ToolError> {
        self.home
            .pool
            .run(self.home.owner, work)
            .await
            .map_err(|error| match error {
                PoolError::TooManyHung { .. } => {
                    let text = format!("Plugin {} is not available: {error}", self.home.plugin);
                    ToolError::of(ErrorKind::Unavailable, text)
                        .with_hint("Use another tool; a person has to mend this one")
                }
                PoolError::NoAnswer => ToolError::of(ErrorKind::Crashed, error.to_string()),
            })
    }

    async fn hook(
        &self,
        function: extern "C" fn(ToolIndex, RStr<'_>) -> Reply,
        arguments: String,
    ) -> Result<Reply, ToolError> {
        let index = self.index;
        if self.inline.load(Ordering::Relaxed) {
            return Ok(function(index, arguments.as_str().into()));
        }
        self.on_pool(move || function(index, arguments.as_str().into()))
            .await
    }
}

impl HostTool for PluginTool {
    fn spec(&self) -> &Arc<ToolSpec> {
        &self.spec
    }

    fn prepare(&self, arguments: Value) -> BoxFuture<'_, Result<Value, ToolError>> {
        Box::pin(async move {
            let reply = self
                .hook(self.home.module.prepare(), arguments.to_string())
                .await?;
            prepared(reply)
        })
    }

    fn validate<'a>(
        &'a self,
        arguments: &'a Value,
    ) -> BoxFuture<'a, Result<Option<String>, ToolError>> {
        Box::pin(async move {
            let reply = self
                .hook(self.home.module.validate(), arguments.to_string())
                .await?;
            validated(reply)
        })
    }

    fn execute<'a>(&'a self, call: Execution<'a>) -> BoxFuture<'a, Result<ToolResult, ToolError>> {
        // Each kind has a future of its own, which is no larger than it needs.
        if self.is_async {
            Box::pin(self.run_async(call))
        } else if self.inline.load(Ordering::Relaxed) {
            Box::pin(async move { self.run_inline(call) })
        } else {
            Box::pin(self.run_on_pool(call))
        }
    }
}

fn out_of_turn() -> ToolError {
    ToolError::of(ErrorKind::Crashed, "The plugin answered out of turn")
}

/// What the reply of a `prepare` hook means: the arguments as it changed them.
pub(crate) fn prepared(reply: Reply) -> Result<Value, ToolError> {
    if reply.status != Status::VALUE {
        return Err(outcome(reply).err().unwrap_or_else(out_of_turn));
    }
    Ok(serde_json::from_str(&reply.body)?)
}

/// What the reply of a `validate` hook means: the reason against the arguments, if there is one.
pub(crate) fn validated(reply: Reply) -> Result<Option<String>, ToolError> {
    match reply.status {
        Status::VALUE => Ok(None),
        Status::TEXT => Ok(Some(reply.body.into_string())),
        _ => Err(outcome(reply).err().unwrap_or_else(out_of_turn)),
    }
}

/// What a reply means for a call.
pub(crate) fn outcome(reply: Reply) -> Result<ToolResult, ToolError> {
    let body = reply.body;
    match reply.status {
        Status::TEXT => Ok(ToolResult::text(body.into_string())),
        Status::RESULT => Ok(serde_json::from_str(&body)?),
        Status::ERROR => Err(serde_json::from_str(&body).unwrap_or_else(ToolError::from)),
        Status::PANIC => {
            let report: PanicReport = serde_json::from_str(&body).unwrap_or_default();
            Err(ToolError::of(
                ErrorKind::Panic,
                format!("The tool panicked: {report}"),
            ))
        }
        Status::ABORTED => Err(ToolError::of(ErrorKind::Aborted, "The call was aborted")),
        _ => Err(out_of_turn()),
    }
}

/// The host's half of one call.
struct Target {
    progress: ProgressSink,
    abort: AbortSignal,
    /// Set when the call was given up for another reason than its abort signal: its time limit.
    given_up: AtomicBool,
    /// A mutex, since the answer may come from any thread; taken once.
    answer: Mutex<Option<oneshot::Sender<Reply>>>,
    /// Its HTTP requests, if it may make any.
    requests: Option<Requests>,
}

impl Target {
    /// `answer` is for tools that are started; one that is called answers by returning.
    fn new(
        call: Execution<'_>,
        answer: Option<oneshot::Sender<Reply>>,
        requests: Option<Requests>,
    ) -> Arc<Self> {
        Arc::new(Self {
            requests,
            progress: call.progress,
            abort: call.abort.clone(),
            given_up: AtomicBool::new(false),
            answer: Mutex::new(answer),
        })
    }
}

impl CallTarget for Target {
    fn progress(&self, partial: &str) {
        match serde_json::from_str(partial) {
            Ok(partial) => (self.progress)(partial),
            Err(error) => tracing::warn!(target: "plugin", %error, "a partial result is no JSON"),
        }
    }

    fn is_aborted(&self) -> bool {
        self.abort.is_aborted() || self.given_up.load(Ordering::Acquire)
    }

    fn complete(&self, reply: Reply) {
        let answer = self
            .answer
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(answer) = answer {
            // The receiver is gone when the call was given up meanwhile.
            drop(answer.send(reply));
        }
    }

    fn http(&self, head: &str, body: Vec<u8>, answer: AnswerPort) -> RequestId {
        if let Some(requests) = &self.requests {
            return requests.start(head, body, answer);
        }
        http::refuse(answer, &inline_waits());
        0
    }

    fn cancel_http(&self, request: RequestId) {
        if let Some(requests) = &self.requests {
            requests.cancel(request);
        }
    }
}

pub(crate) fn inline_waits() -> ToolError {
    let text = "an inline tool promises never to wait, so it makes no HTTP requests";
    ToolError::of(ErrorKind::Unavailable, text).with_hint("its author has to remove `inline`")
}

/// Tells the tool that nobody waits any more, and ends its requests, when the call's future is dropped.
struct GiveUp {
    target: Arc<Target>,
    cancel: Option<(PluginModuleRef, TaskId)>,
}

impl Drop for GiveUp {
    fn drop(&mut self) {
        self.target.given_up.store(true, Ordering::Release);
        if let Some(requests) = &self.target.requests {
            requests.end();
        }
        if let Some((module, task)) = self.cancel {
            module.cancel()(task);
        }
    }
}
