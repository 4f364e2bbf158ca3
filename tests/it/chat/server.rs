//! A server on the loopback device that speaks like a provider's: it keeps every request, refuses
//! what the provider would refuse, and answers the rest as its script says.

use std::collections::{BTreeMap, VecDeque};
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::Value;
use toolsmith_tests::DEADLINE;

use super::replies::{self, Answer, Sent};
use super::rules;

/// The key that servers ask for, and no text on any screen may hold.
pub(crate) const KEY: &str = "sk-of-the-tests-0123456789";

/// The one model that servers have.
pub(crate) const MODEL: &str = "model-1";

/// How often a waiting server looks whether somebody still listens.
const LOOK: Duration = Duration::from_millis(10);

/// Whose words a server speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    OpenAi,
    Anthropic,
}

impl Dialect {
    pub(crate) const BOTH: [Self; 2] = [Self::OpenAi, Self::Anthropic];

    /// Its name in configurations and flags.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
        }
    }
}

/// A request as it came.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    /// Method and path.
    pub(crate) line: String,
    /// By names in small letters.
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: Value,
    /// Why it was refused.
    pub(crate) refusal: Option<String>,
}

/// Lets something go on, once and for all.
#[derive(Clone, Default)]
pub(crate) struct Gate(Arc<Mutex<bool>>);

impl Gate {
    pub(crate) fn open(&self) {
        *self.0.lock().unwrap() = true;
    }

    fn is_open(&self) -> bool {
        *self.0.lock().unwrap()
    }
}

/// A server that runs until it is dropped.
pub(crate) struct Server {
    /// What a client is given as the base address.
    pub(crate) url: String,
    address: std::net::SocketAddr,
    state: Arc<State>,
    accepting: Option<JoinHandle<()>>,
}

struct State {
    dialect: Dialect,
    /// `None` where everybody is served.
    key: Option<&'static str>,
    script: Mutex<VecDeque<Answer>>,
    seen: Mutex<Seen>,
    news: Condvar,
}

#[derive(Default)]
struct Seen {
    requests: Vec<Request>,
    /// Answers that nobody waited for to the end.
    given_up: usize,
    closing: bool,
}

impl Server {
    /// A server that asks for [`KEY`] and gives these answers, one after the other.
    pub(crate) fn start(dialect: Dialect, script: impl IntoIterator<Item = Answer>) -> Self {
        Self::with_key(dialect, Some(KEY), script)
    }

    /// A server that asks for no key, such as people run on their own machine.
    pub(crate) fn open_to_all(dialect: Dialect, script: impl IntoIterator<Item = Answer>) -> Self {
        Self::with_key(dialect, None, script)
    }

    fn with_key(
        dialect: Dialect,
        key: Option<&'static str>,
        script: impl IntoIterator<Item = Answer>,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let version = match dialect {
            Dialect::OpenAi => "/v1",
            Dialect::Anthropic => "",
        };
        let state = Arc::new(State {
            dialect,
            key,
            script: Mutex::new(script.into_iter().collect()),
            seen: Mutex::default(),
            news: Condvar::new(),
        });
        let accepted = Arc::clone(&state);
        let accepting = std::thread::spawn(move || accept(&listener, &accepted));
        Self {
            url: format!("http://{address}{version}"),
            address,
            state,
            accepting: Some(accepting),
        }
    }

    pub(crate) fn dialect(&self) -> Dialect {
        self.state.dialect
    }

    /// What was asked so far. None of it was refused.
    pub(crate) fn requests(&self) -> Vec<Request> {
        let requests = self.all_requests();
        for request in &requests {
            assert_eq!(request.refusal, None, "{:#}", request.body);
        }
        requests
    }

    /// What was asked so far, refused or not.
    pub(crate) fn all_requests(&self) -> Vec<Request> {
        self.state.seen.lock().unwrap().requests.clone()
    }

    /// Waits for this many requests.
    pub(crate) fn wait_for(&self, count: usize) {
        self.wait(|seen| seen.requests.len() >= count);
    }

    /// Waits until a client has gone away before its answer was whole.
    pub(crate) fn wait_until_given_up(&self) {
        self.wait(|seen| seen.given_up > 0);
    }

    fn wait(&self, is_there: impl Fn(&Seen) -> bool) {
        let begin = Instant::now();
        let mut seen = self.state.seen.lock().unwrap();
        while !is_there(&seen) {
            let left = DEADLINE.checked_sub(begin.elapsed());
            let left =
                left.unwrap_or_else(|| panic!("not within the deadline: {:?}", seen.requests));
            seen = self.state.news.wait_timeout(seen, left).unwrap().0;
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.state.seen.lock().unwrap().closing = true;
        // Wakes it, so that it looks.
        drop(TcpStream::connect(self.address));
        if let Some(accepting) = self.accepting.take() {
            drop(accepting.join());
        }
    }
}

/// An address at which nobody listens.
pub(crate) fn nobody() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    format!("http://{}/v1", listener.local_addr().unwrap())
}

