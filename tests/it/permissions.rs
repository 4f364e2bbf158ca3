//! Whether a call may run: what is configured, what a tool says of itself, what a person answers.

mod answers;
mod plugins;

use std::sync::Arc;

use agent_core::call::{
    Approval, Arguments, Before, CallView, Finalized, Hooks, Permissions, Question, ToolCall,
};
use agent_core::config::Permission::{self, Allow, Ask, Deny};
use agent_core::registry::Configuration;
use agent_core::tool::{Execution, FunctionTool, ToolSpec};
use serde_json::{Value, json};
use tool_sdk::tool::Annotations;
use tool_sdk::{ErrorKind, ToolResult};

use crate::host::{Host, Log, open_spec};

/// What is read of a call that would be asked for where nobody can be asked.
const NOBODY: &str = "Tool erase needs a person's approval, and there is nobody to ask. To allow \
                      it, pass `--allow erase` for one run, or write in toolsmith.toml:\n\
                      [tools.erase]\npermission = \"allow\"";

fn configuration(permission: Option<Permission>) -> Configuration {
    let mut configuration = Configuration::default();
    configuration
        .permissions
        .extend(permission.map(|permission| ("erase".to_owned(), permission)));
    configuration
}

fn destructive(name: &str) -> ToolSpec {
    ToolSpec {
        annotations: Annotations {
            destructive: Some(true),
            ..Annotations::NONE
        },
        ..open_spec(name)
    }
}

/// A tool that tells when it is prepared and when it runs, and with what.
fn telling(spec: ToolSpec, log: &Log) -> FunctionTool {
    let (prepared, ran) = (log.clone(), log.clone());
    let tool = FunctionTool::new(spec, move |call: Execution<'_>| {
        ran.add(format!("run {}", call.arguments));
        async { Ok(ToolResult::text("erased")) }
    });
    tool.with_prepare(move |arguments| {
        prepared.add("prepare");
        Ok(arguments)
    })
}

/// A host with `erase`, of which this is configured.
async fn host(spec: ToolSpec, permission: Option<Permission>) -> (Host, Log) {
    let (host, log) = (Host::new(), Log::default());
    host.registry.configure(configuration(permission));
    host.add(telling(spec, &log)).await;
    (host, log)
}

fn erase(arguments: Value) -> ToolCall {
    ToolCall::new("erase", Arguments::Json(arguments)).with_id("call_1")
}

/// The kind and the text of a call that failed.
fn error(finalized: &Finalized) -> (ErrorKind, String) {
    let error = finalized.result.error.as_ref().unwrap();
    assert_eq!(finalized.result.text(), error.message);
    (error.kind, error.message.clone())
}

/// A tool that says it destroys is asked for, unless it says that it changes nothing; whatever is
/// configured replaces that.
#[tokio::test]
async fn annotations_say_what_is_asked_for_and_configuration_replaces_them() {
    let (yes, no) = (Some(true), Some(false));
    let check = async |destructive, read_only, configured, expected| {
        let spec = ToolSpec {
            annotations: Annotations {
                destructive,
                read_only,
                ..Annotations::NONE
            },
            ..open_spec("erase")
        };
        let (host, _) = host(spec, configured).await;
        let permission = host.registry.table().get("erase").unwrap().permission();
        assert_eq!(
            permission, expected,
            "{destructive:?} {read_only:?} {configured:?}"
        );
        let finalized = host.make(&host.caller(), erase(json!({}))).await;
        match expected {
            Allow => assert_eq!(finalized.result.text(), "erased"),
            Ask => assert_eq!(
                error(&finalized),
                (ErrorKind::NeedsApproval, NOBODY.to_owned())
            ),
            Deny => assert_eq!(error(&finalized).0, ErrorKind::Denied),
        }
    };
    for read_only in [None, yes, no] {
        check(None, read_only, None, Allow).await;
        check(no, read_only, None, Allow).await;
        for configured in [Allow, Ask, Deny] {
            check(None, read_only, Some(configured), configured).await;
            check(yes, read_only, Some(configured), configured).await;
        }
    }
    check(yes, None, None, Ask).await;
    check(yes, no, None, Ask).await;
    check(yes, yes, None, Allow).await;
}

