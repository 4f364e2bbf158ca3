//! A host inside the test: a registry over an empty plugins folder, tools made of closures, and
//! every event of their calls kept.

use std::future::Future;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agent_core::abort::AbortSignal;
use agent_core::call::{Arguments, Caller, Finalized, ToolCall};
use agent_core::event::{Emitter, Event};
use agent_core::registry::{Registry, RegistryOptions};
use agent_core::tool::{Execution, FunctionTool, HostTool, ToolSpec};
use serde_json::{Value, json};
use tool_sdk::{ToolError, ToolResult};
use toolsmith_tests::DEADLINE;

/// A registry without plugins, and a recorder of what happens in calls.
pub(crate) struct Host {
    _folder: tempfile::TempDir,
    pub(crate) registry: Registry,
    pub(crate) events: Recorder,
}

impl Host {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let options =
            RegistryOptions::new(folder.path().join("plugins"), folder.path().join("state"));
        fs_err::create_dir(&options.plugins).unwrap();
        let registry = Registry::open(options, None, Emitter::default()).unwrap();
        Self {
            _folder: folder,
            registry,
            events: Recorder::default(),
        }
    }

    /// A host with this tool.
    pub(crate) async fn with(tool: impl HostTool) -> Self {
        let host = Self::new();
        host.add(tool).await;
        host
    }

    pub(crate) async fn add(&self, tool: impl HostTool) {
        self.registry.register(Arc::new(tool)).await.unwrap();
    }

    /// A caller without hooks whose events are recorded.
    pub(crate) fn caller(&self) -> Caller {
        Caller::new(self.registry.clone(), self.events.emitter())
    }

    /// The usual tool is not touched by whatever happened to another.
    pub(crate) async fn check_weather(&self) {
        let finalized = self.call("getWeather", r#"{"city": "Tokyo"}"#).await;
        assert!(!finalized.result.is_error);
    }

    /// Calls a tool with the id `call_1`.
    pub(crate) async fn call(&self, name: &str, arguments: &str) -> Finalized {
        let call = ToolCall::new(name, Arguments::Text(arguments.to_owned())).with_id("call_1");
        self.make(&self.caller(), call).await
    }

    /// Makes a call that must end within the deadline.
    pub(crate) async fn make(&self, caller: &Caller, call: ToolCall) -> Finalized {
        within(caller.call(call, &AbortSignal::new())).await
    }
}

/// The usual call of these tests: `call_1` of `getWeather` with JSON arguments.
pub(crate) fn weather_call(arguments: Value) -> ToolCall {
    ToolCall::new("getWeather", Arguments::Json(arguments)).with_id("call_1")
}

/// Waits, but not for ever.
pub(crate) async fn within<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(DEADLINE, future).await.unwrap()
}

/// `getWeather` of the documents: its specification.
pub(crate) fn weather_spec() -> ToolSpec {
    let schema = json!({
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "City name"},
            "units": {"type": "string", "enum": ["celsius", "fahrenheit"], "default": "celsius"},
        },
        "required": ["city"],
        "additionalProperties": false,
    });
    let description = "Fetch current weather and forecast for a given city.";
    let mut spec = ToolSpec::new("getWeather", description, schema);
    "Weather Lookup".clone_into(&mut spec.label);
    spec
}

/// `getWeather` of the documents, always sunny.
pub(crate) fn weather() -> FunctionTool {
    FunctionTool::new(weather_spec(), |call: Execution<'_>| {
        let city = call.arguments["city"].as_str().unwrap().to_owned();
        async move { Ok(ToolResult::text(format!("Weather in {city}: Sunny, 22°C"))) }
    })
}

/// A specification that takes any object.
pub(crate) fn open_spec(name: &str) -> ToolSpec {
    ToolSpec::new(name, "A tool of a test.", json!({"type": "object"}))
}

/// A tool that takes anything and answers this.
pub(crate) fn answering<F>(name: &str, answer: F) -> FunctionTool
where
    F: Fn() -> Result<ToolResult, ToolError> + Send + Sync + 'static,
{
    FunctionTool::new(open_spec(name), move |_| {
        let answer = answer();
        async { answer }
    })
}

/// A tool that says it has started, and never ends.
pub(crate) fn endless(name: &str) -> (FunctionTool, Signal) {
    let started = Signal::default();
    let sender = started.clone();
    let tool = FunctionTool::new(open_spec(name), move |_| {
        sender.raise();
        std::future::pending()
    });
    (tool, started)
}

/// Something that happens once and is waited for.
#[derive(Clone, Default)]
pub(crate) struct Signal(Arc<tokio::sync::Notify>);

impl Signal {
    pub(crate) fn raise(&self) {
        self.0.notify_one();
    }

    pub(crate) async fn wait(&self) {
        within(self.0.notified()).await;
    }
}

/// A list that several parts of a test write to.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    pub(crate) fn add(&self, entry: impl Into<String>) {
        self.0.lock().unwrap().push(entry.into());
    }

    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

/// Keeps every event.
#[derive(Clone, Default)]
pub(crate) struct Recorder(Arc<Mutex<Vec<Arc<Event>>>>);

impl Recorder {
    pub(crate) fn emitter(&self) -> Emitter {
        let events = Arc::clone(&self.0);
        Emitter::new(vec![Box::new(move |event: &Arc<Event>| {
            events.lock().unwrap().push(Arc::clone(event));
        })])
    }

    /// The events so far, taken out.
    pub(crate) fn take(&self) -> Vec<Arc<Event>> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }

    /// The events so far as JSON, taken out, without what differs from run to run.
    pub(crate) fn take_json(&self) -> Vec<Value> {
        self.take().iter().map(|event| steady(event)).collect()
    }

    /// The types of the events so far, taken out.
    pub(crate) fn take_types(&self) -> Vec<String> {
        let events = self.take_json();
        events
            .iter()
            .map(|event| event["type"].as_str().unwrap().to_owned())
            .collect()
    }
}

/// An event as JSON, its number, time and duration taken out.
pub(crate) fn steady(event: &Event) -> Value {
    let mut json = serde_json::to_value(event).unwrap();
    let object = json.as_object_mut().unwrap();
    assert!(object.shift_remove("seq").is_some_and(|seq| seq.is_u64()));
    assert!(
        object
            .shift_remove("time")
            .is_some_and(|time| time.is_string())
    );
    if event_type(object) == "toolExecutionEnd" {
        assert!(
            object
                .shift_remove("durationMs")
                .is_some_and(|duration| duration.is_u64())
        );
    }
    json
}

fn event_type(event: &serde_json::Map<String, Value>) -> &str {
    event["type"].as_str().unwrap()
}

/// A time limit that a test waits for in full.
pub(crate) const SHORT: Duration = Duration::from_millis(20);