fn accept(listener: &TcpListener, state: &Arc<State>) {
    for connection in listener.incoming() {
        if state.seen.lock().unwrap().closing {
            return;
        }
        let (connection, state) = (connection.unwrap(), Arc::clone(state));
        std::thread::spawn(move || serve(connection, &state));
    }
}

/// Answers on one connection until the client closes it.
fn serve(mut connection: TcpStream, state: &State) {
    connection.set_nodelay(true).unwrap();
    while let Some(mut request) = read(&mut connection) {
        let refusal = rules::refusal(state.dialect, state.key, &request);
        request.refusal = refusal.as_ref().map(|refusal| refusal.message.clone());
        let wants_stream = request.body["stream"] == true;
        let wants_usage = request.body["stream_options"]["include_usage"] == true;
        let answer = {
            let mut seen = state.seen.lock().unwrap();
            seen.requests.push(request);
            state.news.notify_all();
            match &refusal {
                Some(_) => None,
                None => state.script.lock().unwrap().pop_front(),
            }
        };
        let given = match (refusal, answer) {
            (Some(refusal), _) => whole(
                &mut connection,
                refusal.status,
                &refusal.body(state.dialect),
            ),
            (None, None) => {
                let text = "the script of this server has ended";
                let refusal = rules::Refusal::new(400, "invalid_request_error", text);
                whole(&mut connection, 400, &refusal.body(state.dialect))
            }
            (None, Some(answer)) if wants_stream => {
                let sent = replies::events(state.dialect, &answer, wants_usage);
                stream(&mut connection, sent)
            }
            (None, Some(answer)) => {
                let body = replies::whole(state.dialect, &answer);
                whole(&mut connection, 200, &body)
            }
        };
        if given.is_none() {
            state.seen.lock().unwrap().given_up += 1;
            state.news.notify_all();
            return;
        }
    }
}

/// The next request; `None` where the client has closed the connection.
fn read(connection: &mut TcpStream) -> Option<Request> {
    connection.set_read_timeout(None).unwrap();
    let mut bytes = Vec::new();
    let head = loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            let body = bytes.split_off(end + 4);
            let head = String::from_utf8(std::mem::replace(&mut bytes, body)).unwrap();
            break head;
        }
        more(connection, &mut bytes)?;
    };
    let mut lines = head.lines();
    let line = lines.next().unwrap().to_owned();
    let headers: BTreeMap<String, String> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_lowercase(), value.to_owned()))
        .collect();
    let length: usize = headers["content-length"].parse().unwrap();
    while bytes.len() < length {
        more(connection, &mut bytes)?;
    }
    let body = serde_json::from_slice(&bytes).unwrap();
    Some(Request {
        line: line.trim_end_matches(" HTTP/1.1").to_owned(),
        headers,
        body,
        refusal: None,
    })
}

fn more(connection: &mut TcpStream, bytes: &mut Vec<u8>) -> Option<()> {
    let mut part = [0; 4096];
    let read = connection.read(&mut part).ok().filter(|read| *read > 0)?;
    bytes.extend(&part[..read]);
    Some(())
}

/// Sends an answer in one piece; `None` where nobody takes it.
fn whole(connection: &mut TcpStream, status: u16, body: &Value) -> Option<()> {
    let body = body.to_string();
    let head = format!(
        "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    connection
        .write_all(format!("{head}{body}").as_bytes())
        .ok()
}

/// Sends an answer as events. Each comes in two chunks, cut wherever its middle is: letters of
/// several bytes and lines are cut too.
fn stream(connection: &mut TcpStream, sent: Vec<Sent>) -> Option<()> {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\n\
                transfer-encoding: chunked\r\n\r\n";
    connection.write_all(head.as_bytes()).ok()?;
    for sent in sent {
        match sent {
            Sent::Event(event) => {
                let (first, second) = event.as_bytes().split_at(event.len() / 2);
                chunk(connection, first)?;
                chunk(connection, second)?;
            }
            Sent::Hold(gate) => hold(connection, &gate)?,
            Sent::Break => return connection.shutdown(Shutdown::Both).ok(),
        }
    }
    connection.write_all(b"0\r\n\r\n").ok()
}

fn chunk(connection: &mut TcpStream, bytes: &[u8]) -> Option<()> {
    let mut chunk = format!("{:x}\r\n", bytes.len()).into_bytes();
    chunk.extend(bytes);
    chunk.extend(b"\r\n");
    connection.write_all(&chunk).ok()
}

/// Waits for the gate; `None` where the client goes away before.
fn hold(connection: &mut TcpStream, gate: &Gate) -> Option<()> {
    connection.set_read_timeout(Some(LOOK)).unwrap();
    let begin = Instant::now();
    while !gate.is_open() {
        assert!(begin.elapsed() < DEADLINE, "nobody opens the gate");
        let mut byte = [0];
        match connection.peek(&mut byte) {
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
            // Nothing more is asked before the answer is there.
            Ok(_) | Err(_) => return None,
        }
    }
    Some(())
}
