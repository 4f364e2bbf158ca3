//! A server of few words: one answer for each request, in pieces as they are given.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::task::JoinHandle;

/// What a server does, one after the other.
pub(super) enum Piece {
    /// Sends this as one chunk.
    Send(Vec<u8>),
    /// Does nothing for a while.
    Pause(Duration),
    /// Waits until it is told to go on.
    Await(Arc<Notify>),
    /// Waits until the client has gone, and tells.
    UntilGone(Arc<Notify>),
    /// Breaks the connection.
    Cut,
}

impl From<String> for Piece {
    fn from(text: String) -> Self {
        Self::Send(text.into_bytes())
    }
}

/// The answer to one request.
pub(super) struct Answer {
    head: String,
    pieces: Vec<Piece>,
}

impl Answer {
    pub(super) fn new(status: u16, kind: &str, pieces: impl IntoIterator<Item = Piece>) -> Self {
        Self {
            head: format!(
                "HTTP/1.1 {status} X\r\ncontent-type: {kind}\r\ntransfer-encoding: chunked\r\n\
                 connection: close\r\n"
            ),
            pieces: pieces.into_iter().collect(),
        }
    }

    pub(super) fn json(status: u16, body: &Value) -> Self {
        Self::new(status, "application/json", [body.to_string().into()])
    }

    pub(super) fn with_header(mut self, name: &str, value: &str) -> Self {
        for part in [name, ": ", value, "\r\n"] {
            self.head.push_str(part);
        }
        self
    }
}

/// A request as it came.
#[derive(Clone, Debug)]
pub(super) struct Request {
    /// Request line and headers, in small letters.
    pub(super) head: String,
    pub(super) body: Value,
}

pub(super) struct Server {
    /// Its address, without a path.
    pub(super) url: String,
    requests: Arc<Mutex<Vec<Request>>>,
    task: JoinHandle<()>,
}

impl Server {
    /// Gives these answers, one to each request; a request beyond them gets none.
    pub(super) async fn start(answers: impl IntoIterator<Item = Answer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (seen, answers) = (
            Arc::clone(&requests),
            answers.into_iter().collect::<Vec<_>>(),
        );
        let task = tokio::spawn(async move {
            for answer in answers {
                let (mut connection, _) = listener.accept().await.unwrap();
                let request = read(&mut connection).await;
                seen.lock().unwrap().push(request);
                give(&mut connection, answer).await;
            }
        });
        Self {
            url,
            requests,
            task,
        }
    }

    /// What was asked so far.
    pub(super) fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// An address at which nobody listens.
pub(super) async fn nobody() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    format!("http://{}", listener.local_addr().unwrap())
}

async fn read(connection: &mut TcpStream) -> Request {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let head = head.to_lowercase();
            let (_, length) = head.split_once("content-length: ").unwrap();
            let length: usize = length.lines().next().unwrap().parse().unwrap();
            if body.len() >= length {
                let body = serde_json::from_str(body).unwrap();
                return Request { head, body };
            }
        }
        let read = connection.read_buf(&mut bytes).await.unwrap();
        assert_ne!(read, 0, "the request breaks off");
    }
}

async fn give(connection: &mut TcpStream, answer: Answer) {
    connection.set_nodelay(true).unwrap();
    let head = format!("{}\r\n", answer.head);
    // A client that has heard enough may be gone.
    let mut sent = connection.write_all(head.as_bytes()).await;
    for piece in answer.pieces {
        match piece {
            Piece::Send(bytes) => {
                let mut chunk = format!("{:x}\r\n", bytes.len()).into_bytes();
                chunk.extend(bytes);
                chunk.extend(b"\r\n");
                sent = sent.and(connection.write_all(&chunk).await);
            }
            Piece::Pause(time) => tokio::time::sleep(time).await,
            Piece::Await(told) => told.notified().await,
            Piece::UntilGone(tell) => {
                let gone = connection.read(&mut [0]).await;
                assert!(matches!(gone, Ok(0) | Err(_)), "{gone:?}");
                tell.notify_one();
                return;
            }
            Piece::Cut => return,
        }
    }
    drop(sent.and(connection.write_all(b"0\r\n\r\n").await));
}
