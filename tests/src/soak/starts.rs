//! The process of a plugin ends again and again while callers call another plugin without a pause.
//!
//! Each process is asked two times: who it is, and to end. Two of three processes are workers, the
//! last third runs in a sandbox.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use agent_core::call::Caller;
use agent_core::config::Isolation;
use agent_core::registry::{Configuration, Policies, Policy, Scope};
use fs_err as fs;
use serde_json::{Value, json};
use tool_sdk::ErrorKind;
use toolsmith_tests::{DEADLINE, Project, call};

use crate::resources::Resources;

const CALLERS: usize = 8;

/// How many processes come and go before anything is counted.
const WARM_UP: u64 = 5;

/// How long what ends may take to be gone.
const QUIET: Duration = Duration::from_secs(10);

const BRIEF: &str = r"
    use std::sync::atomic::{AtomicU64, Ordering};

    static ANSWERS: AtomicU64 = AtomicU64::new(0);

    /// Who it is: how many answers came before, what was asked, its process.
    #[tool]
    fn who(asked: u64) -> Value {
        json!([ANSWERS.fetch_add(1, Ordering::Relaxed), asked, std::process::id()])
    }

    /// Ends.
    #[tool]
    fn leave() { std::process::exit(0) }
";

const STEADY: &str = r"
    /// Answers.
    #[tool]
    async fn echo(number: u64) -> u64 { number }
";

/// What came of so many starts, and whether each answer was right.
pub(crate) async fn run(starts: u64) -> (Value, bool) {
    let project = Project::new();
    project.plugin("brief", BRIEF);
    project.plugin("steady", STEADY);
    let site = Site {
        caller: project.host().await,
        brief: project.crate_name("brief"),
        processes: 0,
        last: 0,
        wrong: Vec::new(),
    };
    let stop = Arc::new(AtomicBool::new(false));
    let calls = Arc::new(AtomicU64::new(0));
    let callers: Vec<_> = (0..CALLERS)
        .map(|_| {
            let (stop, calls) = (Arc::clone(&stop), Arc::clone(&calls));
            tokio::spawn(echo(site.caller.clone(), stop, calls))
        })
        .collect();
    let begin = Instant::now();
    let mut site = site;
    let mut tiers = Vec::new();
    for (isolation, starts) in [
        (Isolation::Worker, starts - starts / 3),
        (Isolation::Sandbox, starts / 3),
    ] {
        site.isolate(isolation).await;
        site.start_often(WARM_UP).await;
        let before = Resources::now();
        site.start_often(starts).await;
        let left = left(&before, project.path()).await;
        tiers.push(json!({"isolation": isolation.to_string(), "starts": starts, "left": left}));
    }
    let seconds = begin.elapsed().as_secs_f64();
    stop.store(true, Ordering::Relaxed);
    let mut failed = 0;
    for caller in callers {
        failed += caller.await.expect("a caller does not panic");
    }
    let is_good = site.wrong.is_empty() && failed == 0;
    let report = json!({
        "tiers": tiers, "processes": site.processes, "wrong": site.wrong,
        "calls": calls.load(Ordering::Relaxed), "failed": failed, "seconds": seconds,
    });
    (report, is_good)
}

struct Site {
    caller: Caller,
    brief: String,
    /// How many processes have answered, and the last one.
    processes: u64,
    last: u64,
    /// Answers that were not right.
    wrong: Vec<String>,
}

impl Site {
    async fn isolate(&self, isolation: Isolation) {
        let policy = Policy {
            isolation: Some(isolation),
            ..Policy::default()
        };
        let mut configuration = Configuration::default();
        configuration.policies = Policies::default().with(self.brief.as_str(), policy);
        let registry = self.caller.registry();
        registry.configure(configuration);
        registry.refresh(Scope::All, &()).await.expect("readable");
        let plugins = registry.plugins();
        let all_serve = plugins.iter().all(|plugin| plugin.reason.is_none());
        assert!(all_serve, "{plugins:?}");
    }

    async fn start_often(&mut self, times: u64) {
        for number in 0..times {
            let who = call(&self.caller, "who", json!({"asked": number})).await;
            let answer: Option<(u64, u64, u64)> = serde_json::from_str(&who.text()).ok();
            match answer {
                // A number may come back after a while.
                Some((0, asked, process)) if asked == number && process != self.last => {
                    self.processes += 1;
                    self.last = process;
                }
                _ => self.wrong.push(who.text()),
            }
            let left = call(&self.caller, "leave", json!({})).await;
            let kind = left.error.as_ref().map(|error| error.kind);
            if kind != Some(ErrorKind::Crashed) {
                self.wrong.push(left.text());
            }
        }
    }
}

/// What is more than before, once what ends is gone; or after a while.
async fn left(before: &Resources, project: &Path) -> Value {
    let begin = Instant::now();
    loop {
        let now = Resources::now();
        let more = |now: u64, before: u64| now.saturating_sub(before);
        let descriptors = more(now.descriptors, before.descriptors);
        let threads = more(now.threads, before.threads);
        let children = more(now.children, before.children);
        if descriptors + threads + children == 0 || begin.elapsed() > QUIET {
            let scratch = project.join(".toolsmith/scratch");
            return json!({
                "descriptors": descriptors,
                "threads": threads,
                "children": children,
                "ownKilobytes": more(now.own, before.own),
                "scratchFolders": fs::read_dir(scratch).map_or(0, Iterator::count),
            });
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Calls until it is told to stop. Answers how many calls failed.
async fn echo(caller: Caller, stop: Arc<AtomicBool>, calls: Arc<AtomicU64>) -> u64 {
    let mut failed = 0;
    while !stop.load(Ordering::Relaxed) {
        let number = calls.fetch_add(1, Ordering::Relaxed);
        let answer = call(&caller, "echo", json!({"number": number}));
        let answer = tokio::time::timeout(DEADLINE, answer).await;
        let is_right = answer.is_ok_and(|answer| answer.text() == number.to_string());
        failed += u64::from(!is_right);
        tokio::time::sleep(Duration::from_micros(200)).await;
    }
    failed
}
