//! Preset arguments (R13, A5): nobody sees them but the tool, no model can send one, and a preset
//! that can't be used costs its own tool only.

use std::process::Command;
use std::sync::Arc;

use agent_core::abort::AbortSignal;
use agent_core::call::{After, Arguments, Before, CallView, Hooks, ToolCall};
use agent_core::event::Emitter;
use agent_core::format;
use agent_core::registry::{Configuration, Presets, Registry, RegistryOptions};
use agent_core::tool::{Execution, FunctionTool, ToolCallResult, ToolSpec};
use serde_json::{Value, json};
use tool_sdk::{ErrorKind, ToolResult};
use toolsmith_tests::{Project, Ran};

use crate::host::{Host, Log};

const SECRET: &str = "hunter2-hunter2";

/// A host without plugins that has these presets.
fn host(presets: Presets) -> Host {
    let mut host = Host::new();
    let plugins = host.registry.plugins_folder().to_owned();
    let options = RegistryOptions::new(plugins.clone(), plugins.join("../state"));
    host.registry = Registry::open(options, None, Emitter::default()).unwrap();
    let mut configuration = Configuration::default();
    configuration.presets = presets;
    host.registry.configure(configuration);
    host
}

fn presets() -> Presets {
    Presets::default().with("bing_search", "api_key", json!(SECRET))
}

fn search_spec() -> ToolSpec {
    let schema = json!({
        "type": "object",
        "properties": {
            "question": {"type": "string", "description": "The search query string."},
            "api_key": {"type": "string", "minLength": 10, "description": "The key of Bing."},
            "num_results": {"type": "number", "default": 10},
        },
        "required": ["question", "api_key"],
        "additionalProperties": false,
    });
    ToolSpec::new("bing_search", "Search question in Bing.", schema)
}

/// `bing_search`, which keeps the arguments that it got.
fn search(spec: ToolSpec, got: &Log) -> FunctionTool {
    let got = got.clone();
    FunctionTool::new(spec, move |call: Execution<'_>| {
        got.add(call.arguments.to_string());
        assert!(!format!("{call:?}").contains(SECRET));
        async { Ok(ToolResult::text("found")) }
    })
}

fn error(result: &ToolCallResult) -> (ErrorKind, &str) {
    let error = result.error.as_ref().unwrap();
    (error.kind, error.message.as_str())
}

#[tokio::test]
async fn r13_a5_preset_reaches_the_tool_and_nobody_else() {
    let (host, got, seen) = (host(presets()), Log::default(), Log::default());
    let (prepared, validated) = (seen.clone(), seen.clone());
    let tool = search(search_spec(), &got)
        .with_prepare(move |arguments| {
            prepared.add(format!("prepare {arguments}"));
            Ok(arguments)
        })
        .with_validate(move |arguments| {
            validated.add(format!("validate {arguments}"));
            None
        });
    host.add(tool).await;
    let (before, after) = (seen.clone(), seen.clone());
    let hooks = Hooks {
        before_tool_call: Some(Arc::new(move |call: CallView| {
            before.add(format!("before {call:?}"));
            async { Ok(Before::Run) }
        })),
        after_tool_call: Some(Arc::new(move |call: CallView, result| {
            after.add(format!("after {call:?} {result:?}"));
            async { Ok(After::default()) }
        })),
        ..Hooks::default()
    };
    let caller = host.caller().with_hooks(hooks);
    let call = ToolCall::new("bing_search", Arguments::Json(json!({"question": "why"})));
    let finalized = host.make(&caller, call).await;
    assert_eq!(finalized.result.text(), "found");
    let whole = json!({"question": "why", "num_results": 10, "api_key": SECRET});
    assert_eq!(got.take(), [whole.to_string()]);

    let mut seen = seen.take();
    assert_eq!(seen.len(), 4);
    seen.extend(host.events.take_json().iter().map(Value::to_string));
    seen.push(format!("{finalized:?} {caller:?}"));
    let table = host.registry.table();
    let entry = table.get("bing_search").unwrap();
    seen.push(format!("{table:?} {:?} {:?}", entry.spec(), entry.schema()));
    seen.push(serde_json::to_string(entry.spec()).unwrap());
    seen.push(format::mcp::tool(entry.spec()).to_string());
    for text in seen {
        assert!(
            !text.contains(SECRET) && !text.contains("api_key"),
            "{text}"
        );
    }
    let visible = &entry.spec().input_schema;
    assert_eq!(visible["required"], json!(["question"]));
}

