//! A model that makes the same call again and again (g5.loop-guard).

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use agent_core::agent::{Agent, AgentBuilder, ScriptedModel};
use agent_core::message::{Arguments, Block, Reply};
use agent_core::registry::Scope;
use agent_core::tool::FunctionTool;
use serde_json::{Value, json};
use tool_sdk::{ToolError, ToolResult};
use toolsmith_tests::Project;

use super::calling;
use super::fixture::{asked, block, parallel, results};
use super::validity;
use crate::host::within;

/// A tool that fails unless it is told not to, and how often it ran.
fn failing() -> (FunctionTool, Arc<AtomicUsize>) {
    let runs = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&runs);
    let tool = parallel("fail", move |call| {
        count.fetch_add(1, Ordering::SeqCst);
        let works = call.arguments["works"] == true;
        async move {
            if works {
                Ok(ToolResult::text("Done!"))
            } else {
                Err(ToolError::new("no"))
            }
        }
    });
    (tool, runs)
}

/// Runs these rounds and gives what the model read of each call. Every request is valid.
async fn texts(
    rounds: Vec<Reply>,
    build: impl FnOnce(AgentBuilder) -> AgentBuilder,
) -> Vec<String> {
    let model = ScriptedModel::new(rounds);
    model.then(Ok(Reply::text("ok")));
    let agent = Agent::builder(model.clone()).max_iterations(100);
    let agent = build(agent).build().unwrap();
    within(agent.run("Hello")).await.unwrap();
    for prompt in model.prompts() {
        validity::check(&asked(&prompt)).unwrap();
    }
    let results = results(&agent.conversation().messages());
    results.into_iter().map(|(_, text)| text).collect()
}

/// `count` rounds of this call.
fn rounds(count: usize, arguments: &Value) -> Vec<Reply> {
    (0..count)
        .map(|_| calling("1", "fail", arguments.clone()))
        .collect()
}

/// What became of each call: as it is, with a hint, refused.
fn kinds(texts: &[String]) -> String {
    let kind = |text: &String| match text {
        text if text.contains("was not made again") => 'R',
        text if text.contains("times in a row. Change the arguments") => 'H',
        _ => '.',
    };
    texts.iter().map(kind).collect()
}

/// The model is told at the third same failure; after five the call is not made again.
#[tokio::test]
async fn g5_loop_guard_hints_at_the_third_failure_and_refuses_after_five() {
    let (tool, runs) = failing();
    let texts = texts(rounds(8, &json!({})), |agent| agent.tool(tool)).await;
    assert_eq!(kinds(&texts), "..HHHRRR");
    assert_eq!(runs.load(Ordering::SeqCst), 5);
    assert_eq!(texts[0], "no");
    assert!(
        texts[2].starts_with("no\n[This call has failed in the same way 3 times"),
        "{texts:?}"
    );
    assert!(
        texts[5].contains("failed in the same way 5 times"),
        "{texts:?}"
    );
}

/// Other arguments are another call; the same spelled otherwise are not.
#[tokio::test]
async fn g5_loop_guard_looks_at_the_arguments() {
    let (tool, _) = failing();
    let mut all = rounds(2, &json!({"n": 1}));
    all.extend(rounds(2, &json!({"n": 2})));
    all.extend(rounds(2, &json!({"n": 1})));
    assert_eq!(kinds(&texts(all, |agent| agent.tool(tool)).await), "......");

    let (tool, _) = failing();
    let spelled = |text: &str| {
        Reply::new(vec![Block::ToolUse {
            id: "1".to_owned(),
            name: "fail".to_owned(),
            input: Arguments::Text(text.to_owned()),
        }])
    };
    let all = ["{\"n\":1}", "{ \"n\" : 1 }", " {\"n\": 1}"]
        .map(spelled)
        .to_vec();
    assert_eq!(kinds(&texts(all, |agent| agent.tool(tool)).await), "..H");
}

