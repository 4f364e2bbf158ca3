//! The threads of a worker process. One of them reads; who has read a job that may take its time
//! does it on the spot, and another one reads meanwhile. So a job changes no thread on its way.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::limits;

/// Threads that may wait for their turn to read; more of them end when their work is done.
const WAITING: usize = 4;

/// Work that may take its time.
pub(super) type Job = Box<dyn FnOnce() + Send>;

/// What came of reading.
pub(super) enum Step {
    /// It is done already.
    Done,
    /// It is to be done without keeping others from reading.
    Job(Job),
}

/// The threads and what they read from.
pub(super) struct Crew<R> {
    /// Held by the one that reads.
    reading: Mutex<R>,
    /// Held for moments only.
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Threads that read or wait for their turn.
    waiting: usize,
    /// Threads that do a job.
    busy: usize,
    /// Jobs beyond [`limits::POOL_THREADS`].
    left: VecDeque<Job>,
}

impl<R: Read> Crew<R> {
    /// Reads and works until there is nothing more to read. More threads do the same.
    pub(super) fn work(reading: R) {
        let crew = Arc::new(Self {
            reading: Mutex::new(reading),
            state: Mutex::default(),
        });
        crew.lock().waiting = 1;
        while let Some(job) = crew.read() {
            crew.run(job);
            crew.lock().waiting += 1;
        }
    }

    /// What another thread than the first does. The first one ends the process.
    fn help(self: &Arc<Self>) {
        while let Some(job) = self.read() {
            self.run(job);
            let mut state = self.lock();
            if state.waiting >= WAITING {
                return;
            }
            state.waiting += 1;
        }
        R::end();
    }

    /// The next job.
    fn read(&self) -> Option<Job> {
        let mut reading = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            match reading.step()? {
                Step::Done => {}
                Step::Job(job) => return Some(job),
            }
        }
    }

    /// Does the job, and those that are left, while another thread reads.
    fn run(self: &Arc<Self>, job: Job) {
        let mut job = {
            let mut state = self.lock();
            state.waiting -= 1;
            if state.busy >= limits::POOL_THREADS {
                state.left.push_back(job);
                return;
            }
            state.busy += 1;
            if state.waiting == 0 {
                self.spawn(&mut state);
            }
            Some(job)
        };
        while let Some(work) = job {
            // The plugin's panics end in the plugin; another one must not cost the crew a thread.
            drop(catch_unwind(AssertUnwindSafe(work)));
            let mut state = self.lock();
            job = state.left.pop_front();
            if job.is_none() {
                state.busy -= 1;
            }
        }
    }

    /// Where the system refuses a thread, nobody reads until one has time.
    fn spawn(self: &Arc<Self>, state: &mut State) {
        let crew = Arc::clone(self);
        let thread = std::thread::Builder::new().name("tool-call".to_owned());
        if thread.spawn(move || crew.help()).is_ok() {
            state.waiting += 1;
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a crew reads from.
pub(super) trait Read: Send + 'static {
    /// Reads one thing, and does it if that takes no time; `None` at the end.
    fn step(&mut self) -> Option<Step>;

    /// Ends the process.
    fn end() -> !;
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, Sender, channel};
    use std::time::Duration;

    use super::*;

    struct Jobs(Receiver<Option<Job>>);

    impl Read for Jobs {
        fn step(&mut self) -> Option<Step> {
            Some(self.0.recv().ok()?.map_or(Step::Done, Step::Job))
        }

        fn end() -> ! {
            // The test's own thread is the first one.
            loop {
                std::thread::park();
            }
        }
    }

    const LONG: Duration = Duration::from_mins(1);

    #[test]
    fn jobs_run_beside_each_other_up_to_the_limit_and_the_rest_in_turn() {
        let (jobs, receiver) = channel::<Option<Job>>();
        let (done, finished): (Sender<usize>, _) = channel();
        let (release, gate) = channel::<()>();
        let gate = Arc::new(Mutex::new(gate));
        let count = limits::POOL_THREADS + 10;
        for number in 0..count {
            let (done, gate) = (done.clone(), Arc::clone(&gate));
            jobs.send(None).unwrap();
            let work = move || {
                gate.lock().unwrap().recv().unwrap();
                done.send(number).unwrap();
            };
            jobs.send(Some(Box::new(work))).unwrap();
        }
        // A panic costs nothing.
        jobs.send(Some(Box::new(|| panic!("on purpose")))).unwrap();
        std::thread::spawn(move || Crew::work(Jobs(receiver)));
        for _ in 0..count {
            release.send(()).unwrap();
        }
        let mut all: Vec<usize> = (0..count)
            .map(|_| finished.recv_timeout(LONG).unwrap())
            .collect();
        all.sort_unstable();
        assert_eq!(all, (0..count).collect::<Vec<_>>());
        let more = Box::new(move || done.send(7).unwrap());
        jobs.send(Some(more)).unwrap();
        assert_eq!(finished.recv_timeout(LONG), Ok(7));
    }
}
