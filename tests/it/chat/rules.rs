//! What the providers' servers refuse, by their documentation, and the words that they do it with.
//!
//! Knows nothing of how requests are made here. Where a provider is lenient and its imitations are
//! not, the stricter rule stands.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::server::{Dialect, MODEL, Request};

/// Why a request is refused.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) status: u16,
    /// The provider's word for it.
    code: &'static str,
    pub(crate) message: String,
}

impl Refusal {
    pub(crate) fn new(status: u16, code: &'static str, message: impl Into<String>) -> Self {
        let message = message.into();
        Self {
            status,
            code,
            message,
        }
    }

    /// The answer that tells it.
    pub(crate) fn body(&self, dialect: Dialect) -> Value {
        let (code, message) = (self.code, &self.message);
        match dialect {
            Dialect::OpenAi => json!({"error": {
                "message": message, "type": "invalid_request_error", "param": null, "code": code,
            }}),
            Dialect::Anthropic => json!({
                "type": "error", "error": {"type": code, "message": message},
                "request_id": "req_1",
            }),
        }
    }
}

/// What the provider would say against a request.
pub(crate) fn refusal(dialect: Dialect, key: Option<&str>, request: &Request) -> Option<Refusal> {
    let refused = match dialect {
        Dialect::OpenAi => openai(key, request),
        Dialect::Anthropic => anthropic(key, request),
    };
    refused.err()
}

type Checked = Result<(), Refusal>;

/// A request that is not as it must be.
fn invalid(message: impl Into<String>) -> Checked {
    Err(Refusal::new(400, "invalid_request_error", message))
}

fn check(is_right: bool, message: impl Into<String>) -> Checked {
    if is_right { Ok(()) } else { invalid(message) }
}

fn header<'a>(request: &'a Request, name: &str) -> Option<&'a str> {
    request.headers.get(name).map(String::as_str)
}

fn openai(key: Option<&str>, request: &Request) -> Checked {
    let sent = header(request, "authorization").unwrap_or_default();
    match (key, sent.strip_prefix("Bearer ")) {
        (Some(key), Some(sent)) if sent == key => {}
        (Some(_), Some(sent)) => {
            let text = format!("Incorrect API key provided: {sent}.");
            return Err(Refusal::new(401, "invalid_api_key", text));
        }
        (Some(_), None) => {
            let text = "You didn't provide an API key.";
            return Err(Refusal::new(401, "invalid_api_key", text));
        }
        (None, sent) => check(sent.is_none(), "a key travels to a server that needs none")?,
    }
    let right = "POST /v1/chat/completions";
    if request.line != right {
        let text = format!("Invalid URL ({})", request.line);
        return Err(Refusal::new(404, "unknown_url", text));
    }
    let body = &request.body;
    general(request)?;
    if body["model"] != MODEL {
        let text = format!("The model `{}` does not exist", body["model"]);
        return Err(Refusal::new(404, "model_not_found", text));
    }
    let has_options = body.get("stream_options").is_some();
    check(
        !has_options || body["stream"] == true,
        "'stream_options' is only allowed when 'stream' is enabled",
    )?;
    let tools = list(body, "tools")?;
    tool_names(tools.iter().map(|tool| &tool["function"]))?;
    for tool in tools {
        let is_function = tool["type"] == "function";
        check(is_function, "a tool has the type 'function'")?;
        let schema = &tool["function"]["parameters"];
        check(schema["type"] == "object", "a schema is of type 'object'")?;
    }
    openai_messages(list(body, "messages")?)
}

/// What holds for both.
fn general(request: &Request) -> Checked {
    let kind = header(request, "content-type").unwrap_or_default();
    check(
        kind.starts_with("application/json"),
        "the body is not declared as JSON",
    )?;
    let messages = list(&request.body, "messages")?;
    check(!messages.is_empty(), "messages: at least one is required")?;
    // A list that is there must hold something.
    let tools = request.body.get("tools").and_then(Value::as_array);
    check(
        tools.is_none_or(|tools| !tools.is_empty()),
        "tools: [] is too short",
    )
}

fn list<'a>(body: &'a Value, name: &str) -> Result<&'a [Value], Refusal> {
    match body.get(name) {
        None => Ok(&[]),
        Some(Value::Array(items)) => Ok(items),
        Some(other) => {
            let text = format!("{name}: expected a list, found {other}");
            Err(Refusal::new(400, "invalid_request_error", text))
        }
    }
}

fn tool_names<'a>(tools: impl Iterator<Item = &'a Value>) -> Checked {
    let mut names = HashSet::new();
    for tool in tools {
        let name = tool["name"].as_str().unwrap_or_default();
        check(is_name(name), format!("'{name}' is no name of a tool"))?;
        check(names.insert(name), format!("two tools are called '{name}'"))?;
    }
    Ok(())
}

