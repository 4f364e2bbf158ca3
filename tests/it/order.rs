//! Which tools there are, in which order, and who keeps a name that several want.

use std::sync::Arc;

use agent_core::event::Emitter;
use agent_core::ids::{ContentHash, GenerationNumber, PluginName};
use agent_core::plugin::Generation;
use agent_core::registry::{Registry, RegistryOptions, Table, ToolEntry};
use agent_core::tool::{FunctionTool, Isolation, Origin};
use serde_json::json;
use tool_sdk::{ErrorKind, ToolResult};
use toolsmith_tests::Project;

use crate::host::{Host, answering, open_spec, weather};

/// An entry of this origin; `plugin` is the plugin that has it.
fn entry(name: &str, origin: Origin, plugin: Option<&str>) -> Arc<ToolEntry> {
    let tool = answering(name, || Ok(ToolResult::text("Done!")));
    let generation = plugin.map(|plugin| {
        let hash = ContentHash::of(plugin.as_bytes());
        Generation::new(PluginName::new(plugin), GenerationNumber(1), hash, || {})
    });
    Arc::new(ToolEntry::new(
        Arc::new(tool),
        origin,
        Isolation::None,
        generation,
    ))
}

fn names(table: &Table) -> Vec<&str> {
    table
        .entries()
        .iter()
        .map(|entry| entry.spec().name.as_str())
        .collect()
}

#[test]
fn r3_order_is_registered_plugins_built_in_servers() {
    let entries = vec![
        entry("listTools", Origin::Builtin, None),
        entry("search", Origin::Mcp, None),
        entry("zeta", Origin::Plugin, Some("a")),
        entry("writeTool", Origin::Builtin, None),
        entry("made", Origin::Written, Some("b")),
        entry("beta", Origin::Plugin, Some("c")),
        entry("second", Origin::Static, None),
        entry("fetch", Origin::Mcp, None),
        entry("first", Origin::Static, None),
    ];
    let order = [
        "second",
        "first",
        "zeta",
        "made",
        "beta",
        "listTools",
        "writeTool",
        "search",
        "fetch",
    ];
    assert_eq!(names(&Table::new(entries)), order);
}

#[tokio::test]
async fn r3_y49_registered_tools_are_listed_in_order_of_registration_and_callable() {
    let host = Host::new();
    for name in ["zeta", "Alpha", "alpha", "_"] {
        let text = format!("I am {name}");
        host.add(answering(name, move || Ok(ToolResult::text(&text))))
            .await;
    }
    for _ in 0..3 {
        assert_eq!(
            names(&host.registry.table()),
            ["zeta", "Alpha", "alpha", "_"]
        );
    }
    assert_eq!(host.call("Alpha", "").await.result.text(), "I am Alpha");
    let entry = host.registry.table().get("_").cloned().unwrap();
    assert_eq!(
        (entry.origin(), entry.isolation()),
        (Origin::Static, Isolation::None)
    );
    assert_eq!(
        (entry.plugin(), entry.generation()),
        (None, GenerationNumber(0))
    );
    assert_eq!(host.registry.plugins(), []);
}

/// A table that was taken does not change; the next one does.
#[tokio::test]
async fn y49_table_that_was_taken_stays_as_it_was() {
    let host = Host::with(weather()).await;
    let before = host.registry.table();
    host.add(answering("more", || Ok(ToolResult::text("Done!"))))
        .await;
    assert_eq!(names(&before), ["getWeather"]);
    assert_eq!(names(&host.registry.table()), ["getWeather", "more"]);
}

#[tokio::test]
async fn r20_names_that_no_provider_takes_are_not_registered() {
    let host = Host::new();
    let register = async |name: &str| {
        let tool = answering(name, || Ok(ToolResult::text("Done!")));
        host.registry
            .register(Arc::new(tool))
            .await
            .map_err(|error| error.to_string())
    };
    for name in ["a", "A-b_9", &"x".repeat(64)] {
        assert_eq!(register(name).await, Ok(()), "{name}");
    }
    for name in [
        "",
        " ",
        "a b",
        "../x",
        "a.b",
        "a/b",
        "naïve",
        "a\n",
        &"x".repeat(65),
    ] {
        let text = format!(
            "tool `{name}` can't be registered: expected a name of 1 to 64 letters, digits, `_` or `-`"
        );
        assert_eq!(register(name).await, Err(text));
    }
    assert_eq!(
        names(&host.registry.table()),
        ["a", "A-b_9", &"x".repeat(64)]
    );
}

#[tokio::test]
async fn r26_name_is_registered_once() {
    let host = Host::with(answering("tool", || Ok(ToolResult::text("first")))).await;
    let again = answering("tool", || Ok(ToolResult::text("second")));
    let error = host.registry.register(Arc::new(again)).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "tool `tool` can't be registered: this program has registered a tool of that name already"
    );
    assert_eq!(host.call("tool", "").await.result.text(), "first");
}

