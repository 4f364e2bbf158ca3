//! Says whether providers take a conversation, from the rules of their documents and from nothing
//! that the loop knows: a request is looked at as it would be sent.

use std::collections::BTreeSet;

use serde_json::Value;

/// Checks the `messages` of a request as the Chat Completions API does, and what of the Messages
/// API holds for every dialect. The error names the place.
pub(crate) fn check(messages: &[Value]) -> Result<(), String> {
    let first = messages.iter().find(|message| message["role"] != "system");
    if first.is_some_and(|message| message["role"] != "user") {
        return Err(format!("it begins with {first:?}"));
    }
    // Calls of the last assistant message that have no answer yet.
    let mut open: Vec<&str> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let wrong = |reason: &str| Err(format!("message {at}: {reason}: {message}"));
        let role = message["role"].as_str().unwrap_or_default();
        if role == "tool" {
            let id = message["tool_call_id"].as_str().unwrap_or_default();
            let Some(call) = open.iter().position(|call| *call == id) else {
                return wrong("an answer to no call, or a second one");
            };
            open.remove(call);
            if is_blank(&message["content"]) {
                return wrong("an empty answer");
            }
            continue;
        }
        if !open.is_empty() {
            return wrong("something is said before every call is answered");
        }
        let calls = message["tool_calls"].as_array();
        match (role, calls) {
            ("assistant", Some(calls)) => {
                if calls.is_empty() {
                    return wrong("a list of no calls");
                }
                for call in calls {
                    match check_call(call) {
                        Ok(id) => open.push(id),
                        Err(reason) => return wrong(&reason),
                    }
                }
                if open.iter().collect::<BTreeSet<_>>().len() < open.len() {
                    return wrong("two calls of one id");
                }
                if message["content"] == "" {
                    return wrong("empty content");
                }
            }
            ("system" | "user" | "assistant", None) => {
                if is_blank(&message["content"]) {
                    return wrong("empty content");
                }
            }
            _ => return wrong("a role that may not say this"),
        }
    }
    if open.is_empty() {
        Ok(())
    } else {
        Err(format!("nobody answers {open:?}"))
    }
}

fn check_call(call: &Value) -> Result<&str, String> {
    let text = |value: &Value| value.as_str().is_some_and(|text| !text.is_empty());
    if call["type"] != "function" || !text(&call["id"]) || !text(&call["function"]["name"]) {
        return Err(format!("no call: {call}"));
    }
    let arguments = call["function"]["arguments"].as_str().unwrap_or_default();
    match serde_json::from_str(arguments) {
        Ok(Value::Object(_)) => Ok(call["id"].as_str().unwrap_or_default()),
        _ => Err(format!("arguments that are no object: {call}")),
    }
}

fn is_blank(content: &Value) -> bool {
    match content {
        Value::String(text) => text.is_empty(),
        Value::Array(parts) => parts.is_empty() || parts.iter().any(|part| part["text"] == ""),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::check;

    fn of(messages: &Value) -> Result<(), String> {
        check(messages.as_array().unwrap())
    }

    /// A judge that never says no is none.
    #[test]
    fn what_providers_refuse_is_refused() {
        let user = json!({"role": "user", "content": "Hello"});
        let call = |id: &str| json!({"id": id, "type": "function", "function": {"name": "t", "arguments": "{}"}});
        let calls = |ids: &[&str]| {
            let calls: Vec<Value> = ids.iter().map(|id| call(id)).collect();
            json!({"role": "assistant", "content": null, "tool_calls": calls})
        };
        let answer = |id: &str| json!({"role": "tool", "tool_call_id": id, "content": "Done!"});
        assert_eq!(of(&json!([])), Ok(()));
        assert_eq!(
            of(&json!([
                user,
                calls(&["a", "b"]),
                answer("b"),
                answer("a"),
                user
            ])),
            Ok(())
        );
        for wrong in [
            json!([calls(&["a"]), answer("a")]),
            json!([answer("a")]),
            json!([user, calls(&["a"])]),
            json!([user, calls(&["a"]), user, answer("a")]),
            json!([user, calls(&["a"]), answer("b")]),
            json!([user, calls(&["a"]), answer("a"), answer("a")]),
            json!([user, calls(&["a", "a"]), answer("a"), answer("a")]),
            json!([user, calls(&[])]),
            json!([user, {"role": "assistant", "content": ""}]),
            json!([user, {"role": "assistant", "content": null}]),
            json!([{"role": "user", "content": []}]),
            json!([user, calls(&["a"]), {"role": "tool", "tool_call_id": "a", "content": ""}]),
            json!([{"role": "user", "content": "Hello", "tool_calls": [call("a")]}]),
        ] {
            assert!(of(&wrong).is_err(), "{wrong}");
        }
    }
}