/// What both providers take as the name of a tool, and Anthropic as an id.
fn is_name(text: &str) -> bool {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
    (1..=64).contains(&text.len()) && text.chars().all(plain)
}

fn openai_messages(messages: &[Value]) -> Checked {
    let mut open: Vec<&str> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let role = message["role"].as_str().unwrap_or_default();
        if role == "tool" {
            let id = message["tool_call_id"].as_str().unwrap_or_default();
            let Some(answered) = open.iter().position(|call| *call == id) else {
                return invalid(format!(
                    "messages.{at}: a 'tool' message must be a response to a preceding message \
                     with 'tool_calls'"
                ));
            };
            open.remove(answered);
        } else {
            check(
                open.is_empty(),
                format!(
                    "An assistant message with 'tool_calls' must be followed by tool messages \
                     responding to each 'tool_call_id': {open:?} have no response"
                ),
            )?;
        }
        let calls = list(message, "tool_calls")?;
        check(
            message.get("tool_calls").is_none() || role == "assistant" && !calls.is_empty(),
            format!("messages.{at}: 'tool_calls' of '{role}' are wrong"),
        )?;
        let may_be_silent = !calls.is_empty() && message["content"].is_null();
        let known = ["system", "user", "assistant", "tool"].contains(&role);
        check(known, format!("messages.{at}: '{role}' is no role"))?;
        check(
            may_be_silent || says_something(&message["content"]),
            format!("messages.{at}: 'content' says nothing"),
        )?;
        for call in calls {
            openai_call(call)?;
            open.push(call["id"].as_str().unwrap_or_default());
        }
    }
    let text = format!("the calls {open:?} have no response");
    check(open.is_empty(), text)
}

fn says_something(content: &Value) -> bool {
    match content {
        Value::String(text) => !text.is_empty(),
        Value::Array(parts) => {
            let is_empty = |part: &Value| part["type"] == "text" && part["text"] == "";
            !parts.is_empty() && !parts.iter().any(is_empty)
        }
        _ => false,
    }
}

fn openai_call(call: &Value) -> Checked {
    let id = call["id"].as_str().unwrap_or_default();
    check(!id.is_empty() && id.len() <= 40, "an id is wrong")?;
    check(call["type"] == "function", "a call is no function's")?;
    let name = call["function"]["name"].as_str().unwrap_or_default();
    check(is_name(name), format!("'{name}' is no name of a tool"))?;
    let arguments = call["function"]["arguments"].as_str().unwrap_or_default();
    let arguments = serde_json::from_str::<Value>(arguments);
    let are_right = arguments.is_ok_and(|arguments| arguments.is_object());
    check(are_right, "'arguments' are not the text of an object")
}

fn anthropic(key: Option<&str>, request: &Request) -> Checked {
    let sent = header(request, "x-api-key");
    if key.is_some() && sent != key {
        let text = format!("invalid x-api-key {}", sent.unwrap_or_default());
        return Err(Refusal::new(401, "authentication_error", text));
    }
    check(
        key.is_some() || sent.is_none(),
        "a key travels to a server that needs none",
    )?;
    if request.line != "POST /v1/messages" {
        return Err(Refusal::new(404, "not_found_error", "Not found"));
    }
    let version = header(request, "anthropic-version");
    check(
        version == Some("2023-06-01"),
        "anthropic-version: header is required",
    )?;
    general(request)?;
    let body = &request.body;
    if body["model"] != MODEL {
        let text = format!("model: {}", body["model"]);
        return Err(Refusal::new(404, "not_found_error", text));
    }
    let tokens = body["max_tokens"].as_u64().unwrap_or_default();
    check(tokens > 0, "max_tokens: Field required")?;
    let system = body.get("system");
    check(
        system.is_none_or(|system| system.as_str().is_some_and(|text| !text.trim().is_empty())),
        "system: text content blocks must be non-empty",
    )?;
    let tools = list(body, "tools")?;
    tool_names(tools.iter())?;
    for tool in tools {
        let is_object = tool["input_schema"]["type"] == "object";
        check(is_object, "tools: input_schema: type must be 'object'")?;
    }
    let messages = list(body, "messages")?;
    let blocks = messages.iter().filter_map(|one| one["content"].as_array());
    let has_calls = blocks.flatten().any(|block| block["type"] == "tool_use");
    check(
        !(has_calls && tools.is_empty()),
        "Requests which include `tool_use` or `tool_result` blocks must define tools.",
    )?;
    let has_choice = body.get("tool_choice").is_some();
    check(
        !(has_choice && tools.is_empty()),
        "tool_choice may only be specified while providing tools.",
    )?;
    anthropic_messages(messages)
}

