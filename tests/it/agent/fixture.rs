//! What the tests of the loop share: answers of a model, models that wait, tools that behave badly,
//! and an agent whose every event is kept.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use agent_core::agent::{Agent, AgentBuilder, DeltaSink, Model, ModelError, ScriptedModel};
use agent_core::event::{Emitter, Event, EventSink};
use agent_core::message::{Arguments, Block, Context, Delta, Message, Prompt, Reply};
use agent_core::registry::Registry;
use agent_core::tool::{BoxFuture, Execution, FunctionTool};
use serde_json::{Map, Value, json};
use tool_sdk::ToolResult;

use crate::host::{Recorder, Signal, open_spec};

/// A call of a model, as a block.
pub(crate) fn block(id: &str, name: &str, arguments: Value) -> Block {
    Block::ToolUse {
        id: id.to_owned(),
        name: name.to_owned(),
        input: Arguments::Json(arguments),
    }
}

/// An answer of calls without arguments: `(id, name)` each.
pub(crate) fn calls(calls: &[(&str, &str)]) -> Reply {
    let blocks = calls.iter().map(|(id, name)| block(id, name, json!({})));
    Reply::new(blocks.collect())
}

/// An agent that is being described, and its events.
pub(crate) fn recorded(model: impl Model) -> (AgentBuilder, Recorder) {
    let events = Recorder::default();
    let registry = Registry::without_plugins(events.emitter());
    (Agent::builder(model).tools(registry), events)
}

/// A registry for tools that are added while an agent runs, and the events of all.
pub(crate) fn registry() -> (Registry, Recorder) {
    let events = Recorder::default();
    (Registry::without_plugins(events.emitter()), events)
}

/// The messages of a prompt as `OpenAI` reads them.
pub(crate) fn asked(prompt: &Prompt) -> Vec<Value> {
    prompt.conversation["messages"].as_array().unwrap().clone()
}

/// The results that a conversation holds, as the model reads them: id and text.
pub(crate) fn results(messages: &[Message]) -> Vec<(String, String)> {
    let blocks = messages.iter().flat_map(|message| &message.content);
    let results = blocks.filter_map(|block| match block {
        Block::ToolResult {
            tool_call_id,
            content,
            ..
        } => {
            let texts: Vec<&str> = content.iter().filter_map(|one| one.as_text()).collect();
            Some((tool_call_id.clone(), texts.join("\n")))
        }
        _ => None,
    });
    results.collect()
}

/// The types of these events, one after the other.
pub(crate) fn types(events: &[Value]) -> Vec<&str> {
    events
        .iter()
        .map(|event| event["type"].as_str().unwrap())
        .collect()
}

/// The events of one type.
pub(crate) fn of_type<'a>(events: &'a [Value], kind: &str) -> Vec<&'a Value> {
    events
        .iter()
        .filter(|event| event["type"] == kind)
        .collect()
}

/// A tool that says this at once and may overlap others.
pub(crate) fn saying(name: &str, text: &'static str) -> FunctionTool {
    parallel(name, move |_| async move { Ok(ToolResult::text(text)) })
}

/// A tool that may overlap others.
pub(crate) fn parallel<F, R>(name: &str, body: F) -> FunctionTool
where
    F: Fn(Execution<'_>) -> R + Send + Sync + 'static,
    R: Future<Output = Result<ToolResult, tool_sdk::ToolError>> + Send + 'static,
{
    let mut spec = open_spec(name);
    spec.parallel = Some(true);
    FunctionTool::new(spec, body)
}

/// A tool that ends the loop with these words.
pub(crate) fn terminating(name: &str, text: &'static str) -> FunctionTool {
    parallel(name, move |_| async move {
        Ok(ToolResult::text(text).terminate())
    })
}

/// A tool that starts and waits to be let go.
pub(crate) fn gated(name: &str) -> (FunctionTool, Signal, Signal) {
    let (started, go) = (Signal::default(), Signal::default());
    let (has_started, may_go) = (started.clone(), go.clone());
    let tool = parallel(name, move |_| {
        let (has_started, may_go) = (has_started.clone(), may_go.clone());
        async move {
            has_started.raise();
            may_go.wait().await;
            Ok(ToolResult::text("let go"))
        }
    });
    (tool, started, go)
}

/// A model that follows a script, but waits before each answer.
#[derive(Clone, Default)]
pub(crate) struct Waiting {
    pub(crate) script: ScriptedModel,
    /// It was asked.
    pub(crate) asked: Signal,
    /// It may answer.
    pub(crate) go: Signal,
    /// What it says of the answer before it waits, where it streams.
    pub(crate) first: Vec<Delta>,
}

impl Waiting {
    pub(crate) fn new(replies: impl IntoIterator<Item = Reply>) -> Self {
        Self {
            script: ScriptedModel::new(replies),
            ..Self::default()
        }
    }
}

impl Model for Waiting {
    fn complete(&self, prompt: Prompt) -> BoxFuture<'_, Result<Reply, ModelError>> {
        Box::pin(async move {
            self.asked.raise();
            self.go.wait().await;
            self.script.complete(prompt).await
        })
    }

    fn stream<'a>(
        &'a self,
        prompt: Prompt,
        deltas: DeltaSink<'a>,
    ) -> BoxFuture<'a, Result<Reply, ModelError>> {
        for delta in &self.first {
            deltas(delta.clone());
        }
        self.complete(prompt)
    }
}

/// A model whose format fails.
pub(crate) struct Unformatted;

impl Model for Unformatted {
    fn format(&self, _: &Context) -> Map<String, Value> {
        panic!("no words for this")
    }

    fn complete(&self, _: Prompt) -> BoxFuture<'_, Result<Reply, ModelError>> {
        Box::pin(async { Ok(Reply::text("never said")) })
    }
}

/// A sink that keeps events, and waits this long for each.
#[derive(Clone, Default)]
pub(crate) struct Slow {
    pub(crate) events: Arc<Mutex<Vec<Arc<Event>>>>,
    pub(crate) pause: Duration,
}

impl EventSink for Slow {
    fn event(&self, event: &Arc<Event>) {
        std::thread::sleep(self.pause);
        self.events.lock().unwrap().push(Arc::clone(event));
    }
}

/// Events of an emitter, one signal for each of this type.
pub(crate) fn signal_on(events: &Emitter, kind: &'static str) -> Signal {
    let signal = Signal::default();
    let raised = signal.clone();
    events.add(move |event: &Arc<Event>| {
        if json!(**event)["type"] == kind {
            raised.raise();
        }
    });
    signal
}
