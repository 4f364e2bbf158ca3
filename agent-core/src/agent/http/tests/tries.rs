//! What is tried again, how often, and when.

use std::time::Instant;

use super::*;
use crate::agent::model::ModelErrorKind as Kind;
use crate::limits;

fn refused(status: u16, code: &str) -> Answer {
    Answer::json(
        status,
        &json!({"error": {"message": "Not now.", "code": code}}),
    )
}

#[tokio::test]
async fn passing_failures_are_tried_again() {
    for status in [408, 409, 429, 500, 502, 503, 529] {
        let server = Server::start([refused(status, "x"), whole("Hello!")]).await;
        assert_eq!(
            complete(&openai(&server)).await,
            Ok(Reply::text("Hello!")),
            "{status}"
        );
        assert_eq!(server.requests().len(), 2);
    }
}

#[tokio::test]
async fn after_some_tries_the_failure_is_told() {
    let tries = limits::MODEL_TRIES;
    let server = Server::start((0..=tries).map(|_| refused(500, "x"))).await;
    let error = complete(&openai(&server)).await.unwrap_err();
    assert_eq!(server.requests().len(), tries as usize);
    assert_eq!(error.kind, Kind::Overloaded);
    assert_eq!(
        error.to_string(),
        format!(
            "{}/v1 can't answer now: Not now. (HTTP 500) (tried 4 times)",
            server.url
        )
    );
}

#[tokio::test]
async fn lasting_failures_are_told_at_once() {
    let quota = refused(429, "insufficient_quota");
    let unwanted = refused(500, "x").with_header("x-should-retry", "false");
    for (answer, kind) in [
        (refused(400, "x"), Kind::Refused),
        (refused(422, "x"), Kind::Refused),
        (refused(501, "x"), Kind::Refused),
        (quota, Kind::RateLimited),
        (unwanted, Kind::Overloaded),
    ] {
        let server = Server::start([answer, whole("never")]).await;
        let error = complete(&openai(&server)).await.unwrap_err();
        assert_eq!((error.kind, server.requests().len()), (kind, 1));
    }
}

#[tokio::test]
async fn server_says_how_long_to_wait() {
    let busy = refused(429, "x").with_header("retry-after-ms", "150");
    let server = Server::start([busy, whole("Hello!")]).await;
    let begin = Instant::now();
    assert_eq!(complete(&openai(&server)).await, Ok(Reply::text("Hello!")));
    assert!(begin.elapsed() >= Duration::from_millis(150));

    let busy = refused(429, "x").with_header("retry-after", "3600");
    let server = Server::start([busy, whole("never")]).await;
    let error = complete(&openai(&server)).await.unwrap_err();
    assert_eq!(error.kind, Kind::RateLimited);
    assert_eq!(error.retry_after, Some(Duration::from_hours(1)));
    assert_eq!(server.requests().len(), 1);
}

/// Whoever shows the pieces must know that they begin anew.
#[tokio::test]
async fn cut_stream_begins_anew() {
    let cut = streamed([event("Hel").into(), Piece::Cut]);
    let ended = streamed([event("Hell").into()]);
    let silent = streamed([Piece::Cut]);
    let good = streamed([event("Hello!").into(), end().into()]);
    let server = Server::start([cut, ended, silent, good]).await;
    let (reply, deltas) = stream(&openai(&server)).await;
    assert_eq!(reply, Ok(Reply::text("Hello!")));
    let expected = [
        text("Hel"),
        Delta::Restart,
        text("Hell"),
        Delta::Restart,
        text("Hello!"),
    ];
    assert_eq!(deltas, expected);
}

#[tokio::test]
async fn stream_that_is_always_cut_is_told() {
    let answers = (0..9).map(|_| streamed([event("Hel").into()]));
    let server = Server::start(answers).await;
    let error = stream(&openai(&server)).await.0.unwrap_err();
    assert_eq!(error.kind, Kind::Cut);
    assert_eq!(
        error.to_string(),
        format!(
            "the answer of {}/v1 broke off before the model had finished it (tried 4 times)",
            server.url
        )
    );
}

#[tokio::test]
async fn whole_answer_that_breaks_off_is_asked_for_again() {
    let torn = Answer::new(
        200,
        "application/json",
        ["{\"choices\"".to_owned().into(), Piece::Cut],
    );
    let server = Server::start([torn, whole("Hello!")]).await;
    assert_eq!(complete(&openai(&server)).await, Ok(Reply::text("Hello!")));
}

/// A failure that the server reports within its stream counts as if it were its status.
#[tokio::test]
async fn failure_within_a_stream_is_a_failure() {
    let failing = |code: &str| {
        let error = json!({"error": {"type": code, "message": "Not now."}});
        streamed([event("Hel").into(), format!("data: {error}\n\n").into()])
    };
    let good = streamed([event("Hello!").into(), end().into()]);
    let server = Server::start([failing("overloaded_error"), good]).await;
    let (reply, deltas) = stream(&openai(&server)).await;
    assert_eq!(reply, Ok(Reply::text("Hello!")));
    assert_eq!(deltas, [text("Hel"), Delta::Restart, text("Hello!")]);

    for (code, kind, expected) in [
        (
            "invalid_request_error",
            Kind::Refused,
            "reports a failure: Not now.",
        ),
        (
            "authentication_error",
            Kind::Unauthorized,
            "refuses the key: Not now.; check `api_key`",
        ),
        (
            "model_not_found",
            Kind::NotFound,
            "has no model \"qwen3:8b\": Not now.; check `name`",
        ),
        ("strange", Kind::Other, "reports a failure: Not now."),
    ] {
        let server = Server::start([failing(code)]).await;
        let error = stream(&openai(&server)).await.0.unwrap_err();
        assert_eq!(error.kind, kind);
        assert_eq!(error.to_string(), format!("{}/v1 {expected}", server.url));
    }
}
