//! Results that are too long for a model: where they are cut, and where the whole text is.

mod kept;

use std::sync::Arc;

use agent_core::call::{
    Approval, Arguments, Before, CallView, Finalized, Hooks, Permissions, ToolCall,
};
use agent_core::config::Permission;
use agent_core::registry::{Configuration, Registry};
use agent_core::tool::FunctionTool;
use serde_json::{Value, json};
use tool_sdk::{Content, ErrorKind, ToolError, ToolResult};

use crate::host::{Host, answering, open_spec};

/// Calls a tool that answers this, under this limit.
async fn result_of(answer: Result<ToolResult, ToolError>, limit: usize) -> (Host, Finalized) {
    let host = Host::with(answering("tool", move || answer.clone())).await;
    let caller = host.caller().with_result_limit(limit);
    let call = ToolCall::new("tool", Arguments::Json(json!({}))).with_id("call_1");
    let finalized = host.make(&caller, call).await;
    (host, finalized)
}

/// The text blocks, the last of which is the note.
fn texts(finalized: &Finalized) -> Vec<&str> {
    let blocks = finalized.result.content.iter();
    blocks.filter_map(Content::as_text).collect()
}

/// The text of the file that a result names.
fn whole(finalized: &Finalized) -> String {
    let path = finalized.result.details["fullText"].as_str().unwrap();
    fs_err::read_to_string(path).unwrap()
}

fn note(limit: usize, total: usize, finalized: &Finalized) -> String {
    let path = finalized.result.details["fullText"].as_str().unwrap();
    format!(
        "[cut: the first {limit} of {total} bytes of text are shown; the whole text is in {path}]"
    )
}

/// g5.utf8-cut: a character that the limit would split is left out.
#[tokio::test]
async fn text_is_cut_between_characters() {
    let text = format!("{}éééé", "a".repeat(29_999));
    let (_host, finalized) = result_of(Ok(ToolResult::text(text.clone())), 30_000).await;
    let expected = ["a".repeat(29_999), note(30_000, text.len(), &finalized)];
    assert_eq!(texts(&finalized), expected);
    assert_eq!(whole(&finalized), text);

    // At every place in a text of characters of one to four bytes.
    let text = "aé€😀".repeat(3);
    for limit in 0..text.len() {
        let (_host, finalized) = result_of(Ok(ToolResult::text(text.clone())), limit).await;
        let shown = texts(&finalized);
        let (note_at_the_end, shown) = shown.split_last().unwrap();
        let shown = shown.concat();
        assert!(text.starts_with(&shown), "{limit}: {shown}");
        assert!(
            shown.len() <= limit && limit - shown.len() < 4,
            "{limit}: {shown}"
        );
        assert_eq!(*note_at_the_end, note(limit, text.len(), &finalized));
        assert_eq!(whole(&finalized), text);
    }
    for limit in [text.len(), text.len() + 1] {
        let (_host, finalized) = result_of(Ok(ToolResult::text(text.clone())), limit).await;
        assert_eq!(texts(&finalized), [text.as_str()]);
        assert_eq!(finalized.result.details.get("fullText"), None);
    }
}

/// The limit is for all blocks of text together; other blocks stay where they are.
#[tokio::test]
async fn blocks_of_text_share_the_limit_and_others_stay() {
    let image = || Content::image("AA==", "image/png");
    let blocks = || {
        [
            Content::text("abc"),
            image(),
            Content::text("défg"),
            image(),
            Content::text("h"),
        ]
    };
    let check = async |limit, expected: &[Content]| {
        let (_host, finalized) = result_of(Ok(ToolResult::content(blocks())), limit).await;
        let (last, shown) = finalized.result.content.split_last().unwrap();
        assert_eq!(shown, expected, "{limit}");
        assert_eq!(last, &Content::text(note(limit, 9, &finalized)));
        assert_eq!(whole(&finalized), "abc\ndéfg\nh");
    };
    let images = [image(), image()];
    check(0, &images).await;
    check(2, &[Content::text("ab"), image(), image()]).await;
    check(3, &[Content::text("abc"), image(), image()]).await;
    check(
        4,
        &[Content::text("abc"), image(), Content::text("d"), image()],
    )
    .await;
    // `é` has two bytes.
    check(
        5,
        &[Content::text("abc"), image(), Content::text("d"), image()],
    )
    .await;
    check(
        8,
        &[
            Content::text("abc"),
            image(),
            Content::text("défg"),
            image(),
        ],
    )
    .await;
    let (_host, finalized) = result_of(Ok(ToolResult::content(blocks())), 9).await;
    assert_eq!(finalized.result.content, blocks());
}

