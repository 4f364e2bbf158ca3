//! Threads and time: what blocks, hangs or is reloaded costs nobody else.

use std::time::{Duration, Instant};

use agent_core::registry::Scope;
use serde_json::json;
use tool_sdk::ErrorKind;
use toolsmith_tests::{Project, call};

/// Threads of this process with this name.
fn threads(name: &str) -> usize {
    let tasks = fs_err::read_dir("/proc/self/task").unwrap();
    let names =
        tasks.filter_map(|task| fs_err::read_to_string(task.ok()?.path().join("comm")).ok());
    names.filter(|comm| comm.trim_end() == name).count()
}

/// Four `async` tools that block do not delay the time limit of another call.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn blocking_async_tools_do_not_delay_other_time_limits() {
    let project = Project::new();
    project.plugin(
        "blocker",
        r"
        /// Blocks its plugin's runtime.
        #[tool]
        async fn block() { std::thread::sleep(std::time::Duration::from_secs(2)) }
        ",
    );
    project.plugin(
        "waiter",
        r#"
        /// Waits for ever.
        #[tool(timeout = "100ms")]
        async fn wait() { std::future::pending().await }
        "#,
    );
    let host = project.host().await;
    let blocking: Vec<_> = (0..4)
        .map(|_| {
            let host = host.clone();
            tokio::spawn(async move { call(&host, "block", json!({})).await })
        })
        .collect();
    // The best of a few, since the machine may be busy with other tests.
    let mut best = Duration::MAX;
    for _ in 0..5 {
        let begin = Instant::now();
        let result = call(&host, "wait", json!({})).await;
        best = best.min(begin.elapsed());
        assert_eq!(result.error.as_ref().unwrap().kind, ErrorKind::Timeout);
    }
    assert!(best < Duration::from_millis(150), "{best:?}");
    assert!(
        blocking.iter().any(|call| !call.is_finished()),
        "they still block"
    );
    for call in blocking {
        assert!(!call.await.unwrap().is_error);
    }
}

/// Hundreds of calls that never return leave the host's own files and name look-ups working.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hundreds_of_hung_calls_leave_the_hosts_own_work_alone() {
    let project = Project::new();
    project.plugin(
        "hang",
        r#"
        /// Never returns.
        #[tool(timeout = "300ms")]
        fn hang() { loop { std::thread::park() } }
        "#,
    );
    let host = project.host().await;
    let calls: Vec<_> = (0..600)
        .map(|_| {
            let host = host.clone();
            tokio::spawn(async move { call(&host, "hang", json!({})).await })
        })
        .collect();
    let own = async {
        let text = tokio::task::spawn_blocking(|| fs_err::read_to_string("/proc/self/comm"));
        assert!(!text.await.unwrap().unwrap().is_empty());
        assert!(
            tokio::net::lookup_host("localhost:80")
                .await
                .unwrap()
                .count()
                > 0
        );
    };
    tokio::time::timeout(Duration::from_secs(5), own)
        .await
        .expect("the host's own work goes on");
    for call in calls {
        let result = call.await.unwrap();
        let kind = result.error.as_ref().unwrap().kind;
        assert!(
            matches!(kind, ErrorKind::Timeout | ErrorKind::Unavailable),
            "{kind}"
        );
    }
}

/// A replaced generation's runtime ends with its last call.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reloads_of_an_async_plugin_leave_no_threads() {
    let source = |number: u32| {
        format!(
            r"
            /// Answers its number.
            #[tool]
            async fn number() -> u32 {{
                tool_sdk::tokio::time::sleep(std::time::Duration::from_millis(1)).await;
                {number}
            }}
            "
        )
    };
    let reloads = if std::env::var_os("TOOLSMITH_LONG").is_some() {
        50
    } else {
        10
    };
    let project = Project::new();
    project.plugin("number", &source(0));
    let host = project.host().await;
    assert_eq!(call(&host, "number", json!({})).await.text(), "0");
    let before = threads("tool-async");
    assert!(before > 0);
    for number in 1..=reloads {
        project.source("number", &source(number));
        host.registry().refresh(Scope::All, &()).await.unwrap();
        assert_eq!(
            call(&host, "number", json!({})).await.text(),
            number.to_string()
        );
    }
    let begin = Instant::now();
    while threads("tool-async") > before + 3 {
        assert!(
            begin.elapsed() < Duration::from_secs(10),
            "{} threads",
            threads("tool-async")
        );
        tokio::task::yield_now().await;
    }
}

/// A tool that promised never to wait and does runs on the pool from then on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn inline_tool_that_waits_is_demoted() {
    let project = Project::new();
    project.plugin(
        "inline",
        r#"
        /// Says where it runs.
        #[tool(inline)]
        fn place() -> String {
            std::thread::sleep(std::time::Duration::from_millis(15));
            std::fs::read_to_string("/proc/thread-self/comm").unwrap().trim().to_owned()
        }
        "#,
    );
    let host = project.host().await;
    assert_ne!(call(&host, "place", json!({})).await.text(), "tool-call");
    assert_eq!(call(&host, "place", json!({})).await.text(), "tool-call");
}
