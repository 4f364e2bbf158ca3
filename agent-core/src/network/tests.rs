//! Requests of plugins against a server on this machine.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test")]

mod server;

use std::sync::{Arc, Mutex};

use tool_sdk::ErrorKind;
use tool_sdk::abi::http::RequestHead;

use self::server::{Answer, Server, redirect, text};
use super::*;
use crate::limits;

/// A request without a body.
fn head(method: &str, url: impl Into<String>) -> RequestHead {
    let mut head = RequestHead::default();
    head.method = method.into();
    head.url = url.into();
    head
}

fn with_headers(mut head: RequestHead, headers: &[(&str, &str)]) -> RequestHead {
    let headers = headers.iter();
    let headers = headers.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    head.headers.extend(headers);
    head
}

fn plugin() -> PluginName {
    PluginName::new("wine")
}

/// Asks for a plugin that is granted nothing in particular, and so everything.
async fn ask(head: RequestHead, body: &str) -> Result<HttpResponse, ToolError> {
    let service = Network::new(|_| None).of(&plugin(), Isolation::InProcess);
    let body = body.as_bytes().to_vec();
    service.fetch(HttpRequest { head, body }).await
}

async fn refusal(head: RequestHead) -> ToolError {
    ask(head, "").await.unwrap_err()
}

#[tokio::test]
async fn a_request_arrives_as_it_was_written_and_its_answer_too() {
    let server = Server::start(|asked| {
        let headers = vec![("X-Vintage", "1982".to_owned())];
        Answer::Whole(418, headers, asked.method.clone())
    })
    .await;
    let mut asked = head("PUT", server.url("/cellar?shelf=1#top"));
    asked.query = vec![("name".to_owned(), "Château & co".to_owned())];
    let asked = with_headers(asked, &[("X-Key", "secret"), ("x-key", "more")]);
    let answer = ask(asked, "{\"red\": true}").await.unwrap();
    assert_eq!(
        (answer.head.status, answer.body.as_slice()),
        (418, &b"PUT"[..])
    );
    let vintage = ("x-vintage".to_owned(), "1982".to_owned());
    assert!(answer.head.headers.contains(&vintage), "{:?}", answer.head);
    assert_eq!(answer.head.origin, server.url(""));

    let seen = &server.asked()[0];
    assert_eq!(seen.target, "/cellar?shelf=1&name=Ch%C3%A2teau+%26+co");
    assert_eq!(seen.header("x-key"), Some("secret"));
    assert_eq!(seen.body, "{\"red\": true}");
    let agent = seen.header("user-agent").unwrap();
    assert!(agent.starts_with("toolsmith/"), "{agent}");

    for method in ["GET", "POST", "DELETE", "PATCH"] {
        let answer = ask(head(method, server.url("/")), "").await.unwrap();
        assert_eq!(answer.body, method.as_bytes());
    }
    assert_eq!(server.asked()[1].header("content-length"), None);
}

#[tokio::test]
async fn what_can_not_be_sent_is_refused_in_words_without_its_secrets() {
    let many: Vec<(&str, &str)> = vec![("a", "b"); limits::HTTP_HEADERS + 1];
    let long = "x".repeat(limits::HTTP_HEADER_BYTES);
    let mut large = head("GET", "http://h");
    large.max_size = Some(limits::HTTP_MOST_BYTES + 1);
    for (asked, expected) in [
        (head("GET", "hunter2"), "can't be read"),
        (head("GET", ""), "can't be read"),
        (head("GET", "http://"), "can't be read"),
        (head("GET", "file:///etc/hunter2"), "found `file:`"),
        (head("GET", "ftp://h/hunter2"), "found `ftp:`"),
        (head("GET", "data:hunter2"), "found `data:`"),
        (
            head("GET", "http://me:hunter2@h"),
            "a user's name or password",
        ),
        (head("GET", "http://hunter2@h"), "a user's name or password"),
        (head("GE T", "http://h"), "a method such as GET"),
        (head("CONNECT", "http://h"), "a method such as GET"),
        (large, "`max_size` is at most"),
        (
            with_headers(head("GET", "http://h"), &many),
            "at most 100 headers",
        ),
        (
            with_headers(head("GET", "http://h"), &[("a", &long)]),
            "at most 100 headers",
        ),
        (
            with_headers(head("GET", "http://h"), &[("a b", "")]),
            "no header is called",
        ),
        (
            with_headers(head("GET", "http://h"), &[("a", "hunter2\n")]),
            "letters that no header",
        ),
    ] {
        let error = refusal(asked).await;
        assert!(error.message().contains(expected), "{expected}: {error}");
        assert!(!error.to_string().contains("hunter2"), "{error}");
    }
    for name in [
        "Host",
        "content-length",
        "Transfer-Encoding",
        "connection",
        "keep-alive",
        "TE",
    ] {
        let error = refusal(with_headers(head("GET", "http://h"), &[(name, "x")])).await;
        assert!(
            error.message().contains("is set by the host"),
            "{name}: {error}"
        );
    }
}

