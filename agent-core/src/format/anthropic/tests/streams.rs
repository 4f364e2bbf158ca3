//! Answers as events.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::{Stream, reply};
use crate::format::FormatError;
use crate::message::{Arguments, Block, Delta, Reply, StopReason};

fn begin(index: u64, block: &Value) -> Value {
    json!({"type": "content_block_start", "index": index, "content_block": block})
}

fn go_on(index: u64, delta: &Value) -> Value {
    json!({"type": "content_block_delta", "index": index, "delta": delta})
}

/// What a stream of these events comes to, and what it hands on.
fn read(events: &[Value]) -> Result<(Reply, Vec<Delta>), FormatError> {
    let mut stream = Stream::new();
    let mut deltas = Vec::new();
    for event in events {
        deltas.extend(stream.data(&event.to_string())?);
    }
    Ok((stream.finish()?, deltas))
}

fn ends(reason: &str) -> [Value; 2] {
    let delta = json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 15}});
    [delta, json!({"type": "message_stop"})]
}

#[test]
fn events_become_one_answer_and_are_handed_on() {
    let start = json!({"type": "message_start", "message": {"content": [], "usage": {"input_tokens": 25, "output_tokens": 1}}});
    let mut events = vec![
        start,
        begin(
            0,
            &json!({"type": "thinking", "thinking": "", "signature": ""}),
        ),
        json!({"type": "ping"}),
        go_on(0, &json!({"type": "thinking_delta", "thinking": "Hm"})),
        go_on(0, &json!({"type": "signature_delta", "signature": "s"})),
        json!({"type": "content_block_stop", "index": 0}),
        begin(1, &json!({"type": "redacted_thinking", "data": "xyz"})),
        begin(2, &json!({"type": "text", "text": ""})),
        go_on(2, &json!({"type": "text_delta", "text": "One "})),
        go_on(2, &json!({"type": "text_delta", "text": "moment."})),
        begin(
            3,
            &json!({"type": "tool_use", "id": "a", "name": "f", "input": {}}),
        ),
        go_on(3, &json!({"type": "input_json_delta", "partial_json": ""})),
        go_on(
            3,
            &json!({"type": "input_json_delta", "partial_json": "{\"x\""}),
        ),
        go_on(
            3,
            &json!({"type": "input_json_delta", "partial_json": ": 1}"}),
        ),
        begin(
            4,
            &json!({"type": "tool_use", "id": "b", "name": "g", "input": {}}),
        ),
        json!({"type": "some_day"}),
    ];
    events.extend(ends("tool_use"));
    let (reply, deltas) = read(&events).unwrap();
    let call = |id: &str, name: &str, input: &str| Block::ToolUse {
        id: id.to_owned(),
        name: name.to_owned(),
        input: Arguments::Text(input.to_owned()),
    };
    let thought =
        |thinking: &str, signature: Option<&str>, redacted: Option<&str>| Block::Thinking {
            thinking: thinking.to_owned(),
            signature: signature.map(str::to_owned),
            redacted: redacted.map(str::to_owned),
        };
    let expected = [
        thought("Hm", Some("s"), None),
        thought("", None, Some("xyz")),
        Block::text("One moment."),
        call("a", "f", "{\"x\": 1}"),
        call("b", "g", "{}"),
    ];
    assert_eq!(reply.content, expected);
    assert_eq!(reply.stop, StopReason::ToolUse);
    assert_eq!(
        reply.usage,
        Some(json!({"inputTokens": 25, "outputTokens": 15, "totalTokens": 40}))
    );
    let expected = json!([
        {"type": "thinking", "thinking": "Hm"},
        {"type": "text", "text": "One "},
        {"type": "text", "text": "moment."},
        {"type": "toolUse", "index": 0, "id": "a", "name": "f", "arguments": ""},
        {"type": "toolUse", "index": 0, "arguments": ""},
        {"type": "toolUse", "index": 0, "arguments": "{\"x\""},
        {"type": "toolUse", "index": 0, "arguments": ": 1}"},
        {"type": "toolUse", "index": 1, "id": "b", "name": "g", "arguments": ""},
    ]);
    assert_eq!(serde_json::to_value(deltas).unwrap(), expected);
}

/// `g1.truncated.1`: the text that came of the last call is kept as it is.
#[test]
fn r25_answer_at_its_limit_keeps_the_torn_arguments() {
    let mut events = vec![
        begin(
            0,
            &json!({"type": "tool_use", "id": "a", "name": "f", "input": {}}),
        ),
        go_on(
            0,
            &json!({"type": "input_json_delta", "partial_json": "{\"x\": \"to"}),
        ),
    ];
    events.extend(ends("max_tokens"));
    let (reply, _) = read(&events).unwrap();
    assert_eq!(reply.stop, StopReason::Length);
    let [Block::ToolUse { input, .. }] = reply.content.as_slice() else {
        panic!("{reply:?}");
    };
    assert_eq!(*input, Arguments::Text("{\"x\": \"to".to_owned()));
}

#[test]
fn broken_streams_are_no_answers() {
    let text = begin(0, &json!({"type": "text", "text": "Hi"}));
    assert_eq!(read(std::slice::from_ref(&text)), Err(FormatError::Cut));
    let error =
        json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}});
    assert_eq!(
        read(&[text, error]),
        Err(FormatError::Server {
            code: "overloaded_error".to_owned(),
            message: "Overloaded".to_owned(),
        })
    );
}

/// Input that comes whole with the beginning of a call counts where no piece follows.
#[test]
fn input_may_come_with_the_beginning() {
    let mut events = vec![begin(
        7,
        &json!({"type": "tool_use", "id": "a", "name": "f", "input": {"x": 1}}),
    )];
    events.extend(ends("tool_use"));
    let (reply, _) = read(&events).unwrap();
    let [Block::ToolUse { input, .. }] = reply.content.as_slice() else {
        panic!("{reply:?}");
    };
    assert_eq!(*input, Arguments::Text("{\"x\": 1}".to_owned()));
}

proptest! {
    /// Whatever the server cuts a text into, it is the same answer as in one piece.
    #[test]
    fn any_cut_gives_the_same_answer(
        texts in prop::collection::vec(prop::collection::vec("\\PC{0,6}", 0..5), 1..4),
    ) {
        let mut events = Vec::new();
        let mut blocks = Vec::new();
        for (index, pieces) in texts.iter().enumerate() {
            let index = index as u64 * 2;
            events.push(begin(index, &json!({"type": "text", "text": ""})));
            for piece in pieces {
                events.push(go_on(index, &json!({"type": "text_delta", "text": piece})));
            }
            blocks.push(json!({"type": "text", "text": pieces.concat()}));
        }
        events.extend(ends("end_turn"));
        let whole = json!({"content": blocks, "stop_reason": "end_turn", "usage": {"output_tokens": 15}});
        prop_assert_eq!(read(&events).map(|(reply, _)| reply), reply(&whole));
    }

    /// Nothing that a server sends makes the reading panic.
    #[test]
    fn any_event_is_read(kind in "(content_block_start|content_block_delta|message_delta|error)", data in "\\PC{0,40}") {
        let event = json!({"type": kind, "index": data, "delta": data, "content_block": {"type": data}});
        prop_assert_eq!(Stream::new().data(&event.to_string()), Ok(Vec::new()));
    }
}
