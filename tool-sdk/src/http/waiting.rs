//! The time between a request and its answer: one future for both kinds of functions.
//!
//! The host answers from one of its threads, where no code of a tool may run: the answer is put down
//! and whoever waits is woken.

use std::fmt;
use std::future::{self, Future, Ready};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

use abi_stable::std_types::RVec;

use super::response::Response;
use crate::abi::http::{AnswerPort, HttpWaiter, RequestHead, RequestId};
use crate::abi::{CallPort, Reply, Status};
use crate::error::{ErrorKind, ToolError};

type Outcome = Result<Response, ToolError>;

/// The answer to a [`Request`](super::Request), once it is there. Dropping it gives the request up.
#[must_use = "futures do nothing unless they are awaited"]
pub struct Answer(Inner);

enum Inner {
    Ready(Ready<Outcome>),
    Waiting(Waiting),
}

impl Answer {
    pub(crate) fn ready(outcome: Outcome) -> Self {
        Self(Inner::Ready(future::ready(outcome)))
    }

    /// Leaves a request to the host.
    pub(crate) fn of_host(port: CallPort, head: &RequestHead, body: Vec<u8>) -> Self {
        let head = match serde_json::to_string(head) {
            Ok(head) => head,
            Err(error) => return Self::ready(Err(error.into())),
        };
        let desk = Arc::new(Desk::default());
        let request = port.http(&head, body, AnswerPort::new(Arc::clone(&desk)));
        Self(Inner::Waiting(Waiting {
            desk,
            port,
            request,
        }))
    }
}

impl Future for Answer {
    type Output = Outcome;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Outcome> {
        match &mut self.0 {
            Inner::Ready(ready) => Pin::new(ready).poll(cx),
            Inner::Waiting(waiting) => waiting.desk.poll(cx).map(|(head, body)| read(&head, body)),
        }
    }
}

impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answer").finish_non_exhaustive()
    }
}

/// A request that the host makes.
struct Waiting {
    desk: Arc<Desk>,
    port: CallPort,
    request: RequestId,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let mut state = self.desk.state();
        let is_answered = state.is_answered;
        // A waker may own the tool's future, which must not go on the host's thread.
        let waker = state.waker.take();
        drop(state);
        drop(waker);
        if !is_answered {
            self.port.cancel_http(self.request);
        }
    }
}

/// Where the answer is put down.
#[derive(Default)]
struct Desk(Mutex<State>);

#[derive(Default)]
struct State {
    answer: Option<(Reply, RVec<u8>)>,
    is_answered: bool,
    waker: Option<Waker>,
}

impl Desk {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn poll(&self, cx: &Context<'_>) -> Poll<(Reply, RVec<u8>)> {
        let mut state = self.state();
        if let Some(answer) = state.answer.take() {
            return Poll::Ready(answer);
        }
        match &mut state.waker {
            Some(waker) => waker.clone_from(cx.waker()),
            empty => *empty = Some(cx.waker().clone()),
        }
        Poll::Pending
    }
}

