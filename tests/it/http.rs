//! HTTP requests of tools, which the host makes: from a plain function and from an async one, out of a
//! plugin in each tier and out of this program, granted and refused, many and large, and given up with
//! their call.

pub(crate) mod server;

use std::sync::Arc;
use std::time::Duration;

use agent_core::abort::AbortSignal;
use agent_core::call::{Arguments, Caller, ToolCall};
use agent_core::config::{Isolation, NetworkGrant};
use agent_core::event::Emitter;
use agent_core::limits;
use agent_core::registry::{Configuration, Policies, Policy, Registry, Scope, Settings};
use agent_core::tool::ToolCallResult;
use serde_json::{Value, json};
use tool_sdk::ErrorKind;
use tool_sdk::prelude::*;
use tool_sdk::toolsmith_static;
use toolsmith_tests::{DEADLINE, Project, call};

use self::server::Server;

/// Asks in each way, and counts the requests that came back.
const ASKERS: &str = r#"
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;
    use tool_sdk::tokio;

    static BACK: AtomicUsize = AtomicUsize::new(0);

    /// Asks on its thread.
    #[tool]
    fn ask(url: &str, ctx: &ToolContext) -> Result<String> {
        let answer = ctx.http().get(url).query(&[("by", "a thread")]).send();
        BACK.fetch_add(1, Ordering::SeqCst);
        answer?.error_for_status()?.json()
    }

    /// Asks on its runtime.
    #[tool]
    async fn ask_later(url: &str, ctx: &ToolContext) -> Result<String> {
        let answer = ctx.http().post(url).json(json!({"by": "a task"})).await;
        BACK.fetch_add(1, Ordering::SeqCst);
        answer?.error_for_status()?.json()
    }

    /// Asks many times at once.
    #[tool]
    async fn ask_often(url: &str, times: usize, ctx: &ToolContext) -> Result<usize> {
        let mut tasks = tokio::task::JoinSet::new();
        for number in 0..times {
            let request = ctx.http().get(url).query(&[("number", number)]);
            tasks.spawn(async move { request.await?.json::<String>() });
        }
        let mut answers = Vec::new();
        while let Some(answer) = tasks.join_next().await {
            answers.push(answer??);
        }
        answers.sort();
        answers.dedup();
        Ok(answers.len())
    }

    /// Sends much, and counts what comes back.
    #[tool]
    async fn ask_much(url: &str, size: usize, ctx: &ToolContext) -> Result<usize> {
        let answer = ctx.http().post(url).body("x".repeat(size)).await?;
        let answer: String = answer.json()?;
        Ok(answer.chars().filter(|letter| *letter == 'x').count())
    }

    /// Does not wait long for the first, and asks for the second.
    #[tool]
    async fn ask_again(first: &str, second: &str, ctx: &ToolContext) -> Result<String> {
        let first = ctx.http().get(first).into_future();
        let waited = tokio::time::timeout(Duration::from_millis(20), first).await;
        assert!(waited.is_err());
        ctx.http().get(second).await?.json()
    }

    /// Asks and does not wait for the answer, but leaves a task behind that does.
    #[tool]
    async fn ask_and_go(url: &str, ctx: &ToolContext) -> &'static str {
        let started = ctx.http().get(url).into_future();
        tokio::spawn(async move {
            let answer = started.await;
            assert_eq!(answer.unwrap_err().kind(), ErrorKind::Aborted);
            BACK.fetch_add(1, Ordering::SeqCst);
        });
        "gone"
    }

    /// Promises not to wait.
    #[tool(inline)]
    fn ask_inline(url: &str, ctx: &ToolContext) -> Result<String> {
        ctx.http().get(url).send()?.json()
    }

    /// How many requests came back.
    #[tool]
    fn back() -> usize {
        BACK.load(Ordering::SeqCst)
    }
"#;

/// Asks from this program.
#[tool]
fn linked_ask(url: &str, ctx: &ToolContext) -> Result<String> {
    ctx.http().get(url).send()?.json()
}

const TIERS: [Isolation; 3] = [Isolation::InProcess, Isolation::Worker, Isolation::Sandbox];

/// The plugin, which moves from tier to tier. Each time nothing is counted yet.
struct Site {
    project: Project,
    caller: Arc<Caller>,
}

impl Site {
    async fn new() -> Self {
        let project = Project::new();
        project.plugin("askers", ASKERS);
        let caller = Arc::new(project.following_host().await);
        Self { project, caller }
    }

