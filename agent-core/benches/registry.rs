//! Rows 4, 6, 6b and 7: a finished library appears, 200 plugins at the start, 10,000 calls at once.
//!
//! Libraries are variants of one: equally long pieces of text in it are exchanged, which gives each
//! of them tools, answers and a hash of its own. What maps 200 libraries runs in a process of its
//! own for each measurement, since nothing is ever unmapped.
#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a bench prints, and ends where it can't measure"
)]

mod support;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agent_core::abort::AbortSignal;
use agent_core::build::{Builder, CrateManifest, Profile};
use agent_core::call::{Arguments, Caller, ToolCall};
use agent_core::event::Emitter;
use agent_core::ids::ContentHash;
use agent_core::plugin::load::load;
use agent_core::registry::{Registry, RegistryOptions, Scope};
use fs_err as fs;
use support::{Project, median, report};

const PLUGINS: u32 = 200;
const ROUNDS: u32 = 7;
const APPEARANCES: u32 = 25;
const CALLS: usize = 10_000;

const SOURCE: &str = r#"
    use tool_sdk::prelude::*;

    /// Which version.
    #[tool(name = "tool_name_0000")]
    fn version(name: String, times: u8) -> String {
        format!("{name} {times} {}", "version-0000")
    }

    /// Adds.
    #[tool(name = "more_name_0000")]
    fn add(a: i64, b: i64, note: Option<String>) -> String {
        format!("{} {note:?}", a + b)
    }

    /// Waits.
    #[tool(name = "wait_name_0000")]
    async fn wait() {
        tool_sdk::tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    }
"#;

fn main() {
    agent_core::helper::init();
    let arguments: Vec<String> = std::env::args().collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[1..] {
        ["start", plugins, state] => start(plugins, state),
        ["map", folder] => map(folder),
        ["map-first", folder, copies] => map_first(folder, copies),
        _ => runtime().block_on(run()),
    }
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime")
}

async fn run() {
    let library = library(Profile::Dev).await;
    println!("    a library has {} kB", library.len() / 1000);
    appearance(&library).await;
    starts(&library);
    concurrency().await;
}

/// The library that all others are variants of.
async fn library(profile: Profile) -> Vec<u8> {
    let project = Project::new();
    project.plugin("bench-registry", SOURCE);
    let manifest = CrateManifest::read(&project.path().join("plugins/bench-registry"));
    let builder: Arc<Builder> = project.builder(profile);
    let never = tokio_util::sync::CancellationToken::new();
    let built = builder
        .ensure(&manifest.expect("a crate"), &(), &never)
        .await;
    fs::read(built.expect("it builds").library).expect("readable")
}

/// The library with other tools and other answers.
fn variant(library: &[u8], number: u32, version: u32) -> Vec<u8> {
    let mut bytes = library.to_vec();
    let mut exchange = |old: &str, new: String| {
        let places: Vec<usize> = bytes
            .windows(old.len())
            .enumerate()
            .filter_map(|(at, part)| (part == old.as_bytes()).then_some(at))
            .collect();
        assert!(!places.is_empty(), "`{old}` is in the library");
        for at in places {
            bytes[at..at + old.len()].copy_from_slice(new.as_bytes());
        }
    };
    for name in ["tool", "more", "wait"] {
        exchange(
            &format!("{name}_name_0000"),
            format!("{name}_name_{number:04}"),
        );
    }
    exchange("version-0000", format!("version-{version:04}"));
    bytes
}

/// Row 4.
async fn appearance(library: &[u8]) {
    let folder = tempfile::tempdir().expect("a folder");
    let plugins = folder.path().join("plugins");
    fs::create_dir(&plugins).expect("writable");
    let options = RegistryOptions::new(&plugins, folder.path().join("state"));
    let registry = Registry::open(options, None, Emitter::default()).expect("writable");
    let _watch = registry.watch(Arc::new(()));
    let caller = Caller::new(registry, Emitter::default());
    let mut times = Vec::new();
    for round in 1..=APPEARANCES {
        let bytes = variant(library, 1, round);
        let expected = format!("x 1 version-{round:04}");
        // A person's pause: the host has nothing left to do from the last round.
        tokio::time::sleep(Duration::from_millis(100)).await;
        let begin = Instant::now();
        fs::write(plugins.join("libappears.so"), bytes).expect("writable");
        while version(&caller).await != expected {
            assert!(begin.elapsed() < Duration::from_secs(30), "it is not seen");
            tokio::time::sleep(Duration::from_micros(500)).await;
        }
        times.push(begin.elapsed());
    }
    let time = median(&mut times);
    let verdict = if time <= Duration::from_millis(25) {
        "met"
    } else {
        "MISSED"
    };
    println!("  4 a finished library appears → new code answers: {time:?} (goal 25 ms, {verdict})");
}

