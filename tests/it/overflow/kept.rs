//! The files of whole texts: their names, their age, a disk that refuses, a disk that is slow.

use std::path::PathBuf;
use std::sync::mpsc::channel;
use std::time::{Duration, SystemTime};

use agent_core::abort::AbortSignal;
use agent_core::call::{Arguments, Finalized, ToolCall};
use agent_core::ids::ContentHash;
use agent_core::limits;
use agent_core::tool::{Execution, FunctionTool};
use serde_json::json;
use tool_sdk::ToolResult;
use toolsmith_tests::Project;

use super::{texts, whole};
use crate::host::{Host, open_spec, within};

/// A host whose tool `say` gives back its argument.
async fn host() -> Host {
    Host::with(FunctionTool::new(
        open_spec("say"),
        |call: Execution<'_>| {
            let text = call.arguments["text"].as_str().unwrap().to_owned();
            async { Ok(ToolResult::text(text)) }
        },
    ))
    .await
}

fn folder(host: &Host) -> PathBuf {
    host.registry.state_folder().unwrap().join("results")
}

async fn say(host: &Host, text: &str) -> Finalized {
    let call = ToolCall::new("say", Arguments::Json(json!({"text": text})));
    host.make(&host.caller().with_result_limit(3), call).await
}

fn files(host: &Host) -> Vec<String> {
    let files = fs_err::read_dir(folder(host)).unwrap();
    let mut names: Vec<_> = files
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn name(text: &str) -> String {
    format!("{}.txt", ContentHash::of(text.as_bytes()))
}

/// A text is kept once, under a name that is nobody's words.
#[tokio::test]
async fn same_text_is_the_same_file() {
    let host = host().await;
    say(&host, "abc").await;
    assert!(!folder(&host).exists(), "nothing was cut");
    for _ in 0..3 {
        let finalized = say(&host, "../../abcd").await;
        assert_eq!(whole(&finalized), "../../abcd");
    }
    assert_eq!(files(&host), [name("../../abcd")]);
    say(&host, "abcde").await;
    let mut both = [name("../../abcd"), name("abcde")];
    both.sort();
    assert_eq!(files(&host), both);
}

fn age(host: &Host, text: &str, age: Duration) {
    let file = std::fs::File::options()
        .write(true)
        .open(folder(host).join(name(text)));
    file.unwrap().set_modified(SystemTime::now() - age).unwrap();
}

#[tokio::test]
async fn old_files_are_forgotten_and_used_ones_are_young_again() {
    let host = host().await;
    for text in ["old text", "young text", "used text"] {
        say(&host, text).await;
    }
    let minute = Duration::from_mins(1);
    age(&host, "old text", limits::RESULT_AGE + minute);
    age(&host, "used text", limits::RESULT_AGE + minute);
    age(&host, "young text", limits::RESULT_AGE / 2);
    let finalized = say(&host, "used text").await;
    assert_eq!(whole(&finalized), "used text");
    let mut left = [name("young text"), name("used text")];
    left.sort();
    assert_eq!(files(&host), left);
    say(&host, "new text").await;
    assert!(files(&host).contains(&name("used text")));
}

/// The answer is cut all the same where the whole of it can't be kept.
#[tokio::test]
async fn disk_that_refuses_costs_the_file_and_nothing_else() {
    let host = host().await;
    fs_err::write(folder(&host), "no folder").unwrap();
    let finalized = say(&host, "abcdef").await;
    let note = "[cut: the first 3 of 6 bytes of text are shown]";
    assert_eq!(texts(&finalized), ["abc", note]);
    assert!(!finalized.result.is_error);
    assert_eq!(finalized.result.details.get("fullText"), None);
    // It works again when the obstacle is gone, also when the folder is taken away in between.
    fs_err::remove_file(folder(&host)).unwrap();
    for _ in 0..2 {
        assert_eq!(whole(&say(&host, "abcdef").await), "abcdef");
        fs_err::remove_dir_all(folder(&host)).unwrap();
    }
}

const HUGE: &str = r#"
    /// Says a lot.
    #[tool]
    fn huge(bytes: usize) -> String {
        "x".repeat(bytes)
    }
"#;

/// g5.huge-output: through the command; why nothing was kept is in the log.
#[test]
fn command_cuts_and_warns_of_what_it_could_not_keep() {
    let project = Project::new();
    project.plugin("huge", HUGE);
    let arguments = ["call", "huge", r#"{"bytes": 300000}"#, "--json"];
    let result = project.run(&arguments).json();
    let path = result["details"]["fullText"].as_str().unwrap();
    assert_eq!(fs_err::read_to_string(path).unwrap(), "x".repeat(300_000));
    let results = project.path().join(".toolsmith/results");
    fs_err::remove_dir_all(&results).unwrap();
    fs_err::write(&results, "").unwrap();
    let result = project.run(&arguments).json();
    let note = "[cut: the first 262144 of 300000 bytes of text are shown]";
    assert_eq!(result["content"][1]["text"], note);
    assert_eq!(result["isError"], false);
    let log = project.log();
    assert!(
        log.contains("the whole text of a result could not be kept"),
        "{log}"
    );
}

/// A disk that takes its time holds up the call whose text it keeps, and nothing else of the
/// runtime, which here has one thread.
#[test]
fn slow_disk_blocks_no_thread_of_the_runtime() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(1)
        .build()
        .unwrap();
    runtime.block_on(async {
        let host = host().await;
        let (go, wait) = channel::<()>();
        // The one thread that may block is busy, as if it waited for the disk.
        let busy = tokio::task::spawn_blocking(move || wait.recv());
        let caller = host.caller().with_result_limit(3);
        let call = ToolCall::new("say", Arguments::Json(json!({"text": "abcdef"})));
        let abort = AbortSignal::new();
        let mut long = Box::pin(caller.call(call, &abort));
        let mut turns = 0;
        while turns < 100 {
            tokio::select! {
                biased;
                _ = &mut long => panic!("the text was kept by the thread that calls"),
                () = tokio::task::yield_now() => turns += 1,
            }
        }
        assert_eq!(say(&host, "abc").await.result.text(), "abc");
        go.send(()).unwrap();
        assert_eq!(whole(&within(long).await), "abcdef");
        busy.await.unwrap().unwrap();
    });
}

/// 100 MB of a plugin are cut and kept, while the runtime goes on.
#[tokio::test]
async fn g5_huge_output_of_100_mb_is_kept_in_full() {
    const BYTES: usize = 100_000_000;
    let project = Project::new();
    project.plugin("huge", HUGE);
    let caller = project.host().await;
    let call = ToolCall::new("huge", Arguments::Json(json!({"bytes": BYTES})));
    let abort = AbortSignal::new();
    let mut turns = 0_u64;
    let running = async {
        loop {
            tokio::task::yield_now().await;
            turns += 1;
        }
    };
    let finalized = tokio::select! {
        finalized = within(caller.call(call, &abort)) => finalized,
        () = running => unreachable!("it never ends"),
    };
    assert!(turns > 100, "{turns}");
    assert_eq!(texts(&finalized)[0].len(), limits::RESULT_TEXT);
    let path = finalized.result.details["fullText"].as_str().unwrap();
    assert_eq!(fs_err::metadata(path).unwrap().len(), BYTES as u64);
}
