//! Y51: partial results are seen while the tool runs, from a tool of this program and from one
//! behind the plugin border.

use std::path::PathBuf;
use std::sync::Arc;

use agent_core::agent::{Agent, ScriptedModel};
use agent_core::event::Event;
use agent_core::message::Reply;
use agent_core::registry::{Configuration, Settings};
use serde_json::{Value, json};
use tool_sdk::prelude::*;
use tool_sdk::toolsmith_static;

use super::fixture::{asked, calls, parallel, recorded, registry};
use crate::host::{Log, Signal, within};

/// What a tool of [`steps`] waits for between its two steps: one file for each test.
fn gate(folder: &tempfile::TempDir) -> (PathBuf, Value) {
    let path = folder.path().join("go");
    let arguments = json!({"path": path});
    (path, arguments)
}

/// Reports two steps; the second begins when a file is there.
#[tool(name = "linked-steps")]
async fn steps(path: String, ctx: &ToolContext) -> String {
    let path = PathBuf::from(path);
    ctx.progress(json!({"status": "Step 1: Fetching data..."}));
    while !path.exists() {
        tokio::time::sleep(std::time::Duration::from_millis(2)).await;
    }
    ctx.progress(json!({"status": "Step 2: Processing..."}));
    ctx.progress(json!({"status": "Step 3: Writing..."}));
    "Done!".to_owned()
}

/// The same as a plain function, which runs on a thread of the pool.
#[tool(name = "linked-steps-plain")]
fn steps_plain(path: String, ctx: &ToolContext) -> String {
    let path = PathBuf::from(path);
    ctx.progress(json!({"status": "Step 1: Fetching data..."}));
    while !path.exists() {
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    ctx.progress(json!({"status": "Step 2: Processing..."}));
    ctx.progress(json!({"status": "Step 3: Writing..."}));
    "Done!".to_owned()
}

/// Keeps the type of every tool event, or its status, and raises a signal at the first status.
fn watch(agent: &Agent) -> (Log, Signal) {
    let (log, first) = (Log::default(), Signal::default());
    let (seen, raised) = (log.clone(), first.clone());
    agent.events().add(move |event: &Arc<Event>| {
        let event = json!(**event);
        let kind = event["type"].as_str().unwrap();
        if let Some(status) = event["partialResult"]["status"].as_str() {
            seen.add(status);
            raised.raise();
        } else if kind.starts_with("tool") {
            seen.add(kind);
        }
    });
    (log, first)
}

const BEFORE: [&str; 2] = ["toolExecutionStart", "Step 1: Fetching data..."];
const BEHIND: [&str; 3] = [
    "Step 2: Processing...",
    "Step 3: Writing...",
    "toolExecutionEnd",
];

/// Runs the agent, lets the tool go when the first step was seen, and checks the order.
async fn check(agent: Agent, model: ScriptedModel, go: impl FnOnce()) {
    let (log, first) = watch(&agent);
    let running = tokio::spawn(async move { agent.run("Hello").await });
    first.wait().await;
    assert_eq!(log.take(), BEFORE, "seen while the tool runs");
    go();
    within(running).await.unwrap().unwrap();
    assert_eq!(log.take(), BEHIND);
    let prompts = model.prompts();
    assert_eq!(asked(&prompts[1]).last().unwrap()["content"], "Done!");
    assert_eq!(prompts.len(), 2, "no partial result reaches the model");
}

#[tokio::test]
async fn y51_steps_of_a_tool_of_this_program_are_seen_while_it_runs() {
    let go = Signal::default();
    let may_go = go.clone();
    let tool = parallel("steps", move |call| {
        let (progress, may_go) = (Arc::clone(&call.progress), may_go.clone());
        async move {
            progress(json!({"status": "Step 1: Fetching data..."}));
            may_go.wait().await;
            progress(json!({"status": "Step 2: Processing..."}));
            progress(json!({"status": "Step 3: Writing..."}));
            Ok(ToolResult::text("Done!"))
        }
    });
    let model = ScriptedModel::new([calls(&[("1", "steps")]), Reply::text("ok")]);
    let (agent, _) = recorded(model.clone());
    check(agent.tool(tool).build().unwrap(), model, || go.raise()).await;
}

/// What the state of this program's tools is opened from.
fn settings() -> Configuration {
    let mut configuration = Configuration::default();
    configuration.settings = Settings::default().with(env!("CARGO_PKG_NAME"), "start", json!(0));
    configuration
}

/// A plugin's tools are called over the same border as those that are linked in.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn y51_steps_of_tools_behind_the_border_are_seen_while_they_run() {
    for name in ["linked-steps", "linked-steps-plain"] {
        let folder = tempfile::tempdir().unwrap();
        let (path, arguments) = gate(&folder);
        let (registry, _) = registry();
        registry.configure(settings());
        let tools = toolsmith_static![steps, steps_plain];
        registry.register_static(tools).await.unwrap();
        let model = ScriptedModel::new([super::calling("1", name, arguments), Reply::text("ok")]);
        let agent = Agent::builder(model.clone())
            .tools(registry)
            .build()
            .unwrap();
        check(agent, model, move || fs_err::write(path, "").unwrap()).await;
    }
}
