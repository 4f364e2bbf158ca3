//! One call through prepare → execute → finalize: what a tool sees, and what comes out.

mod endings;
mod steps;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use agent_core::call::{Arguments, Before, CallView, Finalized, Hooks, ToolCall};
use agent_core::message::{Block, Message, Role};
use agent_core::tool::{Execution, FunctionTool, ToolCallResult, ToolSpec};
use serde_json::{Value, json};
use tool_sdk::{Content, ErrorKind, ToolError, ToolResult};

use crate::host::{Host, Log, answering, open_spec, weather, weather_call, weather_spec};

/// Checks that a call failed with this kind and text, in every place where it is told.
#[track_caller]
fn check_error(finalized: &Finalized, kind: ErrorKind, text: &str) {
    let result = &finalized.result;
    let error = result.error.as_ref().unwrap();
    assert_eq!((error.kind, error.message.as_str()), (kind, text));
    let content = vec![Content::text(text)];
    assert_eq!(
        (&result.content, result.is_error, result.terminate),
        (&content, true, false)
    );
    let block = Block::ToolResult {
        tool_call_id: result.tool_call_id.to_string(),
        tool_name: result.tool_name.to_string(),
        content,
        is_error: true,
    };
    assert_eq!(
        finalized.message(),
        Message {
            role: Role::Tool,
            name: None,
            content: vec![block]
        }
    );
}

#[tokio::test]
async fn y3_y4_y5_execute_sees_the_id_and_prepared_arguments() {
    let log = Log::default();
    let seen = log.clone();
    let schema = json!({"type": "object", "properties": {
        "count": {"type": "integer"}, "unit": {"type": "string", "default": "m"}}});
    let tool = FunctionTool::new(
        ToolSpec::new("measure", "Measure.", schema),
        move |call: Execution<'_>| {
            seen.add(format!(
                "{} {} {}",
                call.call_id,
                call.arguments,
                call.abort.is_aborted()
            ));
            async { Ok(ToolResult::text("Done!")) }
        },
    );
    let tool = tool.with_prepare(|mut arguments| {
        let count = arguments["n"].take();
        Ok(json!({"count": count}))
    });
    let host = Host::with(tool).await;
    for id in ["call_1", "", "toolu_01/ü \n", "call_1"] {
        let call = ToolCall::new("measure", Arguments::Json(json!({"n": "5"}))).with_id(id);
        let finalized = host.make(&host.caller(), call).await;
        assert_eq!(*finalized.result.tool_call_id, *id);
        assert_eq!(
            log.take(),
            [format!(r#"{id} {{"count":5,"unit":"m"}} false"#)]
        );
    }
}

#[tokio::test]
async fn y7_partial_results_are_passed_on_as_they_are() {
    let sent = [
        json!({"status": "Fetching data..."}),
        json!({"status": "…", "n": [1, null]}),
        json!({}),
    ];
    let partial = sent.clone();
    let tool = FunctionTool::new(open_spec("report"), move |call: Execution<'_>| {
        for one in &partial {
            (call.progress)(one.clone());
        }
        async { Ok(ToolResult::text("Done!")) }
    });
    let host = Host::with(tool).await;
    host.call("report", "").await;
    let events = host.events.take_json();
    let got: Vec<&Value> = events
        .iter()
        .filter_map(|event| event.get("partialResult"))
        .collect();
    assert_eq!(got, sent.iter().collect::<Vec<_>>());
}

#[tokio::test]
async fn y8_y9_y10_whole_result_comes_out() {
    let tool = answering("everything", || {
        let blocks = [Content::text("Done!"), Content::image("AA==", "image/png")];
        let result = ToolResult::content(blocks).details(json!({"rows": 3}));
        Ok(result
            .usage(json!({"tokens": 7}))
            .terminate()
            .structured(json!({"a": 1})))
    });
    let host = Host::with(tool).await;
    let expected = ToolCallResult {
        tool_call_id: "call_1".into(),
        tool_name: "everything".into(),
        content: vec![Content::text("Done!"), Content::image("AA==", "image/png")],
        details: json!({"rows": 3}).as_object().unwrap().clone(),
        usage: Some(json!({"tokens": 7})),
        terminate: true,
        is_error: false,
        structured_content: Some(json!({"a": 1})),
        error: None,
    };
    assert_eq!(*host.call("everything", "{}").await.result, expected);

    let plain = Host::with(answering("plain", || Ok(ToolResult::text("Done!")))).await;
    let result = plain.call("plain", "{}").await.result;
    assert_eq!(
        serde_json::to_string(&*result).unwrap(),
        r#"{"toolCallId":"call_1","toolName":"plain","content":[{"type":"text","text":"Done!"}],"details":{},"usage":null,"terminate":false,"isError":false}"#
    );
}