/// R6: where nobody can be asked, the call is rejected, and the text says what to write.
#[tokio::test]
async fn r6_nobody_to_ask_is_a_rejection_that_says_what_to_do() {
    let (host, log) = host(destructive("erase"), None).await;
    let finalized = host.make(&host.caller(), erase(json!({"path": "/"}))).await;
    assert_eq!(
        error(&finalized),
        (ErrorKind::NeedsApproval, NOBODY.to_owned())
    );
    let expected = json!({
        "type": "toolCallRejected", "toolCallId": "call_1", "toolName": "erase",
        "args": {"path": "/"}, "kind": "needsApproval", "message": NOBODY,
    });
    assert_eq!(host.events.take_json(), [expected]);
    // Being asked for is the last step (R32).
    assert_eq!(log.take(), ["prepare"]);
}

/// R6, R32: nothing of a denied tool runs, not even what looks at arguments.
#[tokio::test]
async fn r32_denied_tool_is_refused_before_anything_of_it_runs() {
    let (host, log) = host(open_spec("erase"), Some(Deny)).await;
    let (asked, seen) = (log.clone(), log.clone());
    let permissions = Permissions::default()
        .allowing(["erase".to_owned()])
        .asking(move |_| {
            asked.add("asked");
            async { Approval::Once }
        });
    let hooks = Hooks {
        before_tool_call: Some(Arc::new(move |_: CallView| {
            seen.add("before");
            async { Ok(Before::Run) }
        })),
        ..Hooks::default()
    };
    let caller = host
        .caller()
        .with_permissions(permissions)
        .with_hooks(hooks);
    let finalized = host.make(&caller, erase(json!({"path": "/"}))).await;
    let text = "Tool erase is denied by configuration: [tools.erase] permission = \"deny\"";
    assert_eq!(error(&finalized), (ErrorKind::Denied, text.to_owned()));
    let expected = json!({
        "type": "toolCallRejected", "toolCallId": "call_1", "toolName": "erase",
        "args": {"path": "/"}, "kind": "denied", "message": text,
    });
    assert_eq!(host.events.take_json(), [expected]);
    assert_eq!(log.take(), Vec::<String>::new());
}

/// What is configured, allowed and written down is about the tool's own name, whatever name a model
/// is shown.
#[tokio::test]
async fn prefix_changes_nothing_of_what_is_permitted() {
    let call = ToolCall::new("my_erase", Arguments::Json(json!({})));
    let make = async |permission, permissions: Permissions| {
        let (host, _) = host(open_spec("erase"), Some(permission)).await;
        let pinned = Arc::new(host.registry.pin().prefixed("my_"));
        let caller = host.caller().with_permissions(permissions).pinned(pinned);
        host.make(&caller, call.clone()).await
    };
    let denied = make(Deny, Permissions::default()).await;
    let text = "Tool my_erase is denied by configuration: [tools.erase] permission = \"deny\"";
    assert_eq!(error(&denied), (ErrorKind::Denied, text.to_owned()));
    let refused = make(Ask, Permissions::default()).await;
    assert_eq!(
        error(&refused),
        (ErrorKind::NeedsApproval, NOBODY.to_owned())
    );
    let allowed = Permissions::default().allowing(["erase".to_owned()]);
    assert_eq!(make(Ask, allowed).await.result.text(), "erased");
    let other = Permissions::default().allowing(["my_erase".to_owned()]);
    assert_eq!(error(&make(Ask, other).await).0, ErrorKind::NeedsApproval);
}

/// What need not be asked for is added up, and is nobody else's.
#[tokio::test]
async fn tools_that_are_allowed_are_not_asked_for() {
    let (host, _) = host(destructive("erase"), None).await;
    host.add(telling(destructive("burn"), &Log::default()))
        .await;
    let none = Permissions::default();
    let both = none
        .clone()
        .allowing(["erase".to_owned()])
        .allowing(["burn".to_owned()]);
    for (permissions, allowed) in [(&both, true), (&none, false)] {
        let caller = host.caller().with_permissions(permissions.clone());
        for tool in ["erase", "burn"] {
            let call = ToolCall::new(tool, Arguments::Json(json!({})));
            let finalized = host.make(&caller, call).await;
            assert_eq!(finalized.result.is_error, !allowed, "{tool}");
        }
    }
}

