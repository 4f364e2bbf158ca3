//! Callers call without a pause while plugins are edited, built and replaced.
//!
//! Every version of a plugin answers with the number that
//! was compiled into it; a caller looks up which version is published, calls, and counts the call
//! as stale if an older one answers. Three of four reloads are finished libraries that appear, one
//! is an edit of a crate's source.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use agent_core::abort::AbortSignal;
use agent_core::call::{Arguments, Caller, ToolCall};
use fs_err as fs;
use serde_json::{Value, json};
use toolsmith_tests::{DEADLINE, Project, exchanged};

use crate::resources::Resources;

const CALLERS: usize = 8;

/// The kinds of tools; each plugin has one of each.
const KINDS: [&str; 3] = ["sync", "task", "fast"];

/// A crate whose tools answer with this number.
fn source(version: u64) -> String {
    format!(
        r#"
        /// Waits for no one.
        #[tool(name = "edited_sync")]
        fn sync() -> String {{ "version-{version:06}".into() }}

        /// Comes back later.
        #[tool(name = "edited_task")]
        async fn task() -> String {{
            tool_sdk::tokio::time::sleep(std::time::Duration::from_millis(1)).await;
            "version-{version:06}".into()
        }}

        /// Is done at once.
        #[tool(name = "edited_fast", inline)]
        fn fast() -> String {{ "version-{version:06}".into() }}
        "#
    )
}

/// What callers found.
#[derive(Debug, Default)]
struct Found {
    calls: AtomicU64,
    failed: AtomicU64,
    stale: AtomicU64,
    stop: AtomicBool,
}

/// What came of so many reloads, and whether nothing failed, was lost or was stale.
pub(crate) async fn run(reloads: u64) -> (Value, bool) {
    let project = Project::new();
    project.plugin("edited", &source(0));
    let caller = project.host().await;
    let library = library(&project, &caller);
    let library = as_dropped(library);
    let dropped = project.plugins().join("libdropped.so");
    fs::write(&dropped, &library).expect("writable");
    let _watch = caller.registry().watch(Arc::new(()));
    published(&caller, "droppd_sync", 0).await;

    let found = Arc::new(Found::default());
    let started: Vec<_> = (0..CALLERS)
        .map(|number| tokio::spawn(call(caller.clone(), Arc::clone(&found), number)))
        .collect();
    let (begin, before) = (Instant::now(), Resources::now());
    let (mut edits, mut drops) = (0, 0);
    for reload in 1..=reloads {
        if reload % 4 == 0 {
            edits += 1;
            project.source("edited", &source(edits));
            published(&caller, "edited_sync", edits).await;
        } else {
            drops += 1;
            fs::write(&dropped, of_version(&library, drops)).expect("writable");
            published(&caller, "droppd_sync", drops).await;
        }
    }
    let elapsed = begin.elapsed();
    found.stop.store(true, Ordering::Relaxed);
    let mut lost = 0;
    for caller in started {
        lost += u64::from(tokio::time::timeout(DEADLINE, caller).await.is_err());
    }
    let after = Resources::now();
    let count = |of: &AtomicU64| of.load(Ordering::Relaxed);
    let (failed, stale) = (count(&found.failed), count(&found.stale));
    #[expect(clippy::cast_precision_loss, reason = "counts are small")]
    let per_reload = |before: u64, after: u64| (after as f64 - before as f64) / reloads as f64;
    let report = json!({
        "reloads": reloads, "edits": edits, "drops": drops,
        "calls": count(&found.calls), "failed": failed, "lost": lost, "stale": stale,
        "seconds": elapsed.as_secs_f64(),
        "residentKilobytesPerReload": per_reload(before.resident, after.resident),
        "ownKilobytesPerReload": per_reload(before.own, after.own),
        "descriptorsPerReload": per_reload(before.descriptors, after.descriptors),
        "threadsPerReload": per_reload(before.threads, after.threads),
    });
    (report, failed + lost + stale == 0)
}

/// Calls one tool after the other until it is told to stop.
async fn call(caller: Caller, found: Arc<Found>, number: usize) {
    let tools = ["edited", "droppd"].map(|plugin| KINDS.map(|kind| format!("{plugin}_{kind}")));
    let tools = tools.as_flattened();
    for tool in tools.iter().cycle().skip(number) {
        if found.stop.load(Ordering::Relaxed) {
            return;
        }
        let published = generation(&caller, tool);
        let call = ToolCall::new(tool.as_str(), Arguments::Text(String::new()));
        let result = caller.call(call, &AbortSignal::new()).await.result;
        found.calls.fetch_add(1, Ordering::Relaxed);
        let text = result.text();
        match text
            .strip_prefix("version-")
            .and_then(|text| text.parse::<u64>().ok())
        {
            // The first generation is number 1 and has version 0.
            Some(version) if !result.is_error => {
                let is_stale = version + 1 < published;
                found
                    .stale
                    .fetch_add(u64::from(is_stale), Ordering::Relaxed);
            }
            _ => _ = found.failed.fetch_add(1, Ordering::Relaxed),
        }
        // The compiler needs a core as well.
        tokio::time::sleep(Duration::from_micros(200)).await;
    }
}

fn generation(caller: &Caller, tool: &str) -> u64 {
    let table = caller.registry().table();
    table.get(tool).map_or(0, |entry| entry.generation().0)
}

/// Waits until a version is published.
async fn published(caller: &Caller, tool: &str, version: u64) {
    let begin = Instant::now();
    while generation(caller, tool) != version + 1 {
        assert!(
            begin.elapsed() < DEADLINE,
            "version {version} of {tool} does not arrive"
        );
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

/// The library of the crate.
fn library(project: &Project, caller: &Caller) -> Vec<u8> {
    let plugins = caller.registry().plugins();
    let hash = plugins.first().and_then(|plugin| plugin.hash);
    let file = format!(".toolsmith/store/{}.so", hash.expect("it serves"));
    fs::read(project.path().join(file)).expect("readable")
}

/// The same library with other names.
fn as_dropped(mut library: Vec<u8>) -> Vec<u8> {
    for kind in KINDS {
        library = exchanged(&library, format!("edited_{kind}"), format!("droppd_{kind}"));
    }
    library
}

/// The same library with another number.
fn of_version(library: &[u8], version: u64) -> Vec<u8> {
    exchanged(library, "version-000000", format!("version-{version:06}"))
}
