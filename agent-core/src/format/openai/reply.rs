//! An answer: one whole response, read as a [`Reply`].

use serde_json::{Value, json};

use crate::format::FormatError;
use crate::format::blocks;
use crate::format::received::{failure, malformed, stop_reason, usage};
use crate::message::{Block, Reply, StopReason};

/// Reads a response.
///
/// # Errors
/// What the server reports as a failure, or what stands where the answer should be.
pub fn reply(response: &Value) -> Result<Reply, FormatError> {
    if let Some(failure) = failure(response) {
        return Err(failure);
    }
    let choice = response.pointer("/choices/0");
    if let Some(failure) = choice.and_then(failure) {
        return Err(failure);
    }
    let message = choice
        .and_then(|choice| choice.get("message"))
        .filter(|message| message.is_object())
        .ok_or_else(|| malformed("an answer with `choices`", &response.to_string()))?;
    let finish = choice.and_then(|choice| choice.get("finish_reason"));
    let refusal = said(message.get("refusal"));
    let named = match finish.and_then(Value::as_str) {
        _ if !refusal.is_empty() => Some(StopReason::Refused),
        finish => finish.map(stop_named),
    };

    let mut content = thought(message);
    content.extend(
        message
            .get("content")
            .and_then(blocks::read)
            .unwrap_or_default(),
    );
    content.extend(refusal);
    content.extend(calls(message));
    Ok(Reply {
        stop: stop_reason(named, &content),
        usage: response.get("usage").and_then(counted),
        content,
    })
}

/// The text that a server calls the thoughts of its model; two names are in use.
pub(super) fn thinking(message: &Value) -> Option<&str> {
    ["reasoning_content", "reasoning"]
        .iter()
        .find_map(|name| message.get(name)?.as_str())
        .filter(|thought| !thought.is_empty())
}

fn thought(message: &Value) -> Vec<Block> {
    let thought = thinking(message).map(|thought| Block::Thinking {
        thinking: thought.to_owned(),
        signature: None,
        redacted: None,
    });
    thought.into_iter().collect()
}

fn said(text: Option<&Value>) -> Vec<Block> {
    blocks::said(text.and_then(Value::as_str).unwrap_or_default())
}

/// The calls; old servers have a single one, without an id.
fn calls(message: &Value) -> Vec<Block> {
    let calls = blocks::calls(message.get("tool_calls"));
    let legacy = message
        .get("function_call")
        .filter(|call| call.is_object() && calls.is_empty());
    match legacy {
        Some(function) => vec![blocks::call(&json!({"function": function}))],
        None => calls,
    }
}

pub(super) fn stop_named(finish: &str) -> StopReason {
    match finish {
        "stop" | "eos" => StopReason::End,
        "tool_calls" | "function_call" => StopReason::ToolUse,
        "length" => StopReason::Length,
        "content_filter" => StopReason::Refused,
        other => StopReason::Other(other.to_owned()),
    }
}

pub(super) fn counted(counts: &Value) -> Option<Value> {
    let count = |at: &str| counts.pointer(at).and_then(Value::as_u64);
    usage(&[
        ("inputTokens", count("/prompt_tokens")),
        ("outputTokens", count("/completion_tokens")),
        ("totalTokens", count("/total_tokens")),
        (
            "cachedInputTokens",
            count("/prompt_tokens_details/cached_tokens"),
        ),
        (
            "reasoningTokens",
            count("/completion_tokens_details/reasoning_tokens"),
        ),
    ])
}
