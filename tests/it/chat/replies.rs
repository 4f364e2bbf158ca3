//! Answers of a model, and how each provider words them: in one piece, or as events.

use serde_json::{Value, json};

use super::server::{Dialect, Gate, MODEL};

/// One answer of a model.
#[derive(Clone, Default)]
pub(crate) struct Answer {
    pieces: Vec<Piece>,
    calls: Vec<Call>,
    stop: Option<Stop>,
}

/// Why an answer ends that is not whole.
#[derive(Clone, Copy)]
enum Stop {
    Length,
    Refused,
}

#[derive(Clone)]
enum Piece {
    Text(String),
    /// Nothing comes until somebody lets it.
    Hold(Gate),
    /// The connection breaks.
    Break,
}

#[derive(Clone)]
struct Call {
    id: String,
    name: String,
    arguments: Value,
}

impl Answer {
    /// Text, which a stream brings word by word.
    pub(crate) fn saying(text: &str) -> Self {
        let words = text.split_inclusive(' ');
        Self {
            pieces: words.map(|word| Piece::Text(word.to_owned())).collect(),
            ..Self::default()
        }
    }

    /// One call.
    pub(crate) fn calling(id: &str, name: &str, arguments: Value) -> Self {
        Self::default().and_calling(id, name, arguments)
    }

    /// Nothing before the gate is open.
    pub(crate) fn holding(gate: &Gate) -> Self {
        Self::default().then_holding(gate)
    }

    /// Nothing, ever.
    pub(crate) fn silence() -> Self {
        Self::holding(&Gate::default())
    }

    /// One more call.
    pub(crate) fn and_calling(mut self, id: &str, name: &str, arguments: Value) -> Self {
        self.calls.push(Call {
            id: id.to_owned(),
            name: name.to_owned(),
            arguments,
        });
        self
    }

    /// Nothing more before the gate is open.
    pub(crate) fn then_holding(mut self, gate: &Gate) -> Self {
        self.pieces.push(Piece::Hold(gate.clone()));
        self
    }

    /// More text.
    pub(crate) fn then_saying(mut self, text: &str) -> Self {
        self.pieces.extend(Self::saying(text).pieces);
        self
    }

    /// Nothing more, since the connection breaks.
    pub(crate) fn then_breaking(mut self) -> Self {
        self.pieces.push(Piece::Break);
        self
    }

    /// The same, ended by the limit of tokens.
    pub(crate) fn cut_off(mut self) -> Self {
        self.stop = Some(Stop::Length);
        self
    }

    /// The same, held back by the provider.
    pub(crate) fn held_back(mut self) -> Self {
        self.stop = Some(Stop::Refused);
        self
    }

    fn text(&self) -> String {
        let texts = self.pieces.iter().filter_map(|piece| match piece {
            Piece::Text(text) => Some(text.as_str()),
            Piece::Hold(_) | Piece::Break => None,
        });
        texts.collect()
    }
}

/// What a server sends of an answer.
pub(crate) enum Sent {
    Event(String),
    Hold(Gate),
    Break,
}

/// An answer in one piece.
pub(crate) fn whole(dialect: Dialect, answer: &Answer) -> Value {
    match dialect {
        Dialect::OpenAi => openai(answer),
        Dialect::Anthropic => anthropic(answer),
    }
}

/// An answer as events.
pub(crate) fn events(dialect: Dialect, answer: &Answer, with_usage: bool) -> Vec<Sent> {
    match dialect {
        Dialect::OpenAi => openai_events(answer, with_usage),
        Dialect::Anthropic => anthropic_events(answer),
    }
}

fn openai(answer: &Answer) -> Value {
    let text = answer.text();
    let mut message =
        json!({"role": "assistant", "content": text, "refusal": null, "annotations": []});
    if text.is_empty() {
        message["content"] = Value::Null;
    }
    if !answer.calls.is_empty() {
        let calls = answer.calls.iter().map(|call| {
            let function = json!({"name": call.name, "arguments": call.arguments.to_string()});
            json!({"id": call.id, "type": "function", "function": function})
        });
        message["tool_calls"] = calls.collect();
    }
    json!({
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1_760_000_000, "model": MODEL,
        "choices": [{
            "index": 0, "message": message, "logprobs": null, "finish_reason": finish(answer),
        }],
        "usage": openai_usage(),
    })
}

fn openai_usage() -> Value {
    json!({"prompt_tokens": 20, "completion_tokens": 5, "total_tokens": 25})
}

fn finish(answer: &Answer) -> &'static str {
    match answer.stop {
        Some(Stop::Length) => "length",
        Some(Stop::Refused) => "content_filter",
        None if answer.calls.is_empty() => "stop",
        None => "tool_calls",
    }
}

