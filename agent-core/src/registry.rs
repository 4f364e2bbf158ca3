//! Life of a reload: which tools exist now.
//!
//! 1. `watch` says "look again", by an event of the file system or because it is time.
//! 2. [`scan`] makes an index of the plugins folder.
//! 3. `plan` compares it with what is known: a pure function that answers steps.
//! 4. `apply` takes the steps in order: builds what is stale, judges and stores libraries, has new
//!    ones tried out in a helper process, and loads them.
//! 5. A new [`Table`] is swapped in, and what it replaced is retired when its last call has ended.
//!
//! One reload at a time owns all state that changes; a mutex that may be held across `await`
//! guards it. Calls never touch it: they read the table, which is swapped atomically. So a reload
//! never waits for a call, nor a call for a reload.

mod apply;
mod compatibility;
pub mod configuration;
mod current;
mod folder;
mod notices;
pub mod pinned;
mod plan;
pub mod policies;
pub mod presets;
pub mod scan;
mod secrets;
pub mod settings;
mod status;
pub mod table;
pub mod trust;
mod turns;
mod watch;

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};

use arc_swap::ArcSwap;
use tokio::sync::Mutex;
use tool_sdk::tool::StaticTool;

use crate::build::{BuildProgress, Builder, Trust};
use crate::config::{FILE_NAME, Unset};
use crate::event::Emitter;
use crate::ids::PluginName;
use crate::network::Network;
use crate::plugin::linked::linked;
use crate::plugin::{PluginError, Store, ToolPool};
use crate::tool::{HostTool, Isolation};
use crate::worker::{Helpers, Prober};

use notices::{Notices, Topic};

pub use configuration::Configuration;
pub use folder::target_folder;
pub use pinned::Pinned;
pub use policies::{Policies, Policy};
pub use presets::{PresetError, PresetProblem, Presets};
pub use scan::{Found, Index};
pub use settings::Settings;
pub use status::{PluginState, PluginStatus};
pub use table::{Conflict, Table, ToolEntry, Unavailable};
pub use watch::Watch;

/// Where plugins come from and where their state is kept.
#[derive(Clone, Debug)]
pub struct RegistryOptions {
    /// The folder of crates and finished libraries.
    pub plugins: PathBuf,
    /// The folder of private copies, records and locks.
    pub state: PathBuf,
    /// The program that libraries are tried out in; where none is given,
    /// [`HelperProgram::find`](crate::worker::HelperProgram::find) says which it is.
    pub helper: Option<PathBuf>,
    /// The configuration file to follow, whether it exists or not.
    pub config: Option<PathBuf>,
}

impl RegistryOptions {
    /// Plugins from this folder, and their state in that one.
    pub fn new(plugins: impl Into<PathBuf>, state: impl Into<PathBuf>) -> Self {
        Self {
            plugins: plugins.into(),
            state: state.into(),
            helper: None,
            config: None,
        }
    }
}

