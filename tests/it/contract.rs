//! The shapes that other programs read: results, events, messages, definitions. Each is one
//! snapshot, so that a key that changes its name shows in the review.

mod build;
mod check;
mod command;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use agent_core::abort::AbortSignal;
use agent_core::call::{Arguments, Before, CallView, Hooks, ToolCall};
use agent_core::event::{ChangedTool, EndReason, Event, EventKind, FailedPlugin, SchemaChange};
use agent_core::format;
use agent_core::ids::{GenerationNumber, PluginName};
use agent_core::message::{Block, Delta, Message, Role, StopReason};
use agent_core::tool::{CallError, Change, FunctionTool, Problem, ToolCallResult, ToolSpec};
use serde::Serialize;
use serde_json::json;
use tool_sdk::{Content, ErrorKind, ToolError, ToolResult};

use crate::host::{Host, SHORT, answering, endless, open_spec, weather, weather_spec};

/// A value as the snapshot of this name.
fn snapshot(name: &str, value: &impl Serialize) {
    insta::assert_snapshot!(name, serde_json::to_string_pretty(value).unwrap());
}

#[tokio::test]
async fn tool_result_of_success() {
    let host = Host::with(weather()).await;
    let plain = host.call("getWeather", r#"{"city": "Tokyo"}"#).await.result;
    snapshot("result_of_success", &plain);
    host.add(answering("everything", || {
        let blocks = [
            Content::text("Done!"),
            Content::image("AA==", "image/png"),
            Content::audio("AA==", "audio/wav"),
            Content::resource("file:///notes.md", "# Notes"),
        ];
        let result = ToolResult::content(blocks).details(json!({"rows": 3}));
        Ok(result
            .usage(json!({"tokens": 7}))
            .terminate()
            .structured(json!({"rows": [1, 2, 3]})))
    }))
    .await;
    snapshot(
        "result_with_everything",
        &host.call("everything", "").await.result,
    );
}

/// A host with a tool for every way to fail.
async fn failing_host() -> Host {
    let host = Host::with(weather()).await;
    let unusable = json!({"type": "object", "properties": {"a": {"pattern": "(["}}});
    host.add(FunctionTool::new(
        ToolSpec::new("unusable", "Unusable.", unusable),
        |_| async { Ok(ToolResult::text("never")) },
    ))
    .await;
    host.add(FunctionTool::new(open_spec("panic"), |_| async {
        panic!("boom")
    }))
    .await;
    host.add(endless("endless").0).await;
    host.add(answering("full", || {
        Err(ToolError::new("the disk is full").with_hint("delete something"))
    }))
    .await;
    for kind in [
        ErrorKind::Denied,
        ErrorKind::NeedsApproval,
        ErrorKind::Crashed,
    ] {
        host.add(answering(kind.as_str(), move || {
            Err(ToolError::of(kind, "as the host says it"))
        }))
        .await;
    }
    host
}

#[tokio::test]
async fn tool_result_of_every_kind_of_error() {
    let host = failing_host().await;
    let hooks = Hooks {
        before_tool_call: Some(Arc::new(|call: CallView| async move {
            let blocked = call.arguments["city"] == "Atlantis";
            Ok(if blocked {
                Before::Block(Some("it sank".to_owned()))
            } else {
                Before::Run
            })
        })),
        after_tool_call: None,
        ..Hooks::default()
    };
    let caller = host.caller().with_timeout(SHORT).with_hooks(hooks);
    let mut results = Vec::new();
    for (name, arguments) in [
        ("get_weather", "{}"),
        ("getWeather", "{city: 1}"),
        ("getWeather", r#"{"unitz":"celsius"}"#),
        ("getWeather", r#"{"city":"Atlantis"}"#),
        ("denied", "{}"),
        ("needsApproval", "{}"),
        ("unusable", "{}"),
        ("endless", "{}"),
        ("panic", "{}"),
        ("crashed", "{}"),
        ("full", "{}"),
    ] {
        let call = ToolCall::new(name, Arguments::Text(arguments.to_owned())).with_id("call_1");
        results.push(host.make(&caller, call).await.result);
    }
    let aborted = AbortSignal::new();
    aborted.abort();
    let call = ToolCall::new("endless", Arguments::Text(String::new())).with_id("call_1");
    results.push(caller.call(call, &aborted).await.result);

    let kinds: Vec<&str> = results
        .iter()
        .map(|result| result.error.as_ref().unwrap().kind.as_str())
        .collect();
    assert_eq!(
        kinds,
        [
            "unknownTool",
            "invalidJson",
            "invalidArguments",
            "rejected",
            "denied",
            "needsApproval",
            "unavailable",
            "timeout",
            "panic",
            "crashed",
            "toolError",
            "aborted",
        ]
    );
    snapshot("results_of_errors", &results);
}

/// What was written is read as the same.
#[tokio::test]
async fn results_and_messages_are_read_back() {
    let problem = Problem {
        pointer: "/a".to_owned(),
        problem: "wrong".to_owned(),
        expected: Some("b".to_owned()),
        got: None,
        suggestion: Some("c".to_owned()),
    };
    let mut error = CallError::new(ErrorKind::InvalidArguments, "no");
    error.problems = vec![problem];
    let failed = ToolCallResult::of_error("call_1", "tool", error);
    let done = ToolCallResult::of_tool(
        "call_1",
        "tool",
        ToolResult::text("a").structured(json!(null)),
    );
    for result in [
        failed,
        ToolCallResult {
            structured_content: None,
            ..done
        },
    ] {
        let text = serde_json::to_string(&result).unwrap();
        assert_eq!(
            serde_json::from_str::<ToolCallResult>(&text).unwrap(),
            result
        );
    }
    for message in conversation() {
        let text = serde_json::to_string(&message).unwrap();
        assert_eq!(serde_json::from_str::<Message>(&text).unwrap(), message);
    }
}

#[test]
fn every_event() {
    let time =
        std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_millis(1_893_456_000_001);
    let kinds = call_events()
        .into_iter()
        .chain(agent_events())
        .chain(plugin_events());
    let lines = (1..)
        .zip(kinds)
        .map(|(seq, kind)| serde_json::to_string(&Event { kind, seq, time }).unwrap());
    insta::assert_snapshot!("events", lines.collect::<Vec<_>>().join("\n"));
}

fn call_events() -> Vec<EventKind> {
    let (id, name): (Arc<str>, Arc<str>) = ("call_1".into(), "getWeather".into());
    let args = Arc::new(json!({"city": "Tokyo"}));
    let change = Change {
        pointer: "/n".to_owned(),
        from: json!("5"),
        to: Some(json!(5)),
    };
    let taken_out = Change {
        pointer: "/x".to_owned(),
        from: json!(null),
        to: None,
    };
    let result = ToolCallResult::of_tool(id.clone(), name.clone(), ToolResult::text("Sunny"));
    let rejected = |args| EventKind::ToolCallRejected {
        tool_call_id: id.clone(),
        tool_name: name.clone(),
        args,
        kind: ErrorKind::Rejected,
        message: "not on Sundays".to_owned(),
    };
    let started = |changes| EventKind::ToolExecutionStart {
        tool_call_id: id.clone(),
        tool_name: name.clone(),
        args: Arc::clone(&args),
        changes,
        generation: GenerationNumber(3),
    };
    vec![
        rejected(Some(Arc::clone(&args))),
        rejected(None),
        started(vec![]),
        started(vec![change, taken_out]),
        EventKind::ToolExecutionUpdate {
            tool_call_id: id.clone(),
            tool_name: name.clone(),
            args: Arc::clone(&args),
            partial_result: json!({"status": "Fetching data..."}),
        },
        EventKind::ToolExecutionEnd {
            tool_call_id: id.clone(),
            tool_name: name.clone(),
            result: Arc::new(result),
            is_error: false,
            duration_ms: 12,
        },
    ]
}

fn agent_events() -> Vec<EventKind> {
    let message = || Message::text(Role::Assistant, "Sunny");
    let end = |reason, usage| EventKind::AgentEnd {
        reason,
        usage,
        error: None,
    };
    vec![
        EventKind::AgentStart,
        EventKind::TurnStart,
        EventKind::MessageStart { message: message() },
        EventKind::MessageUpdate {
            delta: Delta::Text {
                text: "Sunny".to_owned(),
            },
        },
        EventKind::MessageEnd {
            message: message(),
            usage: Some(json!({"inputTokens": 5})),
            stop_reason: Some(StopReason::End),
        },
        EventKind::TurnEnd,
        end(EndReason::Final, None),
        end(EndReason::Terminated, Some(json!({"tokens": 7}))),
        end(EndReason::MaxIterations, None),
        end(EndReason::Aborted, None),
        end(EndReason::Error, None),
    ]
}

fn plugin_events() -> Vec<EventKind> {
    let plugin = || PluginName::new("get-weather");
    let built = |ok, diagnostics| EventKind::BuildEnd {
        plugin: plugin(),
        ok,
        duration_ms: 190,
        diagnostics,
    };
    let changed = |schema| ChangedTool {
        name: "getWeather".to_owned(),
        schema,
    };
    vec![
        EventKind::BuildStart { plugin: plugin() },
        built(true, None),
        built(false, Some("error: expected one of".to_owned())),
        EventKind::ToolsChanged {
            added: vec!["new".to_owned()],
            removed: vec!["old".to_owned()],
            changed: vec![
                changed(SchemaChange::Same),
                changed(SchemaChange::Compatible),
                changed(SchemaChange::Breaking),
            ],
            failed: vec![FailedPlugin {
                plugin: plugin(),
                reason: "it was not built".to_owned(),
            }],
        },
    ]
}

/// One message of every role, with blocks of every type.
fn conversation() -> Vec<Message> {
    let blocks = vec![
        Block::Thinking {
            thinking: "Tokyo is in Japan.".to_owned(),
            signature: None,
            redacted: None,
        },
        Block::Content(Content::text("Let me see.")),
        Block::ToolUse {
            id: "call_1".to_owned(),
            name: "getWeather".to_owned(),
            input: Arguments::Json(json!({"city": "Tokyo"})),
        },
    ];
    let seen = vec![
        Block::Content(Content::image("AA==", "image/png")),
        Block::Content(Content::audio("AA==", "audio/wav")),
        Block::Content(Content::resource("file:///notes.md", "# Notes")),
    ];
    let result = ToolResult::content([Content::text("Sunny"), Content::image("AA==", "image/png")]);
    let result =
        ToolCallResult::of_tool("call_1", "getWeather", result.details(json!({"hidden": 1})));
    let failed = CallError::new(ErrorKind::ToolError, "no network");
    vec![
        Message::text(Role::System, "You are a helpful assistant."),
        Message {
            role: Role::User,
            name: Some("Ada".to_owned()),
            content: seen,
        },
        Message {
            role: Role::Assistant,
            name: None,
            content: blocks,
        },
        Message::tool_result(&result),
        Message::tool_result(&ToolCallResult::of_error("call_2", "getWeather", failed)),
    ]
}

#[test]
fn messages_of_a_conversation() {
    snapshot("conversation", &conversation());
}

#[test]
fn definition_of_a_tool() {
    let mut spec = weather_spec();
    snapshot("tool_definition", &spec);
    spec.parallel = Some(true);
    spec.output_schema =
        Some(json!({"type": "object", "properties": {"degrees": {"type": "number"}}}));
    snapshot("tool_definition_with_everything", &spec);
    snapshot("tool_definition_as_mcp", &format::mcp::tool(&spec));
}

/// The folders of snapshots in the repository, and what lies in them.
fn snapshot_files() -> Vec<PathBuf> {
    fn visit(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs_err::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let skipped = name.starts_with('.') && !name.contains("snap") || name == "target";
            if path.is_dir() && !skipped {
                visit(&path, found);
            } else if name.contains(".snap") || name.contains("pending-snap") {
                found.push(path);
            }
        }
    }
    let mut found = Vec::new();
    visit(&toolsmith_tests::repository(), &mut found);
    found
}

#[test]
fn every_snapshot_is_used_and_none_waits_for_a_review() {
    let files = snapshot_files();
    assert!(files.len() >= 10, "{files:?}");
    for file in files {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let stem = name
            .strip_suffix(".snap")
            .unwrap_or_else(|| panic!("{name} waits for a review"));
        let text = fs_err::read_to_string(&file).unwrap();
        let source = text.lines().find_map(|line| line.strip_prefix("source: "));
        let source = source.unwrap_or_else(|| panic!("{name} has no source"));
        let source = toolsmith_tests::repository().join(source);
        let code =
            fs_err::read_to_string(&source).unwrap_or_else(|error| panic!("{name}: {error}"));
        let own = stem.rsplit("__").next().unwrap();
        // A family of tests has its names in a list of the module around.
        let around = source.parent().unwrap().with_extension("rs");
        let around = fs_err::read_to_string(around).unwrap_or_default();
        let is_used = code.contains(&format!("\"{own}\""))
            || around.split_whitespace().any(|word| word == own);
        let source = source.display();
        assert!(is_used, "{name}: nothing in {source} is called so");
    }
}