fn openai_events(answer: &Answer, with_usage: bool) -> Vec<Sent> {
    let chunk = |choices: Value| {
        let mut chunk = json!({
            "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1_760_000_000,
            "model": MODEL, "choices": choices,
        });
        if with_usage {
            chunk["usage"] = Value::Null;
        }
        chunk
    };
    let event = |value: &Value| Sent::Event(format!("data: {value}\n\n"));
    let delta = |delta: Value| {
        event(&chunk(
            json!([{"index": 0, "delta": delta, "finish_reason": null}]),
        ))
    };
    let mut sent = vec![delta(json!({"role": "assistant", "content": ""}))];
    for piece in &answer.pieces {
        sent.push(match piece {
            Piece::Text(text) => delta(json!({"content": text})),
            Piece::Hold(gate) => Sent::Hold(gate.clone()),
            Piece::Break => Sent::Break,
        });
    }
    for (index, call) in answer.calls.iter().enumerate() {
        let function = json!({"name": call.name, "arguments": ""});
        let begin =
            json!({"index": index, "id": call.id, "type": "function", "function": function});
        sent.push(delta(json!({"tool_calls": [begin]})));
        for part in halves(&call.arguments.to_string()) {
            let more = json!({"index": index, "function": {"arguments": part}});
            sent.push(delta(json!({"tool_calls": [more]})));
        }
    }
    let end = json!([{"index": 0, "delta": {}, "finish_reason": finish(answer)}]);
    sent.push(event(&chunk(end)));
    if with_usage {
        let mut usage = chunk(json!([]));
        usage["usage"] = openai_usage();
        sent.push(event(&usage));
    }
    sent.push(Sent::Event("data: [DONE]\n\n".to_owned()));
    sent
}

fn anthropic(answer: &Answer) -> Value {
    let text = answer.text();
    let mut content = Vec::new();
    if !text.is_empty() {
        content.push(json!({"type": "text", "text": text}));
    }
    let calls = answer.calls.iter().map(|call| {
        json!({"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments})
    });
    content.extend(calls);
    let mut message = anthropic_message();
    message["content"] = content.into();
    message["stop_reason"] = stop(answer).into();
    message
}

/// A message that has not begun.
fn anthropic_message() -> Value {
    json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": MODEL, "content": [],
        "stop_reason": null, "stop_sequence": null,
        "usage": {"input_tokens": 20, "output_tokens": 5},
    })
}

fn stop(answer: &Answer) -> &'static str {
    match answer.stop {
        Some(Stop::Length) => "max_tokens",
        Some(Stop::Refused) => "refusal",
        None if answer.calls.is_empty() => "end_turn",
        None => "tool_use",
    }
}

fn anthropic_events(answer: &Answer) -> Vec<Sent> {
    let event = |value: &Value| {
        let kind = value["type"].as_str().unwrap();
        Sent::Event(format!("event: {kind}\ndata: {value}\n\n"))
    };
    let begin = |index: usize, block: Value| {
        event(&json!({"type": "content_block_start", "index": index, "content_block": block}))
    };
    let delta = |index: usize, delta: Value| {
        event(&json!({"type": "content_block_delta", "index": index, "delta": delta}))
    };
    let end = |index: usize| event(&json!({"type": "content_block_stop", "index": index}));
    let start = json!({"type": "message_start", "message": anthropic_message()});
    let mut sent = vec![event(&start), event(&json!({"type": "ping"}))];
    let mut index = 0;
    if !answer.pieces.is_empty() {
        sent.push(begin(index, json!({"type": "text", "text": ""})));
        for piece in &answer.pieces {
            sent.push(match piece {
                Piece::Text(text) => delta(index, json!({"type": "text_delta", "text": text})),
                Piece::Hold(gate) => Sent::Hold(gate.clone()),
                Piece::Break => Sent::Break,
            });
        }
        sent.push(end(index));
        index += 1;
    }
    for call in &answer.calls {
        let block = json!({"type": "tool_use", "id": call.id, "name": call.name, "input": {}});
        sent.push(begin(index, block));
        for part in halves(&call.arguments.to_string()) {
            let part = json!({"type": "input_json_delta", "partial_json": part});
            sent.push(delta(index, part));
        }
        sent.push(end(index));
        index += 1;
    }
    let usage = json!({"output_tokens": 5});
    let stop = json!({"stop_reason": stop(answer), "stop_sequence": null});
    sent.push(event(
        &json!({"type": "message_delta", "delta": stop, "usage": usage}),
    ));
    sent.push(event(&json!({"type": "message_stop"})));
    sent
}

/// A text in two parts.
fn halves(text: &str) -> [String; 2] {
    let letters: Vec<char> = text.chars().collect();
    let (first, second) = letters.split_at(letters.len() / 2);
    [first.iter().collect(), second.iter().collect()]
}
