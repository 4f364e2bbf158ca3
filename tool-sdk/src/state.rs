//! What a plugin opens once and its tools share: a connection, a cache, a model.
//!
//! Every `#[plugin_state]` of a package is opened together, from the same settings. Tools borrow
//! the values through the context of their call, so a call keeps what it started with while newer
//! settings open newer values beside it. What nobody uses any more is closed by its `Drop`.

use std::any::{Any, TypeId};
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, PoisonError, RwLock};

use linkme::distributed_slice;
use schemars::SchemaGenerator;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::abi::LogLevel;
use crate::args::Args;
use crate::error::{ErrorKind, ToolError};
use crate::tool::Shape;
use crate::{panic, schema};

/// A value that calls share.
pub type Opened = Box<dyn Any + Send + Sync>;

/// The future of an `async fn` that opens one.
pub type OpenFuture = Pin<Box<dyn Future<Output = Result<Opened, ToolError>>>>;

/// Every opener that is linked into this library or program, in no particular order.
#[distributed_slice]
pub static STATES: [StateRecord];

/// The values of each package that are current now. A lock that calls take for a moment, to count
/// themselves in; never held while something is opened or closed.
static CURRENT: RwLock<Vec<(&'static str, Arc<States>)>> = RwLock::new(Vec::new());

/// One opener. Made by `#[plugin_state]` only, so its fields may change with every version.
#[doc(hidden)]
#[derive(Debug)]
pub struct StateRecord {
    /// Cargo package that declares it.
    pub package: &'static str,
    /// What it opens, as it is written.
    pub opens: &'static str,
    /// The type of that.
    pub type_id: fn() -> TypeId,
    /// Source file of the declaration.
    pub file: &'static str,
    /// Line of the declaration.
    pub line: u32,
    /// What its settings accept, where it takes any.
    pub settings: Option<fn(&mut SchemaGenerator) -> Shape>,
    /// The code.
    pub opener: Opener,
}

/// How an opener is entered.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub enum Opener {
    /// A plain `fn`.
    Blocking(fn(&Args, &PluginContext) -> Result<Opened, ToolError>),
    /// An `async fn`.
    Async(fn(Args, PluginContext) -> OpenFuture),
}

/// The surroundings of a `#[plugin_state]` function, which takes them as `ctx: &PluginContext`.
#[derive(Clone)]
pub struct PluginContext {
    package: &'static str,
}

impl PluginContext {
    /// Name of the crate whose state is opened.
    pub fn package(&self) -> &str {
        self.package
    }

    /// Writes a line to the host's log, at info level, under the plugin's name. The `log` and
    /// `tracing` macros work too.
    pub fn log(&self, message: impl AsRef<str>) {
        crate::log::line(LogLevel::INFO, self.package, message.as_ref());
    }
}

impl fmt::Debug for PluginContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PluginContext")
            .field("package", &self.package)
            .finish()
    }
}

/// What the openers of one package made of the same settings.
pub(crate) struct States {
    /// In the order of their declaration.
    values: Vec<(TypeId, Result<Opened, ToolError>)>,
}

impl States {
    /// Runs every opener of the package. A failed one leaves its error in the place of its value.
    pub(crate) fn open(package: &str, settings: &Args) -> Self {
        let values = of_package(package).map(|record| {
            let opened =
                panic::catch(|| record.open(&record.own_part(settings))).unwrap_or_else(|report| {
                    Err(ToolError::of(
                        ErrorKind::Panic,
                        format!("it panicked: {report}"),
                    ))
                });
            (
                (record.type_id)(),
                opened.map_err(|error| record.failed(&error)),
            )
        });
        Self {
            values: values.collect(),
        }
    }

    /// The first failure, by the order of the declarations.
    pub(crate) fn check(&self) -> Result<(), ToolError> {
        let mut failures = self
            .values
            .iter()
            .filter_map(|(_, value)| value.as_ref().err());
        failures
            .next()
            .map_or(Ok(()), |failure| Err(failure.clone()))
    }

    fn get<T: 'static>(&self) -> Result<&T, ToolError> {
        let found = self.values.iter().find(|(id, _)| *id == TypeId::of::<T>());
        match found {
            Some((_, Ok(value))) => value.downcast_ref().ok_or_else(not_opened::<T>),
            Some((_, Err(error))) => Err(error.clone()),
            None => Err(not_opened::<T>()),
        }
    }
}

/// A value of the type, out of what was open when a call began.
pub(crate) fn borrowed<T: 'static>(states: Option<&States>) -> Result<&T, ToolError> {
    states.ok_or_else(not_opened::<T>)?.get()
}

/// The error of a tool that runs although its plugin's state was never opened.
fn not_opened<T>() -> ToolError {
    let wanted = std::any::type_name::<T>();
    ToolError::of(
        ErrorKind::Unavailable,
        format!("the plugin's state `{wanted}` is not open"),
    )
}

