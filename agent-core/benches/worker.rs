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
use agent_core::config::Isolation;
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

/// The same in the host's own process.
const HERE: &str = r"
    use tool_sdk::prelude::*;

    /// Blocking.
    #[tool]
    fn here(text: String) -> String { text }
";

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
    /// With its length.
    message: Vec<u8>,
    answer: Vec<u8>,
}

impl Bare {
    fn start(size: usize) -> Self {
        let (ours, theirs) = UnixStream::pair().expect("a pair");
        let child = Command::new(std::env::current_exe().expect("it has a file"))
            .arg(ECHO)
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .spawn()
            .expect("it starts");
        ours.set_nonblocking(true).expect("a socket");
        let socket = tokio::net::UnixStream::from_std(ours).expect("a socket");
        let length = u64::try_from(size).expect("small");
        let mut message = length.to_le_bytes().to_vec();
        message.resize(8 + size, b'x');
        Self {
            child,
            socket,
            message,
            answer: vec![0; size],
        }
    }

    async fn time(&mut self, count: u32) -> Duration {
        let begin = Instant::now();
        for _ in 0..count {
            let Self {
                socket,
                message,
                answer,
                ..
            } = self;
            socket.write_all(message).await.expect("it reads");
            socket.read_exact(answer).await.expect("it answers");
        }
        begin.elapsed() / count
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
    project.plugin("bench-here", HERE);
    let registry = project.registry(Profile::Release, Emitter::default());
    let policy = Policy {
        isolation: Some(Isolation::Worker),
        ..Policy::default()
    };
    let mut configuration = Configuration::default();
    configuration.policies = Policies::default().with("bench-worker", policy);
    registry.configure(configuration);
    registry.refresh(Scope::All, &()).await.expect("readable");
    // The whole text is to come back.
    let caller = Caller::new(registry, Emitter::default()).with_result_limit(2 * MEGABYTE);

    for tool in ["inline", "blocking", "async"] {
        small(&caller, tool).await;
    }
    large(&caller).await;
    starts(&caller).await;
}

async fn call(caller: &Caller, tool: &str, arguments: &str) -> Option<String> {
    let arguments = arguments.to_owned();
    let call = ToolCall::of_model("call_1", tool, Arguments::Text(arguments));
    let result = caller.call(call, &AbortSignal::new()).await.result;
    if result.is_error && tool != "exit" {
        println!("{tool}: {}", result.text());
    }
    (!result.is_error).then(|| result.text())
}

/// Checks that a tool gives back its text; these are its arguments.
async fn arguments(caller: &Caller, tool: &str, text: &str) -> String {
    let arguments = serde_json::json!({ "text": text }).to_string();
    let answer = call(caller, tool, &arguments).await;
    assert!(
        answer.as_deref() == Some(text),
        "{tool} gives back its text"
    );
    arguments
}

async fn time(caller: &Caller, tool: &str, arguments: &str, count: u32) -> Duration {
    let begin = Instant::now();
    for _ in 0..count {
        call(caller, tool, arguments).await;
    }
    begin.elapsed() / count
}

async fn small(caller: &Caller, tool: &str) {
    let arguments = arguments(caller, tool, &"x".repeat(60)).await;
    let mut bare = Bare::start(SMALL);
    let (mut ours, mut limit) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        limit.push(bare.time(500).await);
        ours.push(time(caller, tool, &arguments, 500).await);
    }
    let what = format!("{tool} tool in a worker, {SMALL} bytes, against a bare round trip");
    report("2", &what, &mut ours, &mut limit, 1.5);
}

/// What the way through another process adds to a call with a megabyte each way.
async fn large(caller: &Caller) {
    let arguments = arguments(caller, "blocking", &"x".repeat(MEGABYTE)).await;
    let mut bare = Bare::start(MEGABYTE);
    let (mut whole, mut added, mut limit) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        limit.push(bare.time(5).await);
        let ours = time(caller, "blocking", &arguments, 5).await;
        added.push(ours.saturating_sub(time(caller, "here", &arguments, 5).await));
        whole.push(ours);
    }
    let whole = median(&mut whole);
    println!("  - a call with a megabyte each way: {whole:?}");
    let what = "what a worker adds to it, against a bare round trip";
    report("2b", what, &mut added, &mut limit, 3.0);
}

/// From a process that has ended to the first answer of the next one.
async fn starts(caller: &Caller) {
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        assert_eq!(call(caller, "exit", "{}").await, None);
        // The spare one starts while nobody waits for it.
        tokio::time::sleep(Duration::from_millis(100)).await;
        let begin = Instant::now();
        assert!(call(caller, "inline", r#"{"text":"x"}"#).await.is_some());
        times.push(begin.elapsed());
    }
    let time = median(&mut times);
    println!("  - a worker's start to its first answer: {time:?} (goal 30 ms)");
}
