//! Batches of calls of plugins: they overlap on threads of their own, and a turn's tools stay.

use std::sync::Arc;

use agent_core::abort::AbortSignal;
use agent_core::config::ToolExecution::{Parallel, PerTool, Sequential};
use agent_core::registry::Scope;
use serde_json::json;
use toolsmith_tests::Project;

use super::{kinds, make, numbered};

/// Two calls that end only if they run at the same time, blocking and async.
const MEETING: &str = r#"
    fn meet(here: &str, there: &str) -> Result<String> {
        std::fs::write(here, "")?;
        let begin = std::time::Instant::now();
        while !std::path::Path::new(there).exists() {
            if begin.elapsed() > std::time::Duration::from_secs(30) {
                return Err(ToolError::new("nobody came"));
            }
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
        Ok("met".to_owned())
    }

    /// Meets another call.
    #[tool(parallel = true)]
    fn meet_blocking(here: String, there: String) -> Result<String> {
        meet(&here, &there)
    }

    /// Meets another call.
    #[tool(parallel = true)]
    async fn meet_async(here: String, there: String) -> Result<String> {
        std::fs::write(here, "")?;
        while !std::path::Path::new(&there).exists() {
            tool_sdk::tokio::time::sleep(std::time::Duration::from_millis(2)).await;
        }
        Ok("met".to_owned())
    }

    /// Says whether the other is there.
    #[tool(parallel = true)]
    fn alone(here: String, there: String) -> Result<bool> {
        std::fs::write(&here, "")?;
        std::thread::sleep(std::time::Duration::from_millis(20));
        let is_alone = !std::path::Path::new(&there).exists();
        std::fs::remove_file(here)?;
        Ok(is_alone)
    }
"#;

/// Y45, Y46: calls of plugins overlap in truth, whether they block their thread or not; one at a
/// time they don't.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn y46_calls_of_plugins_meet_each_other() {
    let project = Project::new();
    project.plugin("meeting", MEETING);
    let caller = project.host().await;
    let file = |name: &str| project.path().join(name);
    for tool in ["meet_blocking", "meet_async"] {
        for mode in [PerTool, Parallel] {
            let pairs = [("a", "b"), ("b", "a")]
                .map(|(here, there)| (tool, json!({"here": file(here), "there": file(there)})));
            let batch = make(&caller, &numbered(pairs), mode).await;
            assert_eq!(kinds(&batch), ["ok", "ok"], "{tool} {mode:?}");
            for name in ["a", "b"] {
                fs_err::remove_file(file(name)).unwrap();
            }
        }
    }
    let pairs = [("a", "b"), ("b", "a")]
        .map(|(here, there)| ("alone", json!({"here": file(here), "there": file(there)})));
    let batch = make(&caller, &numbered(pairs), Sequential).await;
    let texts: Vec<_> = batch.results.iter().map(|one| one.result.text()).collect();
    assert_eq!(texts, ["true", "true"]);
}

fn waiting(word: &str) -> String {
    format!(
        r#"
        /// Reports, and waits for a file.
        #[tool(parallel = true)]
        async fn report(path: String, number: u32) -> Result<String> {{
            std::fs::write(format!("{{path}}.{{number}}"), "")?;
            while !std::path::Path::new(&path).exists() {{
                tool_sdk::tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            }}
            Ok("{word}".to_owned())
        }}
        "#
    )
}

/// A turn's calls all run what the model was shown, although the plugin is replaced between them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pinned_batch_runs_one_version_across_a_reload() {
    let project = Project::new();
    project.plugin("report", &waiting("old"));
    let caller = project.host().await;
    let registry = caller.registry().clone();
    let path = project.path().join("go");
    let calls = numbered([1, 2].map(|n| ("report", json!({"path": path, "number": n}))));
    let pinned = caller.pinned(Arc::new(registry.pin()));
    let (first, running) = (project.path().join("go.1"), calls.clone());
    let batch = tokio::spawn(async move {
        let abort = AbortSignal::new();
        pinned.call_all(&running, Sequential, &abort, &|_| ()).await
    });
    let begin = std::time::Instant::now();
    while !first.exists() {
        assert!(begin.elapsed() < toolsmith_tests::DEADLINE);
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    project.source("report", &waiting("new"));
    registry.refresh(Scope::All, &()).await.unwrap();
    assert_eq!(registry.table().get("report").unwrap().generation().0, 2);
    project.write("go", "");
    let batch = crate::host::within(batch).await.unwrap();
    let texts: Vec<_> = batch.results.iter().map(|one| one.result.text()).collect();
    assert_eq!(texts, ["old", "old"]);
    let now = make(&caller, &calls, Sequential).await;
    assert_eq!(now.results[0].result.text(), "new");
}