impl Drop for States {
    /// What was opened last is closed first. A value's `Drop` may need the runtime, and may panic.
    fn drop(&mut self) {
        #[cfg(feature = "async")]
        let runtime = crate::runtime::handle();
        #[cfg(feature = "async")]
        let _entered = runtime.as_ref().map(tokio::runtime::Handle::enter);
        while let Some((_, value)) = self.values.pop() {
            if let Err(report) = panic::catch(|| drop(value)) {
                crate::log::error(&format!("panic while state was closed: {report}"));
            }
        }
    }
}

impl StateRecord {
    /// The settings that this opener knows; the others are for other openers of the plugin.
    fn own_part(&self, settings: &Args) -> Args {
        let Some(shape) = self.settings else {
            return Args::new();
        };
        let schema = schema::settings(shape, &mut Vec::new());
        if schema.get("additionalProperties") != Some(&Value::Bool(false)) {
            return settings.clone();
        }
        let known = schema.get("properties").and_then(Value::as_object);
        let known = |name: &String| known.is_some_and(|known| known.contains_key(name));
        let mut own = settings.clone();
        own.retain(|name, _| known(name));
        own
    }

    fn open(&self, settings: &Args) -> Result<Opened, ToolError> {
        let context = PluginContext {
            package: self.package,
        };
        match self.opener {
            Opener::Blocking(open) => open(settings, &context),
            #[cfg(feature = "async")]
            Opener::Async(open) => crate::runtime::block_on(open(settings.clone(), context)),
            #[cfg(not(feature = "async"))]
            Opener::Async(_) => Err("an async opener needs the feature `async` of tool-sdk".into()),
        }
    }

    fn failed(&self, error: &ToolError) -> ToolError {
        let Self {
            opens, file, line, ..
        } = self;
        let text = format!("`{opens}` could not be opened ({file}:{line}): {error}");
        ToolError::of(error.kind(), text)
    }

    fn describe(&self) -> StateDescription {
        let mut problems = Vec::new();
        let settings = self
            .settings
            .map(|settings| schema::settings(settings, &mut problems));
        StateDescription {
            package: self.package.to_owned(),
            opens: self.opens.to_owned(),
            settings,
            file: self.file.to_owned(),
            line: self.line,
            problems,
        }
    }
}

/// The openers of a package in the order of their declaration.
fn of_package(package: &str) -> impl Iterator<Item = &'static StateRecord> {
    let mut own: Vec<&StateRecord> = STATES
        .iter()
        .filter(|record| record.package == package)
        .collect();
    own.sort_by_key(|record| (record.file, record.line));
    own.into_iter()
}

/// Opens the state of a package anew, and makes it what later calls get. Calls that run keep what
/// they have. On an error nothing changes.
pub(crate) fn open(package: &str, settings: &Args) -> Result<(), ToolError> {
    let states = States::open(package, settings);
    states.check()?;
    let Some(package) = of_package(package).next().map(|record| record.package) else {
        return Ok(());
    };
    let old = replace(package, Some(Arc::new(states)));
    // Outside of the lock: closing may take its time.
    drop(old);
    Ok(())
}

/// Closes what is open, as soon as no call uses it any more.
pub(crate) fn close() {
    let all = std::mem::take(&mut *CURRENT.write().unwrap_or_else(PoisonError::into_inner));
    drop(all);
}

/// What a new call of a package's tool may borrow from.
pub(crate) fn current(package: &str) -> Option<Arc<States>> {
    let current = CURRENT.read().unwrap_or_else(PoisonError::into_inner);
    let found = current.iter().find(|(owner, _)| *owner == package);
    found.map(|(_, states)| Arc::clone(states))
}

fn replace(package: &'static str, new: Option<Arc<States>>) -> Option<Arc<States>> {
    let mut current = CURRENT.write().unwrap_or_else(PoisonError::into_inner);
    let at = current.iter().position(|(owner, _)| *owner == package);
    let old = at.map(|at| current.swap_remove(at).1);
    current.extend(new.map(|new| (package, new)));
    old
}

/// All linked openers, as hosts read them.
pub(crate) fn described() -> Vec<StateDescription> {
    let mut all: Vec<StateDescription> = STATES.iter().map(StateRecord::describe).collect();
    all.sort_by(|a, b| (&a.package, &a.file, a.line).cmp(&(&b.package, &b.file, b.line)));
    all
}

/// An opener as hosts read it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct StateDescription {
    /// Cargo package that declares it.
    pub package: String,
    /// The type that it opens, as it is written.
    pub opens: String,
    /// JSON Schema (2020-12) of its settings, an object; absent where it takes none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settings: Option<Value>,
    /// Source file of the declaration.
    #[serde(default)]
    pub file: String,
    /// Line of the declaration.
    #[serde(default)]
    pub line: u32,
    /// What is wrong with it and could not be seen when its macro expanded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
}
