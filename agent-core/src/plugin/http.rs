//! HTTP requests that the tools of a plugin leave to the host.
//!
//! Owns what a request is on this side of the border, who may be asked to make one
//! ([`HttpService`]), and the requests of one call (`Requests`): they end with it at the latest.
//! Does not make requests: `network` does.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::runtime::Handle;
use tokio::task::AbortHandle;
use tool_sdk::abi::http::{AnswerPort, RequestHead, RequestId, ResponseHead};
use tool_sdk::abi::{Reply, Status};
use tool_sdk::{ErrorKind, ToolError};

use crate::tool::BoxFuture;

/// A request of a tool.
#[derive(Clone)]
pub struct HttpRequest {
    /// What is asked, unchecked.
    pub head: RequestHead,
    /// The body.
    pub body: Vec<u8>,
}

/// A whole answer.
#[derive(Clone)]
pub struct HttpResponse {
    /// Status and headers.
    pub head: ResponseHead,
    /// The body.
    pub body: Vec<u8>,
}

impl fmt::Debug for HttpRequest {
    /// Without what may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpRequest")
            .field("method", &self.head.method)
            .field("bytes", &self.body.len())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for HttpResponse {
    /// Without what may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpResponse")
            .field("status", &self.head.status)
            .field("bytes", &self.body.len())
            .finish_non_exhaustive()
    }
}

/// Makes requests for the tools of one plugin, as far as it may reach the servers.
pub trait HttpService: Send + Sync + 'static {
    /// Makes one request. Dropping the future ends it; time limits are the service's affair.
    fn fetch(&self, request: HttpRequest) -> BoxFuture<'_, Result<HttpResponse, ToolError>>;
}

/// The requests of one call.
pub(crate) struct Requests {
    service: Arc<dyn HttpService>,
    /// Where they run; a call that is not made on a runtime can make none.
    runtime: Option<Handle>,
    /// A mutex, since any thread of the plugin may begin a request; held for a map operation.
    running: Mutex<Running>,
}

#[derive(Default)]
struct Running {
    last: RequestId,
    requests: BTreeMap<RequestId, AbortHandle>,
    /// The call has ended.
    is_over: bool,
}

impl Requests {
    /// No requests yet. To be called on the runtime on which they shall run.
    pub(crate) fn of_call(service: Arc<dyn HttpService>) -> Self {
        Self {
            service,
            runtime: Handle::try_current().ok(),
            running: Mutex::default(),
        }
    }

    /// Begins a request, whose head is JSON, and names it. It is answered once, whatever happens to it.
    pub(crate) fn start(&self, head: &str, body: Vec<u8>, answer: AnswerPort) -> RequestId {
        let request = {
            let mut running = self.running();
            running.last += 1;
            running.last
        };
        self.start_as(request, head, body, answer);
        request
    }

    /// The same under a name that another has given. One that is there already under that name ends.
    pub(crate) fn start_as(
        &self,
        request: RequestId,
        head: &str,
        body: Vec<u8>,
        answer: AnswerPort,
    ) {
        let head = match serde_json::from_str(head) {
            Ok(head) => head,
            Err(error) => return refuse(answer, &ToolError::from(error)),
        };
        let Some(runtime) = &self.runtime else {
            let text = "the host makes no HTTP requests outside of a tokio runtime";
            return refuse(answer, &ToolError::of(ErrorKind::Unavailable, text));
        };
        let service = Arc::clone(&self.service);
        let asked = HttpRequest { head, body };
        let fetch = async move { give(answer, service.fetch(asked).await) };
        let mut running = self.running();
        if running.is_over {
            // Without the lock: the answer goes to the plugin.
            drop(running);
            drop(fetch);
            return;
        }
        running.requests.retain(|_, task| !task.is_finished());
        let task = runtime.spawn(fetch).abort_handle();
        if let Some(other) = running.requests.insert(request, task) {
            other.abort();
        }
    }

    /// Ends one of them.
    pub(crate) fn cancel(&self, request: RequestId) {
        let task = self.running().requests.remove(&request);
        if let Some(task) = task {
            task.abort();
        }
    }

    /// Ends all of them; none begins after that.
    pub(crate) fn end(&self) {
        let mut running = self.running();
        running.is_over = true;
        let requests = std::mem::take(&mut running.requests);
        drop(running);
        for task in requests.into_values() {
            task.abort();
        }
    }

