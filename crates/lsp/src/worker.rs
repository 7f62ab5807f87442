//! Checks of large texts on a thread of their own.

use crossbeam_channel::{Receiver, Sender};
use ide::{Finding, Snapshot, ValueTypes};
use ls_types::Uri;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// A text to be checked.
pub struct Job {
    pub uri: Uri,
    pub version: i32,
    pub snapshot: Snapshot,
}

/// The findings in a text.
pub struct Outcome {
    pub uri: Uri,
    pub version: i32,
    pub findings: Vec<Finding>,
    /// The types of values, with the first findings.
    pub value_types: Option<ValueTypes>,
    /// False if lints are still to come.
    pub is_final: bool,
}

/// The thread and its jobs. Jobs that wait are replaced by newer ones of the same text.
pub struct Worker {
    jobs: Arc<Mutex<Jobs>>,
    wake: Sender<()>,
    /// Outcomes in the order in which they are found.
    pub outcomes: Receiver<Outcome>,
}

#[derive(Default)]
struct Jobs {
    waiting: Vec<Job>,
    /// The text that is being checked, until it is cancelled.
    running: Option<Uri>,
}

impl Worker {
    /// Starts the thread, which ends with the worker.
    pub fn start() -> Worker {
        let jobs: Arc<Mutex<Jobs>> = Arc::default();
        let (wake, woken) = crossbeam_channel::unbounded();
        let (sender, outcomes) = crossbeam_channel::unbounded();
        let shared = jobs.clone();
        let work = move || {
            while woken.recv().is_ok() {
                let job = {
                    let mut jobs = lock(&shared);
                    if jobs.waiting.is_empty() {
                        continue;
                    }
                    let job = jobs.waiting.remove(0);
                    jobs.running = Some(job.uri.clone());
                    job
                };
                // A fault of the checks is one of this text; others are checked.
                let _ = catch_unwind(AssertUnwindSafe(|| check(job, &shared, &sender)));
            }
        };
        let name = "checks of large texts".to_string();
        // Without a thread, large texts have the diagnostics of parts alone.
        let _ = thread::Builder::new().name(name).stack_size(stablo::STACK_BYTES).spawn(work);
        Worker { jobs, wake, outcomes }
    }

    /// Checks a text.
    pub fn submit(&self, job: Job) {
        let mut jobs = lock(&self.jobs);
        jobs.waiting.retain(|waiting| waiting.uri != job.uri);
        jobs.waiting.push(job);
        // The receiver is gone only if the thread could not be started.
        let _ = self.wake.send(());
    }

    /// Cancels the check of a text.
    pub fn cancel(&self, uri: &Uri) {
        let mut jobs = lock(&self.jobs);
        jobs.waiting.retain(|waiting| waiting.uri != *uri);
        jobs.running.take_if(|running| running == uri);
    }
}

fn lock(jobs: &Mutex<Jobs>) -> std::sync::MutexGuard<'_, Jobs> {
    jobs.lock().unwrap_or_else(PoisonError::into_inner)
}

fn check(job: Job, jobs: &Mutex<Jobs>, sender: &Sender<Outcome>) {
    let Job { uri, version, snapshot } = job;
    let is_cancelled = || lock(jobs).running.as_ref() != Some(&uri);
    let checked = snapshot.check();
    let value_types = Some(checked.value_types());
    let send = |findings, value_types, is_final| {
        // The receiver is gone when the server ends.
        let _ = sender.send(Outcome { uri: uri.clone(), version, findings, value_types, is_final });
    };
    send(checked.errors(), value_types, false);
    if !is_cancelled() {
        send(checked.all(), None, true);
    }
}
