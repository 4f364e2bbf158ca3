//! Answers in chunks.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::{Stream, reply};
use crate::format::FormatError;
use crate::message::{Arguments, Block, Reply, StopReason};

/// What a stream of these chunks comes to.
fn read(chunks: &[Value]) -> Result<Reply, FormatError> {
    let mut stream = Stream::new();
    for chunk in chunks {
        stream.data(&chunk.to_string())?;
    }
    stream.finish()
}

#[expect(clippy::needless_pass_by_value, reason = "callers write `json!(…)`")]
fn chunk(delta: Value) -> Value {
    json!({"choices": [{"index": 0, "delta": delta, "finish_reason": null}]})
}

fn last(finish: &str) -> Value {
    json!({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
}

#[test]
fn pieces_become_one_answer_and_are_handed_on() {
    let mut stream = Stream::new();
    let mut deltas = Vec::new();
    let usage = json!({"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 7}});
    for data in [
        chunk(json!({"role": "assistant", "content": "", "reasoning": "Hm"})).to_string(),
        chunk(json!({"content": "One "})).to_string(),
        chunk(json!({"content": "moment."})).to_string(),
        chunk(json!({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "f", "arguments": ""}}]})).to_string(),
        chunk(json!({"tool_calls": [{"index": 0, "function": {"arguments": "{\"x\""}}]})).to_string(),
        chunk(json!({"tool_calls": [{"index": 0, "function": {"arguments": ": 1}"}}]})).to_string(),
        last("tool_calls").to_string(),
        usage.to_string(),
        "[DONE]".to_owned(),
    ] {
        assert!(!stream.is_done());
        deltas.extend(stream.data(&data).unwrap());
    }
    assert!(stream.is_done());
    let reply = stream.finish().unwrap();
    let thinking = Block::Thinking {
        thinking: "Hm".to_owned(),
        signature: None,
        redacted: None,
    };
    let call = Block::ToolUse {
        id: "a".to_owned(),
        name: "f".to_owned(),
        input: Arguments::Text("{\"x\": 1}".to_owned()),
    };
    assert_eq!(reply.content, [thinking, Block::text("One moment."), call]);
    assert_eq!(reply.stop, StopReason::ToolUse);
    assert_eq!(
        reply.usage,
        Some(json!({"inputTokens": 5, "outputTokens": 7}))
    );
    let expected = json!([
        {"type": "thinking", "thinking": "Hm"},
        {"type": "text", "text": "One "},
        {"type": "text", "text": "moment."},
        {"type": "toolUse", "index": 0, "id": "a", "name": "f", "arguments": ""},
        {"type": "toolUse", "index": 0, "arguments": "{\"x\""},
        {"type": "toolUse", "index": 0, "arguments": ": 1}"},
    ]);
    assert_eq!(serde_json::to_value(deltas).unwrap(), expected);
}

/// The server's failure is told; an answer without an end is cut.
#[test]
fn broken_streams_are_no_answers() {
    assert_eq!(
        read(&[chunk(json!({"content": "Hi"}))]),
        Err(FormatError::Cut)
    );
    assert_eq!(read(&[]), Err(FormatError::Cut));
    let failure = read(&[
        chunk(json!({"content": "Hi"})),
        json!({"error": {"message": "Out of memory"}}),
    ]);
    assert_eq!(failure.unwrap_err().to_string(), "Out of memory");
    let broken = Stream::new().data("{\"choices\": [").unwrap_err();
    assert_eq!(broken.to_string(), "expected JSON, found {\"choices\": [");
}

/// `[DONE]` ends an answer too: some servers give no reason.
#[test]
fn end_without_a_reason_is_an_end() {
    let mut stream = Stream::new();
    stream
        .data(&chunk(json!({"content": "Hi"})).to_string())
        .unwrap();
    stream.data(" [DONE] ").unwrap();
    assert_eq!(stream.finish(), Ok(Reply::text("Hi")));
}

/// `g1.object-for-string.1`, in a stream.
#[test]
fn arguments_may_be_an_object_and_the_call_the_old_one() {
    let function = json!({"name": "f", "arguments": {"x": 1}});
    for delta in [
        json!({"tool_calls": [{"id": "a", "function": function}]}),
        json!({"function_call": function}),
    ] {
        let reply = read(&[chunk(delta), last("stop")]).unwrap();
        let [Block::ToolUse { input, .. }] = reply.content.as_slice() else {
            panic!("{reply:?}");
        };
        assert_eq!(*input, Arguments::Text("{\"x\": 1}".to_owned()));
        assert_eq!(reply.stop, StopReason::ToolUse);
    }
}

#[test]
fn refusal_is_text_of_an_answer_that_was_refused() {
    let reply = read(&[chunk(json!({"refusal": "No."})), last("stop")]).unwrap();
    assert_eq!(
        (reply.content, reply.stop),
        (vec![Block::text("No.")], StopReason::Refused)
    );
}

/// A text cut into pieces at these places, counted in characters.
fn pieces(text: &str, cuts: &[usize]) -> Vec<String> {
    let letters: Vec<char> = text.chars().collect();
    let mut ends: Vec<usize> = cuts.iter().map(|cut| cut % (letters.len() + 1)).collect();
    ends.push(letters.len());
    ends.sort_unstable();
    let mut begin = 0;
    let piece = |end: usize| {
        let piece = letters[begin..end].iter().collect();
        begin = end;
        piece
    };
    ends.into_iter().map(piece).collect()
}

proptest! {
    /// Whatever the server cuts its answer into, it is the same answer as in one piece.
    #[test]
    fn any_cut_gives_the_same_answer(
        text in "\\PC{0,20}",
        arguments in prop::collection::vec("\\PC{0,20}", 0..4),
        cuts in prop::collection::vec(0usize..1000, 0..8),
        gap in 1u64..5,
    ) {
        let call = |at: usize| (format!("call_{at}"), format!("tool_{at}"));
        let mut chunks: Vec<Value> =
            pieces(&text, &cuts).iter().map(|piece| chunk(json!({"content": piece}))).collect();
        // The calls come interleaved: a piece of each in turn.
        let mut parts = Vec::new();
        for (at, arguments) in arguments.iter().enumerate() {
            let (id, name) = call(at);
            let index = at as u64 * gap;
            parts.push((0, json!({"index": index, "id": id, "function": {"name": name, "arguments": ""}})));
            for (turn, piece) in pieces(arguments, &cuts).into_iter().enumerate() {
                parts.push((turn + 1, json!({"index": index, "function": {"arguments": piece}})));
            }
        }
        parts.sort_by_key(|(turn, _)| *turn);
        chunks.extend(parts.into_iter().map(|(_, part)| chunk(json!({"tool_calls": [part]}))));
        chunks.push(last("stop"));

        let calls: Vec<Value> = arguments.iter().enumerate().map(|(at, arguments)| {
            let (id, name) = call(at);
            json!({"id": id, "function": {"name": name, "arguments": arguments}})
        }).collect();
        let message = json!({"content": text, "tool_calls": calls});
        let whole = json!({"choices": [{"message": message, "finish_reason": "stop"}]});
        prop_assert_eq!(read(&chunks), reply(&whole));
    }

    /// Whatever a server sends that is no chunk, nothing is made of it.
    #[test]
    fn any_other_data_is_refused_or_empty(data in "\\PC{0,60}") {
        let news = Stream::new().data(&data);
        prop_assert!(news.as_ref().map_or(true, Vec::is_empty), "{:?}", news);
        let delta = json!({"content": {"x": data}, "tool_calls": data, "reasoning": [data]});
        prop_assert_eq!(Stream::new().data(&chunk(delta).to_string()), Ok(Vec::new()));
    }
}