/// g5.empty-result: no block that is shown is empty, however the limit falls.
#[tokio::test]
async fn no_block_of_text_is_empty() {
    let check = async |blocks: &[&str], limit| {
        let blocks: Vec<_> = blocks.iter().map(|text| Content::text(*text)).collect();
        let (_host, finalized) = result_of(Ok(ToolResult::content(blocks)), limit).await;
        let shown = texts(&finalized)
            .into_iter()
            .map(str::to_owned)
            .collect::<Vec<_>>();
        assert!(shown.iter().all(|text| !text.is_empty()), "{shown:?}");
        shown
    };
    assert_eq!(check(&[""], 20).await, ["(no output)"]);
    assert_eq!(check(&["", ""], 20).await, ["(no output)"]);
    assert_eq!(check(&[], 20).await, ["(no output)"]);
    assert_eq!(check(&["", "a", ""], 20).await, ["a"]);
    for limit in 0..4 {
        check(&["a", "", "éb", "c"], limit).await;
    }
}

/// g5.empty-result, R6: a refusal without words is none without a block.
#[tokio::test]
async fn refusal_that_says_nothing_is_readable() {
    let tool = answering("tool", || Ok(ToolResult::text("fine")));
    let host = Host::with(tool.with_validate(|_| Some(String::new()))).await;
    let finalized = host.call("tool", "{}").await;
    let error = finalized.result.error.as_ref().unwrap();
    assert_eq!(error.kind, ErrorKind::InvalidArguments);
    assert_eq!(texts(&finalized), ["(no output)"]);
    assert_eq!(host.events.take_json()[0]["message"], "(no output)");
}

/// g5.huge-output: the end event has what the model has, with the file's name.
#[tokio::test]
async fn event_of_the_end_names_the_whole_text() {
    let text = "x".repeat(159_000);
    let (host, finalized) = result_of(Ok(ToolResult::text(text.clone())), 1000).await;
    let end = host.events.take_json().pop().unwrap();
    assert_eq!(end["result"], json!(*finalized.result));
    let path = end["result"]["details"]["fullText"].as_str().unwrap();
    assert_eq!(fs_err::read_to_string(path).unwrap(), text);
    assert!(path.starts_with(host.registry.state_folder().unwrap().to_str().unwrap()));
    let message = serde_json::to_string(&finalized.message()).unwrap();
    assert!(message.len() < 1500, "{}", message.len());
}

/// The usual limit is 256 KiB.
#[tokio::test]
async fn g5_huge_output_is_cut_at_256_kib_without_being_asked() {
    let host = Host::with(answering("tool", || {
        Ok(ToolResult::text("x".repeat(2_000_000)))
    }))
    .await;
    let finalized = host.call("tool", "{}").await;
    assert_eq!(texts(&finalized)[0].len(), 256 * 1024);
    assert_eq!(
        texts(&finalized)[1],
        note(256 * 1024, 2_000_000, &finalized)
    );
}

/// Checks that a call that failed with a long text is cut in every place where that is told.
fn check_error(host: &Host, finalized: &Finalized, kind: ErrorKind, text: &str) {
    let error = finalized.result.error.as_ref().unwrap();
    assert_eq!(error.kind, kind);
    assert_eq!(error.message, text[..100]);
    assert_eq!(
        texts(finalized),
        [&text[..100], &note(100, text.len(), finalized)]
    );
    assert_eq!(whole(finalized), text);
    let message = serde_json::to_string(&finalized.message()).unwrap();
    assert!(message.len() < 600, "{kind:?}: {message}");
    let event = host.events.take_json().pop().unwrap();
    assert!(
        event.to_string().len() < 1500,
        "{kind:?}: {}",
        event.to_string().len()
    );
}

