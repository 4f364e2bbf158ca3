//! What a person may answer, what is remembered of it, and a person who does not answer.

use std::sync::Arc;
use std::sync::Mutex;

use agent_core::abort::AbortSignal;
use agent_core::call::{Approval, Arguments, Caller, Permissions, Question, ToolCall};
use agent_core::config::Permission::Ask;
use agent_core::config::ToolExecution::{Parallel, PerTool, Sequential};
use agent_core::ids::ContentHash;
use serde_json::json;
use tool_sdk::ErrorKind;

use super::{destructive, erase, error, host, telling};
use crate::host::{Host, Log, Signal, open_spec, within};

/// A person who gives these answers, one after the other, and tells what was asked.
fn answering(answers: impl Into<Vec<Approval>>, log: &Log) -> Permissions {
    let answers = Mutex::new(answers.into().into_iter());
    let log = log.clone();
    Permissions::default().asking(move |question: Question| {
        let Question {
            call,
            generation,
            fingerprint,
        } = question;
        assert_eq!(
            fingerprint,
            ContentHash::of(call.arguments.to_string().as_bytes())
        );
        log.add(format!(
            "ask {} {} {generation}",
            call.tool.name, call.arguments
        ));
        let answer = answers.lock().unwrap().next().unwrap();
        async { answer }
    })
}

/// Calls `erase` with each of these and tells how often a person was asked.
async fn asked(answer: Approval, calls: &[i32]) -> usize {
    let (host, log) = host(destructive("erase"), None).await;
    let questions = Log::default();
    let caller = host
        .caller()
        .with_permissions(answering(vec![answer; calls.len()], &questions));
    for n in calls {
        let finalized = host.make(&caller, erase(json!({"n": n}))).await;
        assert_eq!(finalized.result.text(), "erased");
    }
    let told = log.take();
    let runs = told.iter().filter(|told| told.starts_with("run"));
    assert_eq!(runs.count(), calls.len());
    questions.take().len()
}

#[tokio::test]
async fn answer_counts_for_as_much_as_the_person_says() {
    assert_eq!(asked(Approval::Once, &[1, 1, 2, 1]).await, 4);
    assert_eq!(asked(Approval::Same, &[1, 1, 2, 1, 2]).await, 2);
    assert_eq!(asked(Approval::Tool, &[1, 1, 2, 3]).await, 1);
}

/// An answer about one tool says nothing of another.
#[tokio::test]
async fn answer_is_about_one_tool() {
    let (host, _) = host(destructive("erase"), None).await;
    host.add(telling(destructive("burn"), &Log::default()))
        .await;
    let log = Log::default();
    let caller = host
        .caller()
        .with_permissions(answering([Approval::Tool, Approval::Tool], &log));
    for tool in ["erase", "burn", "erase", "burn"] {
        let call = ToolCall::new(tool, Arguments::Json(json!({})));
        assert!(!host.make(&caller, call).await.result.is_error);
    }
    assert_eq!(log.take(), ["ask erase {} 0", "ask burn {} 0"]);
}

/// Clones of permissions remember together, others do not.
#[tokio::test]
async fn answers_are_remembered_by_clones() {
    let (host, _) = host(destructive("erase"), None).await;
    let log = Log::default();
    let permissions = answering([Approval::Tool], &log);
    for permissions in [permissions.clone(), permissions] {
        let caller = host.caller().with_permissions(permissions);
        assert!(!host.make(&caller, erase(json!({}))).await.result.is_error);
    }
    assert_eq!(log.take().len(), 1);
    let forgetful = host.caller().with_permissions(Permissions::default());
    let finalized = host.make(&forgetful, erase(json!({}))).await;
    assert_eq!(error(&finalized).0, ErrorKind::NeedsApproval);
}

/// R6: what is refused is rejected with the person's reason, and asked for again the next time.
#[tokio::test]
async fn r6_refusal_is_read_by_the_model_and_not_remembered() {
    let (host, log) = host(destructive("erase"), None).await;
    let answers = [
        Approval::Refuse(None),
        Approval::Refuse(Some("it is Sunday".to_owned())),
        Approval::Once,
    ];
    let questions = Log::default();
    let caller = host
        .caller()
        .with_permissions(answering(answers, &questions));
    let texts = [
        "The call of erase was refused",
        "The call of erase was refused: it is Sunday",
    ];
    for text in texts {
        let finalized = host.make(&caller, erase(json!({}))).await;
        assert_eq!(error(&finalized), (ErrorKind::Denied, text.to_owned()));
        assert_eq!(host.events.take_types(), ["toolCallRejected"]);
        assert_eq!(log.take(), ["prepare"]);
    }
    assert!(!host.make(&caller, erase(json!({}))).await.result.is_error);
    assert_eq!(questions.take().len(), 3);
}