    /// Runs the plugin in this tier from now on, with these lines in its section.
    async fn decide(&self, isolation: Isolation, lines: &str) {
        let sdk = toolsmith_tests::repository().join("tool-sdk");
        let text = format!(
            "[sdk]\npath = {:?}\n[plugins.{}]\nisolation = \"{isolation}\"\n{lines}\n",
            sdk.display().to_string(),
            self.project.crate_name("askers")
        );
        self.project.write("toolsmith.toml", &text);
        let registry = self.caller.registry();
        registry.refresh(Scope::All, &()).await.unwrap();
        let plugins = registry.plugins();
        assert!(plugins[0].reason.is_none(), "{plugins:?}");
        let place = serde_json::to_value(plugins[0].isolation).unwrap();
        assert_eq!(place, isolation.to_string());
    }

    /// The same, with this server granted.
    async fn granted(&self, isolation: Isolation, server: &Server) {
        self.decide(isolation, &grants_of(&[server])).await;
    }

    async fn call(&self, tool: &str, arguments: Value) -> Arc<ToolCallResult> {
        call(&self.caller, tool, arguments).await
    }
}

fn grants_of(servers: &[&Server]) -> String {
    let places = servers
        .iter()
        .map(|server| format!("127.0.0.1:{}", server.port));
    format!("grants.network = {:?}", places.collect::<Vec<_>>())
}

/// The text of an error result.
fn failure(result: &ToolCallResult) -> (ErrorKind, String) {
    let error = result.error.as_ref().unwrap();
    (error.kind, result.text())
}

