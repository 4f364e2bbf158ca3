//! The child's side of a worker: a library is mapped here, and its tools are called from afar.
//!
//! There is no tokio here. Threads take turns at reading (`crew`): the one that has read a call of a
//! plain `fn` makes it, and another one reads on. An `async fn` is started by the thread that reads,
//! and answers from its plugin's own runtime. What never waits is called while nobody reads.

use std::collections::{HashMap, HashSet};
use std::io::{self, BufReader, Write as _};
use std::mem::ManuallyDrop;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

use abi_stable::prefix_type::PrefixTypeTrait;
use abi_stable::std_types::RStr;
use serde::Serialize;
use tool_sdk::abi::http::{AnswerPort, RequestId};
use tool_sdk::abi::{
    CallPort, CallTarget, HostTable, HostTableRef, Invocation, LogLevel, PluginModuleRef, Reply,
    Status, TaskId, ToolIndex,
};
use tool_sdk::{ErrorKind, ToolError};

use super::crew::{self, Crew, Step};
use super::frames;
use super::helper::{end, lost};
use super::protocol::{Answer, Number, Request, What};
use crate::limits;
use crate::plugin::bridge::inline_waits;
use crate::plugin::http::{failure, refuse};
use crate::plugin::{PluginError, introduction, load};

/// Longest body that is copied behind its head, in bytes.
const COPIED: usize = 16 * 1024;

/// Where answers go. Set before a library is mapped; [`HostTable`] has no place for it.
static OUT: OnceLock<Arc<Out>> = OnceLock::new();

/// Serves a library until the host wants no more of it. Ends the process.
pub(super) fn serve(socket: ManuallyDrop<UnixStream>, library: &Path, plugin: &str) -> ! {
    let Ok(reading) = socket.try_clone() else {
        end();
    };
    // Where the host does not read any more there is nobody to work for.
    if socket.set_write_timeout(Some(limits::FRAME_WRITE)).is_err() {
        end();
    }
    let out = Arc::clone(OUT.get_or_init(|| Arc::new(Out(Mutex::new(socket)))));
    let module = match connected(library, plugin) {
        Ok(module) => module,
        Err(error) => {
            out.send(&Answer::NotServing(error.to_string()), &[]);
            end();
        }
    };
    out.send(&Answer::Serving, &[]);
    Crew::work(Server {
        socket: BufReader::new(reading),
        module,
        out,
        calls: Arc::default(),
        demoted: HashSet::new(),
    });
    end();
}

fn connected(library: &Path, plugin: &str) -> Result<PluginModuleRef, PluginError> {
    let module = load::load(library)?;
    introduction::connect(module, plugin, host_table())?;
    Ok(module)
}

/// The functions that the plugin is handed here.
fn host_table() -> HostTableRef {
    HostTable { log }.leak_into_prefix()
}

extern "C" fn log(_: RStr<'_>, level: LogLevel, origin: RStr<'_>, message: RStr<'_>) {
    if let Some(out) = OUT.get() {
        let origin = origin.as_str().to_owned();
        out.send(&Answer::Log { level, origin }, message.as_str().as_bytes());
    }
}

/// The way back to the host.
struct Out(Mutex<ManuallyDrop<UnixStream>>);

impl Out {
    /// Sends one message whole, from any thread. Without a host there is nothing left to do.
    fn send(&self, answer: &impl Serialize, body: &[u8]) {
        let Ok(mut frame) = frames::start(answer, body.len()) else {
            end();
        };
        // Together in one go, unless copying takes longer than that.
        let apart = if body.len() > COPIED {
            body
        } else {
            frame.extend_from_slice(body);
            &[]
        };
        let mut socket = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match socket
            .write_all(&frame)
            .and_then(|()| socket.write_all(apart))
        {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => end(),
            Err(_) => lost(),
        }
    }

    /// Sends the one answer to a request.
    fn reply(&self, number: Number, reply: &Reply) {
        let Reply { status, body } = reply;
        if body.len() > limits::FRAME_BODY {
            let text = format!(
                "The answer has {} bytes, at most {} can leave the plugin's process",
                body.len(),
                limits::FRAME_BODY
            );
            let error = failure(&ToolError::new(text));
            return self.reply(number, &error);
        }
        let answer = Answer::Reply {
            number,
            status: *status,
        };
        self.send(&answer, body.as_bytes());
    }
}

