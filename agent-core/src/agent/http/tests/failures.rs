//! Failures that a person must act on, and the words for them.

use super::*;
use crate::agent::model::ModelErrorKind as Kind;

/// Checks what is told of an answer; `URL` stands for the server's address.
async fn check(answer: Answer, kind: Kind, expected: &str) {
    let server = Server::start([answer]).await;
    let mut model = openai(&server);
    model.tries = 1;
    let error = complete(&model).await.unwrap_err();
    assert_eq!(error.kind, kind, "{error}");
    assert_eq!(error.to_string(), expected.replace("URL", &server.url));
}

fn error(status: u16, message: &str, code: &str) -> Answer {
    Answer::json(
        status,
        &json!({"error": {"message": message, "code": code}}),
    )
}

fn page(status: u16) -> Answer {
    let body = "<!DOCTYPE html>\n<html><title>502 Bad\n Gateway</title></html>".to_owned();
    Answer::new(status, "text/html", [body.into()])
}

/// Secrets reach no error, even where the server repeats them.
#[tokio::test]
async fn wrong_key_names_the_setting_and_never_the_key() {
    check(
        error(
            401,
            "Incorrect API key provided: sk-hunter2.",
            "invalid_api_key",
        ),
        Kind::Unauthorized,
        "URL/v1 refuses the key: Incorrect API key provided: ***. (HTTP 401); check `api_key`",
    )
    .await;
    let server = Server::start([Answer::json(403, &json!({"detail": "Forbidden"}))]).await;
    let model = client(HttpSettings::new(Provider::OpenAi, "m").with_base_url(&server.url));
    assert_eq!(
        complete(&model).await.unwrap_err().to_string(),
        format!(
            "{} asks for a key: Forbidden (HTTP 403); set `api_key`",
            server.url
        )
    );
}

#[tokio::test]
async fn wrong_model_names_model_and_server() {
    let expected = "URL/v1 has no model \"qwen3:8b\", or no chat there: model not found (HTTP 404); \
                    check `name` and `base_url`";
    check(error(404, "model not found", "x"), Kind::NotFound, expected).await;
    let expected = "URL/v1 has no model \"qwen3:8b\": No. (HTTP 400); check `name`";
    check(
        error(400, "No.", "model_not_found"),
        Kind::NotFound,
        expected,
    )
    .await;
}

#[tokio::test]
async fn missing_version_in_the_address_is_guessed() {
    let missing = Answer::new(404, "text/plain", ["404 page not found".to_owned().into()]);
    let server = Server::start([missing]).await;
    let model = client(settings(Provider::OpenAi, &server.url));
    let url = &server.url;
    assert_eq!(
        complete(&model).await.unwrap_err().to_string(),
        format!(
            "{url} has no chat there: 404 page not found (HTTP 404); `base_url` may lack `/v1` at \
             its end, as in \"{url}/v1\""
        )
    );
}

#[tokio::test]
async fn no_server_is_told_with_its_address() {
    let url = server::nobody().await;
    let error = complete(&client(settings(Provider::OpenAi, &url)))
        .await
        .unwrap_err();
    assert_eq!(error.kind, Kind::Unreachable);
    let text = error.to_string();
    assert!(
        text.starts_with(&format!("no server answers at {url}: ")),
        "{text}"
    );
    assert!(
        text.ends_with("; start it, or set `base_url` to where it is (tried 4 times)"),
        "{text}"
    );
}

#[tokio::test]
async fn web_pages_are_no_answers() {
    let told = |status: u16| {
        format!(
            "URL/v1 answers with a web page \"502 Bad Gateway\" (HTTP {status}) instead of a \
             model's answer; check `base_url`, and the proxy if there is one"
        )
    };
    check(page(502), Kind::Overloaded, &told(502)).await;
    check(page(404), Kind::NotFound, &told(404)).await;
    check(page(200), Kind::Malformed, &told(200)).await;
    let server = Server::start([page(200)]).await;
    let error = stream(&openai(&server)).await.0.unwrap_err();
    assert_eq!(error.to_string(), told(200).replace("URL", &server.url));
}

