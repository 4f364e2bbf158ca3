//! Which messages of a conversation a model is shown: whole exchanges, never half of one.

use std::collections::HashSet;

use crate::message::{Block, Message, Role};

/// The last messages, at most this many, beginning with something that a person said. Calls and
/// their results are kept or left out together.
///
/// What a person said last is kept in any case, however much followed it.
pub fn window(messages: &[Message], at_most: usize) -> Vec<Message> {
    let starts = || {
        let all = messages.iter().enumerate();
        let said = all.filter(|(_, message)| message.role == Role::User);
        said.map(|(at, _)| at)
    };
    let earliest = messages.len().saturating_sub(at_most);
    let start = starts()
        .find(|at| *at >= earliest)
        .or_else(|| starts().next_back());
    paired(
        messages
            .get(start.unwrap_or(earliest)..)
            .unwrap_or_default(),
    )
}

/// The messages without calls that have no result, results that have no call, and second results:
/// what providers refuse. Messages that are empty then are left out.
pub fn paired(messages: &[Message]) -> Vec<Message> {
    let mut kept = Vec::with_capacity(messages.len());
    // Calls of the last assistant's message that have their result.
    let mut given = HashSet::new();
    for (at, message) in messages.iter().enumerate() {
        let mut message = message.clone();
        if message.role != Role::Tool {
            given.clear();
        }
        match message.role {
            Role::Assistant => {
                let answered = answers(messages.get(at + 1..).unwrap_or_default());
                message.content.retain(|block| match block {
                    Block::ToolUse { id, .. } => answered.contains(id.as_str()),
                    _ => true,
                });
            }
            Role::Tool => {
                let asked = questions(messages.get(..at).unwrap_or_default());
                message.content.retain(|block| match block {
                    Block::ToolResult { tool_call_id, .. } => {
                        asked.contains(tool_call_id.as_str()) && given.insert(tool_call_id.clone())
                    }
                    _ => false,
                });
            }
            _ => {}
        }
        if !message.content.is_empty() {
            kept.push(message);
        }
    }
    kept
}

/// Ids of the results that follow at once.
fn answers(behind: &[Message]) -> HashSet<&str> {
    let results = behind
        .iter()
        .take_while(|message| message.role == Role::Tool);
    let blocks = results.flat_map(|message| &message.content);
    let ids = blocks.filter_map(|block| match block {
        Block::ToolResult { tool_call_id, .. } => Some(tool_call_id.as_str()),
        _ => None,
    });
    ids.collect()
}

/// Ids of the calls that stand right before, but for other results.
fn questions(before: &[Message]) -> HashSet<&str> {
    let asking = before
        .iter()
        .rev()
        .find(|message| message.role != Role::Tool);
    let blocks = asking.into_iter().flat_map(|message| &message.content);
    let ids = blocks.filter_map(|block| match block {
        Block::ToolUse { id, .. } => Some(id.as_str()),
        _ => None,
    });
    ids.collect()
}