/// g5.huge-output: errors of tools are results like others.
#[tokio::test]
async fn error_of_a_tool_is_cut_like_any_result() {
    let long = "no ".repeat(200_000);
    let (host, finalized) = result_of(Err(ToolError::new(long.clone())), 100).await;
    check_error(&host, &finalized, ErrorKind::ToolError, &long);
    let (host, finalized) = result_of(Ok(ToolResult::error(long.clone())), 100).await;
    check_error(&host, &finalized, ErrorKind::ToolError, &long);
    let told = long.clone();
    let host = Host::with(answering("tool", move || panic!("{told}"))).await;
    let caller = host.caller().with_result_limit(100);
    let finalized = host
        .make(&caller, ToolCall::new("tool", Arguments::Json(json!({}))))
        .await;
    check_error(
        &host,
        &finalized,
        ErrorKind::Panic,
        &format!("The tool panicked: {long}"),
    );
}

/// g5.huge-output, R6: so are the words of whoever refuses a call.
#[tokio::test]
async fn refusal_is_cut_like_any_result() {
    let long = "no ".repeat(200_000);
    let check = async |tool: FunctionTool, hooks, permissions, name: &str, kind, text: &str| {
        let host = Host::new();
        let mut configuration = Configuration::default();
        configuration
            .permissions
            .insert("asked".to_owned(), Permission::Ask);
        host.registry.configure(configuration);
        host.add(tool).await;
        let caller = host.caller().with_result_limit(100).with_hooks(hooks);
        let caller = caller.with_permissions(permissions);
        let call = ToolCall::new(name, Arguments::Json(json!({})));
        let finalized = host.make(&caller, call).await;
        check_error(&host, &finalized, kind, text);
    };
    let tool = |name: &str| answering(name, || Ok(ToolResult::text("fine")));
    let (hooks, nobody) = (Hooks::default, Permissions::default);
    let reason = long.clone();
    let blocking = Hooks {
        before_tool_call: Some(Arc::new(move |_: CallView| {
            let reason = reason.clone();
            async { Ok(Before::Block(Some(reason))) }
        })),
        ..Hooks::default()
    };
    check(
        tool("tool"),
        blocking,
        nobody(),
        "tool",
        ErrorKind::Rejected,
        &long,
    )
    .await;
    let reason = long.clone();
    let strict = tool("tool").with_validate(move |_| Some(reason.clone()));
    check(
        strict,
        hooks(),
        nobody(),
        "tool",
        ErrorKind::InvalidArguments,
        &long,
    )
    .await;
    let reason = long.clone();
    let person = nobody().asking(move |_| {
        let reason = reason.clone();
        async { Approval::Refuse(Some(reason)) }
    });
    let text = format!("The call of asked was refused: {long}");
    check(
        tool("asked"),
        hooks(),
        person,
        "asked",
        ErrorKind::Denied,
        &text,
    )
    .await;
    let host = Host::with(tool("tool")).await;
    let caller = host.caller().with_result_limit(100);
    let finalized = host
        .make(
            &caller,
            ToolCall::new(long.as_str(), Arguments::Json(json!({}))),
        )
        .await;
    assert!(texts(&finalized)[0].len() <= 100, "a name may be long, too");
}

/// Where nothing is kept on the disk, the note says so by naming no file.
#[tokio::test]
async fn registry_without_a_state_folder_keeps_nothing() {
    let registry = Registry::without_plugins(agent_core::event::Emitter::default());
    assert_eq!(registry.state_folder(), None);
    let tool = FunctionTool::new(open_spec("tool"), |_| async {
        Ok(ToolResult::text("abcdef"))
    });
    registry.register(Arc::new(tool)).await.unwrap();
    let caller = agent_core::call::Caller::new(registry, agent_core::event::Emitter::default());
    let caller = caller.with_result_limit(3);
    let call = ToolCall::new("tool", Arguments::Json(Value::Null));
    let finalized =
        crate::host::within(caller.call(call, &agent_core::abort::AbortSignal::new())).await;
    let note = "[cut: the first 3 of 6 bytes of text are shown]";
    assert_eq!(texts(&finalized), ["abc", note]);
    assert_eq!(finalized.result.details.get("fullText"), None);
    assert!(!std::path::Path::new("results").exists());
}