/// Calls that are not answered yet. A mutex, since they are answered by any thread; held for
/// moments only.
#[derive(Default)]
struct Calls {
    running: Mutex<HashMap<Number, Running>>,
    /// HTTP requests that the host is making, with their calls.
    http: Mutex<HashMap<RequestId, (Number, AnswerPort)>>,
    last_request: AtomicU64,
}

/// What it takes to abort a call.
struct Running {
    aborted: Arc<AtomicBool>,
    /// Of an `async fn` that was started.
    task: Option<TaskId>,
}

impl Calls {
    fn lock(&self) -> MutexGuard<'_, HashMap<Number, Running>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn http(&self) -> MutexGuard<'_, HashMap<RequestId, (Number, AnswerPort)>> {
        self.http.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Nobody waits for the requests of this call any more.
    fn end_requests(&self, number: Number) {
        let mut http = self.http();
        let of_call = |(call, _): &(Number, AnswerPort)| *call == number;
        let ended: Vec<_> = http.extract_if(|_, waiting| of_call(waiting)).collect();
        // Without the lock: the plugin hears of it.
        drop(http);
        drop(ended);
    }
}

/// What the thread that reads knows.
struct Server {
    socket: BufReader<UnixStream>,
    module: PluginModuleRef,
    out: Arc<Out>,
    calls: Arc<Calls>,
    /// Tools that said they never wait, and did.
    demoted: HashSet<ToolIndex>,
}

impl crew::Read for Server {
    fn step(&mut self) -> Option<Step> {
        match frames::read(&mut self.socket) {
            Ok(next) => next.and_then(|(request, body)| self.take(request, body)),
            Err(_) => lost(),
        }
    }

    fn end() -> ! {
        end()
    }
}

impl Server {
    /// Does what is asked for, or says what is left to do. Nothing where there is no more.
    fn take(&mut self, request: Request, body: Vec<u8>) -> Option<Step> {
        let module = self.module;
        if let Request::HttpAnswer {
            request,
            status,
            head,
        } = request
        {
            let waiting = self.calls.http().remove(&request);
            if let Some((_, answer)) = waiting {
                answer.complete(Reply::new(status, head), body);
            }
            return Some(Step::Done);
        }
        let body = String::from_utf8(body).ok()?;
        let step = match request {
            Request::Call {
                number,
                tool,
                what,
                call_id,
            } => self.call(number, tool, what, &call_id, body),
            Request::Abort { number } => {
                self.abort(number);
                Step::Done
            }
            Request::Ping { number } => {
                self.out.reply(number, &Reply::new(Status::VALUE, "null"));
                Step::Done
            }
            Request::Open { number, package } => self.job(number, move || {
                module.open()(package.as_str().into(), body.as_str().into())
            }),
            Request::Retire { deadline_ms } => {
                module.retire()(deadline_ms);
                return None;
            }
            _ => return None,
        };
        Some(step)
    }

    fn call(
        &mut self,
        number: Number,
        tool: ToolIndex,
        what: What,
        call_id: &str,
        body: String,
    ) -> Step {
        let module = self.module;
        match what {
            What::Async => {
                self.start(number, tool, call_id, &body);
                Step::Done
            }
            What::Inline if !self.demoted.contains(&tool) => {
                self.run_inline(number, tool, call_id, &body);
                Step::Done
            }
            What::Blocking | What::Inline => {
                let target = self.target(number, false);
                let call_id = call_id.to_owned();
                Step::Job(Box::new(move || {
                    // It may have waited for a thread, and have been given up meanwhile.
                    if target.is_aborted() {
                        return target.complete(Reply::new(Status::ABORTED, ""));
                    }
                    let port = CallPort::new(Arc::clone(&target));
                    target.complete(module.call()(tool, Invocation::new(&body, &call_id, port)));
                }))
            }
            What::Prepare { inline } => {
                let hook = move || module.prepare()(tool, body.as_str().into());
                self.hook(number, inline, hook)
            }
            What::Validate { inline } => {
                let hook = move || module.validate()(tool, body.as_str().into());
                self.hook(number, inline, hook)
            }
        }
    }

