//! Row 2: what a call through a worker process costs, against a bare round trip of the same bytes
//! through a socket to another process; and how long a process takes to its first answer.
#![expect(
    clippy::expect_used,
    clippy::exit,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a bench prints, and ends where it can't measure"
)]

mod support;

use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use agent_core::abort::AbortSignal;
use agent_core::build::Profile;
use agent_core::call::{Arguments, Caller, ToolCall};
use agent_core::config::{Grants, Isolation, PluginLimits};
use agent_core::event::Emitter;
use agent_core::registry::{Configuration, Policies, Policy, Scope};
use support::{Project, median, report};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

const ROUNDS: usize = 31;

/// Makes this program the other end of a bare socket.
const ECHO: &str = "--echo";

/// What a call of `inline` and its answer take on the way, without their framing.
const SMALL: usize = 120;

const MEGABYTE: usize = 1 << 20;

const PLUGIN: &str = r#"
    use tool_sdk::prelude::*;

    /// Inline.
    #[tool(name = "inline", inline)]
    fn inline_tool(text: String) -> String { text }

    /// Blocking.
    #[tool]
    fn blocking(text: String) -> String { text }

    /// Async.
    #[tool(name = "async")]
    async fn async_tool(text: String) -> String { text }

    /// Exit.
    #[tool(inline)]
    fn exit() { std::process::exit(0) }
"#;

fn main() {
    if std::env::args().nth(1).as_deref() == Some(ECHO) {
        echo();
    }
    agent_core::helper::init();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build();
    runtime
        .expect("a runtime")
        .block_on(async { tokio::spawn(run()).await.expect("no panic") });
}

/// Sends back what comes, message by message: a length, then the message.
fn echo() -> ! {
    let socket = std::os::fd::AsFd::as_fd(&std::io::stdin()).try_clone_to_owned();
    let mut socket = UnixStream::from(socket.expect("it is open"));
    let mut bytes = Vec::new();
    let mut length = [0; 8];
    while socket.read_exact(&mut length).is_ok() {
        let length = u64::from_le_bytes(length);
        bytes.resize(usize::try_from(length).expect("short"), 0);
        socket.read_exact(&mut bytes).expect("whole");
        socket.write_all(&bytes).expect("read");
    }
    std::process::exit(0);
}

/// A process at the other end of a bare socket.
struct Bare {
    child: Child,
    socket: tokio::net::UnixStream,
}

impl Bare {
    fn start() -> Self {
        let (ours, theirs) = UnixStream::pair().expect("a pair");
        let child = Command::new(std::env::current_exe().expect("it has a file"))
            .arg(ECHO)
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .spawn()
            .expect("it starts");
        ours.set_nonblocking(true).expect("a socket");
        let socket = tokio::net::UnixStream::from_std(ours).expect("a socket");
        Self { child, socket }
    }

    async fn round_trip(&mut self, message: &[u8], answer: &mut [u8]) {
        self.socket.write_all(message).await.expect("it reads");
        self.socket.read_exact(answer).await.expect("it answers");
    }
}

impl Drop for Bare {
    fn drop(&mut self) {
        self.child.kill().expect("it is ours");
        self.child.wait().expect("it is ours");
    }
}

async fn run() {
    let project = Project::new();
    project.plugin("bench-worker", PLUGIN);
    let registry = project.registry(Profile::Release, Emitter::default());
    let policy = Policy {
        isolation: Some(Isolation::Worker),
        grants: Grants::default(),
        limits: PluginLimits::default(),
    };
    let mut configuration = Configuration::default();
    configuration.policies = Policies::default().with("bench-worker", policy);
    registry.configure(configuration);
    registry.refresh(Scope::All, &()).await.expect("readable");
    let caller = Caller::new(registry, Emitter::default());

    for tool in ["inline", "blocking", "async"] {
        let row = Row {
            name: "2",
            letters: 60,
            bytes: SMALL,
            calls: 500,
            goal: 1.5,
        };
        compare(&caller, tool, &row).await;
    }
    let row = Row {
        name: "2b",
        letters: MEGABYTE,
        bytes: MEGABYTE,
        calls: 5,
        goal: 3.0,
    };
    compare(&caller, "blocking", &row).await;
    starts(&caller).await;
}

async fn call(caller: &Caller, tool: &str, text: &str) -> Option<String> {
    let arguments = serde_json::json!({ "text": text }).to_string();
    let arguments = if tool == "exit" {
        "{}".to_owned()
    } else {
        arguments
    };
    let call = ToolCall::of_model("call_1", tool, Arguments::Text(arguments));
    let result = caller.call(call, &AbortSignal::new()).await.result;
    (!result.is_error).then(|| result.text())
}

/// A row of the budget.
struct Row {
    name: &'static str,
    /// In the argument.
    letters: usize,
    /// In the message of the bare round trip.
    bytes: usize,
    /// In each round.
    calls: u32,
    goal: f64,
}

async fn compare(caller: &Caller, tool: &str, row: &Row) {
    let (text, size, count) = (&*"x".repeat(row.letters), row.bytes, row.calls);
    assert_eq!(call(caller, tool, text).await.as_deref(), Some(text));
    let mut bare = Bare::start();
    let mut message = u64::try_from(size).expect("small").to_le_bytes().to_vec();
    message.resize(8 + size, b'x');
    let mut answer = vec![0; size];
    let (mut ours, mut limit) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let begin = Instant::now();
        for _ in 0..count {
            bare.round_trip(&message, &mut answer).await;
        }
        limit.push(begin.elapsed() / count);
        let begin = Instant::now();
        for _ in 0..count {
            call(caller, tool, text).await;
        }
        ours.push(begin.elapsed() / count);
    }
    let what = format!("{tool} tool in a worker, {size} bytes, against a bare round trip");
    report(row.name, &what, &mut ours, &mut limit, row.goal);
}

/// From a process that has ended to the first answer of the next one.
async fn starts(caller: &Caller) {
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        assert_eq!(call(caller, "exit", "").await, None);
        // The spare one starts while nobody waits for it.
        tokio::time::sleep(Duration::from_millis(100)).await;
        let begin = Instant::now();
        assert!(call(caller, "inline", "x").await.is_some());
        times.push(begin.elapsed());
    }
    let time = median(&mut times);
    println!("  - a worker's start to its first answer: {time:?} (goal 30 ms)");
}
