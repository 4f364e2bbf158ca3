//! Files that are changed or deleted while they are mapped, with calls running.

use std::io::{Seek as _, Write as _};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use agent_core::registry::Scope;
use fs_err as fs;
use serde_json::json;
use toolsmith_tests::{DEADLINE, call};

use super::fixture::{Host, libraries};

/// Writes into the same file, so that whoever has it mapped would see it.
fn overwrite(path: &Path, bytes: &[u8]) {
    let mut file = fs::OpenOptions::new().write(true).open(path).unwrap();
    file.set_len(0).unwrap();
    file.rewind().unwrap();
    file.write_all(bytes).unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_go_on_while_their_file_is_overwritten_cut_and_deleted() {
    let folder = Host::new();
    let path = folder.project.plugins().join("libgood.so");
    let host = folder.project.host().await;
    let done = Arc::new(AtomicBool::new(false));
    let answered = Arc::new(AtomicU32::new(0));
    let callers: Vec<_> = ["fine", "fine", "fine_slow", "fine_slow"]
        .map(|tool| {
            let (host, done, answered) = (host.clone(), Arc::clone(&done), Arc::clone(&answered));
            tokio::spawn(async move {
                while !done.load(Ordering::Relaxed) {
                    let result = call(&host, tool, json!({})).await;
                    assert!(!result.is_error, "{result:?}");
                    answered.fetch_add(1, Ordering::Relaxed);
                }
            })
        })
        .into();
    let good = &libraries().good;
    let garbage = vec![0xa5; good.len()];
    for bytes in [
        &garbage[..],
        &good[..4096],
        &[],
        &good[..good.len() / 2],
        &garbage[..100],
    ] {
        overwrite(&path, bytes);
        host.registry().refresh(Scope::All, &()).await.unwrap();
        let before = answered.load(Ordering::Relaxed);
        let begin = Instant::now();
        while answered.load(Ordering::Relaxed) < before + 8 {
            assert!(begin.elapsed() < DEADLINE);
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        let status = &host.registry().plugins()[0];
        assert!(status.reason.is_some(), "{status:?}");
    }
    let answer = async || {
        let result = call(&host, "fine", json!({})).await;
        serde_json::to_value(&result.content).unwrap()[0]["text"].clone()
    };
    overwrite(&path, &libraries().newer);
    host.registry().refresh(Scope::All, &()).await.unwrap();
    assert_eq!(answer().await, "newer");
    // The older version returns, while nobody knows whether its image is mapped still.
    overwrite(&path, good);
    host.registry().refresh(Scope::All, &()).await.unwrap();
    assert_eq!(answer().await, "fine");
    done.store(true, Ordering::Relaxed);
    for caller in callers {
        caller.await.unwrap();
    }
    let running = tokio::spawn({
        let host = host.clone();
        async move { call(&host, "fine_slow", json!({})).await }
    });
    while host.registry().plugins()[0].in_flight == 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    fs::remove_file(&path).unwrap();
    host.registry().refresh(Scope::All, &()).await.unwrap();
    assert!(host.registry().table().get("fine").is_none());
    assert!(!running.await.unwrap().is_error);
}
