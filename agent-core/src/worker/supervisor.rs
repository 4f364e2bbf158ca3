//! One version of a plugin in a process of its own: started, started again when it has ended, given
//! up when it ends whenever it is started.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use arc_swap::ArcSwapOption;
use futures_util::TryFutureExt as _;
use tokio::runtime::Handle;
use tokio::sync::Mutex;
use tokio::time::Instant;
use tool_sdk::abi::Reply;
use tool_sdk::{ErrorKind, ToolError};

use super::client::HelperError;
use super::connection::{Connection, End};
use super::helpers::{Helpers, Restriction};
use super::protocol::{Answer, Number, Request};
use super::sandbox::Enforced;
use super::services::CallServices;
use crate::ids::PluginName;
use crate::limits;
use crate::plugin::http::Requests;
use crate::plugin::state::opened;
use crate::plugin::store::StoredLibrary;
use crate::plugin::{HttpService, PluginError};
use crate::tool::ProgressSink;

/// Hears why a plugin is not started again.
pub type OnGivenUp = Box<dyn Fn(&str) + Send + Sync>;

/// How the process of a plugin is started.
pub struct Launch {
    /// Where processes come from.
    pub helpers: Helpers,
    /// The plugin.
    pub plugin: PluginName,
    /// Its library.
    pub library: StoredLibrary,
    /// How it is restricted, if it is.
    pub restriction: Option<Restriction>,
    /// Makes the HTTP requests of its tools.
    pub http: Arc<dyn HttpService>,
}

impl std::fmt::Debug for Launch {
    /// Without the values of variables.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Launch")
            .field("plugin", &self.plugin)
            .finish_non_exhaustive()
    }
}

/// Keeps one plugin's process running.
pub struct Supervisor {
    launch: Launch,
    /// The process that takes calls; read by every call.
    current: ArcSwapOption<Connection>,
    /// Held by whoever starts one, while others wait for it.
    start: Mutex<Start>,
    /// How often in a row it ended before it had answered anything.
    crashes: AtomicU32,
    /// Why it is not started any more.
    given_up: OnceLock<String>,
    on_given_up: OnGivenUp,
    runtime: Handle,
}

/// What a process that is started anew has to know.
#[derive(Default)]
struct Start {
    /// Package and settings of what its tools share, where that was opened.
    opened: Option<(String, String)>,
    last: Option<Instant>,
}

impl Supervisor {
    /// Starts the plugin's process for the first time.
    pub(super) async fn start(
        launch: Launch,
        on_given_up: OnGivenUp,
    ) -> Result<(Arc<Self>, Option<Enforced>), PluginError> {
        let supervisor = Arc::new(Self {
            launch,
            current: ArcSwapOption::empty(),
            start: Mutex::default(),
            crashes: AtomicU32::new(0),
            given_up: OnceLock::new(),
            on_given_up,
            runtime: Handle::current(),
        });
        let (connection, enforced) = supervisor.launch().await?;
        supervisor.current.store(Some(Arc::new(connection)));
        Ok((supervisor, enforced))
    }

    /// A process with the library mapped.
    async fn launch(self: &Arc<Self>) -> Result<(Connection, Option<Enforced>), PluginError> {
        let Launch {
            helpers,
            plugin,
            library,
            restriction,
            http: _,
        } = &self.launch;
        let not_started = |error: HelperError| PluginError::NotStarted(error.to_string());
        let taken = helpers.take_for(restriction.as_ref()).await;
        let (mut helper, enforced) = taken.map_err(not_started)?;
        helper.log_as(plugin);
        let request = Request::Serve {
            library: library.path.clone().into_os_string(),
            plugin: plugin.as_str().to_owned(),
        };
        match helper.ask(&request, limits::PROBE_TIMEOUT).await {
            Ok(Answer::Serving) => {}
            Ok(Answer::NotServing(reason)) => return Err(PluginError::Unfit(reason)),
            Ok(other) => return Err(PluginError::NotStarted(format!("it said {other:?}"))),
            Err(error) => return Err(not_started(error)),
        }
        let supervisor = Arc::downgrade(self);
        let on_end = move |end: &End| Self::ended(&supervisor, end);
        let connection = Connection::new(helper, plugin.clone(), on_end);
        Ok((connection, enforced))
    }

    /// The process ended by itself.
    fn ended(supervisor: &Weak<Self>, end: &End) {
        let Some(supervisor) = supervisor.upgrade() else {
            return;
        };
        let plugin = &supervisor.launch.plugin;
        tracing::warn!(target: "plugin", plugin = plugin.as_str(), "its process ended ({end})");
        let crashes = supervisor.crashes.fetch_add(1, Ordering::AcqRel) + 1;
        if crashes >= limits::WORKER_CRASHES {
            supervisor.give_up(&format!(
                "its process ended {crashes} times in a row without an answer, at last: {end}"
            ));
        }
    }

