//! What is sent, and answers of every kind that arrive whole.

use std::sync::Arc;

use serde_json::Map;
use tokio::sync::Notify;

use super::*;
use crate::agent::model::ModelErrorKind;
use crate::message::StopReason;

#[tokio::test]
async fn request_carries_key_model_and_parameters() {
    let server = Server::start([whole("Hello!")]).await;
    let parameters = Map::from_iter([("temperature".to_owned(), json!(0.5))]);
    let model = client(
        settings(Provider::OpenAi, &format!("{}/v1/", server.url))
            .with_max_tokens(100)
            .with_parameters(parameters),
    );
    assert_eq!(complete(&model).await, Ok(Reply::text("Hello!")));
    let requests = server.requests();
    let [request] = requests.as_slice() else {
        panic!("{requests:?}");
    };
    assert!(
        request
            .head
            .starts_with("post /v1/chat/completions http/1.1")
    );
    assert!(request.head.contains("authorization: bearer sk-hunter2"));
    assert_eq!(
        request.body.to_string(),
        r#"{"model":"qwen3:8b","messages":[{"role":"user","content":"Hi"}],"max_tokens":100,"temperature":0.5}"#
    );
}

#[tokio::test]
async fn anthropic_is_asked_in_its_own_way() {
    let body = json!({"content": [{"type": "text", "text": "Hello!"}], "stop_reason": "end_turn"});
    let events = [
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hello!"}}),
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}}),
        json!({"type": "message_stop"}),
    ];
    let events = events.map(|event| Piece::from(format!("event: x\ndata: {event}\n\n")));
    let server = Server::start([Answer::json(200, &body), streamed(events)]).await;
    let model = client(settings(Provider::Anthropic, &server.url));
    assert_eq!(complete(&model).await, Ok(Reply::text("Hello!")));
    let expected = (Ok(Reply::text("Hello!")), vec![text("Hello!")]);
    assert_eq!(stream(&model).await, expected);
    for request in server.requests() {
        assert!(request.head.starts_with("post /v1/messages http/1.1"));
        assert!(request.head.contains("x-api-key: sk-hunter2"));
        assert!(request.head.contains("anthropic-version: 2023-06-01"));
        assert!(!request.head.contains("authorization"));
        assert_eq!(request.body["max_tokens"], 8192);
    }
}

/// The rest is sent only when the beginning has been handed out.
#[tokio::test]
async fn stream_is_handed_out_while_it_comes() {
    let heard = Arc::new(Notify::new());
    let pieces = [
        event("Hel").into(),
        Piece::Await(Arc::clone(&heard)),
        event("lo!").into(),
        end().into(),
    ];
    let server = Server::start([streamed(pieces)]).await;
    let model = openai(&server);
    let mut deltas = Vec::new();
    let mut sink = |delta| {
        deltas.push(delta);
        heard.notify_one();
    };
    let reply = model.stream(prompt(&model), &mut sink).await.unwrap();
    assert_eq!(
        (reply.content, reply.stop),
        (Reply::text("Hello!").content, StopReason::End)
    );
    assert_eq!(deltas, [text("Hel"), text("lo!")]);
    assert_eq!(server.requests()[0].body["stream"], true);
}

/// A byte order mark, comments, every kind of line end, a text of many bytes a letter, and the last
/// event of many lines: each byte comes by itself.
#[tokio::test]
async fn stream_may_be_cut_anywhere() {
    let mut stream_text = String::from("\u{feff}: hello\r\n\r\n");
    stream_text.push_str(&event("größe ").replace('\n', "\r\n"));
    stream_text.push_str(&event("😀").replace('\n', "\r"));
    stream_text.push_str("event: message\nid: 5\nretry: 1\ndata:{\"choices\":[{\"delta\":\ndata: {\"content\":\"!\"}}]}\n\n");
    stream_text.push_str(&end());
    let pieces = stream_text.bytes().map(|byte| Piece::Send(vec![byte]));
    let server = Server::start([streamed(pieces)]).await;
    let (reply, deltas) = stream(&openai(&server)).await;
    assert_eq!(reply, Ok(Reply::text("größe 😀!")));
    assert_eq!(deltas, ["größe ", "😀", "!"].map(text));
}

/// An answer that is whole needs no proper end of the connection.
#[tokio::test]
async fn whole_answer_counts_although_the_connection_breaks() {
    let finish = end().replace("data: [DONE]\n\n", "");
    let pieces = [event("Hello!").into(), finish.into(), Piece::Cut];
    let server = Server::start([streamed(pieces)]).await;
    assert_eq!(stream(&openai(&server)).await.0, Ok(Reply::text("Hello!")));
}

/// Nobody waits for a server that has said why the model stops and then forgets to end the stream; the
/// count of tokens, which follows, is still heard.
#[tokio::test]
async fn whole_answer_does_not_wait_for_an_end_that_never_comes() {
    let gone = Arc::new(Notify::new());
    let finish = end().replace("data: [DONE]\n\n", "");
    let usage = json!({"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 4}});
    let pieces = [
        event("Hello!").into(),
        finish.into(),
        format!("data: {usage}\n\n").into(),
        Piece::UntilGone(Arc::clone(&gone)),
    ];
    let server = Server::start([streamed(pieces)]).await;
    let model = openai(&server);
    let answered = tokio::time::timeout(Duration::from_secs(30), stream(&model));
    let reply = answered.await.expect("an answer in time").0.unwrap();
    assert_eq!(reply.content, Reply::text("Hello!").content);
    assert_eq!(
        reply.usage,
        Some(json!({"inputTokens": 3, "outputTokens": 4}))
    );
    gone.notified().await;
}

/// What stands for "not yet" is no reason to stop.
#[tokio::test]
async fn empty_reason_to_stop_is_none() {
    let early = event("Hel").replace("\"index\":0", "\"index\":0,\"finish_reason\":\"\"");
    let pieces = [early.into(), Piece::Cut];
    let server = Server::start([streamed(pieces)]).await;
    let mut model = openai(&server);
    model.tries = 1;
    let error = stream(&model).await.0.unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Cut);
}

#[tokio::test]
async fn server_may_answer_in_one_piece_although_a_stream_was_asked_for() {
    let server = Server::start([whole("Hello!")]).await;
    let expected = (Ok(Reply::text("Hello!")), Vec::new());
    assert_eq!(stream(&openai(&server)).await, expected);
}

#[tokio::test]
async fn request_is_given_up_with_its_future() {
    let (begun, gone) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let pieces = [event("Hel").into(), Piece::UntilGone(Arc::clone(&gone))];
    let server = Server::start([streamed(pieces)]).await;
    let model = openai(&server);
    let mut sink = |_| begun.notify_one();
    tokio::select! {
        reply = model.stream(prompt(&model), &mut sink) => panic!("{reply:?}"),
        () = begun.notified() => {}
    }
    tokio::time::timeout(Duration::from_secs(30), gone.notified())
        .await
        .unwrap();
}