/// A result that describes a failure is an error, with everything the tool gave kept.
#[tokio::test]
async fn result_that_says_it_failed_is_an_error() {
    let tool = answering("fail", || {
        Ok(ToolResult::error("no such table").details(json!({"code": 1})))
    });
    let host = Host::with(tool).await;
    let finalized = host.call("fail", "{}").await;
    check_error(&finalized, ErrorKind::ToolError, "no such table");
    assert_eq!(finalized.result.details["code"], 1);
}

#[tokio::test]
async fn y13_y14_r6_what_fails_in_prepare_never_starts() {
    let host = Host::with(weather()).await;
    let asked = Arc::new(AtomicUsize::new(0));
    let (before, after) = (Arc::clone(&asked), Arc::clone(&asked));
    let hooks = Hooks {
        before_tool_call: Some(Arc::new(move |_: CallView| {
            before.fetch_add(1, Ordering::SeqCst);
            async { Ok(Before::Run) }
        })),
        after_tool_call: Some(Arc::new(move |_: CallView, _: Arc<ToolCallResult>| {
            after.fetch_add(1, Ordering::SeqCst);
            async { Ok(agent_core::call::After::default()) }
        })),
        ..Hooks::default()
    };
    let caller = host.caller().with_hooks(hooks);
    let finalized = host.make(&caller, weather_call(json!({}))).await;
    let text = "Validation failed for tool \"getWeather\":\n  \
                - /city: missing required argument (expected string)\n\n\
                Received arguments:\n{}";
    check_error(&finalized, ErrorKind::InvalidArguments, text);
    let rejected = json!({
        "type": "toolCallRejected", "toolCallId": "call_1", "toolName": "getWeather", "args": {},
        "kind": "invalidArguments", "message": text,
    });
    assert_eq!(host.events.take_json(), [rejected]);
    assert_eq!(asked.load(Ordering::SeqCst), 0);

    host.make(&caller, weather_call(json!({"city": "Tokyo"})))
        .await;
    assert_eq!(
        host.events.take_types(),
        ["toolExecutionStart", "toolExecutionEnd"]
    );
    assert_eq!(asked.load(Ordering::SeqCst), 2);
}

