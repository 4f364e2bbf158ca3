//! A server of few words: what it answers is a function of what it was asked.

use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// A request as it came.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub(super) method: String,
    /// Path and query.
    pub(super) target: String,
    headers: Vec<(String, String)>,
    pub(super) body: String,
}

impl Asked {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        headers.find_map(|(known, value)| (known == name).then_some(value.as_str()))
    }
}

/// The answer to a request.
#[derive(Clone, Debug)]
pub(super) enum Answer {
    /// Status, headers, body.
    Whole(u16, Vec<(&'static str, String)>, String),
    /// Chunks without an end, until the client is gone.
    Endless,
    /// Nothing, until the client is gone.
    Nothing,
    /// A beginning, and nothing more until the client is gone.
    Stuck,
    /// Less than was promised.
    Cut,
}

pub(super) fn text(status: u16, body: &str) -> Answer {
    Answer::Whole(status, Vec::new(), body.to_owned())
}

pub(super) fn redirect(status: u16, location: impl Into<String>) -> Answer {
    Answer::Whole(status, vec![("location", location.into())], String::new())
}

pub(super) struct Server {
    pub(super) port: u16,
    asked: Arc<Mutex<Vec<Asked>>>,
    /// How many connections have begun, and how many have ended.
    connections: watch::Receiver<(usize, usize)>,
    task: JoinHandle<()>,
}

impl Server {
    pub(super) async fn start(answer: impl Fn(&Asked) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (count, connections) = watch::channel((0, 0));
        let (seen, answer) = (Arc::clone(&asked), Arc::new(answer));
        let task = tokio::spawn(async move {
            loop {
                let (mut connection, _) = listener.accept().await.unwrap();
                let (seen, answer, count) = (Arc::clone(&seen), Arc::clone(&answer), count.clone());
                tokio::spawn(async move {
                    let request = read(&mut connection).await;
                    let answer = answer(&request);
                    seen.lock().unwrap().push(request);
                    count.send_modify(|(begun, _)| *begun += 1);
                    give(&mut connection, answer).await;
                    count.send_modify(|(_, ended)| *ended += 1);
                });
            }
        });
        Self {
            port,
            asked,
            connections,
            task,
        }
    }

    pub(super) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    pub(super) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    /// Waits until as many requests have come, and as many connections have ended.
    pub(super) async fn until(&self, begun: usize, ended: usize) {
        let mut connections = self.connections.clone();
        let reached = connections.wait_for(|now| now.0 >= begun && now.1 >= ended);
        let deadline = std::time::Duration::from_mins(1);
        tokio::time::timeout(deadline, reached)
            .await
            .unwrap()
            .unwrap();
    }

    /// How many requests have come.
    pub(super) fn begun(&self) -> usize {
        self.connections.borrow().0
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn read(connection: &mut TcpStream) -> Asked {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let mut lines = head.lines();
            let mut first = lines.next().unwrap().split(' ').map(str::to_owned);
            let (method, target) = (first.next().unwrap(), first.next().unwrap());
            let headers = lines.map(|line| line.split_once(": ").unwrap());
            let asked = Asked {
                method,
                target,
                headers: headers
                    .map(|(name, value)| (name.to_owned(), value.to_owned()))
                    .collect(),
                body: body.to_owned(),
            };
            let length = asked.header("content-length").unwrap_or("0");
            if body.len() >= length.parse().unwrap() {
                return asked;
            }
        }
        let read = connection.read_buf(&mut bytes).await.unwrap();
        assert_ne!(read, 0, "the request breaks off");
    }
}

async fn give(connection: &mut TcpStream, answer: Answer) {
    let mut head = "HTTP/1.1 ".to_owned();
    // A client that has heard enough may be gone.
    match answer {
        Answer::Whole(status, headers, body) => {
            write!(head, "{status} X\r\nconnection: close\r\n").unwrap();
            write!(head, "content-length: {}\r\n", body.len()).unwrap();
            for (name, value) in headers {
                write!(head, "{name}: {value}\r\n").unwrap();
            }
            write!(head, "\r\n{body}").unwrap();
            drop(connection.write_all(head.as_bytes()).await);
        }
        Answer::Endless => {
            head.push_str("200 X\r\ntransfer-encoding: chunked\r\n\r\n");
            let mut sent = connection.write_all(head.as_bytes()).await;
            let chunk = format!("{:x}\r\n{}\r\n", 4096, "x".repeat(4096));
            while sent.is_ok() {
                sent = connection.write_all(chunk.as_bytes()).await;
            }
        }
        Answer::Nothing | Answer::Stuck => {
            if matches!(answer, Answer::Stuck) {
                head.push_str("200 X\r\ncontent-length: 10\r\n\r\nabc");
                drop(connection.write_all(head.as_bytes()).await);
            }
            let gone = connection.read(&mut [0]).await;
            assert!(matches!(gone, Ok(0) | Err(_)), "{gone:?}");
        }
        Answer::Cut => {
            head.push_str("200 X\r\ncontent-length: 10\r\n\r\nabc");
            drop(connection.write_all(head.as_bytes()).await);
        }
    }
}