/// Blocks, rewrites or lets run by the path.
fn deciding_by_path(log: &Log) -> Hooks {
    let log = log.clone();
    let decide = move |call: CallView| {
        log.add(format!("before {}", call.arguments));
        let decision = match call.arguments["path"].as_str().unwrap() {
            "block" => Before::Block(None),
            "root" => Before::Rewrite(json!({"path": "/"})),
            "run" => Before::Run,
            _ => Before::Rewrite(json!({"path": 5, "depth": "2"})),
        };
        async { Ok(decision) }
    };
    Hooks {
        before_tool_call: Some(Arc::new(decide)),
        ..Hooks::default()
    }
}

/// R32: a person is asked last, for the arguments that the tool then gets; what fails before that
/// is not asked for.
#[tokio::test]
async fn r32_person_is_asked_last_and_for_the_final_arguments() {
    let schema = json!({
        "type": "object", "additionalProperties": false, "required": ["path"],
        "properties": {"path": {"type": "string"}, "depth": {"type": "integer", "default": 1}},
    });
    let spec = ToolSpec {
        input_schema: schema,
        ..destructive("erase")
    };
    let (host, log) = (Host::new(), Log::default());
    let (validated, asked) = (log.clone(), log.clone());
    let tool = telling(spec, &log).with_validate(move |arguments| {
        validated.add(format!("validate {arguments}"));
        (arguments["path"] == "/").then(|| "not the root".to_owned())
    });
    host.add(tool).await;
    let permissions = Permissions::default().asking(move |question: Question| {
        let CallView { id, arguments, .. } = question.call;
        asked.add(format!("ask {id} {arguments}"));
        async { Approval::Once }
    });
    let caller = host.caller().with_permissions(permissions);
    let caller = caller.with_hooks(deciding_by_path(&log));
    let check = async |path: Value, expected: &[&str]| {
        host.make(&caller, erase(json!({"path": path}))).await;
        assert_eq!(log.take(), expected);
    };
    let steps = [
        "prepare",
        r#"validate {"path":"a","depth":1}"#,
        r#"before {"path":"a","depth":1}"#,
        r#"validate {"path":"5","depth":2}"#,
        r#"ask call_1 {"path":"5","depth":2}"#,
        r#"run {"path":"5","depth":2}"#,
    ];
    check(json!("a"), &steps).await;
    let steps = [
        "prepare",
        r#"validate {"path":"run","depth":1}"#,
        r#"before {"path":"run","depth":1}"#,
        r#"ask call_1 {"path":"run","depth":1}"#,
        r#"run {"path":"run","depth":1}"#,
    ];
    check(json!("run"), &steps).await;
    check(json!(["a"]), &["prepare"]).await;
    let root = r#"validate {"path":"/","depth":1}"#;
    check(json!("/"), &["prepare", root]).await;
    let steps = [
        "prepare",
        r#"validate {"path":"block","depth":1}"#,
        r#"before {"path":"block","depth":1}"#,
    ];
    check(json!("block"), &steps).await;
    let steps = [
        "prepare",
        r#"validate {"path":"root","depth":1}"#,
        r#"before {"path":"root","depth":1}"#,
        root,
    ];
    check(json!("root"), &steps).await;
}

/// R13: no person is shown a preset, and none is part of what an answer is bound to.
#[tokio::test]
async fn r13_question_shows_no_preset() {
    let (host, log) = (Host::new(), Log::default());
    let mut configuration = configuration(Some(Ask));
    configuration.presets = configuration.presets.with("erase", "key", json!("hunter2"));
    host.registry.configure(configuration);
    let schema = json!({
        "type": "object", "additionalProperties": false,
        "properties": {"path": {"type": "string"}, "key": {"type": "string"}},
    });
    let spec = ToolSpec {
        input_schema: schema,
        ..open_spec("erase")
    };
    host.add(telling(spec, &log)).await;
    let asked = log.clone();
    let permissions = Permissions::default().asking(move |question: Question| {
        asked.add(format!("{question:?}"));
        async { Approval::Same }
    });
    let caller = host.caller().with_permissions(permissions);
    host.make(&caller, erase(json!({"path": "a"}))).await;
    let told = log.take();
    assert_eq!(told.len(), 3, "{told:?}");
    assert!(
        told[1].contains("path") && !told[1].contains("hunter2"),
        "{}",
        told[1]
    );
    assert!(!told[1].contains("\"key\""), "{}", told[1]);
    assert_eq!(told[2], r#"run {"path":"a","key":"hunter2"}"#);
    host.make(&caller, erase(json!({"path": "a"}))).await;
    assert_eq!(log.take().len(), 2, "the same call is not asked for again");
}