/// The model's own value is refused before anything runs, whatever else the schema allows.
#[tokio::test]
async fn r13_a5_model_that_sends_a_preset_is_refused_as_for_an_unknown_argument() {
    let check = async |change: fn(&mut ToolSpec), sent: Value, lines: &str| {
        let (host, got) = (host(presets()), Log::default());
        let mut spec = search_spec();
        change(&mut spec);
        host.add(search(spec, &got)).await;
        let finalized = host.call("bing_search", &sent.to_string()).await;
        let expected = format!("Validation failed for tool \"bing_search\":\n{lines}\n");
        let (kind, text) = error(&finalized.result);
        assert_eq!(kind, ErrorKind::InvalidArguments);
        assert!(text.starts_with(&expected), "{text}");
        assert_eq!(host.events.take_types(), ["toolCallRejected"]);
        assert_eq!(got.take(), Vec::<String>::new());
    };
    let unknown = "  - /api_key: unknown argument (allowed: question, num_results)";
    let both = format!("  - /question: missing required argument (expected string)\n{unknown}");
    let open = |spec: &mut ToolSpec| spec.input_schema["additionalProperties"] = true.into();
    let unchecked = |spec: &mut ToolSpec| spec.validate_only = true;
    for change in [|_: &mut ToolSpec| (), open, unchecked] {
        check(
            change,
            json!({"question": "why", "api_key": "mine"}),
            unknown,
        )
        .await;
        check(change, json!({"question": "why", "api_key": null}), unknown).await;
    }
    check(|_| (), json!({"api_key": "mine"}), &both).await;
    check(open, json!({"api_key": "mine"}), &both).await;
}

/// A hook can't reach a preset either.
#[tokio::test]
async fn r13_hook_that_rewrites_a_preset_is_refused() {
    let (host, got) = (host(presets()), Log::default());
    host.add(search(search_spec(), &got)).await;
    let hooks = Hooks {
        before_tool_call: Some(Arc::new(|_: CallView| async {
            Ok(Before::Rewrite(
                json!({"question": "why", "api_key": "mine"}),
            ))
        })),
        after_tool_call: None,
        ..Hooks::default()
    };
    let call = ToolCall::new("bing_search", Arguments::Json(json!({"question": "why"})));
    let caller = host.caller().with_hooks(hooks);
    let result = caller.call(call, &AbortSignal::new()).await.result;
    assert_eq!(error(&result).0, ErrorKind::InvalidArguments);
    assert_eq!(got.take(), Vec::<String>::new());
}