    fn give_up(&self, reason: &str) {
        if self.given_up.get().is_none() {
            (self.on_given_up)(reason);
            self.given_up.set(reason.to_owned()).unwrap_or_default();
        }
    }

    /// The process that takes calls, started if need be.
    async fn connection(self: &Arc<Self>) -> Result<Arc<Connection>, ToolError> {
        if let Some(connection) = self.open_one() {
            return Ok(connection);
        }
        let mut start = self.start.lock().await;
        if let Some(connection) = self.open_one() {
            return Ok(connection);
        }
        let plugin = &self.launch.plugin;
        let unavailable = |reason: &str| {
            let text = format!("Plugin {plugin} is not available: {reason}");
            ToolError::of(ErrorKind::Unavailable, text)
        };
        if let Some(reason) = self.given_up.get() {
            let hint = "It is not started again until its content changes or `reload` asks for it";
            return Err(unavailable(reason).with_hint(hint));
        }
        if let Some(last) = start.last {
            tokio::time::sleep_until(last + self.pause()).await;
        }
        start.last = Some(Instant::now());
        let started = self.launch_and_open(&start).await;
        let connection = started.map_err(|error| {
            // Not even started: that counts as well.
            let crashes = self.crashes.fetch_add(1, Ordering::AcqRel) + 1;
            let reason = error.to_string();
            if crashes >= limits::WORKER_CRASHES {
                self.give_up(&reason);
            }
            unavailable(&reason)
        })?;
        let connection = Arc::new(connection);
        self.current.store(Some(Arc::clone(&connection)));
        Ok(connection)
    }

    fn open_one(&self) -> Option<Arc<Connection>> {
        let connection = self.current.load_full()?;
        connection.is_open().then_some(connection)
    }

    /// How long a process has to wait that has ended again and again.
    fn pause(&self) -> Duration {
        match self.crashes.load(Ordering::Acquire).checked_sub(2) {
            Some(times) => limits::WORKER_PAUSE * 2_u32.saturating_pow(times),
            None => Duration::ZERO,
        }
    }

    async fn launch_and_open(self: &Arc<Self>, start: &Start) -> Result<Connection, PluginError> {
        let (connection, _) = self.launch().await?;
        if let Some((package, settings)) = &start.opened {
            let opening = connection.ask(open(package.clone()), settings, None);
            opened(opening.map_err(|end| end.as_ref().to_owned())).await?;
        }
        Ok(connection)
    }

    /// Opens what the tools of a package share; a process that is started later opens it too. An
    /// error says why there is no reply.
    pub(super) async fn open(
        self: &Arc<Self>,
        package: String,
        settings: String,
    ) -> Result<Reply, String> {
        let connection = self.connection().await.map_err(|error| error.to_string())?;
        let reply = connection.ask(open(package.clone()), &settings, None).await;
        let reply = reply.map_err(|end| format!("its process ended ({end})"))?;
        if reply.status == tool_sdk::abi::Status::VALUE {
            self.start.lock().await.opened = Some((package, settings));
        }
        Ok(reply)
    }

    /// Calls a tool, and waits for the one reply.
    pub(super) async fn call(
        self: &Arc<Self>,
        request: impl FnOnce(Number) -> Request,
        arguments: &str,
        progress: ProgressSink,
    ) -> Result<Reply, ToolError> {
        let requests = Requests::of_call(Arc::clone(&self.launch.http));
        let services = CallServices { progress, requests };
        self.ask_with(request, arguments, Some(services)).await
    }

    /// Asks the process, and waits for the one reply.
    pub(super) async fn ask(
        self: &Arc<Self>,
        request: impl FnOnce(Number) -> Request,
        body: &str,
    ) -> Result<Reply, ToolError> {
        self.ask_with(request, body, None).await
    }

    async fn ask_with(
        self: &Arc<Self>,
        request: impl FnOnce(Number) -> Request,
        body: &str,
        services: Option<CallServices>,
    ) -> Result<Reply, ToolError> {
        let connection = self.connection().await?;
        match connection.ask(request, body, services).await {
            Ok(reply) => {
                self.crashes.store(0, Ordering::Release);
                Ok(reply)
            }
            Err(end) => {
                let plugin = &self.launch.plugin;
                let text = format!("The process of plugin {plugin} ended during the call ({end})");
                Err(ToolError::of(ErrorKind::Crashed, text))
            }
        }
    }

    /// Lets the process close what it has open, and ends it. Calls have ended by now.
    pub(super) fn retire(self: &Arc<Self>) {
        let connection = self.current.swap(None);
        if let Some(connection) = connection {
            self.runtime.spawn(async move { connection.retire().await });
        }
    }
}

fn open(package: String) -> impl FnOnce(Number) -> Request {
    move |number| Request::Open { number, package }
}

impl std::fmt::Debug for Supervisor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Supervisor")
            .field("plugin", &self.launch.plugin)
            .finish_non_exhaustive()
    }
}