    fn running(&self) -> MutexGuard<'_, Running> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Answers a request with an error, before it has begun.
pub(crate) fn refuse(answer: AnswerPort, error: &ToolError) {
    answer.complete(failure(error), Vec::new());
}

fn give(answer: AnswerPort, outcome: Result<HttpResponse, ToolError>) {
    let outcome = outcome.and_then(|HttpResponse { head, body }| {
        let head = serde_json::to_string(&head)?;
        Ok((Reply::new(Status::VALUE, head), body))
    });
    let (head, body) = outcome.unwrap_or_else(|error| (failure(&error), Vec::new()));
    answer.complete(head, body);
}

/// An error as a reply.
pub(crate) fn failure(error: &ToolError) -> Reply {
    // Texts always serialise.
    Reply::new(
        Status::ERROR,
        serde_json::to_string(error).unwrap_or_default(),
    )
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use abi_stable::std_types::RVec;
    use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
    use tool_sdk::abi::http::HttpWaiter;

    use super::*;

    /// Tells the answers to a test.
    struct Waiter(UnboundedSender<Reply>);

    impl HttpWaiter for Waiter {
        fn complete(&self, head: Reply, _: RVec<u8>) {
            self.0.send(head).unwrap();
        }
    }

    fn waiter() -> (AnswerPort, UnboundedReceiver<Reply>) {
        let (sender, receiver) = unbounded_channel();
        (AnswerPort::new(Arc::new(Waiter(sender))), receiver)
    }

    /// Answers `GET`, and never `WAIT`; counts what is open.
    #[derive(Default)]
    struct Service(AtomicUsize);

    struct Open<'a>(&'a AtomicUsize);

    impl Drop for Open<'_> {
        fn drop(&mut self) {
            self.0.fetch_sub(1, Ordering::SeqCst);
        }
    }

    impl HttpService for Service {
        fn fetch(&self, request: HttpRequest) -> BoxFuture<'_, Result<HttpResponse, ToolError>> {
            self.0.fetch_add(1, Ordering::SeqCst);
            let open = Open(&self.0);
            Box::pin(async move {
                let _open = open;
                match request.head.method.as_str() {
                    "GET" => Ok(HttpResponse {
                        head: ResponseHead::default(),
                        body: request.body,
                    }),
                    "WAIT" => std::future::pending().await,
                    _ => panic!("on purpose"),
                }
            })
        }
    }

    const WAIT: &str = r#"{"method": "WAIT"}"#;

    #[tokio::test]
    async fn every_request_is_answered_once_whatever_happens_to_it() {
        let service = Arc::new(Service::default());
        let requests = Requests::of_call(Arc::<Service>::clone(&service));
        for (head, expected) in [
            (r#"{"method": "GET"}"#, Status::VALUE),
            (r#"{"method": "PANIC"}"#, Status::ABORTED),
            ("no JSON", Status::ERROR),
        ] {
            let (port, mut answers) = waiter();
            requests.start(head, Vec::new(), port);
            assert_eq!(answers.recv().await.unwrap().status, expected, "{head}");
            assert_eq!(answers.recv().await, None, "{head}");
        }
        let (port, mut cancelled) = waiter();
        let request = requests.start(WAIT, Vec::new(), port);
        requests.cancel(request);
        requests.cancel(request);
        assert_eq!(cancelled.recv().await.unwrap().status, Status::ABORTED);
        assert_eq!(cancelled.recv().await, None);
        let (port, mut first) = waiter();
        requests.start_as(7, WAIT, Vec::new(), port);
        let (port, mut second) = waiter();
        requests.start_as(7, WAIT, Vec::new(), port);
        assert_eq!(first.recv().await.unwrap().status, Status::ABORTED);
        requests.cancel(7);
        assert_eq!(second.recv().await.unwrap().status, Status::ABORTED);
        let (port, mut ended) = waiter();
        requests.start(WAIT, Vec::new(), port);
        requests.end();
        assert_eq!(ended.recv().await.unwrap().status, Status::ABORTED);
        let (port, mut late) = waiter();
        requests.start(WAIT, Vec::new(), port);
        assert_eq!(late.recv().await.unwrap().status, Status::ABORTED);
        assert_eq!(service.0.load(Ordering::SeqCst), 0);
    }

    #[test]
    fn a_call_without_a_runtime_and_a_runtime_that_ends_answer_too() {
        let service: Arc<dyn HttpService> = Arc::new(Service::default());
        let (port, mut answers) = waiter();
        Requests::of_call(Arc::clone(&service)).start(WAIT, Vec::new(), port);
        assert_eq!(answers.blocking_recv().unwrap().status, Status::ERROR);

        let runtime = tokio::runtime::Runtime::new().unwrap();
        let (port, mut answers) = waiter();
        let requests = runtime.block_on(async { Requests::of_call(service) });
        requests.start(WAIT, Vec::new(), port);
        drop(runtime);
        assert_eq!(answers.blocking_recv().unwrap().status, Status::ABORTED);
        let (port, mut answers) = waiter();
        requests.start(WAIT, Vec::new(), port);
        assert_eq!(answers.blocking_recv().unwrap().status, Status::ABORTED);
    }
}