/// Y15: what is required must be there; whether it says something is not asked.
#[tokio::test]
async fn y15_without_a_validator_what_is_required_must_be_there() {
    let host = Host::with(weather()).await;
    let text = async |arguments| host.call("getWeather", arguments).await.result.text();
    assert!(
        text("{}")
            .await
            .contains("/city: missing required argument")
    );
    assert_eq!(
        text(r#"{"city": "Tokyo"}"#).await,
        "Weather in Tokyo: Sunny, 22°C"
    );
    assert_eq!(text(r#"{"city": ""}"#).await, "Weather in : Sunny, 22°C");
}

/// The hook of the documents' `getTime`.
fn time_hook(arguments: &Value) -> Option<String> {
    let text = |name: &str| arguments.get(name).and_then(Value::as_str);
    match (text("timezone"), text("city").unwrap_or_default()) {
        (None, "") => Some(
            "Missing required argument: provide at least one of 'timezone' or 'city'".to_owned(),
        ),
        (Some(zone), _) if !zone.contains('/') => Some(format!(
            "Invalid timezone format: '{zone}'. Use IANA format, e.g. 'America/New_York'"
        )),
        _ => None,
    }
}

#[tokio::test]
async fn y16_y17_y18_y19_text_of_a_validator_reaches_the_model_untouched() {
    let schema = json!({"type": "object", "additionalProperties": false, "properties": {
        "timezone": {"type": "string"}, "city": {"type": "string"}}});
    let spec = ToolSpec::new("getTime", "Get current local time.", schema);
    let tool = FunctionTool::new(spec, |_| async { Ok(ToolResult::text("12:00")) });
    let host = Host::with(tool.with_validate(time_hook)).await;
    let check = async |arguments: &str, refusal: Option<&str>| {
        let finalized = host.call("getTime", arguments).await;
        match refusal {
            Some(text) => check_error(&finalized, ErrorKind::InvalidArguments, text),
            None => assert_eq!(finalized.result.text(), "12:00"),
        }
        assert_eq!(
            finalized
                .result
                .error
                .iter()
                .map(|error| error.problems.len())
                .sum::<usize>(),
            0
        );
    };
    let missing = "Missing required argument: provide at least one of 'timezone' or 'city'";
    check("{}", Some(missing)).await;
    check(r#"{"city": ""}"#, Some(missing)).await;
    let invalid = "Invalid timezone format: 'EST5'. Use IANA format, e.g. 'America/New_York'";
    check(r#"{"timezone": "EST5"}"#, Some(invalid)).await;
    let invalid = "Invalid timezone format: ''. Use IANA format, e.g. 'America/New_York'";
    check(r#"{"timezone": ""}"#, Some(invalid)).await;
    check(r#"{"timezone": "Asia/Tokyo"}"#, None).await;
    check(r#"{"city": "Tokyo"}"#, None).await;
}

/// The schema is shown, coercion and defaults go on, and the validator alone decides.
#[tokio::test]
async fn r9_y16_validator_may_run_instead_of_the_schema() {
    let schema = json!({"type": "object", "required": ["city"], "additionalProperties": false,
        "properties": {"city": {"type": "string"}, "days": {"type": "integer", "default": 1}}});
    let spec = ToolSpec::new("any", "Takes anything.", schema);
    let echo = |call: Execution<'_>| {
        let text = call.arguments.to_string();
        async move { Ok(ToolResult::text(text)) }
    };
    let refuse = |arguments: &Value| (arguments["days"] == 0).then(|| "no days".to_owned());
    let tool = FunctionTool::new(spec, echo)
        .with_validate(refuse)
        .validate_only();
    let host = Host::with(tool).await;
    let finalized = host.call("any", r#"{"days": "3", "more": true}"#).await;
    assert_eq!(finalized.result.text(), r#"{"days":3,"more":true}"#);
    assert_eq!(host.call("any", "{}").await.result.text(), r#"{"days":1}"#);
    let refused = host.call("any", r#"{"city": "Tokyo", "days": 0}"#).await;
    check_error(&refused, ErrorKind::InvalidArguments, "no days");
}

#[tokio::test]
async fn y38_error_of_a_tool_is_its_result_and_the_caller_goes_on() {
    let tool = answering("fail", || {
        Err(ToolError::new("the disk is full").with_hint("delete something"))
    });
    let host = Host::with(tool).await;
    host.add(weather()).await;
    for _ in 0..2 {
        let finalized = host.call("fail", "{}").await;
        check_error(
            &finalized,
            ErrorKind::ToolError,
            "the disk is full\ndelete something",
        );
        assert_eq!(
            host.events.take_types(),
            ["toolExecutionStart", "toolExecutionEnd"]
        );
    }
    let finalized = host.call("getWeather", r#"{"city": "Tokyo"}"#).await;
    assert!(!finalized.result.is_error);
}

#[tokio::test]
async fn y41_y43_history_after_one_call_is_four_messages() {
    let host = Host::with(weather()).await;
    let call =
        ToolCall::new("getWeather", Arguments::Json(json!({"city": "Tokyo"}))).with_id("call_1");
    let ask = Block::ToolUse {
        id: call.id.to_string(),
        name: call.name.to_string(),
        input: Arguments::Json(json!({"city": "Tokyo"})),
    };
    let history = [
        Message::text(Role::System, "You are a helpful assistant."),
        Message::text(Role::User, "What's the weather in Tokyo?"),
        Message {
            role: Role::Assistant,
            name: None,
            content: vec![ask],
        },
        host.make(&host.caller(), call).await.message(),
    ];
    let expected = json!([
        {"role": "system", "content": [{"type": "text", "text": "You are a helpful assistant."}]},
        {"role": "user", "content": [{"type": "text", "text": "What's the weather in Tokyo?"}]},
        {"role": "assistant", "content": [
            {"type": "toolUse", "id": "call_1", "name": "getWeather", "input": {"city": "Tokyo"}},
        ]},
        {"role": "tool", "content": [{
            "type": "toolResult", "toolCallId": "call_1", "toolName": "getWeather",
            "content": [{"type": "text", "text": "Weather in Tokyo: Sunny, 22°C"}], "isError": false,
        }]},
    ]);
    assert_eq!(serde_json::to_value(&history).unwrap(), expected);
    let read: Vec<Message> = serde_json::from_value(expected).unwrap();
    assert_eq!(read, history);
}

/// R29 of one tool: others serve.
#[tokio::test]
async fn tool_with_an_unusable_schema_is_unavailable_alone() {
    let schema =
        json!({"type": "object", "properties": {"k": {"$ref": "http://169.254.169.254/latest/"}}});
    let tool = FunctionTool::new(ToolSpec::new("foreign", "Foreign.", schema), |_| async {
        Ok(ToolResult::text("never"))
    });
    let host = Host::with(tool).await;
    host.add(weather()).await;
    let finalized = host.call("foreign", "{}").await;
    let text = finalized.result.text();
    assert_eq!(
        finalized.result.error.as_ref().unwrap().kind,
        ErrorKind::Unavailable
    );
    let begin =
        "Tool foreign is not available: the input schema is not usable at `/properties/k/$ref`: ";
    assert!(text.starts_with(begin), "{text}");
    assert_eq!(host.events.take_types(), ["toolCallRejected"]);
    host.check_weather().await;
}

#[tokio::test]
async fn result_without_text_says_so() {
    for result in [
        ToolResult::content([]),
        ToolResult::text(""),
        ToolResult::content([Content::text(""), Content::text("")]),
    ] {
        let host = Host::with(answering("quiet", move || Ok(result.clone()))).await;
        assert_eq!(
            host.call("quiet", "").await.result.content,
            [Content::text("(no output)")]
        );
    }
    let picture = || ToolResult::content([Content::image("AA==", "image/png")]);
    let host = Host::with(answering("picture", move || Ok(picture()))).await;
    assert_eq!(
        host.call("picture", "").await.result.content,
        picture().content
    );
}

#[tokio::test]
async fn text_beyond_the_limit_is_cut_and_says_so() {
    const LIMIT: usize = 256 * 1024;
    let called = async |blocks: Vec<Content>| {
        let host = Host::with(answering("long", move || {
            Ok(ToolResult::content(blocks.clone()))
        }))
        .await;
        let result = host.call("long", "").await.result;
        let whole = result.details.get("fullText").map(|path| {
            let path = path.as_str().unwrap();
            (path.to_owned(), fs_err::read_to_string(path).unwrap())
        });
        (result.content.clone(), whole)
    };
    let whole = vec![Content::text("x".repeat(LIMIT))];
    assert_eq!(called(whole.clone()).await, (whole, None));

    let image = Content::image("A".repeat(LIMIT), "image/png");
    let umlauts = "ü".repeat(LIMIT);
    let long = vec![
        Content::text("ab"),
        Content::text(&umlauts),
        image.clone(),
        Content::text("z"),
    ];
    let (content, kept) = called(long).await;
    let (path, kept) = kept.unwrap();
    let note = format!(
        "[cut: the first 262144 of 524291 bytes of text are shown; the whole text is in {path}]"
    );
    let cut = [
        Content::text("ab"),
        Content::text("ü".repeat(LIMIT / 2 - 1)),
        image,
        Content::text(note),
    ];
    // Not `assert_eq!`, which would print all of it.
    assert!(content == cut && kept == format!("ab\n{umlauts}\nz"));
}

#[tokio::test]
async fn unknown_tool_is_answered_with_its_arguments_in_the_event() {
    let host = Host::with(weather()).await;
    let text =
        "Tool get_weather not found\nDid you mean \"getWeather\"?\nAvailable tools: getWeather";
    check_error(
        &host.call("get_weather", r#"{"city": "x"}"#).await,
        ErrorKind::UnknownTool,
        text,
    );
    let rejected = json!({
        "type": "toolCallRejected", "toolCallId": "call_1", "toolName": "get_weather",
        "args": {"city": "x"}, "kind": "unknownTool", "message": text,
    });
    assert_eq!(host.events.take_json(), [rejected]);
    // Y26: a call without a name is a call of an unknown tool.
    let text = "Tool  not found\nAvailable tools: getWeather";
    check_error(&host.call("", "{").await, ErrorKind::UnknownTool, text);
    assert_eq!(host.events.take_json()[0].get("args"), None);
}

#[tokio::test]
async fn fresh_ids_are_uuids() {
    let ids: Vec<Arc<str>> = (0..100)
        .map(|_| ToolCall::new("a", Arguments::Json(json!({}))).id)
        .collect();
    let shape: Vec<usize> = ids[0].split('-').map(str::len).collect();
    assert_eq!(shape, [8, 4, 4, 4, 12]);
    assert!(ids.iter().all(|id| id.as_bytes()[14] == b'4'));
    let different: std::collections::BTreeSet<&Arc<str>> = ids.iter().collect();
    assert_eq!(different.len(), 100);
}

/// The specification goes with the call to hooks as it is.
#[tokio::test]
async fn y11_y12_specification_has_its_fields_and_the_label_is_no_name() {
    let host = Host::with(weather()).await;
    let entry = host.registry.table().get("getWeather").cloned().unwrap();
    let expected = json!({
        "name": "getWeather", "label": "Weather Lookup",
        "description": "Fetch current weather and forecast for a given city.",
        "inputSchema": weather_spec().input_schema,
    });
    assert_eq!(serde_json::to_value(entry.spec()).unwrap(), expected);
    let finalized = host.call("Weather Lookup", r#"{"city": "Tokyo"}"#).await;
    assert_eq!(
        finalized.result.error.as_ref().unwrap().kind,
        ErrorKind::UnknownTool
    );
}
