//! HTTP requests of tools, which the host makes: from a plain function and from an async one, out of a
//! plugin and out of this program, granted and refused, and given up with their call.

pub(crate) mod server;

use std::sync::Arc;

use agent_core::abort::AbortSignal;
use agent_core::call::{Arguments, Caller, ToolCall};
use agent_core::config::NetworkGrant;
use agent_core::event::Emitter;
use agent_core::registry::{Configuration, Policies, Policy, Registry, Scope, Settings};
use agent_core::tool::ToolCallResult;
use serde_json::json;
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

fn askers() -> Project {
    let project = Project::new();
    project.plugin("askers", ASKERS);
    project
}

/// The text of an error result.
fn failure(result: &ToolCallResult) -> (ErrorKind, String) {
    let error = result.error.as_ref().unwrap();
    (error.kind, result.text())
}

async fn until_back(caller: &Caller, expected: &str) {
    let back = async {
        while call(caller, "back", json!({})).await.text() != expected {
            tokio::time::sleep(std::time::Duration::from_millis(2)).await;
        }
    };
    tokio::time::timeout(DEADLINE, back).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn plain_and_async_functions_ask_through_the_host() {
    let (project, server) = (askers(), Server::start().await);
    let caller = project.host().await;
    let url = server.url("/x");
    for (tool, expected) in [
        ("ask", "GET /x?by=a+thread "),
        ("ask_later", "POST /x {\"by\":\"a task\"}"),
    ] {
        let result = call(&caller, tool, json!({"url": url})).await;
        assert_eq!(result.text(), expected);
    }
    let often = json!({"url": url, "times": 200});
    assert_eq!(call(&caller, "ask_often", often).await.text(), "200");

    let again = json!({"first": server.url("/silence"), "second": url});
    assert_eq!(call(&caller, "ask_again", again).await.text(), "GET /x ");
    server.until(204, 1).await;

    let (kind, text) = failure(&*call(&caller, "ask_inline", json!({"url": url})).await);
    assert_eq!(kind, ErrorKind::Unavailable);
    assert!(text.contains("has to remove `inline`"), "{text}");

    let (kind, text) = failure(&*call(&caller, "ask", json!({"url": "cellar"})).await);
    assert_eq!(kind, ErrorKind::ToolError);
    assert!(text.contains("it begins with `http://`"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_ends_ends_its_requests_and_nothing_is_left() {
    let (project, server) = (askers(), Server::start().await);
    let caller = Arc::new(project.host().await);
    let url = server.url("/silence");
    for (number, tool) in [(1, "ask"), (2, "ask_later")] {
        let abort = AbortSignal::new();
        let running = {
            let (caller, abort) = (Arc::clone(&caller), abort.clone());
            let arguments = Arguments::Json(json!({"url": url}));
            tokio::spawn(async move { caller.call(ToolCall::new(tool, arguments), &abort).await })
        };
        server.until(number, number - 1).await;
        abort.abort();
        let (kind, text) = failure(&running.await.unwrap().result);
        assert_eq!(kind, ErrorKind::Aborted, "{text}");
        server.until(number, number).await;
        // The tool has heard of it, once, and its thread or task is free.
        until_back(&caller, &number.to_string()).await;
    }
    let left = call(&caller, "ask_and_go", json!({"url": url})).await;
    assert_eq!(left.text(), "gone");
    server.until(server.lines().len(), 2).await;
    until_back(&caller, "3").await;
    let table = caller.registry().table();
    for tool in ["ask", "ask_later", "ask_and_go"] {
        assert_eq!(table.get(tool).unwrap().in_flight(), 0, "{tool}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn granted_servers_are_the_only_ones_and_follow_the_configuration() {
    let (project, server) = (askers(), Server::start().await);
    let plugin = project.crate_name("askers");
    let (allowed, refused) = (server.port, Server::start().await);
    let sdk = fs_err::read_to_string(project.path().join("toolsmith.toml")).unwrap();
    let grant = |grants: &str| {
        project.write(
            "toolsmith.toml",
            &format!("{sdk}\n[plugins.{plugin}]\n{grants}\n"),
        );
    };
    grant(&format!("grants.network = [\"127.0.0.1:{allowed}\"]"));
    let caller = project.following_host().await;
    for tool in ["ask", "ask_later"] {
        let result = call(&caller, tool, json!({"url": server.url("/x")})).await;
        assert!(!result.is_error, "{}", result.text());
        let (kind, text) = failure(&*call(&caller, tool, json!({"url": refused.url("/x")})).await);
        assert_eq!(kind, ErrorKind::Denied);
        let port = refused.port;
        let line = format!(
            "write `grants.network = [\"127.0.0.1:{allowed}\", \"127.0.0.1:{port}\"]` under \
             `[plugins.{plugin}]` in toolsmith.toml"
        );
        assert!(text.contains(&line), "{text}");
    }
    let (kind, text) = failure(&*call(&caller, "ask", json!({"url": server.url("/away")})).await);
    assert_eq!(kind, ErrorKind::Denied);
    assert!(text.contains("sends on, but"), "{text}");
    assert_eq!(refused.lines(), [""; 0]);

    // No grant at all is none; no word of grants is every server.
    for (grants, expected) in [("grants.network = []", true), ("", false)] {
        grant(grants);
        caller.registry().refresh(Scope::All, &()).await.unwrap();
        let result = call(&caller, "ask", json!({"url": server.url("/x")})).await;
        assert_eq!(result.is_error, expected, "{grants}: {}", result.text());
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
