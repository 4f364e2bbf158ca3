//! Keeps a panic of foreign code — a tool's, a hook's — inside the call that it happened in.
//!
//! Tools of plugins are caught behind the border; this is for code of the embedding program.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use tool_sdk::panic::{PanicReport, catch};

use crate::tool::BoxFuture;

/// Makes a future and runs it to its end; a panic of either becomes a report.
pub(crate) async fn guarded<'a, T>(
    make: impl FnOnce() -> BoxFuture<'a, T>,
) -> Result<T, PanicReport> {
    let future = catch(make)?;
    Guarded(Some(future)).await
}

/// A future whose panics are caught, also the panic of its drop when it is given up.
struct Guarded<'a, T>(Option<BoxFuture<'a, T>>);

impl<T> Guarded<'_, T> {
    fn drop_future(&mut self) {
        if let Some(future) = self.0.take()
            && let Err(report) = catch(|| drop(future))
        {
            tracing::warn!(%report, "a future panicked when it was dropped");
        }
    }
}

impl<T> Future for Guarded<'_, T> {
    type Output = Result<T, PanicReport>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(future) = &mut self.0 else {
            return Poll::Pending;
        };
        let polled = match catch(|| future.as_mut().poll(context)) {
            Ok(Poll::Pending) => return Poll::Pending,
            Ok(Poll::Ready(value)) => Ok(value),
            Err(report) => Err(report),
        };
        self.drop_future();
        Poll::Ready(polled)
    }
}

impl<T> Drop for Guarded<'_, T> {
    fn drop(&mut self) {
        self.drop_future();
    }
}
