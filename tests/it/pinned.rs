//! Tools that are pinned for a turn: a reload changes nothing of them, and they may be fewer, more,
//! or named otherwise than those that there are.

use std::sync::Arc;

use agent_core::call::{Arguments, Caller, ToolCall};
use agent_core::event::Emitter;
use agent_core::registry::{Pinned, Registry, Scope, ToolEntry};
use agent_core::tool::{CallError, Isolation, Origin, ToolCallResult};
use serde_json::json;
use tool_sdk::{ErrorKind, ToolResult};
use toolsmith_tests::{Project, call};

use crate::host::{Host, answering, open_spec};

fn names(pinned: &Pinned) -> Vec<String> {
    let entries = pinned.table().entries().iter();
    entries.map(|entry| entry.spec().name.clone()).collect()
}

async fn host<const N: usize>(tools: [&'static str; N]) -> Host {
    let host = Host::new();
    for name in tools {
        host.add(answering(name, move || Ok(ToolResult::text(name))))
            .await;
    }
    host
}

/// What a tool of this name answers to who calls pinned tools.
async fn answer(host: &Host, pinned: Pinned, tool: &str) -> Arc<ToolCallResult> {
    let caller = host.caller().pinned(Arc::new(pinned));
    let call = ToolCall::new(tool, Arguments::Json(json!({}))).with_id("call_1");
    host.make(&caller, call).await.result
}

/// A tool of this program that is in no registry.
fn own(name: &str, answer: &'static str, origin: Origin) -> Arc<ToolEntry> {
    let tool = Arc::new(answering(name, move || Ok(ToolResult::text(answer))));
    Arc::new(ToolEntry::new(tool, origin, Isolation::None, None))
}

#[tokio::test]
async fn tool_that_comes_later_is_not_among_them() {
    let host = host(["one"]).await;
    let pinned = host.registry.pin();
    host.add(answering("two", || Ok(ToolResult::text("two"))))
        .await;
    let error = CallError::new(
        ErrorKind::UnknownTool,
        "Tool two not found\nAvailable tools: one",
    );
    let expected = ToolCallResult::of_error("call_1", "two", error);
    assert_eq!(*answer(&host, pinned, "two").await, expected);
    assert_eq!(
        answer(&host, host.registry.pin(), "two").await.text(),
        "two"
    );
}

/// R7: what is hidden can neither be called nor is it named.
#[tokio::test]
async fn r7_tool_that_is_hidden_is_unknown() {
    let host = host(["one", "two", "three"]).await;
    let only = || {
        host.registry
            .pin()
            .only(|entry| entry.spec().name.starts_with('t'))
    };
    assert_eq!(names(&only()), ["two", "three"]);
    assert_eq!(answer(&host, only(), "two").await.text(), "two");
    let unknown = answer(&host, only(), "one").await;
    assert_eq!(
        unknown.text(),
        "Tool one not found\nAvailable tools: two, three"
    );
    let none = host.registry.pin().only(|_| false);
    assert_eq!(
        answer(&host, none, "one").await.text(),
        "Tool one not found"
    );
    assert_eq!(names(&Pinned::default()), [""; 0]);
}

/// R3, R26: what is added stands where its origin says, and takes no name that another has.
#[tokio::test]
async fn r26_tools_beside_those_that_there_are() {
    let host = host(["one"]).await;
    let with = |name, origin| host.registry.pin().with([own(name, "added", origin)]);
    let builtin = with("two", Origin::Builtin);
    assert_eq!(names(&builtin), ["one", "two"]);
    assert_eq!(answer(&host, builtin, "two").await.text(), "added");
    assert_eq!(
        answer(&host, with("one", Origin::Mcp), "one").await.text(),
        "one"
    );
    assert_eq!(
        answer(&host, with("one", Origin::Builtin), "one")
            .await
            .text(),
        "added"
    );
    assert_eq!(
        host.call("two", "{}")
            .await
            .result
            .error
            .as_ref()
            .unwrap()
            .kind,
        ErrorKind::UnknownTool
    );
}

#[tokio::test]
async fn prefix_is_in_front_of_every_name_that_has_room_for_it() {
    let long: &'static str = Box::leak("n".repeat(60).into_boxed_str());
    let host = host(["one", long]).await;
    let prefixed = |prefix| host.registry.pin().prefixed(prefix);
    assert_eq!(names(&prefixed("")), ["one", long]);
    let longest = format!("abc_{long}");
    assert_eq!(names(&prefixed("abc_")), ["abc_one", longest.as_str()]);
    assert_eq!(
        names(&prefixed("abcd_")),
        ["abcd_one", long],
        "65 letters are too many"
    );
    assert_eq!(names(&prefixed("no dots.")), ["one", long]);

    let named = answer(&host, prefixed("abc_"), "abc_one").await;
    assert_eq!(
        (named.text().as_str(), &*named.tool_name),
        ("one", "abc_one")
    );
    let start = &host.events.take_json()[0];
    assert_eq!(start["toolName"], "abc_one");
    assert_eq!(answer(&host, prefixed("abcd_"), long).await.text(), long);
    let unknown = answer(&host, prefixed("abcd_"), "one").await.text();
    let available = format!("Available tools: abcd_one, {long}");
    assert!(
        unknown.starts_with("Tool one not found") && unknown.ends_with(&available),
        "{unknown}"
    );
    // The registry's own names stay.
    assert_eq!(host.call("one", "{}").await.result.text(), "one");
    assert_eq!(open_spec("one").name, "one");
}

fn greeter(word: &str) -> String {
    format!("/// Greets.\n#[tool]\nfn greet() -> String {{ \"{word}\".to_owned() }}")
}

async fn refresh(caller: &Caller) {
    caller.registry().refresh(Scope::All, &()).await.unwrap();
}

async fn greet(caller: &Caller) -> String {
    call(caller, "greet", json!({})).await.text()
}

/// A reload between pin and call: the pinned version runs, and stays in service until it is let go.
#[tokio::test(flavor = "multi_thread")]
async fn pinned_version_is_in_service_until_it_is_let_go() {
    let project = Project::new();
    project.plugin("greeter", &greeter("old"));
    let caller = project.host().await;
    let registry = caller.registry().clone();
    let old = Arc::clone(registry.table().get("greet").unwrap());
    let pinned = Arc::new(
        registry
            .pin()
            .prefixed("x_")
            .only(|_| false)
            .with([Arc::clone(&old)]),
    );
    let of_turn = caller.pinned(Arc::clone(&pinned));
    assert_eq!(old.in_flight(), 1);

    project.source("greeter", &greeter("new"));
    refresh(&caller).await;
    assert_eq!(greet(&caller).await, "new");
    assert_eq!(greet(&of_turn).await, "old");
    let again = registry.pin();
    assert_eq!(registry.table().get("greet").unwrap().in_flight(), 1);

    // The plugin is taken away altogether.
    fs_err::remove_dir_all(project.plugins().join("greeter")).unwrap();
    refresh(&caller).await;
    assert_eq!(greet(&caller).await, "Tool greet not found");
    assert_eq!(greet(&of_turn).await, "old");
    assert_eq!(greet(&caller.pinned(Arc::new(again))).await, "new");

    drop((pinned, of_turn));
    assert_eq!(old.in_flight(), 0);
    assert!(old.lease().is_err(), "nothing holds it any more");
    assert_eq!(names(&registry.pin()), [""; 0]);
}

/// A tool that was replaced before it was added is refused, instead of waited for.
#[tokio::test(flavor = "multi_thread")]
async fn tool_that_is_out_of_service_is_unavailable() {
    let project = Project::new();
    project.plugin("greeter", &greeter("old"));
    let caller = project.host().await;
    let old = Arc::clone(caller.registry().table().get("greet").unwrap());
    fs_err::remove_dir_all(project.plugins().join("greeter")).unwrap();
    refresh(&caller).await;
    let pinned = caller.pinned(Arc::new(Pinned::default().with([old])));
    let late = tokio::spawn(async move { call(&pinned, "greet", json!({})).await });
    let result = crate::host::within(late).await.unwrap();
    let error = result.error.as_ref().unwrap();
    let text = "Tool greet is not available: its version was taken out of service before the call";
    assert_eq!(
        (error.kind, error.message.as_str()),
        (ErrorKind::Unavailable, text)
    );
}

/// A registry of the tools of this program has everything that needs no folder.
#[tokio::test]
async fn registry_without_plugins_refreshes_and_pins() {
    let registry = Registry::without_plugins(Emitter::default());
    let tool = Arc::new(answering("one", || Ok(ToolResult::text("one"))));
    registry.register(tool).await.unwrap();
    registry.refresh(Scope::All, &()).await.unwrap();
    let caller = Caller::new(registry.clone(), Emitter::default());
    let pinned = caller.pinned(Arc::new(registry.pin()));
    assert_eq!(call(&pinned, "one", json!({})).await.text(), "one");
    assert!(registry.plugins().is_empty());
    assert_eq!(registry.notices(), [""; 0]);
}
