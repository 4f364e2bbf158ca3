//! The same function in its three homes: a plain function, a tool of this program, a tool of a
//! plugin. A tool that is linked into the program runs as one of a plugin does.

use std::sync::atomic::{AtomicUsize, Ordering};

use agent_core::registry::{Configuration, Settings};
use agent_core::tool::{Isolation, Origin};
use serde_json::json;
use tool_sdk::prelude::*;
use tool_sdk::toolsmith_static;
use toolsmith_tests::{Project, call};

/// Adds two numbers.
#[tool(name = "linked-add", parallel = true)]
fn linked_add(a: i64, #[arg(default = 1, max = 100)] b: i64) -> i64 {
    a + b
}

/// Adds two numbers later.
#[tool]
async fn linked_later(a: i64, ctx: &ToolContext) -> i64 {
    ctx.progress(json!({"step": 1}));
    tokio::task::yield_now().await;
    a
}

#[tool]
fn linked_panic() {
    panic!("on purpose");
}

#[tool_type]
struct CounterSettings {
    start: usize,
}

struct Counter(AtomicUsize);

#[plugin_state]
#[expect(clippy::needless_pass_by_value, reason = "settings are owned")]
fn open_counter(settings: CounterSettings) -> Counter {
    Counter(AtomicUsize::new(settings.start))
}

/// Counts its calls.
#[tool]
fn linked_count(counter: &Counter) -> usize {
    counter.0.fetch_add(1, Ordering::SeqCst)
}

/// Shows the count.
#[tool]
fn linked_next(counter: &Counter) -> usize {
    counter.0.load(Ordering::SeqCst)
}

#[tokio::test(flavor = "multi_thread")]
async fn linked_tools_are_registered_by_their_functions() {
    assert_eq!(linked_add(1, 2), 3);
    let project = Project::new();
    let caller = project.host().await;
    let registry = caller.registry();
    let package = env!("CARGO_PKG_NAME");
    let mut configuration = Configuration::default();
    configuration.settings = Settings::default().with(package, "start", json!(5));
    registry.configure(configuration);
    let tools = toolsmith_static![linked_later, linked_add, linked_panic, linked_count];
    registry.register_static(tools).await.unwrap();

    let table = registry.table();
    let names: Vec<&str> = table
        .entries()
        .iter()
        .map(|entry| entry.spec().name.as_str())
        .collect();
    let expected = ["linked_later", "linked-add", "linked_panic", "linked_count"];
    assert_eq!(names, expected, "R3: in the order of registration");
    let entry = table.get("linked-add").unwrap();
    assert_eq!(
        (entry.origin(), entry.isolation()),
        (Origin::Static, Isolation::None)
    );

    let answer = async |tool: &str, arguments: Value| {
        let result = call(&caller, tool, arguments).await;
        (result.is_error, toolsmith_tests::text(&json!(*result)))
    };
    assert_eq!(
        answer("linked-add", json!({"a": 2})).await,
        (false, "3".to_owned())
    );
    assert_eq!(
        answer("linked_later", json!({"a": 7})).await,
        (false, "7".to_owned())
    );
    for expected in ["5", "6"] {
        assert_eq!(
            answer("linked_count", json!({})).await,
            (false, expected.to_owned())
        );
    }
    let (failed, text) = answer("linked_panic", json!({})).await;
    assert!(failed && text.contains("on purpose"), "{text}");
    let (failed, text) = answer("linked-add", json!({"a": 2, "b": 101})).await;
    assert!(failed && text.contains("/b: "), "{text}");

    let again = registry
        .register_static(toolsmith_static![linked_add])
        .await;
    assert!(again.unwrap_err().to_string().contains("linked-add"));
}
