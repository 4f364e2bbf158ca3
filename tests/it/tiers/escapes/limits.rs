//! What one plugin must not use up, and code that nobody has looked at.

use agent_core::config::Isolation;
use serde_json::json;

use super::site::{Site, wait_until};
use super::{Attempt, check, escape};

const LIMITS: [Attempt; 4] = [
    escape("open 2000 files", "EMFILE"),
    escape("make a file of 2 GiB", "EFBIG"),
    escape("write behind 2 GiB", "EFBIG"),
    escape("start a program that it has written", "EPERM"),
];

const GREEDY: [&str; 4] = [
    "take 512 MiB",
    "take 512 MiB in pieces",
    "take 512 MiB without asking",
    "start 600 threads",
];

/// What a call is told whose process has ended.
const ENDED: &str = "ended during the call";

#[tokio::test(flavor = "multi_thread")]
async fn files_and_their_sizes_are_limited() {
    check(&LIMITS).await;
}

/// What goes beyond is an error where the process itself is limited, and its end where a control group
/// is, or where the code does not ask.
#[tokio::test(flavor = "multi_thread")]
async fn memory_and_threads_are_limited() {
    let site = Site::new(Isolation::Worker, "").await;
    for act in GREEDY {
        assert_eq!(site.attempt(act).await, "ok", "{act}");
    }
    let site = Site::new(Isolation::Sandbox, "limits.memory = \"64MiB\"").await;
    for act in GREEDY {
        let outcome = site.attempt(act).await;
        let refused = ["ENOMEM", "EAGAIN"].contains(&outcome.as_str());
        assert!(refused || outcome.contains(ENDED), "{act}: {outcome}");
        site.assert_alive().await;
    }
    let lifted = site.attempt("lift the limit of memory").await;
    assert_eq!(lifted, "EPERM");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_works_on_and_on_is_replaced() {
    let site = Site::new(Isolation::Sandbox, "").await;
    let before = site.text("pid", json!({})).await;
    let spun = site.text("spin", json!({})).await;
    assert!(spun.contains("300"), "{spun}");
    wait_until("another process takes the calls", async || {
        site.text("pid", json!({})).await != before
    })
    .await;
    let gone = async || !std::path::Path::new("/proc").join(&before).exists();
    wait_until("the process that hung is gone", gone).await;
}

/// Landlock does not look at what is mapped, so code that the tool has written runs: in the sandbox,
/// as every code of the tool.
#[tokio::test(flavor = "multi_thread")]
async fn code_that_it_has_written_is_confined_as_well() {
    let site = Site::new(Isolation::Sandbox, "").await;
    let before = site.outside();
    let mapped = site.attempt("map a library that it has written").await;
    assert_eq!(mapped, "ok");
    // Its constructor has tried.
    assert!(!site.project.path().join("mapped").exists());
    assert_eq!(site.outside(), before);
    site.assert_alive().await;
}

/// A filter by numbers would take calls of another processor for others.
#[cfg(target_arch = "x86_64")]
#[tokio::test(flavor = "multi_thread")]
async fn calls_of_another_processor_end_the_process() {
    let site = Site::new(Isolation::Worker, "").await;
    let free = site.attempt("call with 32 bits").await;
    // Not every kernel knows them.
    assert!(free == "ok" || free.contains("SIGSEGV"), "{free}");

    let site = Site::new(Isolation::Sandbox, "").await;
    let confined = site.attempt("call with 32 bits").await;
    let end = if free == "ok" { "SIGSYS" } else { "SIGSEGV" };
    assert!(
        confined.contains(ENDED) && confined.contains(end),
        "{confined}"
    );
    site.assert_alive().await;
}