async fn version(caller: &Caller) -> String {
    let arguments = Arguments::Text(r#"{"name":"x","times":1}"#.to_owned());
    let call = ToolCall::new("tool_name_0001", arguments);
    let finalized = caller.call(call, &AbortSignal::new()).await;
    finalized.result.text()
}

/// Rows 6 and 6b.
fn starts(library: &[u8]) {
    let folder = tempfile::tempdir().expect("a folder");
    let plugins = folder.path().join("plugins");
    fs::create_dir(&plugins).expect("writable");
    for number in 1..=PLUGINS {
        let file = plugins.join(format!("libplugin_{number:04}.so"));
        fs::write(file, variant(library, number, 0)).expect("writable");
    }
    // What was written a moment ago is not trusted by its times.
    std::thread::sleep(Duration::from_millis(100));
    let (mut first, mut first_limit) = (Vec::new(), Vec::new());
    let (mut later, mut later_limit) = (Vec::new(), Vec::new());
    let (state, copies) = (folder.path().join("state"), folder.path().join("copies"));
    for _ in 0..ROUNDS {
        for used in [&state, &copies] {
            drop(fs::remove_dir_all(used));
        }
        first.push(child(&[Path::new("start"), &plugins, &state]));
        first_limit.push(child(&[Path::new("map-first"), &plugins, &copies]));
        later.push(child(&[Path::new("start"), &plugins, &state]));
        later_limit.push(child(&[Path::new("map"), &copies]));
    }
    report(
        "6",
        "start with 200 judged plugins, against mapping them",
        &mut later,
        &mut later_limit,
        3.0,
    );
    report(
        "6b",
        "first start with 200, against copy, hash and map",
        &mut first,
        &mut first_limit,
        3.0,
    );
}

/// Runs a part of this bench in a process of its own, which prints nanoseconds.
fn child(arguments: &[&Path]) -> Duration {
    let program = std::env::current_exe().expect("this program has a file");
    let output = Command::new(program).args(arguments).output();
    let output = output.expect("it starts");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let text = String::from_utf8_lossy(&output.stdout);
    Duration::from_nanos(text.trim().parse().expect("nanoseconds"))
}

fn start(plugins: &str, state: &str) {
    runtime().block_on(async {
        let begin = Instant::now();
        let options = RegistryOptions::new(plugins, state);
        let registry = Registry::open(options, None, Emitter::default()).expect("writable");
        registry.refresh(Scope::All, &()).await.expect("readable");
        let ended = begin.elapsed();
        let table = registry.table();
        assert_eq!(table.entries().len(), 3 * PLUGINS as usize);
        assert!(table.entries().iter().all(|entry| entry.schema().is_ok()));
        let caller = Caller::new(registry, Emitter::default());
        assert_eq!(version(&caller).await, "x 1 version-0000");
        println!("{}", ended.as_nanos());
    });
}

fn map(folder: &str) {
    let files = files(folder);
    let begin = Instant::now();
    for file in &files {
        load(file).expect("it fits");
    }
    println!("{}", begin.elapsed().as_nanos());
}

fn map_first(folder: &str, copies: &str) {
    fs::create_dir(copies).expect("writable");
    let files = files(folder);
    let begin = Instant::now();
    for file in &files {
        let bytes = fs::read(file).expect("readable");
        let copy = Path::new(copies).join(file.file_name().expect("a name"));
        fs::write(&copy, &bytes).expect("writable");
        std::hint::black_box(ContentHash::of(&bytes));
        load(&copy).expect("it fits");
    }
    println!("{}", begin.elapsed().as_nanos());
}

fn files(folder: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("readable");
    entries
        .map(|entry| entry.expect("an entry").path())
        .collect()
}

/// Row 7.
async fn concurrency() {
    let project = Project::new();
    project.plugin("bench-registry", SOURCE);
    let registry = project.registry(Profile::Dev, Emitter::default());
    registry.refresh(Scope::All, &()).await.expect("readable");
    let caller = Caller::new(registry, Emitter::default());
    let wait = || {
        let caller = caller.clone();
        async move {
            let call = ToolCall::new("wait_name_0000", Arguments::Text(String::new()));
            caller.call(call, &AbortSignal::new()).await.result.is_error
        }
    };
    assert!(!wait().await);
    let mut times = Vec::new();
    let mut threads = 0;
    for _ in 0..3 {
        let begin = Instant::now();
        let calls: Vec<_> = (0..CALLS).map(|_| tokio::spawn(wait())).collect();
        tokio::time::sleep(Duration::from_millis(500)).await;
        threads = threads.max(files("/proc/self/task").len());
        for call in calls {
            assert!(!call.await.expect("no panic"));
        }
        times.push(begin.elapsed());
    }
    let time = median(&mut times);
    let verdict = if time <= Duration::from_millis(1300) && threads < 50 {
        "met"
    } else {
        "MISSED"
    };
    println!(
        "  7 {CALLS} calls that sleep 1 s: {time:?}, {threads} threads (goal 1.3 s, no thread per \
         call, {verdict})"
    );
}
