//! `#[plugin_state]`: what is opened once and borrowed by tools.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use tool_sdk::prelude::*;
use tool_sdk::testing::{self, Plugin};
use tool_sdk::{tokio, toolsmith_static};

use super::{called, properties};

const PACKAGE: &str = env!("CARGO_PKG_NAME");

#[tool_type]
struct CellarSettings {
    /// Where it lies
    cellar: String,
    #[serde(default)]
    shelves: u8,
}

struct Cellar {
    name: String,
    shelves: u8,
    visits: AtomicUsize,
}

#[plugin_state]
fn open_cellar(settings: CellarSettings, ctx: &PluginContext) -> Result<Cellar> {
    if settings.cellar == "flooded" {
        return Err("the cellar is under water".into());
    }
    Ok(Cellar {
        name: format!("{}/{}", ctx.package(), settings.cellar),
        shelves: settings.shelves,
        visits: AtomicUsize::new(0),
    })
}

/// State of a type that this crate did not make.
#[plugin_state]
async fn open_list() -> Mutex<Vec<String>> {
    tokio::time::sleep(std::time::Duration::from_millis(1)).await;
    Mutex::default()
}

#[tool]
fn visit_cellar(
    wine: &str,
    cellar: &Cellar,
    ctx: &ToolContext,
    list: &Mutex<Vec<String>>,
) -> String {
    list.lock()
        .unwrap()
        .push(format!("{wine} {}", ctx.call_id()));
    let visits = cellar.visits.fetch_add(1, Ordering::Relaxed) + 1;
    format!("{} {} {visits}", cellar.name, cellar.shelves)
}

#[tool]
async fn listed_wines(list: &Mutex<Vec<String>>) -> Vec<String> {
    list.lock().unwrap().clone()
}

#[test]
fn state_is_shared_by_calls_and_hidden_from_models() {
    let plugin = Plugin::open(PACKAGE, json!({"cellar": "north", "shelves": 3})).unwrap();
    assert_eq!(
        properties("visit_cellar"),
        json!({"wine": {"type": "string"}})
    );
    for (wine, expected) in [("a", "tool-sdk/north 3 1"), ("b", "tool-sdk/north 3 2")] {
        let run = plugin.run("visit_cellar", json!({"wine": wine})).unwrap();
        assert_eq!(run.result, ToolResult::text(expected));
    }
    let run = plugin.run("listed_wines", json!({})).unwrap();
    assert_eq!(
        run.result,
        ToolResult::text(r#"["a call_test","b call_test"]"#)
    );
}

#[test]
fn only_tools_of_a_state_that_is_not_open_fail() {
    assert_eq!(called("listed_wines", json!({})), "[]");
    let refused = called("visit_cellar", json!({"wine": "a"}));
    let expected = "error: `Cellar` could not be opened (tool-sdk/tests/behaviour/state.rs:";
    assert!(refused.starts_with(expected), "{refused}");
    assert!(refused.ends_with("missing field `cellar`"), "{refused}");
}

#[test]
fn what_an_opener_says_is_told() {
    let error = Plugin::open(PACKAGE, json!({"cellar": "flooded"})).unwrap_err();
    assert!(
        error.message().ends_with("the cellar is under water"),
        "{error}"
    );
}

/// The second home: a plain function, called from Rust with what its caller has.
#[test]
fn a_tool_with_state_is_still_a_function() {
    let list = Mutex::new(vec!["x".to_owned()]);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    assert_eq!(runtime.block_on(listed_wines(&list)), ["x"]);
}

/// The third home: tools are named by their functions, wherever those come from.
#[test]
fn static_tools_are_found_by_their_functions() {
    let tools = toolsmith_static![visit_cellar, listed_wines, super::constraints_home::here];
    let again = toolsmith_static![visit_cellar];
    assert_eq!(tools[0], again[0]);
    assert_ne!(tools[0], tools[1]);
    assert_ne!(tools[1], tools[2]);
}

#[test]
#[should_panic(expected = "no_tool` is no tool: put `#[tool]` on it")]
fn a_function_that_is_no_tool_is_named() {
    fn no_tool() {}
    let _tools = toolsmith_static![no_tool];
}

struct Counted;

static OPEN: AtomicUsize = AtomicUsize::new(0);

impl Drop for Counted {
    fn drop(&mut self) {
        OPEN.fetch_sub(1, Ordering::SeqCst);
        panic!("a Drop that panics");
    }
}

#[plugin_state]
fn open_counted() -> Counted {
    OPEN.fetch_add(1, Ordering::SeqCst);
    Counted
}

#[tool]
fn counted(_one: &Counted) -> usize {
    OPEN.load(Ordering::SeqCst)
}

#[test]
fn state_is_dropped_when_nobody_uses_it_and_a_panic_of_it_stays_there() {
    let run = testing::run("counted", json!({})).unwrap();
    assert!(matches!(
        run.result.content.as_slice(),
        [Content::Text { .. }]
    ));
}