/// What of the plugins folder a reload looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope<'a> {
    /// Every plugin.
    All,
    /// Every plugin, those too whose content failed before.
    Forced,
    /// One plugin; the others stay as they are.
    Only(&'a PluginName),
    /// One tool, by its name: as few plugins as possible.
    Tool(&'a str),
}

/// Why a registry can't work at all. What is wrong with one plugin is in its status.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RegistryError {
    /// The plugins folder can't be read.
    #[error("the plugins folder can't be read: {0}")]
    Scan(#[source] std::io::Error),
    /// The state folder can't be used.
    #[error("the state folder can't be used: {0}")]
    State(#[source] PluginError),
    /// It is not known where the state folder is.
    #[error(
        "`[state] dir` of {FILE_NAME} can't be used: {0}; set it, or write a path in its place"
    )]
    Unset(#[source] Unset),
    /// The tool's name is not allowed or taken.
    #[error("tool `{tool}` can't be registered: {reason}")]
    Register {
        /// The tool.
        tool: String,
        /// Why.
        reason: String,
    },
    /// Tools that are linked into this program can't be used.
    #[error("the tools of this program can't be registered: {0}")]
    Linked(#[source] PluginError),
}

/// The tools that exist now. Clones share everything.
#[derive(Clone)]
pub struct Registry(Arc<Inner>);

struct Inner {
    options: RegistryOptions,
    /// `None` where building is switched off.
    builder: Option<Arc<Builder>>,
    store: Arc<Store>,
    pool: ToolPool,
    prober: Prober,
    helpers: Helpers,
    loader: apply::Loader,
    turns: turns::Turns,
    /// What was decided last; a reload brings it in. Shared with `network`.
    configuration: Arc<ArcSwap<Configuration>>,
    /// What of that a reload has brought in.
    applied: ArcSwap<configuration::Applied>,
    /// Makes the HTTP requests of plugins.
    network: Network,
    notices: Notices,
    events: Emitter,
    /// Read by every call, swapped by reloads.
    table: ArcSwap<Table>,
    /// Read by `list`, swapped by reloads.
    statuses: ArcSwap<Vec<status::Status>>,
    /// Plugins that a model wrote and nobody vouches for, as the last look at the folder has found.
    written: ArcSwap<BTreeSet<PluginName>>,
    /// What is being built now: a reload that waits for a build has published no status yet. A mutex,
    /// held for a look at the set.
    building: std::sync::Mutex<BTreeSet<PluginName>>,
    /// Rises with every event of the file system, so that a running build can be overtaken.
    events_seen: tokio::sync::watch::Sender<u64>,
    /// What the watcher knows.
    watch: Arc<watch::Shared>,
    /// Held while a reload runs, builds included; never by a call.
    reload: Mutex<apply::Reload>,
}

impl Registry {
    /// A registry without tools. `builder` is `None` where nothing may be built.
    pub fn open(
        options: RegistryOptions,
        builder: Option<Arc<Builder>>,
        events: Emitter,
    ) -> Result<Self, RegistryError> {
        let store = Store::open(&options.state).map_err(RegistryError::State)?;
        Ok(Self::over(store, options, builder, events))
    }

    /// A registry for the tools of this program alone: there is no plugins folder, and nothing is
    /// kept on the disk.
    pub fn without_plugins(events: Emitter) -> Self {
        let options = RegistryOptions::new(PathBuf::new(), PathBuf::new());
        Self::over(Store::empty(), options, None, events)
    }

    fn over(
        store: Store,
        options: RegistryOptions,
        builder: Option<Arc<Builder>>,
        events: Emitter,
    ) -> Self {
        let scratch = options.state.join("scratch");
        let helpers = Helpers::new(options.helper.as_deref(), scratch);
        let reload = apply::Reload::new(options.config.clone());
        let configuration = Arc::<ArcSwap<Configuration>>::default();
        let decided = Arc::clone(&configuration);
        let network = Network::new(move |plugin| decided.load().policies.of(plugin).grants.network);
        Self(Arc::new(Inner {
            options,
            builder,
            store: Arc::new(store),
            pool: ToolPool::default(),
            prober: Prober::new(helpers.clone()),
            helpers,
            loader: apply::Loader::default(),
            turns: turns::Turns::default(),
            configuration,
            applied: ArcSwap::default(),
            network,
            notices: Notices::default(),
            events,
            table: ArcSwap::default(),
            statuses: ArcSwap::default(),
            written: ArcSwap::default(),
            building: std::sync::Mutex::default(),
            events_seen: tokio::sync::watch::Sender::default(),
            watch: Arc::default(),
            reload: Mutex::new(reload),
        }))
    }

    /// The tools that exist now. The table does not change; ask again to see changes.
    pub fn table(&self) -> Arc<Table> {
        self.0.table.load_full()
    }

    /// Every plugin that is known, by name.
    pub fn plugins(&self) -> Vec<PluginStatus> {
        let building = self.0.building();
        let statuses = self.0.statuses.load();
        let shown = statuses.iter().map(|status| {
            let mut shown = status.show();
            if building.contains(&shown.name) {
                (shown.state, shown.reason) = (PluginState::Building, None);
            }
            shown
        });
        shown.collect()
    }

    /// The folder of crates and finished libraries.
    pub fn plugins_folder(&self) -> &Path {
        &self.0.options.plugins
    }

    /// The folder of private copies, records and locks, where there is one.
    pub fn state_folder(&self) -> Option<&Path> {
        let state = self.0.options.state.as_path();
        (!state.as_os_str().is_empty()).then_some(state)
    }

    /// Where its events go.
    pub fn events(&self) -> &Emitter {
        &self.0.events
    }

    /// Registers a tool of this program (Y49).
    pub async fn register(&self, tool: Arc<dyn HostTool>) -> Result<(), RegistryError> {
        let mut reload = self.0.reload.lock().await;
        self.check_name(&tool.spec().name)?;
        reload.register(&self.0, tool);
        Ok(())
    }

    /// Whether a tool of this program may have the name.
    fn check_name(&self, name: &str) -> Result<(), RegistryError> {
        let refuse = |reason: &str| RegistryError::Register {
            tool: name.to_owned(),
            reason: reason.to_owned(),
        };
        if !crate::ids::is_tool_name(name) {
            return Err(refuse(
                "expected a name of 1 to 64 letters, digits, `_` or `-`",
            ));
        }
        let table = self.table();
        let taken = table
            .get(name)
            .is_some_and(|entry| entry.plugin().is_none());
        if taken {
            return Err(refuse(
                "this program has registered a tool of that name already",
            ));
        }
        Ok(())
    }

    /// Registers tools that are linked into this program, and opens what they share. Equal names
    /// are refused as by [`Registry::register`].
    pub async fn register_static(
        &self,
        tools: impl IntoIterator<Item = StaticTool>,
    ) -> Result<(), RegistryError> {
        let tools: Vec<StaticTool> = tools.into_iter().collect();
        let http = |package: &PluginName| self.0.network.of(package, Isolation::None);
        let packages = linked(&tools, &self.0.pool, http).map_err(RegistryError::Linked)?;
        let mut reload = self.0.reload.lock().await;
        for tool in packages.iter().flat_map(|package| &package.tools) {
            self.check_name(&tool.spec().name)?;
        }
        let registered = reload.register_linked(&self.0, packages).await;
        registered.map_err(RegistryError::Linked)
    }

    /// What is decided about plugins and tools from now on, where no file says it. The next
    /// [`Registry::refresh`] brings it in; calls that run keep what they have, but for grants, which
    /// hold at once.
    pub fn configure(&self, configuration: Configuration) {
        self.0.configuration.store(Arc::new(configuration));
    }

    /// What a person should know of the registry as a whole, one sentence each: problems with the
    /// folder, the configuration, or watching. What is wrong with one plugin is in its status.
    pub fn notices(&self) -> Vec<String> {
        let folder = &self.0.options.plugins;
        // Without plugins there is no folder that could be wrong.
        let is_named = !folder.as_os_str().is_empty();
        let folder = is_named.then(|| scan::problem(folder)).flatten();
        self.0
            .notices
            .say(Topic::Folder, folder.into_iter().collect());
        self.0.notices.all()
    }

    /// Looks at the plugins folder and brings the tools to what it says: builds what is stale,
    /// loads what is new, removes what is gone.
    pub async fn refresh(
        &self,
        scope: Scope<'_>,
        progress: &dyn BuildProgress,
    ) -> Result<(), RegistryError> {
        let mut reload = tokio::select! {
            biased;
            reload = self.0.reload.lock() => reload,
            true = self.0.is_current(scope) => return Ok(()),
        };
        // It is long; whoever awaits this need not hold it.
        Box::pin(reload.run(&self.0, scope, progress)).await
    }

    /// The plugin that would have the tool of this name if it served, with the reason why it does
    /// not.
    pub fn failed_with(&self, tool: &str) -> Option<(PluginName, String)> {
        let index = self.0.scan().ok()?;
        self.plugins().into_iter().find_map(|status| {
            let found = index.plugins.get(&status.name)?;
            let states = [PluginState::Failed, PluginState::Quarantined];
            let failed = states.contains(&status.state) && mentions(found, tool);
            failed.then_some((status.name, status.reason.unwrap_or_default()))
        })
    }

    /// Keeps looking at the plugins folder until the returned guard is dropped. Where the system
    /// can't watch, the folder is looked at from time to time all the same; [`Registry::notices`]
    /// says why.
    pub fn watch(&self, progress: Arc<dyn BuildProgress>) -> Watch {
        self.0.prober.warm_up();
        watch::start(self.clone(), progress)
    }

    /// Paths whose change should be noticed.
    async fn watched(&self) -> BTreeSet<PathBuf> {
        let mut watched = self.0.reload.lock().await.watched();
        watched.insert(Trust::of(&self.0.options.state).file());
        watched
    }
}

impl Inner {
    /// What lies in the plugins folder, and what of it is trusted.
    fn scan(&self) -> std::io::Result<Index> {
        scan::scan(&self.options.plugins, &Trust::of(&self.options.state))
    }

    /// The plugins that are being built now.
    fn building(&self) -> std::sync::MutexGuard<'_, BTreeSet<PluginName>> {
        self.building.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tool_settings(&self) -> table::ToolSettings {
        table::ToolSettings {
            configuration: self.configuration.load_full(),
            turns: self.turns.clone(),
        }
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registry")
            .field("options", &self.0.options)
            .finish_non_exhaustive()
    }
}

/// Whether a plugin's source or library holds the name of a tool, spelled as it is or as the
/// function that it usually comes from.
fn mentions(found: &Found, tool: &str) -> bool {
    let snake = snake_case(tool);
    let holds = |path: &Path| {
        let bytes = if path.is_file() {
            fs_err::read(path).unwrap_or_default()
        } else {
            Vec::new()
        };
        let contains = |word: &str| {
            !word.is_empty()
                && bytes
                    .windows(word.len())
                    .any(|part| part == word.as_bytes())
        };
        contains(tool) || contains(&snake)
    };
    match found {
        Found::Library(library) => holds(&library.path),
        Found::Crate(manifest) => {
            let folder = manifest.source.parent().unwrap_or(&manifest.folder);
            let files = fs_err::read_dir(folder).into_iter().flatten().flatten();
            files
                .map(|file| file.path())
                .any(|path| path.is_file() && holds(&path))
        }
    }
}

fn snake_case(name: &str) -> String {
    let mut snake = String::new();
    let mut lower_before = false;
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && lower_before {
            snake.push('_');
        }
        lower_before = letter.is_ascii_lowercase() || letter.is_ascii_digit();
        snake.push(if letter == '-' {
            '_'
        } else {
            letter.to_ascii_lowercase()
        });
    }
    snake
}

#[cfg(test)]
mod tests {
    use super::snake_case;

    #[test]
    fn usual_function_name_of_a_tool() {
        assert_eq!(snake_case("getWeather"), "get_weather");
        assert_eq!(snake_case("bing_search"), "bing_search");
        assert_eq!(snake_case("get-HTTPStatus"), "get_httpstatus");
    }
}
