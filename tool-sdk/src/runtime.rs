//! The plugin's own tokio runtime, on which its `async fn` tools run.
//!
//! It is made at the first async call. Every poll, every drop and every task that a tool spawns
//! happens on it, so a tool finds the reactor that it was compiled with, and a tool that blocks
//! delays nobody but its own plugin.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::runtime::{Builder, Handle, Runtime};

use crate::abi::{CallPort, Reply, Status, TaskId};
use crate::context::ToolContext;
use crate::error::ToolError;
use crate::panic::{self, PanicReport};
use crate::private::{panic_reply, reply};
use crate::tool::{Outcome, ToolFuture};

/// How long a cancelled tool may tidy up before its future is dropped.
const GRACE: Duration = Duration::from_millis(100);

/// Threads that poll a plugin's tools. Two, so that one tool that blocks for a moment does not
/// delay the others.
const WORKERS: usize = 2;

/// The runtime, and the calls that run on it. One mutex for both: it is held for a map operation,
/// and never while a tool's code runs.
static STATE: Mutex<State> = Mutex::new(State {
    runtime: None,
    running: None,
});
static NEXT_TASK: AtomicU64 = AtomicU64::new(1);

struct State {
    runtime: Option<Runtime>,
    running: Option<HashMap<TaskId, ToolContext>>,
}

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts a tool's future. Its answer goes to the port, exactly once.
pub(crate) fn start(
    entry: impl FnOnce(ToolContext) -> ToolFuture + Send + 'static,
    context: ToolContext,
    port: CallPort,
) -> TaskId {
    let task = NEXT_TASK.fetch_add(1, Ordering::Relaxed);
    let mut state = state();
    let runtime = match &mut state.runtime {
        Some(runtime) => runtime,
        empty => match build() {
            Ok(runtime) => empty.insert(runtime),
            Err(error) => {
                let text = format!("the plugin's runtime could not be started: {error}");
                port.complete(reply(Err(text.into())));
                return 0;
            }
        },
    };
    let handle = runtime.handle().clone();
    state
        .running
        .get_or_insert_default()
        .insert(task, context.clone());
    drop(state);
    let answer = AnswerOnce { port, task };
    handle.spawn(async move {
        let outcome = run(entry, context).await;
        answer.give(outcome);
    });
    task
}

/// Runs a future of the plugin on the calling thread, with the plugin's runtime around it.
pub(crate) fn block_on<T>(
    future: impl Future<Output = Result<T, ToolError>>,
) -> Result<T, ToolError> {
    let handle = match &mut state().runtime {
        Some(runtime) => runtime.handle().clone(),
        empty => empty.insert(build()?).handle().clone(),
    };
    handle.block_on(future)
}

/// The runtime, if it was needed so far.
pub(crate) fn handle() -> Option<Handle> {
    let state = state();
    state
        .runtime
        .as_ref()
        .map(|runtime| runtime.handle().clone())
}

/// Asks a running tool to end.
pub(crate) fn cancel(task: TaskId) {
    let context = state()
        .running
        .as_ref()
        .and_then(|running| running.get(&task).cloned());
    if let Some(context) = context {
        context.cancel();
    }
}

/// Ends the runtime: waits for what still runs, up to the deadline, then abandons it.
pub(crate) fn retire(deadline: Duration) {
    let runtime = state().runtime.take();
    if let Some(runtime) = runtime {
        runtime.shutdown_timeout(deadline);
    }
}

fn build() -> std::io::Result<Runtime> {
    Builder::new_multi_thread()
        .worker_threads(WORKERS)
        .thread_name("tool-async")
        .enable_all()
        .build()
}

enum Ended {
    Finished(Outcome),
    Panicked(PanicReport),
    Cancelled,
}

async fn run(entry: impl FnOnce(ToolContext) -> ToolFuture, context: ToolContext) -> Ended {
    let made = panic::catch(|| entry(context.clone()));
    let mut guarded = match made {
        Ok(future) => Guarded(Some(future)),
        Err(report) => return Ended::Panicked(report),
    };
    let overdue = async {
        context.aborted().await;
        tokio::time::sleep(GRACE).await;
    };
    let ended = tokio::select! {
        biased;
        ended = &mut guarded => ended,
        () = overdue => Ended::Cancelled,
    };
    guarded.drop_future();
    ended
}

/// A tool's future, of which neither a poll nor the drop can unwind.
struct Guarded(Option<ToolFuture>);

impl Future for Guarded {
    type Output = Ended;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Ended> {
        let Some(future) = &mut self.0 else {
            return Poll::Pending;
        };
        match panic::catch(|| future.as_mut().poll(cx)) {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(outcome)) => Poll::Ready(Ended::Finished(outcome)),
            Err(report) => Poll::Ready(Ended::Panicked(report)),
        }
    }
}

impl Guarded {
    fn drop_future(&mut self) {
        let future = self.0.take();
        if let Err(report) = panic::catch(|| drop(future)) {
            crate::log::error(&format!(
                "panic while a tool's future was dropped: {report}"
            ));
        }
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        self.drop_future();
    }
}

/// Answers when told to, or says that the call was aborted when the task is dropped before.
struct AnswerOnce {
    port: CallPort,
    task: TaskId,
}

impl AnswerOnce {
    fn give(self, ended: Ended) {
        let answer = match ended {
            Ended::Finished(outcome) => reply(outcome),
            Ended::Panicked(report) => panic_reply(&report),
            Ended::Cancelled => Reply::new(Status::ABORTED, ""),
        };
        self.port.complete(answer);
    }
}

impl Drop for AnswerOnce {
    fn drop(&mut self) {
        let ended = state()
            .running
            .as_mut()
            .and_then(|running| running.remove(&self.task));
        // Outside of the lock: with the context the plugin's state may go, which needs the runtime.
        drop(ended);
        // Only the first answer counts, so this one matters only if none was given.
        self.port.complete(Reply::new(Status::ABORTED, ""));
    }
}
