//! `max_concurrent`: so many calls of one tool run at the same time, the others wait their turn.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use agent_core::abort::AbortSignal;
use agent_core::call::{Arguments, Caller, Finalized, ToolCall};
use agent_core::registry::Scope;
use agent_core::tool::{FunctionTool, ToolCallResult};
use serde_json::json;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use tool_sdk::{ErrorKind, ToolResult};
use toolsmith_tests::{DEADLINE, Project};

use crate::host::{Host, open_spec, within};

/// A tool that counts how many of its calls run, and lets one end at a time.
#[derive(Clone)]
struct Gate {
    running: Arc<AtomicUsize>,
    most: Arc<AtomicUsize>,
    /// One permit for each call that has come in.
    entered: Arc<Semaphore>,
    /// One permit for each call that may go on.
    open: Arc<Semaphore>,
}

impl Gate {
    fn new() -> Self {
        Self {
            running: Arc::default(),
            most: Arc::default(),
            entered: Arc::new(Semaphore::new(0)),
            open: Arc::new(Semaphore::new(0)),
        }
    }

    fn tool(&self, limit: u32) -> FunctionTool {
        let gate = self.clone();
        let mut spec = open_spec("gate");
        spec.max_concurrent = Some(limit);
        FunctionTool::new(spec, move |_| {
            let gate = gate.clone();
            async move {
                let running = gate.running.fetch_add(1, Ordering::SeqCst) + 1;
                gate.most.fetch_max(running, Ordering::SeqCst);
                gate.entered.add_permits(1);
                gate.open.acquire().await.unwrap().forget();
                gate.running.fetch_sub(1, Ordering::SeqCst);
                Ok(ToolResult::text("through"))
            }
        })
    }

    /// Waits until one more call has come in.
    async fn entered(&self) {
        within(self.entered.acquire()).await.unwrap().forget();
    }

    /// The most calls that ran at the same time.
    fn most(&self) -> usize {
        self.most.load(Ordering::SeqCst)
    }
}

fn start(caller: &Caller, abort: &AbortSignal) -> JoinHandle<Finalized> {
    let (caller, abort) = (caller.clone(), abort.clone());
    let call = ToolCall::new("gate", Arguments::Json(json!({})));
    tokio::spawn(async move { caller.call(call, &abort).await })
}

async fn end(call: JoinHandle<Finalized>) -> Arc<ToolCallResult> {
    within(call).await.unwrap().result
}

#[tokio::test]
async fn calls_beyond_the_limit_wait_for_their_turn() {
    let gate = Gate::new();
    let host = Host::with(gate.tool(2)).await;
    let abort = AbortSignal::new();
    let calls: Vec<_> = (0..5).map(|_| start(&host.caller(), &abort)).collect();
    gate.entered().await;
    for _ in 0..4 {
        gate.entered().await;
        gate.open.add_permits(1);
    }
    gate.open.add_permits(1);
    for call in calls {
        assert_eq!(end(call).await.text(), "through");
    }
    assert_eq!(gate.most(), 2);
    // A waiting call has started for whoever listens: its arguments are final.
    let types = host.events.take_types();
    let starts = types.iter().filter(|kind| *kind == "toolExecutionStart");
    assert_eq!(starts.count(), 5);
}

#[tokio::test(start_paused = true)]
async fn waiting_counts_toward_the_time_limit() {
    let gate = Gate::new();
    let host = Host::with(gate.tool(1)).await;
    let abort = AbortSignal::new();
    let caller = host.caller().with_timeout(Duration::from_secs(5));
    let first = start(&caller, &abort);
    gate.entered().await;
    let began = tokio::time::Instant::now();
    let second = start(&caller, &abort);
    tokio::time::sleep(Duration::from_secs(4)).await;
    gate.open.add_permits(1);
    assert_eq!(end(first).await.text(), "through");
    let late = end(second).await;
    assert_eq!(late.error.as_ref().unwrap().kind, ErrorKind::Timeout);
    assert_eq!(began.elapsed(), Duration::from_secs(5));
    // A call that is given up gives its turn back.
    let third = start(&caller, &abort);
    gate.open.add_permits(1);
    assert_eq!(end(third).await.text(), "through");
}

#[tokio::test]
async fn abort_ends_a_call_that_waits_for_its_turn() {
    let gate = Gate::new();
    let host = Host::with(gate.tool(1)).await;
    let (first_abort, abort) = (AbortSignal::new(), AbortSignal::new());
    let first = start(&host.caller(), &first_abort);
    gate.entered().await;
    let second = start(&host.caller(), &abort);
    let mut started = 0;
    while started < 2 {
        started += host.events.take_types().len();
        tokio::task::yield_now().await;
    }
    abort.abort();
    let aborted = end(second).await;
    assert_eq!(aborted.error.as_ref().unwrap().kind, ErrorKind::Aborted);
    assert_eq!(gate.most(), 1);
    gate.open.add_permits(1);
    assert_eq!(end(first).await.text(), "through");
}

/// A tool of a plugin that may run once at a time, and ends when a file is there.
fn waiting(word: &str) -> String {
    format!(
        r#"
        /// Waits for a file.
        #[tool(name = "gate", max_concurrent = 1)]
        async fn gate(
            /// The file to wait for
            path: String,
        ) -> Result<String> {{
            std::fs::write(format!("{{path}}.{word}"), "")?;
            while !std::path::Path::new(&path).exists() {{
                tool_sdk::tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            }}
            Ok("{word}".to_owned())
        }}
        "#
    )
}

/// A call of the old version holds its turn until it has ended, also for the new version.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn limit_is_kept_across_a_reload() {
    let project = Project::new();
    project.plugin("gate", &waiting("old"));
    let caller = project.host().await;
    let go = project.path().join("go");
    let call = || {
        let caller = caller.clone();
        let call = ToolCall::new("gate", Arguments::Json(json!({"path": go})));
        tokio::spawn(async move { caller.call(call, &AbortSignal::new()).await })
    };
    let old = call();
    appears(&project, "go.old").await;
    project.source("gate", &waiting("new"));
    let registry = caller.registry();
    registry.refresh(Scope::All, &()).await.unwrap();
    assert_eq!(registry.table().get("gate").unwrap().generation().0, 2);
    let new = call();
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(!project.path().join("go.new").exists());
    project.write("go", "");
    assert_eq!(end(old).await.text(), "old");
    assert_eq!(end(new).await.text(), "new");
    assert!(project.path().join("go.new").exists());
}

async fn appears(project: &Project, file: &str) {
    let there = async {
        while !project.path().join(file).exists() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(DEADLINE, there).await.unwrap();
}