#[tokio::test]
async fn redirects_are_followed_as_far_as_they_go() {
    let server = Server::start(|asked| match asked.target.as_str() {
        "/loop" => redirect(302, "/loop"),
        "/nowhere" => redirect(302, "http://"),
        "/file" => redirect(302, "file:///etc/passwd"),
        "/user" => redirect(302, "http://me:hunter2@127.0.0.1/"),
        "/end" => text(200, &format!("{} {}", asked.method, asked.body)),
        "/unsaid" => Answer::Whole(302, Vec::new(), "here".to_owned()),
        "/choice" => redirect(300, "/end"),
        status => redirect(status.trim_matches('/').parse().unwrap(), "../end"),
    })
    .await;
    for (method, status, expected) in [
        ("GET", 301, "GET "),
        ("POST", 301, "GET "),
        ("POST", 302, "GET "),
        ("POST", 303, "GET "),
        ("PUT", 302, "PUT wine"),
        ("PUT", 303, "GET "),
        ("POST", 307, "POST wine"),
        ("POST", 308, "POST wine"),
    ] {
        let body = if method == "GET" { "" } else { "wine" };
        let asked = head(method, server.url(&format!("/{status}/")));
        let answer = ask(asked, body).await.unwrap();
        assert_eq!(answer.body, expected.as_bytes(), "{method} {status}");
    }
    let unsaid = ask(head("GET", server.url("/unsaid")), "").await.unwrap();
    assert_eq!(
        (unsaid.head.status, unsaid.body.as_slice()),
        (302, &b"here"[..])
    );
    let choice = ask(head("GET", server.url("/choice")), "").await.unwrap();
    assert_eq!(choice.head.status, 300);

    let before = server.begun();
    let error = refusal(head("GET", server.url("/loop"))).await;
    assert!(error.message().contains("more than 5 times"), "{error}");
    assert_eq!(server.begun() - before, 6);
    for (path, expected) in [
        ("/nowhere", "sends on to no address"),
        ("/file", "found `file:`"),
        ("/user", "a user's name or password"),
    ] {
        let error = refusal(head("GET", server.url(path))).await;
        assert!(error.message().contains(expected), "{error}");
        assert!(!error.to_string().contains("hunter2"), "{error}");
    }
}

#[tokio::test]
async fn another_server_gets_no_header_that_may_hold_a_key() {
    let second = Server::start(|_| text(200, "second")).await;
    let location = second.url("/");
    let first = Server::start(move |_| redirect(307, location.clone())).await;
    let asked = with_headers(
        head("POST", first.url("/")),
        &[
            ("authorization", "hunter2"),
            ("x-api-key", "hunter2"),
            ("cookie", "hunter2"),
            ("accept", "text/plain"),
        ],
    );
    assert_eq!(ask(asked, "body").await.unwrap().body, b"second");
    assert_eq!(first.asked()[0].header("x-api-key"), Some("hunter2"));
    let seen = &second.asked()[0];
    assert_eq!(seen.header("accept"), Some("text/plain"));
    assert_eq!(seen.body, "body");
    assert!(!format!("{seen:?}").contains("hunter2"), "{seen:?}");
}

#[tokio::test]
async fn every_hop_needs_its_grant_which_may_be_given_at_any_time() {
    let second = Server::start(|_| text(200, "second")).await;
    let location = second.url("/");
    let first = Server::start(move |_| redirect(302, location.clone())).await;
    let granted = Arc::new(Mutex::new(Vec::new()));
    let grants = Arc::clone(&granted);
    let network = Network::new(move |plugin| {
        assert_eq!(plugin.as_str(), "wine");
        Some(grants.lock().unwrap().clone())
    });
    let service = network.of(&plugin(), Isolation::InProcess);
    let ask = || {
        service.fetch(HttpRequest {
            head: head("GET", first.url("/")),
            body: Vec::new(),
        })
    };
    let grant = |server: &Server| NetworkGrant {
        host: "127.0.0.1".to_owned(),
        port: server.port,
    };

    let error = ask().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Denied);
    let line = format!("grants.network = [\"127.0.0.1:{}\"]", first.port);
    assert!(error.hint().unwrap().contains(&line), "{error}");
    assert_eq!(first.begun(), 0);

    granted.lock().unwrap().push(grant(&first));
    let error = ask().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Denied);
    let refused = format!(
        "{} sends on, but plugin `wine` may not reach 127.0.0.1:{}",
        first.url(""),
        second.port
    );
    assert_eq!(error.message(), refused);
    let both = format!(
        "[\"127.0.0.1:{}\", \"127.0.0.1:{}\"]",
        first.port, second.port
    );
    assert!(error.hint().unwrap().contains(&both), "{error}");
    assert_eq!((first.begun(), second.begun()), (1, 0));

    granted.lock().unwrap().push(grant(&second));
    assert_eq!(ask().await.unwrap().body, b"second");
}