#[test]
fn r26_higher_rank_keeps_the_name_whatever_the_order() {
    let ranks = [
        (Origin::Builtin, None, "this program"),
        (Origin::Static, None, "this program"),
        (Origin::Plugin, Some("a"), "plugin a"),
        (Origin::Plugin, Some("b"), "plugin b"),
        (Origin::Written, Some("c"), "plugin c"),
        (Origin::Written, Some("d"), "plugin d"),
    ];
    for (high, (origin, plugin, owner)) in ranks.iter().enumerate() {
        for (lower, lower_plugin, _) in &ranks[high + 1..] {
            let (winner, loser) = (
                entry("tool", *origin, *plugin),
                entry("tool", *lower, *lower_plugin),
            );
            // Within one group, entries come in the order of their plugins.
            let mut orders = vec![vec![Arc::clone(&winner), Arc::clone(&loser)]];
            if origin != lower {
                orders.push(vec![Arc::clone(&loser), Arc::clone(&winner)]);
            }
            for entries in orders {
                let table = Table::new(entries);
                assert!(
                    Arc::ptr_eq(table.get("tool").unwrap(), &winner),
                    "{origin:?} {lower:?}"
                );
                assert_eq!(table.entries().len(), 1);
                let [conflict] = table.conflicts() else {
                    panic!("{:?}", table.conflicts())
                };
                assert!(Arc::ptr_eq(&conflict.entry, &loser));
                assert_eq!(conflict.winner, *owner);
            }
        }
    }
    let server = entry("tool", Origin::Mcp, None);
    let written = entry("tool", Origin::Written, Some("z"));
    let table = Table::new(vec![server, Arc::clone(&written)]);
    assert!(Arc::ptr_eq(table.get("tool").unwrap(), &written));
}

#[test]
fn r26_every_loser_is_a_conflict_and_other_names_are_not_touched() {
    let entries = vec![
        entry("tool", Origin::Mcp, None),
        entry("tool", Origin::Written, Some("b")),
        entry("tool", Origin::Plugin, Some("a")),
        entry("other", Origin::Plugin, Some("a")),
        entry("tool", Origin::Static, None),
    ];
    let table = Table::new(entries);
    assert_eq!(names(&table), ["tool", "other"]);
    assert_eq!(table.get("tool").unwrap().origin(), Origin::Static);
    let lost: Vec<Origin> = table
        .conflicts()
        .iter()
        .map(|conflict| conflict.entry.origin())
        .collect();
    assert_eq!(lost, [Origin::Written, Origin::Plugin, Origin::Mcp]);
    assert!(
        table
            .conflicts()
            .iter()
            .all(|conflict| conflict.winner == "this program")
    );
}

#[tokio::test]
async fn r7_unknown_tool_names_the_closest_and_at_most_twenty() {
    let host = Host::new();
    let text = async |name: &str| {
        let result = host.call(name, "{}").await.result;
        assert_eq!(result.error.as_ref().unwrap().kind, ErrorKind::UnknownTool);
        result.text()
    };
    assert_eq!(text("nope").await, "Tool nope not found");

    for number in 0..25 {
        host.add(answering(&format!("tool_{number:02}"), || {
            Ok(ToolResult::text("Done!"))
        }))
        .await;
    }
    let shown: Vec<String> = (0..20).map(|number| format!("tool_{number:02}")).collect();
    let shown = format!("Available tools: {}", shown.join(", "));
    assert_eq!(
        text("brew_coffee").await,
        format!("Tool brew_coffee not found\n{shown}")
    );
    // The closest is named though it is not among the twenty.
    let close = format!("Tool Tool-24 not found\nDid you mean \"tool_24\"?\n{shown}");
    assert_eq!(text("Tool-24").await, close);
}

/// Prefixes that models invent are no names: the call is answered, nothing runs.
#[tokio::test]
async fn r7_invented_prefixes_are_unknown_tools() {
    let host = Host::with(answering("view", || Ok(ToolResult::text("Done!")))).await;
    for name in [
        "creating:view",
        "default_api:view",
        "functions.view",
        "View",
        " view",
    ] {
        let result = host.call(name, "{}").await.result;
        assert_eq!(
            result.error.as_ref().unwrap().kind,
            ErrorKind::UnknownTool,
            "{name}"
        );
        assert!(
            result.text().ends_with("\nAvailable tools: view"),
            "{}",
            result.text()
        );
    }
}

/// Y47, Y48: of files in a folder, those that are no plugins cost nothing but themselves, and the
/// order is that of the names, not that of the disk.
#[tokio::test]
async fn y47_y48_what_is_no_plugin_is_skipped_and_the_rest_is_in_order() {
    let project = Project::new();
    for name in ["b", "a", "c"] {
        project.write(format!("plugins/{name}.so"), "no library");
        project.write(format!("plugins/{name}-crate/Cargo.toml"), "[package");
    }
    project.write("plugins/README.md", "Not a plugin.");
    project.write("plugins/notes.txt", "Not a plugin.");
    let options = RegistryOptions::new(project.plugins(), project.path().join("state"));
    let registry = Registry::open(options, None, Emitter::default()).unwrap();
    let tool = FunctionTool::new(open_spec("mine"), |_| async {
        Ok(ToolResult::text("Done!"))
    });
    registry.register(Arc::new(tool)).await.unwrap();
    registry
        .refresh(agent_core::registry::Scope::All, &Silent)
        .await
        .unwrap();
    let plugins = registry.plugins();
    let found: Vec<&str> = plugins.iter().map(|plugin| plugin.name.as_str()).collect();
    assert_eq!(found, ["a", "a-crate", "b", "b-crate", "c", "c-crate"]);
    for plugin in &plugins {
        let shown = serde_json::to_value(plugin).unwrap();
        assert_eq!(
            (&shown["state"], &shown["generation"]),
            (&json!("failed"), &json!(0)),
            "{shown}"
        );
        assert!(
            plugin
                .reason
                .as_ref()
                .is_some_and(|reason| !reason.contains('\n')),
            "{shown}"
        );
    }
    assert_eq!(names(&registry.table()), ["mine"]);
}

struct Silent;

impl agent_core::build::BuildProgress for Silent {}
