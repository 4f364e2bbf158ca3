//! The thread that maps libraries.
//!
//! One at a time, and never a thread of the runtime: a constructor may behave in another way here
//! than it did when it was tried out. A thread that does not come back is given up, and the next
//! library gets a new one.

use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, PoisonError};

use tokio::sync::oneshot;

use crate::limits::PROBE_TIMEOUT;
use crate::plugin::PluginError;

type Job = Box<dyn FnOnce() + Send>;

/// Runs what maps libraries.
#[derive(Debug, Default)]
pub(in crate::registry) struct Loader {
    /// A mutex, since the thread is replaced when it is lost; held for moments only.
    jobs: Mutex<Option<Sender<Job>>>,
}

impl Loader {
    /// Runs `work` on the thread and waits for it, for a while.
    pub(super) async fn run<R: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<R, PluginError> + Send + 'static,
    ) -> Result<R, PluginError> {
        let (sender, receiver) = oneshot::channel();
        self.hand_over(Box::new(move || drop(sender.send(work()))))?;
        let limit = PROBE_TIMEOUT;
        match tokio::time::timeout(limit, receiver).await {
            Ok(Ok(loaded)) => loaded,
            Ok(Err(_)) => Err(PluginError::Failed {
                step: "load",
                reason: "the loading thread has panicked".to_owned(),
            }),
            Err(_) => {
                *self.jobs.lock().unwrap_or_else(PoisonError::into_inner) = None;
                Err(PluginError::Hangs { limit })
            }
        }
    }

    fn hand_over(&self, job: Job) -> Result<(), PluginError> {
        let mut jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        let job = match jobs.as_ref() {
            Some(known) => match known.send(job) {
                Ok(()) => return Ok(()),
                // A thread that panicked is gone.
                Err(unsent) => unsent.0,
            },
            None => job,
        };
        let (sender, receiver) = channel::<Job>();
        std::thread::Builder::new()
            .name("plugin-load".to_owned())
            .spawn(move || receiver.into_iter().for_each(|job| job()))
            .map_err(PluginError::io("no thread to load a library on"))?;
        // The thread waits for jobs until this sender is dropped.
        drop(sender.send(job));
        *jobs = Some(sender);
        Ok(())
    }
}