#[tokio::test]
async fn r13_preset_that_cannot_be_used_makes_its_tool_unavailable_and_no_other() {
    let check = async |presets: Presets, declared: &[&str], expected: &str| {
        let (host, got) = (host(presets), Log::default());
        let mut spec = search_spec();
        spec.presets = declared.iter().map(ToString::to_string).collect();
        host.add(search(spec, &got)).await;
        host.add(crate::host::weather()).await;
        let finalized = host.call("bing_search", r#"{"question": "why"}"#).await;
        let (kind, text) = error(&finalized.result);
        assert_eq!(kind, ErrorKind::Unavailable);
        assert_eq!(
            text,
            format!("Tool bing_search is not available: {expected}")
        );
        host.check_weather().await;
    };
    let advice = "under `[tools.bing_search]` in toolsmith.toml write \
                  `preset = { api_key = \"${API_KEY}\" }`, and set the variables that it names";
    check(
        Presets::default(),
        &["api_key"],
        &format!("its argument `api_key` must be preset and has no value; {advice}"),
    )
    .await;
    check(
        Presets::default().with("bing_search", "api_key", json!("hunter2")),
        &[],
        &format!(
            "the preset value of its argument `api_key` is wrong: too short (expected at least 10 \
             characters); {advice}"
        ),
    )
    .await;
    check(
        presets().with("bing_search", "apikey", json!("hunter2")),
        &[],
        "it has no argument `apikey` to preset, did you mean `api_key`?; look at `preset` under \
         `[tools.bing_search]` in toolsmith.toml",
    )
    .await;
}

/// What a tool's author leaves optional needs no value; text becomes what the schema wants.
#[tokio::test]
async fn r13_presets_are_completed_and_brought_to_their_types() {
    let presets = presets().with("bing_search", "num_results", json!("3"));
    let (host, got) = (host(presets), Log::default());
    host.add(search(search_spec(), &got)).await;
    host.call("bing_search", r#"{"question": "why"}"#).await;
    let whole = json!({"question": "why", "api_key": SECRET, "num_results": 3});
    assert_eq!(got.take(), [whole.to_string()]);
}

/// A plugin whose tool must have a key.
const PLUGIN: &str = r#"
    /// Search question in Bing.
    #[tool]
    fn bing_search(
        /// The search query string.
        question: String,
        /// The key of Bing.
        #[arg(preset, min_length = 10)] api_key: String,
        /// The search engine.
        #[arg(default = "web")] engine: String,
    ) -> String {
        format!("{question} {} {engine}", api_key.len())
    }

    /// Has no presets.
    #[tool]
    fn plain() -> String { "plain".to_owned() }
"#;

/// A project with that plugin and this preset.
fn project(preset: &str) -> Project {
    let project = Project::new();
    project.plugin("bing", PLUGIN);
    let config = fs_err::read_to_string(project.path().join("toolsmith.toml")).unwrap();
    let preset = format!("{config}[tools.bing_search]\npreset = {{ {preset} }}\n");
    project.write("toolsmith.toml", &preset);
    project
}

/// Runs a command that has the key in its environment.
fn run(project: &Project, arguments: &[&str]) -> Ran {
    let mut command: Command = project.command(arguments);
    let output = command.env("BING_API_KEY", SECRET).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Ran {
        code: output.status.code(),
        stdout: text(output.stdout),
        stderr: text(output.stderr),
    }
}

#[test]
fn r13_a5_configured_preset_is_in_no_answer_and_no_log() {
    let project = project("api_key = \"${BING_API_KEY}\", engine = \"news\"");
    let check = |arguments: &[&str], code: i32, stdout: &str| {
        let ran = run(&project, arguments);
        assert_eq!(ran.code, Some(code), "{ran:?}");
        assert!(ran.stdout.contains(stdout), "{ran:?}");
        for text in [&ran.stdout, &ran.stderr] {
            assert!(!text.contains(SECRET), "{ran:?}");
        }
        ran
    };
    check(
        &["call", "bing_search", r#"{"question": "why"}"#],
        0,
        "why 15 news\n",
    );
    let listed = check(&["list", "--json"], 0, "bing_search").json();
    assert_eq!(listed["tools"][0]["state"], "ready");
    let schema = check(&["schema", "bing_search"], 0, "question").json();
    let properties = schema[0]["inputSchema"]["properties"].as_object().unwrap();
    assert_eq!(properties.keys().collect::<Vec<_>>(), ["question"]);
    let sent = r#"{"question": "why", "api_key": "mine-mine-mine"}"#;
    let refused = check(&["call", "bing_search", sent], 2, "");
    let line = "  - /api_key: unknown argument (allowed: question)\n";
    assert!(refused.stderr.contains(line), "{refused:?}");
    check(&["--verbose", "call", "bing_search", "{}"], 2, "");
    assert!(!project.log().contains(SECRET), "{}", project.log());
}

#[test]
fn r13_unset_variable_costs_its_tool_only_and_says_what_to_write() {
    let project = project("api_key = \"${NO_SUCH_BING_KEY}\"");
    let reason = "the environment variable `NO_SUCH_BING_KEY` for its argument `api_key` is not set; \
                  under `[tools.bing_search]` in toolsmith.toml write \
                  `preset = { api_key = \"${NO_SUCH_BING_KEY}\" }`, and set the variables that it names";
    let ran = run(
        &project,
        &["call", "bing_search", r#"{"question": "why"}"#, "--json"],
    );
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let text = format!("Tool bing_search is not available: {reason}");
    assert_eq!(
        ran.json()["error"],
        json!({"kind": "unavailable", "message": text})
    );
    let tool = &run(&project, &["list", "--json"]).json()["tools"][0];
    assert_eq!(
        (&tool["state"], &tool["reason"]),
        (&json!("unavailable"), &json!(reason))
    );
    let listed = run(&project, &["list"]).stdout;
    assert!(
        listed.contains(&format!("not callable: {reason}")),
        "{listed}"
    );
    assert_eq!(run(&project, &["call", "plain"]).stdout, "plain\n");
}

/// A tool that can't read its preset may quote it in its error; nobody sees that.
#[test]
fn r13_preset_that_the_type_refuses_is_not_quoted() {
    let project = Project::new();
    project.plugin(
        "keyed",
        r#"
        #[tool_type]
        #[serde(try_from = "String")]
        struct Key(String);

        impl TryFrom<String> for Key {
            type Error = String;
            fn try_from(text: String) -> std::result::Result<Self, String> {
                Err(format!("{text} is no key"))
            }
        }

        /// Asks.
        #[tool]
        fn ask(#[arg(preset)] key: Key) -> String {
            key.0
        }
        "#,
    );
    let mut file = fs_err::read_to_string(project.path().join("toolsmith.toml")).unwrap();
    file.extend(["\n[tools.ask]\npreset = { key = \"", SECRET, "\" }\n"]);
    project.write("toolsmith.toml", &file);
    let ran = project.run(&["call", "ask", "--json"]);
    let shown = format!("{}{}{}", ran.stdout, ran.stderr, project.log());
    assert!(!shown.contains(SECRET), "{shown}");
    assert!(
        ran.stdout
            .contains("can't read the preset value of its argument `key`"),
        "{shown}"
    );
}