impl HttpWaiter for Desk {
    fn complete(&self, head: Reply, body: RVec<u8>) {
        let mut state = self.state();
        if state.is_answered {
            return;
        }
        state.is_answered = true;
        state.answer = Some((head, body));
        let waker = state.waker.take();
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

/// What the host says, in the words of a tool.
fn read(head: &Reply, body: RVec<u8>) -> Outcome {
    match head.status {
        Status::VALUE => Ok(Response::of(
            serde_json::from_str(&head.body)?,
            body.into_vec(),
        )),
        Status::ERROR => Err(serde_json::from_str(&head.body).unwrap_or_else(ToolError::from)),
        _ => Err(ToolError::of(
            ErrorKind::Aborted,
            "the request was given up, since its call has ended",
        )),
    }
}

/// Waits on this thread.
pub(super) fn block_on(mut answer: Answer) -> Outcome {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut context = Context::from_waker(&waker);
    loop {
        match Pin::new(&mut answer).poll(&mut context) {
            Poll::Ready(outcome) => return outcome,
            Poll::Pending => thread::park(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, Sender, channel};

    use super::*;
    use crate::abi::CallTarget;
    use crate::abi::http::ResponseHead;

    type Asked = (String, Vec<u8>, AnswerPort);

    /// A host that hands its requests to a test.
    struct Host {
        asked: Mutex<Sender<Asked>>,
        cancelled: Mutex<Vec<RequestId>>,
    }

    impl Host {
        fn start() -> (Arc<Self>, Receiver<Asked>) {
            let (sender, receiver) = channel();
            let host = Self {
                asked: Mutex::new(sender),
                cancelled: Mutex::default(),
            };
            (Arc::new(host), receiver)
        }
    }

    impl CallTarget for Host {
        fn progress(&self, _: &str) {}

        fn is_aborted(&self) -> bool {
            false
        }

        fn complete(&self, _: Reply) {}

        fn http(&self, head: &str, body: Vec<u8>, answer: AnswerPort) -> RequestId {
            let asked = self.asked.lock().unwrap();
            asked.send((head.to_owned(), body, answer)).unwrap();
            7
        }

        fn cancel_http(&self, request: RequestId) {
            self.cancelled.lock().unwrap().push(request);
        }
    }

    fn ask(host: &Arc<Host>) -> Answer {
        let head = RequestHead {
            method: "GET".to_owned(),
            ..RequestHead::default()
        };
        Answer::of_host(CallPort::new(Arc::clone(host)), &head, b"asked".to_vec())
    }

    #[test]
    fn an_answer_from_another_thread_ends_the_wait() {
        let (host, asked) = Host::start();
        let answering = thread::spawn(move || {
            let (head, body, answer) = asked.recv().unwrap();
            let head: RequestHead = serde_json::from_str(&head).unwrap();
            assert_eq!(
                (head.method.as_str(), body.as_slice()),
                ("GET", &b"asked"[..])
            );
            let head = ResponseHead {
                status: 201,
                ..ResponseHead::default()
            };
            let head = serde_json::to_string(&head).unwrap();
            answer.complete(Reply::new(Status::VALUE, head), b"made".to_vec());
        });
        let response = block_on(ask(&host)).unwrap();
        assert_eq!((response.status(), response.bytes()), (201, &b"made"[..]));
        answering.join().unwrap();
        assert!(host.cancelled.lock().unwrap().is_empty());
        assert_eq!(Arc::strong_count(&host), 1);
    }

    #[test]
    fn whoever_stops_waiting_gives_the_request_up() {
        let (host, asked) = Host::start();
        let answer = ask(&host);
        let Inner::Waiting(waiting) = &answer.0 else {
            panic!("it is not answered yet")
        };
        let desk = Arc::downgrade(&waiting.desk);
        drop(answer);
        assert_eq!(*host.cancelled.lock().unwrap(), [7]);
        assert_eq!(Arc::strong_count(&host), 1);
        let (_, _, port) = asked.recv().unwrap();
        assert_eq!(desk.strong_count(), 1, "the host's");
        port.complete(Reply::new(Status::VALUE, "{}"), Vec::new());
        assert_eq!(desk.strong_count(), 0);
    }

    #[test]
    fn a_request_that_the_host_drops_is_aborted() {
        let (host, asked) = Host::start();
        let answer = ask(&host);
        drop(asked.recv().unwrap());
        assert_eq!(block_on(answer).unwrap_err().kind(), ErrorKind::Aborted);
        assert!(host.cancelled.lock().unwrap().is_empty());
    }

    #[test]
    fn a_host_that_makes_no_requests_says_so() {
        struct Without;
        impl CallTarget for Without {
            fn progress(&self, _: &str) {}
            fn is_aborted(&self) -> bool {
                false
            }
            fn complete(&self, _: Reply) {}
        }
        let port = CallPort::new(Arc::new(Without));
        let answer = Answer::of_host(port, &RequestHead::default(), Vec::new());
        assert_eq!(block_on(answer).unwrap_err().kind(), ErrorKind::Unavailable);
    }
}
