//! A server that says what it was asked, or nothing until its client is gone.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use toolsmith_tests::DEADLINE;

/// Requests for `/silence` get no answer, `/away` sends on to a port of its own, and everything else
/// gets the request line with the body, as a JSON string.
pub(crate) struct Server {
    pub(crate) port: u16,
    counts: Arc<Counts>,
    task: JoinHandle<()>,
}

#[derive(Default)]
struct Counts {
    lines: Mutex<Vec<String>>,
    /// Clients that have gone without an answer.
    gone: AtomicUsize,
}

impl Server {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let counts = Arc::<Counts>::default();
        let shared = Arc::clone(&counts);
        let task = tokio::spawn(async move {
            loop {
                let (connection, _) = listener.accept().await.unwrap();
                tokio::spawn(serve(connection, Arc::clone(&shared)));
            }
        });
        Self { port, counts, task }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// The request lines that have come.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.counts.lines.lock().unwrap().clone()
    }

    /// Waits until so many requests have come, of which so many were given up.
    pub(crate) async fn until(&self, begun: usize, gone: usize) {
        let reached = async {
            while self.lines().len() < begun || self.counts.gone.load(Ordering::SeqCst) < gone {
                tokio::time::sleep(std::time::Duration::from_millis(2)).await;
            }
        };
        tokio::time::timeout(DEADLINE, reached).await.unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(mut connection: TcpStream, counts: Arc<Counts>) {
    let Some((line, body)) = read(&mut connection).await else {
        return;
    };
    let is_silent = line.contains("/silence");
    let answer = if line.contains("/away") {
        "HTTP/1.1 302 X\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n".to_owned()
    } else {
        let body = serde_json::Value::from(format!("{line} {body}")).to_string();
        let length = body.len();
        format!("HTTP/1.1 200 X\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}")
    };
    counts.lines.lock().unwrap().push(line);
    if is_silent {
        assert!(matches!(connection.read(&mut [0]).await, Ok(0) | Err(_)));
        counts.gone.fetch_add(1, Ordering::SeqCst);
    } else {
        connection.write_all(answer.as_bytes()).await.unwrap();
    }
}

/// The request line without the version, and the body; nothing of a request that was given up.
async fn read(connection: &mut TcpStream) -> Option<(String, String)> {
    let mut bytes = Vec::new();
    let head = loop {
        more(connection, &mut bytes).await?;
        if let Some(end) = bytes.windows(4).position(|part| part == b"\r\n\r\n") {
            let body = bytes.split_off(end + 4);
            break String::from_utf8(std::mem::replace(&mut bytes, body)).unwrap();
        }
    };
    let mut lines = head.lines();
    let line = lines.next().unwrap().trim_end_matches(" HTTP/1.1");
    let length = lines.find_map(|line| line.strip_prefix("content-length: "));
    let length = length.map_or(0, |length| length.parse().unwrap());
    while bytes.len() < length {
        more(connection, &mut bytes).await?;
    }
    Some((line.to_owned(), String::from_utf8(bytes).unwrap()))
}

async fn more(connection: &mut TcpStream, bytes: &mut Vec<u8>) -> Option<()> {
    let read = connection.read_buf(bytes).await.ok()?;
    (read > 0).then_some(())
}