#[tokio::test]
async fn approver_that_panics_refuses() {
    let (host, log) = host(open_spec("erase"), Some(Ask)).await;
    let at_once =
        Permissions::default().asking(|question: Question| -> std::future::Ready<Approval> {
            panic!("{}", question.call.id)
        });
    let later = Permissions::default().asking(|question: Question| async move {
        tokio::task::yield_now().await;
        panic!("{}", question.call.id)
    });
    for permissions in [at_once, later] {
        let caller = host.caller().with_permissions(permissions);
        let finalized = host.make(&caller, erase(json!({}))).await;
        let text = "Nobody could be asked: call_1";
        assert_eq!(error(&finalized), (ErrorKind::Denied, text.to_owned()));
        assert_eq!(host.events.take_types(), ["toolCallRejected"]);
        assert_eq!(log.take(), ["prepare"]);
    }
}

/// Tells when it is dropped.
struct Dropped(Signal);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.raise();
    }
}

/// A call that is aborted while a person thinks is answered at once, and the question withdrawn.
#[tokio::test]
async fn abort_withdraws_the_question() {
    let (host, log) = host(destructive("erase"), None).await;
    let (asked, withdrawn) = (Signal::default(), Signal::default());
    let (raise, dropped) = (asked.clone(), withdrawn.clone());
    let permissions = Permissions::default().asking(move |_: Question| {
        let guard = Dropped(dropped.clone());
        raise.raise();
        async move {
            let _guard = guard;
            std::future::pending().await
        }
    });
    let caller = host.caller().with_permissions(permissions);
    let abort = AbortSignal::new();
    let signal = abort.clone();
    let call = tokio::spawn(async move { caller.call(erase(json!({})), &signal).await });
    asked.wait().await;
    abort.abort();
    let text = "The call was aborted before it started";
    let finalized = within(call).await.unwrap();
    assert_eq!(error(&finalized), (ErrorKind::Aborted, text.to_owned()));
    withdrawn.wait().await;
    assert_eq!(host.events.take_types(), ["toolCallRejected"]);
    assert_eq!(log.take(), ["prepare"]);
}

/// A person who needs a moment for each answer; questions must not overlap.
fn thoughtful(answer: &Approval, log: &Log) -> Permissions {
    let (answer, log) = (answer.clone(), log.clone());
    Permissions::default().asking(move |question: Question| {
        let (answer, log, id) = (answer.clone(), log.clone(), question.call.id);
        async move {
            log.add(format!("ask {id}"));
            for _ in 0..5 {
                tokio::task::yield_now().await;
            }
            log.add(format!("answered {id}"));
            answer
        }
    })
}

async fn batch(host: &Host, caller: &Caller, mode: agent_core::config::ToolExecution) {
    let calls: Vec<_> = (1..=3)
        .map(|n| erase(json!({"n": n})).with_id(n.to_string()))
        .collect();
    let abort = AbortSignal::new();
    let batch = within(caller.call_all(&calls, mode, &abort, &|_| ())).await;
    assert!(batch.results.iter().all(|one| !one.result.is_error));
    host.events.take();
}

/// R14, R32: in a batch a person is asked once for each call, in call order, one question at a
/// time, and before anything that overlaps starts.
#[tokio::test]
async fn r14_questions_of_a_batch_come_one_after_the_other() {
    let (host, log) = host(destructive("erase"), None).await;
    let once = thoughtful(&Approval::Once, &log);
    let caller = host.caller().with_permissions(once);
    batch(&host, &caller, Parallel).await;
    let together = [
        "prepare",
        "ask 1",
        "answered 1",
        "prepare",
        "ask 2",
        "answered 2",
        "prepare",
        "ask 3",
        "answered 3",
        r#"run {"n":1}"#,
        r#"run {"n":2}"#,
        r#"run {"n":3}"#,
    ];
    assert_eq!(log.take(), together);
    for mode in [Sequential, PerTool] {
        batch(&host, &caller, mode).await;
        let one_by_one = [
            "prepare",
            "ask 1",
            "answered 1",
            r#"run {"n":1}"#,
            "prepare",
            "ask 2",
            "answered 2",
            r#"run {"n":2}"#,
            "prepare",
            "ask 3",
            "answered 3",
            r#"run {"n":3}"#,
        ];
        assert_eq!(log.take(), one_by_one);
    }
    let tool = thoughtful(&Approval::Tool, &log);
    batch(&host, &host.caller().with_permissions(tool), Parallel).await;
    let told = log.take();
    let asked: Vec<&String> = told.iter().filter(|told| told.starts_with("ask")).collect();
    assert_eq!(asked, ["ask 1"], "the first answer is for the tool");
}

/// A person who refuses one call of a batch refuses that one.
#[tokio::test]
async fn refusal_in_a_batch_is_about_one_call() {
    let (host, _) = host(destructive("erase"), None).await;
    let permissions = Permissions::default().asking(|question: Question| async move {
        match &*question.call.id {
            "2" => Approval::Refuse(None),
            _ => Approval::Once,
        }
    });
    let caller = Arc::new(host.caller().with_permissions(permissions));
    let calls: Vec<_> = (1..=3)
        .map(|n| erase(json!({})).with_id(n.to_string()))
        .collect();
    for mode in [Parallel, Sequential, PerTool] {
        let abort = AbortSignal::new();
        let batch = within(caller.call_all(&calls, mode, &abort, &|_| ())).await;
        let failed: Vec<_> = batch
            .results
            .iter()
            .map(|one| one.result.is_error)
            .collect();
        assert_eq!(failed, [false, true, false]);
    }
}