#[tokio::test]
async fn answers_have_a_size_and_a_time() {
    let server = Server::start(|asked| match asked.target.as_str() {
        "/endless" => Answer::Endless,
        "/nothing" => Answer::Nothing,
        "/stuck" => Answer::Stuck,
        "/cut" => Answer::Cut,
        _ => text(200, "1234"),
    })
    .await;
    let error = refusal(head("GET", server.url("/endless"))).await;
    let expected = format!(
        "the answer of {} is longer than 10485760 bytes",
        server.url("")
    );
    assert_eq!(error.message(), expected);
    server.until(1, 1).await;

    let mut exact = head("GET", server.url("/"));
    exact.max_size = Some(4);
    assert_eq!(ask(exact.clone(), "").await.unwrap().body, b"1234");
    exact.max_size = Some(3);
    assert!(
        refusal(exact)
            .await
            .message()
            .contains("longer than 3 bytes")
    );

    for path in ["/nothing", "/stuck"] {
        let mut hasty = head("GET", server.url(path));
        hasty.timeout_ms = Some(50);
        let error = refusal(hasty).await;
        assert_eq!(error.kind(), ErrorKind::Timeout);
        assert!(error.message().ends_with("within 50ms"), "{error}");
    }
    let error = refusal(head("GET", server.url("/cut"))).await;
    assert!(
        error
            .message()
            .starts_with(&format!("the connection to {} broke", server.url(""))),
        "{error}"
    );
}

#[tokio::test]
async fn nobody_listening_is_told_without_path_and_query() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let url = format!("http://127.0.0.1:{port}/hunter2?key=hunter2");
    let mut asked = head("GET", url);
    asked.timeout_ms = Some(20_000);
    let error = refusal(asked).await;
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    let expected = format!("no server answers at http://127.0.0.1:{port}: ");
    assert!(error.message().starts_with(&expected), "{error}");
    assert!(!error.to_string().contains("hunter2"), "{error}");
}

#[tokio::test]
async fn a_request_that_is_given_up_leaves_its_server() {
    let server = Server::start(|_| Answer::Nothing).await;
    let service = Network::new(|_| None).of(&plugin(), Isolation::InProcess);
    let asked = HttpRequest {
        head: head("GET", server.url("/")),
        body: Vec::new(),
    };
    let task = tokio::spawn(async move { service.fetch(asked).await });
    server.until(1, 0).await;
    task.abort();
    server.until(1, 1).await;
    assert!(task.await.unwrap_err().is_cancelled());
}

#[tokio::test]
async fn a_plugin_makes_so_many_requests_at_once_and_others_have_turns_of_their_own() {
    let server = Server::start(|asked| match asked.target.as_str() {
        "/other" => text(200, "other"),
        _ => Answer::Nothing,
    })
    .await;
    let network = Network::new(|_| None);
    // Two generations of one plugin.
    let services = [plugin(), plugin()].map(|plugin| network.of(&plugin, Isolation::InProcess));
    let tasks: Vec<_> = (0..limits::HTTP_AT_ONCE)
        .map(|number| {
            let service = Arc::clone(&services[number % 2]);
            let head = head("GET", server.url("/"));
            tokio::spawn(async move {
                service
                    .fetch(HttpRequest {
                        head,
                        body: Vec::new(),
                    })
                    .await
            })
        })
        .collect();
    server.until(limits::HTTP_AT_ONCE, 0).await;
    let mut one_more = head("GET", server.url("/other"));
    one_more.timeout_ms = Some(100);
    let one_more = HttpRequest {
        head: one_more,
        body: Vec::new(),
    };
    let error = services[0].fetch(one_more.clone()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Timeout);
    assert_eq!(server.begun(), limits::HTTP_AT_ONCE);

    let other = network.of(&PluginName::new("beer"), Isolation::InProcess);
    let mut patient = one_more.clone();
    patient.head.timeout_ms = None;
    assert_eq!(other.fetch(patient.clone()).await.unwrap().body, b"other");
    tasks[0].abort();
    assert_eq!(services[1].fetch(patient).await.unwrap().body, b"other");
    for task in tasks {
        task.abort();
    }
}