/// Something else than JSON is told by its type and its beginning, whether a stream was asked for or
/// not, and is not asked for again.
#[tokio::test]
async fn other_kinds_of_content_are_told() {
    for (kind, found) in [
        ("text/plain; charset=utf-8", "text/plain"),
        ("text/html", "text/html"),
        ("", "text"),
    ] {
        let answer = || Answer::new(200, kind, ["It works,\n sk-hunter2!".to_owned().into()]);
        let expected = format!(
            "URL/v1 gives no model's answer: expected JSON or a stream of events, found {found} \
             that starts with \"It works, ***!\"; check `base_url` and the provider"
        );
        check(answer(), Kind::Malformed, &expected).await;
        let server = Server::start([answer()]).await;
        let error = stream(&openai(&server)).await.0.unwrap_err();
        assert_eq!(error.to_string(), expected.replace("URL", &server.url));
    }
    let page = "<!DOCTYPE html><title>Hi</title>".to_owned();
    let server = Server::start([Answer::new(200, "text/plain", [page.into()])]).await;
    let error = stream(&openai(&server)).await.0.unwrap_err().to_string();
    assert!(error.contains("a web page \"Hi\" (HTTP 200)"), "{error}");
}

/// A stream may be called by another name.
#[tokio::test]
async fn stream_by_another_name_is_one() {
    let pieces = [event("Hello!").into(), end().into()];
    let server = Server::start([Answer::new(200, "text/plain", pieces)]).await;
    assert_eq!(stream(&openai(&server)).await.0, Ok(Reply::text("Hello!")));
}

#[tokio::test]
async fn other_dialects_are_told() {
    let expected = "URL/v1 answers in another dialect: expected an answer with `choices`, found \
                    {\"content\":[]}; check `base_url` and the provider";
    check(
        Answer::json(200, &json!({"content": []})),
        Kind::Malformed,
        expected,
    )
    .await;
}

/// Words without end are cut, and do not steer a terminal.
#[tokio::test]
async fn words_of_servers_are_cut() {
    let server = Server::start([error(400, &"\u{1b}[2J\n".repeat(500), "x")]).await;
    let error = complete(&openai(&server)).await.unwrap_err().to_string();
    assert!(error.chars().count() < 700, "{error}");
    assert!(!error.contains(char::is_control), "{error}");
}

/// The key stays with the host that it was given for.
#[tokio::test]
async fn redirect_is_told_and_not_followed() {
    let other = Server::start([whole("never")]).await;
    let moved = Answer::json(307, &json!({}))
        .with_header("location", &format!("{}/v1/chat/completions", other.url));
    let expected = format!(
        "URL/v1 sends on to {}/v1/chat/completions, where the key must not follow by itself; if \
         that is the server, write its address in `base_url`",
        other.url
    );
    check(moved, Kind::NotFound, &expected).await;
    assert!(other.requests().is_empty());
}

#[tokio::test]
async fn silence_is_a_timeout() {
    let hung = || Piece::Pause(Duration::from_hours(1));
    for (pieces, streamed_answer) in [
        (vec![event("Hel").into(), hung()], true),
        (vec!["{\"choices\"".to_owned().into(), hung()], false),
    ] {
        let kind = if streamed_answer {
            "text/event-stream"
        } else {
            "application/json"
        };
        let server = Server::start([Answer::new(200, kind, pieces)]).await;
        let base_url = format!("{}/v1", server.url);
        let limit = Duration::from_millis(200);
        let model = client(settings(Provider::OpenAi, &base_url).with_timeout(limit));
        let error = stream(&model).await.0.unwrap_err();
        assert_eq!(error.kind, Kind::Timeout);
        assert_eq!(
            error.to_string(),
            format!(
                "{base_url} has said nothing for 200ms; if its model needs longer, raise `timeout`"
            )
        );
    }
}

/// A server that accepts connections and then says nothing at all.
#[tokio::test]
async fn server_that_never_answers_is_a_timeout() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let limit = Duration::from_millis(200);
    let model = client(settings(Provider::OpenAi, &url).with_timeout(limit));
    assert_eq!(complete(&model).await.unwrap_err().kind, Kind::Timeout);
}

/// Comments keep a stream alive while the model thinks.
#[tokio::test]
async fn comments_are_no_silence() {
    let ping = || {
        [
            Piece::from(": thinking\n\n".to_owned()),
            Piece::Pause(Duration::from_millis(400)),
        ]
    };
    let mut pieces: Vec<Piece> = (0..4).flat_map(|_| ping()).collect();
    pieces.extend([event("Hello!").into(), end().into()]);
    let server = Server::start([streamed(pieces)]).await;
    let settings = settings(Provider::OpenAi, &format!("{}/v1", server.url));
    let model = client(settings.with_timeout(Duration::from_millis(1200)));
    assert_eq!(stream(&model).await.0, Ok(Reply::text("Hello!")));
}
