//! Rows 1a, 1b and 1c: what the whole pipeline costs, against the same work without it. Names of
//! rows behind `--` choose some of them.
#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a bench prints, and ends where it can't measure"
)]

mod support;

use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use agent_core::abort::AbortSignal;
use agent_core::build::Profile;
use agent_core::call::hook::CallView;
use agent_core::call::{After, Arguments, Before, Caller, Hooks, ToolCall};
use agent_core::event::{Emitter, Event};
use agent_core::registry::Scope;
use agent_core::tool::ToolCallResult;
use serde::Deserialize;
use support::{Project, report};

const ARGUMENTS: &str = r#"{"city":"Tokyo","days":3,"units":"celsius"}"#;
const ROUNDS: usize = 31;

const PLUGIN: &str = r#"
    use tool_sdk::prelude::*;

    fn answer(city: &str, days: u8, units: &str) -> String {
        let mut text = String::with_capacity(32);
        text.push_str(city);
        text.push(' ');
        text.push(char::from(b'0' + days));
        text.push_str(units);
        text
    }

    /// Inline.
    #[tool(name = "inline", inline)]
    fn inline_tool(city: String, days: u8, units: String) -> String { answer(&city, days, &units) }

    /// Blocking.
    #[tool]
    fn blocking(city: String, days: u8, units: String) -> String { answer(&city, days, &units) }

    /// Async.
    #[tool(name = "async")]
    async fn async_tool(city: String, days: u8, units: String) -> String { answer(&city, days, &units) }
"#;

/// What a host without a framework would do: parse, validate, read, call.
struct Bare {
    validator: jsonschema::Validator,
}

#[derive(Deserialize)]
struct BareArguments {
    city: String,
    days: u8,
    units: String,
}

impl Bare {
    fn call(&self, text: &str) -> String {
        let value: serde_json::Value = serde_json::from_str(text).expect("valid");
        assert!(self.validator.is_valid(&value));
        let arguments: BareArguments = serde_json::from_value(value).expect("valid");
        let mut text = String::with_capacity(32);
        text.push_str(&arguments.city);
        text.push(' ');
        text.push(char::from(b'0' + arguments.days));
        text.push_str(&arguments.units);
        text
    }
}

fn main() {
    agent_core::helper::init();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build();
    runtime
        .expect("a runtime")
        .block_on(async { tokio::spawn(run()).await.expect("no panic") });
}

async fn run() {
    let project = Project::new();
    project.plugin("bench-call", PLUGIN);
    let events = Emitter::new(vec![Box::new(|event: &Arc<Event>| {
        _ = black_box(event.seq);
    })]);
    let registry = project.registry(Profile::Release, events.clone());
    registry.refresh(Scope::All, &()).await.expect("readable");
    let hooks = Hooks {
        before_tool_call: Some(Arc::new(|_: CallView| async { Ok(Before::Run) })),
        after_tool_call: Some(Arc::new(|_: CallView, _: Arc<ToolCallResult>| async {
            Ok(After::default())
        })),
        around: Vec::new(),
    };
    let caller = Caller::new(registry, events).with_hooks(hooks);
    let schema = caller
        .registry()
        .table()
        .get("inline")
        .expect("built")
        .spec()
        .input_schema
        .clone();
    let bare = Bare {
        validator: jsonschema::validator_for(&schema).expect("valid"),
    };
    let abort = AbortSignal::new();

    check(&caller, &abort).await;
    if is_chosen("1a") {
        inline(&caller, &bare, &abort).await;
    }
    if is_chosen("1b") {
        asynchronous(&caller, &abort).await;
    }
    if is_chosen("1c") {
        blocking(&caller, &abort).await;
    }
}

/// Whether a row is to be measured: it was named as an argument, or none was.
fn is_chosen(row: &str) -> bool {
    let mut named = std::env::args()
        .skip(1)
        .filter(|name| !name.starts_with('-'))
        .peekable();
    named.peek().is_none() || named.any(|name| name == row)
}

async fn call(caller: &Caller, abort: &AbortSignal, tool: &str) -> Arc<ToolCallResult> {
    let call = ToolCall::of_model("call_1", tool, Arguments::Text(ARGUMENTS.to_owned()));
    caller.call(call, abort).await.result
}

async fn check(caller: &Caller, abort: &AbortSignal) {
    for tool in ["inline", "async", "blocking"] {
        assert_eq!(
            call(caller, abort, tool).await.text(),
            "Tokyo 3celsius",
            "{tool}"
        );
    }
}

async fn time(count: u32, caller: &Caller, abort: &AbortSignal, tool: &str) -> Duration {
    let begin = std::time::Instant::now();
    for _ in 0..count {
        black_box(call(caller, abort, tool).await);
    }
    begin.elapsed() / count
}

/// How long one of `count` runs takes.
fn each(count: u32, mut run: impl FnMut()) -> Duration {
    let begin = std::time::Instant::now();
    for _ in 0..count {
        run();
    }
    begin.elapsed() / count
}

async fn inline(caller: &Caller, bare: &Bare, abort: &AbortSignal) {
    let (mut ours, mut limit) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        limit.push(each(20_000, || {
            drop(black_box(bare.call(black_box(ARGUMENTS))));
        }));
        ours.push(time(20_000, caller, abort, "inline").await);
    }
    report(
        "1a",
        "inline tool against parse + validate + typed call",
        &mut ours,
        &mut limit,
        3.0,
    );
}

async fn asynchronous(caller: &Caller, abort: &AbortSignal) {
    let other = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .build();
    let other = other.expect("a runtime");
    let (mut ours, mut limit) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let begin = std::time::Instant::now();
        for _ in 0..500 {
            let (answer, answered) = tokio::sync::oneshot::channel();
            other.spawn(async move { answer.send(()) });
            answered.await.expect("answered");
        }
        limit.push(begin.elapsed() / 500);
        ours.push(time(500, caller, abort, "async").await);
    }
    other.shutdown_background();
    report(
        "1b",
        "async fn against a task on another runtime and back",
        &mut ours,
        &mut limit,
        1.5,
    );
}

async fn blocking(caller: &Caller, abort: &AbortSignal) {
    let (jobs, queue) = std::sync::mpsc::channel::<tokio::sync::oneshot::Sender<()>>();
    let thread = std::thread::spawn(move || {
        while let Ok(answer) = queue.recv() {
            answer.send(()).expect("somebody waits");
        }
    });
    let (mut ours, mut limit) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let begin = std::time::Instant::now();
        for _ in 0..500 {
            let (answer, answered) = tokio::sync::oneshot::channel();
            jobs.send(answer).expect("the thread runs");
            answered.await.expect("answered");
        }
        limit.push(begin.elapsed() / 500);
        ours.push(time(500, caller, abort, "blocking").await);
    }
    drop(jobs);
    thread.join().expect("it ends");
    report(
        "1c",
        "plain fn against a hand-over to a thread and back",
        &mut ours,
        &mut limit,
        1.5,
    );
}
