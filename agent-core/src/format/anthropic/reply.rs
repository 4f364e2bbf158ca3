//! An answer: one whole response, read as a [`Reply`].

use serde_json::Value;

use crate::format::FormatError;
use crate::format::blocks;
use crate::format::received::{failure, malformed, stop_reason, usage};
use crate::message::{Reply, StopReason};

/// Reads a response.
///
/// # Errors
/// What the server reports as a failure, or what stands where the answer should be.
pub fn reply(response: &Value) -> Result<Reply, FormatError> {
    if let Some(failure) = failure(response) {
        return Err(failure);
    }
    let content = response
        .get("content")
        .and_then(blocks::read)
        .ok_or_else(|| malformed("an answer with `content`", &response.to_string()))?;
    let named = response.get("stop_reason").and_then(Value::as_str);
    Ok(Reply {
        stop: stop_reason(named.map(stop_named), &content),
        usage: response.get("usage").and_then(counted),
        content,
    })
}

pub(super) fn stop_named(reason: &str) -> StopReason {
    match reason {
        "end_turn" | "stop_sequence" => StopReason::End,
        "tool_use" => StopReason::ToolUse,
        "max_tokens" | "model_context_window_exceeded" => StopReason::Length,
        "refusal" => StopReason::Refused,
        other => StopReason::Other(other.to_owned()),
    }
}

/// The counts by our names. What is read from or written to the cache is counted apart here, and is
/// input all the same.
pub(super) fn counted(counts: &Value) -> Option<Value> {
    let count = |name: &str| counts.get(name).and_then(Value::as_u64);
    let sum = |counts: &[Option<u64>]| {
        let known = counts.iter().flatten();
        known.copied().reduce(u64::saturating_add)
    };
    let read = count("cache_read_input_tokens");
    let written = count("cache_creation_input_tokens");
    let input = sum(&[count("input_tokens"), read, written]);
    let output = count("output_tokens");
    usage(&[
        ("inputTokens", input),
        ("outputTokens", output),
        ("totalTokens", sum(&[input, output])),
        ("cachedInputTokens", read),
        ("cacheWriteTokens", written),
    ])
}
