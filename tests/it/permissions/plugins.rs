//! Permissions of tools that are reloaded, and of a configuration that changes.

use std::sync::{Arc, Mutex};

use agent_core::abort::AbortSignal;
use agent_core::call::{Approval, Arguments, Caller, Permissions, Question, ToolCall};
use agent_core::registry::Scope;
use agent_core::tool::ToolCallResult;
use serde_json::json;
use tool_sdk::ErrorKind;
use toolsmith_tests::{Project, call, repository};

use crate::host::{Log, within};

fn eraser(word: &str) -> String {
    format!(
        "/// Erases.\n#[tool(destructive = true)]\nfn erase() -> String {{ \"{word}\".to_owned() }}"
    )
}

/// A person who allows the whole tool, each time that is asked.
fn allows_the_tool(caller: &Caller, log: &Log) -> Caller {
    let log = log.clone();
    let permissions = Permissions::default().asking(move |question: Question| {
        log.add(format!("generation {}", question.generation));
        async { Approval::Tool }
    });
    caller.clone().with_permissions(permissions)
}

async fn refresh(caller: &Caller) {
    caller.registry().refresh(Scope::All, &()).await.unwrap();
}

/// An answer is about the code that it was given for: neither a newer version of the tool nor
/// another plugin that takes over its name inherits it.
#[tokio::test(flavor = "multi_thread")]
async fn answer_is_about_one_version_of_one_plugin() {
    let project = Project::new();
    project.plugin("aa", &eraser("first"));
    let log = Log::default();
    let caller = allows_the_tool(&project.host().await, &log);
    for _ in 0..2 {
        assert_eq!(call(&caller, "erase", json!({})).await.text(), "first");
    }
    assert_eq!(log.take(), ["generation 1"]);

    project.source("aa", &eraser("second"));
    refresh(&caller).await;
    for _ in 0..2 {
        assert_eq!(call(&caller, "erase", json!({})).await.text(), "second");
    }
    assert_eq!(log.take(), ["generation 2"]);

    // Another plugin of the same tool, whose generations are counted for itself.
    project.plugin("bb", &eraser("other"));
    fs_err::remove_dir_all(project.plugins().join("aa")).unwrap();
    refresh(&caller).await;
    assert_eq!(call(&caller, "erase", json!({})).await.text(), "other");
    assert_eq!(log.take(), ["generation 1"]);

    // A plugin that was taken away and comes back with other code.
    fs_err::remove_dir_all(project.plugins().join("bb")).unwrap();
    refresh(&caller).await;
    project.plugin("bb", &eraser("again"));
    refresh(&caller).await;
    assert_eq!(call(&caller, "erase", json!({})).await.text(), "again");
    assert_eq!(log.take(), ["generation 1"]);
}

/// The file decides from the next call on; calls of pinned tools keep what was decided for them.
#[tokio::test(flavor = "multi_thread")]
async fn permission_follows_the_file() {
    let project = Project::new();
    project.plugin("aa", &eraser("erased"));
    let sdk = repository().join("tool-sdk").display().to_string();
    let configure = |permission: &str| {
        let section = format!("[tools.erase]\npermission = {permission:?}\n");
        project.write(
            "toolsmith.toml",
            &format!("{section}[sdk]\npath = {sdk:?}\n"),
        );
    };
    let caller = project.following_host().await;
    let outcome = async |caller: &Caller| {
        let result = call(caller, "erase", json!({})).await;
        result
            .error
            .as_ref()
            .map_or("runs".to_owned(), |error| error.kind.to_string())
    };
    assert_eq!(outcome(&caller).await, "needsApproval");
    for (permission, expected) in [
        ("allow", "runs"),
        ("deny", "denied"),
        ("ask", "needsApproval"),
        ("allow", "runs"),
    ] {
        let before = caller.pinned(Arc::new(caller.registry().pin()));
        let was = outcome(&caller).await;
        configure(permission);
        refresh(&caller).await;
        assert_eq!(outcome(&caller).await, expected);
        assert_eq!(outcome(&before).await, was);
    }
    let generation = caller.registry().table().get("erase").unwrap().generation();
    assert_eq!(generation.0, 1, "nothing was loaded anew");
}

/// A person who thinks is asked about one version, and that one runs.
#[tokio::test(flavor = "multi_thread")]
async fn reload_while_a_person_thinks_runs_what_was_asked_for() {
    let project = Project::new();
    project.plugin("aa", &eraser("old"));
    let caller = project.host().await;
    let result = while_a_person_thinks(&caller, || project.source("aa", &eraser("new"))).await;
    assert_eq!(result.text(), "old");
}

/// Whoever denies a tool while its question waits means this call too, also where the tools are pinned.
#[tokio::test(flavor = "multi_thread")]
async fn denial_while_a_person_thinks_counts() {
    let project = Project::new();
    project.plugin("aa", &eraser("erased"));
    let caller = project.following_host().await;
    let caller = caller.pinned(Arc::new(caller.registry().pin()));
    let sdk = repository().join("tool-sdk").display().to_string();
    let deny = || {
        let text = format!("[tools.erase]\npermission = \"deny\"\n[sdk]\npath = {sdk:?}\n");
        project.write("toolsmith.toml", &text);
    };
    let result = while_a_person_thinks(&caller, deny).await;
    let error = result.error.as_ref().unwrap();
    assert_eq!(error.kind, ErrorKind::Denied, "{}", error.message);
    assert!(error.message.contains("permission = \"deny\""));
}

/// Calls the tool, changes something while a person is asked, and allows the call.
async fn while_a_person_thinks(caller: &Caller, change: impl FnOnce()) -> Arc<ToolCallResult> {
    let (asked, wait) = tokio::sync::oneshot::channel();
    let (answer, answered) = tokio::sync::oneshot::channel();
    let channels = Mutex::new(Some((asked, answered)));
    let permissions = Permissions::default().asking(move |_: Question| {
        let (asked, answered) = channels.lock().unwrap().take().unwrap();
        asked.send(()).unwrap();
        async { answered.await.unwrap() }
    });
    let asking = caller.clone().with_permissions(permissions);
    let running = tokio::spawn(async move {
        let call = ToolCall::new("erase", Arguments::Json(json!({})));
        asking.call(call, &AbortSignal::new()).await
    });
    within(wait).await.unwrap();
    change();
    refresh(caller).await;
    answer.send(Approval::Once).unwrap();
    within(running).await.unwrap().result
}