/// A success in between begins the count anew.
#[tokio::test]
async fn g5_loop_guard_forgets_after_a_success() {
    let count = AtomicUsize::new(0);
    let tool = parallel("fail", move |_| {
        let works = count.fetch_add(1, Ordering::SeqCst) == 2;
        async move {
            if works {
                Ok(ToolResult::text("Done!"))
            } else {
                Err(ToolError::new("no"))
            }
        }
    });
    let texts = texts(rounds(6, &json!({})), |agent| agent.tool(tool)).await;
    assert_eq!(kinds(&texts), ".....H");
}

/// Two calls in each round are both counted, in whichever order.
#[tokio::test]
async fn g5_loop_guard_counts_several_calls_of_a_round() {
    let (tool, runs) = failing();
    let all = (0..6).map(|round| {
        let mut blocks = vec![
            block("1", "fail", json!({"n": 1})),
            block("2", "fail", json!({"n": 2})),
        ];
        if round % 2 == 1 {
            blocks.reverse();
        }
        Reply::new(blocks)
    });
    let texts = texts(all.collect(), |agent| agent.tool(tool)).await;
    assert_eq!(kinds(&texts), "....HHHHHHRR");
    assert_eq!(runs.load(Ordering::SeqCst), 10);
}

/// g5.loop-guard.1: calls that succeed are limited where the builder says so, and not else.
#[tokio::test]
async fn g5_loop_guard_limits_successful_calls_where_it_is_asked_for() {
    let works = json!({"works": true});
    let (tool, runs) = failing();
    let limited = texts(rounds(5, &works), |agent| agent.tool(tool).repeat_limit(3)).await;
    assert_eq!(kinds(&limited), "...RR");
    assert!(
        limited[3].contains("it was made 3 times in a row"),
        "{limited:?}"
    );
    assert_eq!(runs.load(Ordering::SeqCst), 3);
    let (tool, _) = failing();
    let free = texts(rounds(12, &works), |agent| agent.tool(tool)).await;
    assert_eq!(kinds(&free), "............");
}

/// Each run counts anew: a person may have mended what failed.
#[tokio::test]
async fn g5_loop_guard_begins_anew_with_each_run() {
    let (tool, runs) = failing();
    let model = ScriptedModel::default();
    let agent = Agent::builder(model.clone()).tool(tool).build().unwrap();
    for _ in 0..2 {
        for reply in rounds(5, &json!({})) {
            model.then(Ok(reply));
        }
        model.then(Ok(Reply::text("ok")));
        within(agent.run("Hello")).await.unwrap();
    }
    assert_eq!(runs.load(Ordering::SeqCst), 10);
}

/// A new version of the tool is worth another try.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn g5_loop_guard_gives_a_new_version_another_try() {
    let failing = |text: &str| {
        let result = format!("Err(ToolError::new({text:?}))");
        format!("/// Fails.\n#[tool]\nfn fail() -> Result<String> {{ {result} }}")
    };
    let project = Arc::new(Project::new());
    project.plugin("failing", &failing("no"));
    let registry = project.host().await.registry().clone();
    let round = AtomicUsize::new(0);
    let (reloading, edited) = (registry.clone(), Arc::clone(&project));
    let texts = texts(rounds(8, &json!({})), move |agent| {
        agent.tools(registry).prepare_context(move |context| {
            // Before the seventh question.
            let is_due = round.fetch_add(1, Ordering::SeqCst) == 5;
            let (registry, project) = (reloading.clone(), Arc::clone(&edited));
            let source = failing("still not");
            async move {
                if is_due {
                    project.source("failing", &source);
                    registry
                        .refresh(Scope::All, &())
                        .await
                        .map_err(|error| error.to_string())?;
                }
                Ok(context)
            }
        })
    })
    .await;
    // The tools of the sixth turn were pinned before.
    assert_eq!(kinds(&texts), "..HHHR..");
    assert_eq!(texts[6], "still not");
}