    fn run_inline(&mut self, number: Number, tool: ToolIndex, call_id: &str, arguments: &str) {
        let target = self.target(number, true);
        let port = CallPort::new(Arc::clone(&target));
        let started = Instant::now();
        let reply = self.module.call()(tool, Invocation::new(arguments, call_id, port));
        let elapsed = started.elapsed();
        target.complete(reply);
        if elapsed > limits::INLINE_BUDGET {
            self.demoted.insert(tool);
            let origin = env!("CARGO_PKG_NAME").to_owned();
            let level = LogLevel::WARN;
            let text = format!(
                "an inline tool held its caller for {elapsed:?}, longer than {:?}, and runs on the \
                 pool from now on",
                limits::INLINE_BUDGET
            );
            self.out
                .send(&Answer::Log { level, origin }, text.as_bytes());
        }
    }

    fn start(&self, number: Number, tool: ToolIndex, call_id: &str, arguments: &str) {
        let port = CallPort::new(self.target(number, false));
        let task = self.module.start()(tool, Invocation::new(arguments, call_id, port));
        // It may have been answered already.
        if let Some(running) = self.calls.lock().get_mut(&number) {
            running.task = Some(task);
        }
    }

    fn abort(&self, number: Number) {
        let task = match self.calls.lock().get(&number) {
            Some(running) => {
                running.aborted.store(true, Ordering::Release);
                running.task
            }
            None => None,
        };
        self.calls.end_requests(number);
        if let Some(task) = task {
            self.module.cancel()(task);
        }
    }

    fn hook(
        &self,
        number: Number,
        inline: bool,
        hook: impl FnOnce() -> Reply + Send + 'static,
    ) -> Step {
        if inline {
            self.out.reply(number, &hook());
            return Step::Done;
        }
        self.job(number, hook)
    }

    fn job(&self, number: Number, work: impl FnOnce() -> Reply + Send + 'static) -> Step {
        let out = Arc::clone(&self.out);
        Step::Job(Box::new(move || out.reply(number, &work())))
    }

    fn target(&self, number: Number, inline: bool) -> Arc<Target> {
        let aborted = Arc::new(AtomicBool::new(false));
        let running = Running {
            aborted: Arc::clone(&aborted),
            task: None,
        };
        self.calls.lock().insert(number, running);
        Arc::new(Target {
            number,
            inline,
            aborted,
            answered: AtomicBool::new(false),
            calls: Arc::clone(&self.calls),
            out: Arc::clone(&self.out),
        })
    }
}

/// One call, as the plugin's port reaches it.
struct Target {
    number: Number,
    /// It promised never to wait.
    inline: bool,
    aborted: Arc<AtomicBool>,
    answered: AtomicBool,
    calls: Arc<Calls>,
    out: Arc<Out>,
}

impl CallTarget for Target {
    fn progress(&self, partial: &str) {
        let fits = partial.len() <= limits::FRAME_BODY;
        if fits && !self.answered.load(Ordering::Acquire) {
            let number = self.number;
            self.out
                .send(&Answer::Progress { number }, partial.as_bytes());
        }
    }

    fn is_aborted(&self) -> bool {
        self.aborted.load(Ordering::Acquire)
    }

    fn complete(&self, reply: Reply) {
        if !self.answered.swap(true, Ordering::AcqRel) {
            self.calls.lock().remove(&self.number);
            self.calls.end_requests(self.number);
            self.out.reply(self.number, &reply);
        }
    }

    fn http(&self, head: &str, body: Vec<u8>, answer: AnswerPort) -> RequestId {
        if self.inline {
            refuse(answer, &inline_waits());
            return 0;
        }
        if self.answered.load(Ordering::Acquire) {
            // Letting go of the port is the answer.
            return 0;
        }
        if body.len() > limits::FRAME_BODY {
            let text = format!("The body is longer than {} bytes", limits::FRAME_BODY);
            refuse(answer, &ToolError::new(text));
            return 0;
        }
        let request = self.calls.last_request.fetch_add(1, Ordering::Relaxed) + 1;
        self.calls.http().insert(request, (self.number, answer));
        let (number, head) = (self.number, head.to_owned());
        self.out.send(
            &Answer::Http {
                number,
                request,
                head,
            },
            &body,
        );
        request
    }

    fn cancel_http(&self, request: RequestId) {
        let cancelled = self.calls.http().remove(&request);
        if cancelled.is_some() {
            let number = self.number;
            self.out.send(&Answer::CancelHttp { number, request }, &[]);
        }
    }
}

impl Drop for Target {
    /// A plugin that let go of the call without a word will not answer it any more.
    fn drop(&mut self) {
        let error = ToolError::of(ErrorKind::Crashed, "The tool ended without an answer");
        self.complete(failure(&error));
    }
}