async fn until_back(caller: &Caller, expected: &str) {
    let back = async {
        while call(caller, "back", json!({})).await.text() != expected {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    tokio::time::timeout(DEADLINE, back).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn plain_and_async_functions_ask_through_the_host() {
    let site = Site::new().await;
    for isolation in TIERS {
        let server = Server::start().await;
        site.granted(isolation, &server).await;
        let url = server.url("/x");
        for (tool, expected) in [
            ("ask", "GET /x?by=a+thread "),
            ("ask_later", "POST /x {\"by\":\"a task\"}"),
        ] {
            let result = site.call(tool, json!({"url": url})).await;
            assert_eq!(result.text(), expected, "{isolation}");
        }
        let often = json!({"url": url, "times": 200});
        assert_eq!(site.call("ask_often", often).await.text(), "200");

        let again = json!({"first": server.url("/silence"), "second": url});
        assert_eq!(site.call("ask_again", again).await.text(), "GET /x ");
        server.until(204, 1).await;

        let refused = site.call("ask_inline", json!({"url": url})).await;
        let (kind, text) = failure(&refused);
        assert_eq!(kind, ErrorKind::Unavailable);
        assert!(text.contains("has to remove `inline`"), "{text}");

        let refused = site.call("ask", json!({"url": "cellar"})).await;
        let (kind, text) = failure(&refused);
        assert_eq!(kind, ErrorKind::ToolError);
        assert!(text.contains("it begins with `http://`"), "{text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn many_requests_wait_too_many_are_refused_and_large_ones_arrive() {
    const MUCH: usize = 8 << 20;
    let site = Site::new().await;
    for isolation in TIERS {
        let server = Server::start().await;
        site.granted(isolation, &server).await;
        let much = json!({"url": server.url("/"), "size": MUCH});
        let result = site.call("ask_much", much).await;
        assert_eq!(result.text(), MUCH.to_string(), "{isolation}");

        let silence = server.url("/silence");
        let abort = AbortSignal::new();
        let running = {
            let (caller, abort) = (Arc::clone(&site.caller), abort.clone());
            let arguments = Arguments::Json(json!({"url": silence, "times": 100}));
            let call = ToolCall::new("ask_often", arguments);
            tokio::spawn(async move { caller.call(call, &abort).await })
        };
        let begun = 1 + limits::HTTP_AT_ONCE;
        server.until(begun, 0).await;
        // Time enough for one more, if there were a turn for it.
        tokio::time::sleep(Duration::from_millis(50)).await;
        assert_eq!(server.lines().len(), begun, "{isolation}: the others wait");
        abort.abort();
        assert_eq!(
            failure(&running.await.unwrap().result).0,
            ErrorKind::Aborted
        );
        server.until(begun, limits::HTTP_AT_ONCE).await;

        let often = json!({"url": silence, "times": limits::HTTP_OPEN + 1});
        let (kind, text) = failure(&*site.call("ask_often", often).await);
        assert_eq!(kind, ErrorKind::Unavailable, "{isolation}: {text}");
        let expected = format!("the plugin has {} requests open already", limits::HTTP_OPEN);
        assert!(text.contains(&expected), "{isolation}: {text}");
        // Nothing is left of them: the turns are free.
        let result = site.call("ask", json!({"url": server.url("/x")})).await;
        assert_eq!(result.text(), "GET /x?by=a+thread ", "{isolation}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_ends_ends_its_requests_and_nothing_is_left() {
    let site = Site::new().await;
    for isolation in TIERS {
        let server = Server::start().await;
        site.granted(isolation, &server).await;
        let url = server.url("/silence");
        for (number, tool) in [(1, "ask"), (2, "ask_later")] {
            let abort = AbortSignal::new();
            let running = {
                let (caller, abort) = (Arc::clone(&site.caller), abort.clone());
                let call = ToolCall::new(tool, Arguments::Json(json!({"url": url})));
                tokio::spawn(async move { caller.call(call, &abort).await })
            };
            server.until(number, number - 1).await;
            abort.abort();
            let (kind, text) = failure(&running.await.unwrap().result);
            assert_eq!(kind, ErrorKind::Aborted, "{isolation}: {text}");
            server.until(number, number).await;
            // The tool has heard of it, once, and its thread or task is free.
            until_back(&site.caller, &number.to_string()).await;
        }
        let left = site.call("ask_and_go", json!({"url": url})).await;
        assert_eq!(left.text(), "gone", "{isolation}");
        server.until(server.lines().len(), 2).await;
        until_back(&site.caller, "3").await;
        let table = site.caller.registry().table();
        for tool in ["ask", "ask_later", "ask_and_go"] {
            assert_eq!(table.get(tool).unwrap().in_flight(), 0, "{tool}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn granted_servers_are_the_only_ones_and_follow_the_configuration() {
    let site = Site::new().await;
    let plugin = site.project.crate_name("askers");
    for isolation in TIERS {
        let (server, refused) = (Server::start().await, Server::start().await);
        let (allowed, port) = (server.port, refused.port);
        site.granted(isolation, &server).await;
        for tool in ["ask", "ask_later"] {
            let result = site.call(tool, json!({"url": server.url("/x")})).await;
            assert!(!result.is_error, "{isolation}: {}", result.text());
            let result = site.call(tool, json!({"url": refused.url("/x")})).await;
            let (kind, text) = failure(&result);
            assert_eq!(kind, ErrorKind::Denied, "{isolation}");
            let line = format!(
                "write `grants.network = [\"127.0.0.1:{allowed}\", \"127.0.0.1:{port}\"]` under \
                 `[plugins.{plugin}]` in toolsmith.toml"
            );
            assert!(text.contains(&line), "{isolation}: {text}");
        }
        let (kind, text) = failure(&*site.call("ask", json!({"url": server.url("/away")})).await);
        assert_eq!(kind, ErrorKind::Denied);
        assert!(text.contains("sends on, but"), "{text}");
        assert_eq!(refused.lines(), [""; 0]);

        // No grant at all is none; no word of grants is every server, but none in a sandbox.
        let is_sandbox = isolation == Isolation::Sandbox;
        for (grants, expected) in [("grants.network = []", true), ("", is_sandbox)] {
            site.decide(isolation, grants).await;
            let result = site.call("ask", json!({"url": server.url("/x")})).await;
            assert_eq!(result.is_error, expected, "{isolation} {grants}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_of_this_program_ask_too_under_the_grants_of_their_package() {
    let server = Server::start().await;
    let events = Emitter::default();
    let caller = Caller::new(Registry::without_plugins(events.clone()), events);
    let registry = caller.registry();
    let package = env!("CARGO_PKG_NAME");
    let mut configuration = Configuration::default();
    // Other tests of this package open state.
    configuration.settings = Settings::default().with(package, "start", json!(0));
    registry.configure(configuration.clone());
    let tools = toolsmith_static![linked_ask];
    registry.register_static(tools).await.unwrap();
    let ask = async || call(&caller, "linked_ask", json!({"url": server.url("/x")})).await;
    assert_eq!(ask().await.text(), "GET /x ");

    // A grant holds from the moment in which it is decided.
    let granted = |port| NetworkGrant {
        host: "127.0.0.1".to_owned(),
        port,
    };
    for (port, expected) in [(1, Some(ErrorKind::Denied)), (server.port, None)] {
        let mut policy = Policy::default();
        policy.grants.network = Some(vec![granted(port)]);
        configuration.policies = Policies::default().with(package, policy);
        registry.configure(configuration.clone());
        let error = ask().await.error.as_ref().map(|error| error.kind);
        assert_eq!(error, expected);
    }
}