fn anthropic_messages(messages: &[Value]) -> Checked {
    let mut open: Vec<&str> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let expected = if at % 2 == 0 { "user" } else { "assistant" };
        let has_turn = message["role"] == expected;
        check(
            has_turn,
            format!("messages.{at}: the role is not '{expected}'"),
        )?;
        let own = [json!({"type": "text", "text": message["content"]})];
        let blocks = match &message["content"] {
            Value::String(_) => &own[..],
            _ => list(message, "content")?,
        };
        check(!blocks.is_empty(), format!("messages.{at}: it is empty"))?;
        for block in blocks.iter().take_while(|one| one["type"] == "tool_result") {
            let id = block["tool_use_id"].as_str().unwrap_or_default();
            let Some(answered) = open.iter().position(|call| *call == id) else {
                return invalid(format!(
                    "messages.{at}: unexpected `tool_use_id` found in `tool_result` blocks: {id}"
                ));
            };
            open.remove(answered);
        }
        check(
            open.is_empty(),
            format!(
                "messages.{at}: `tool_use` ids were found without `tool_result` blocks immediately \
                 after: {open:?}"
            ),
        )?;
        let rest = blocks.iter().skip_while(|one| one["type"] == "tool_result");
        for block in rest {
            anthropic_block(at, expected, block)?;
        }
        if expected == "assistant" {
            let calls = message["content"].as_array().into_iter().flatten();
            let ids = calls.filter_map(|block| block["id"].as_str());
            open.extend(ids);
        }
    }
    let is_asked = messages.len() % 2 == 1;
    check(is_asked && open.is_empty(), "the user has the last word")
}

fn anthropic_block(at: usize, role: &str, block: &Value) -> Checked {
    match block["type"].as_str().unwrap_or_default() {
        "text" => {
            let text = block["text"].as_str().unwrap_or_default();
            let says = !text.trim().is_empty();
            check(says, format!("messages.{at}: text must be non-whitespace"))
        }
        "tool_use" if role == "assistant" => {
            let [id, name] = ["id", "name"].map(|key| block[key].as_str().unwrap_or_default());
            check(is_name(id), format!("messages.{at}: '{id}' is no id"))?;
            check(is_name(name), format!("messages.{at}: '{name}' is no name"))?;
            let input = &block["input"];
            check(
                input.is_object(),
                format!("messages.{at}: input is {input}"),
            )
        }
        kind => invalid(format!("messages.{at}: '{kind}' has no place there")),
    }
}

/// The checker must see what it is for.
#[test]
fn illegal_messages_are_refused() {
    let user = json!({"role": "user", "content": "Hi"});
    let call = json!({"role": "assistant", "content": null, "tool_calls": [
        {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}},
    ]});
    let result = json!({"role": "tool", "tool_call_id": "a", "content": "ok"});
    let silent = json!({"role": "assistant", "content": null});
    for (messages, is_right) in [
        (vec![&user, &call, &result, &user], true),
        (vec![&user, &call, &user], false),
        (vec![&user, &call], false),
        (vec![&user, &result], false),
        (vec![&user, &call, &result, &result], false),
        (vec![&user, &silent], false),
    ] {
        let messages: Vec<Value> = messages.into_iter().cloned().collect();
        let found = openai_messages(&messages);
        assert_eq!(found.is_ok(), is_right, "{messages:?}: {found:?}");
    }
    let block = |role: &str, block: Value| json!({"role": role, "content": [block]});
    let text = block("user", json!({"type": "text", "text": "Hi"}));
    let blank = block("user", json!({"type": "text", "text": " "}));
    let call = json!({"type": "tool_use", "id": "a", "name": "f", "input": {}});
    let call = block("assistant", call);
    let result = block("user", json!({"type": "tool_result", "tool_use_id": "a"}));
    let late = json!({"role": "user", "content": [text["content"][0], result["content"][0]]});
    for (messages, is_right) in [
        (vec![&text, &call, &result], true),
        (vec![&text, &call, &text], false),
        (vec![&text, &call, &late], false),
        (vec![&text, &call], false),
        (vec![&text, &text], false),
        (vec![&blank], false),
        (vec![&result], false),
        (vec![&text, &text, &result], false),
    ] {
        let messages: Vec<Value> = messages.into_iter().cloned().collect();
        let found = anthropic_messages(&messages);
        assert_eq!(found.is_ok(), is_right, "{messages:?}: {found:?}");
    }
}
