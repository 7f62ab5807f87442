//! Checks of large texts on a thread of their own.

use crossbeam_channel::{Receiver, Sender};
use ide::{Checked, Finding, Snapshot, ValueTypes};
use ls_types::Uri;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// A text to be checked.
pub(crate) struct Job {
    pub uri: Uri,
    pub version: i32,
    pub snapshot: Snapshot,
}

/// A result of a check.
pub(crate) struct Outcome {
    pub uri: Uri,
    pub version: i32,
    pub progress: Progress,
}

/// The stages of a check.
pub(crate) enum Progress {
    /// Errors were found, or none; the types of values and lints are still to come.
    Errors(Vec<Finding>),
    /// The types of values, for checks of parts.
    Types(ValueTypes),
    /// All findings, and the program that was read.
    All { findings: Vec<Finding>, checked: Box<Checked> },
    /// The check stopped at a fault.
    Failed,
}

/// The thread and its jobs. Jobs that wait are replaced by newer ones of the same text.
pub(crate) struct Worker {
    jobs: Arc<Mutex<Jobs>>,
    wake: Sender<()>,
    /// Outcomes in the order in which they are found.
    pub outcomes: Receiver<Outcome>,
    /// True if the thread could be started.
    pub is_running: bool,
}

#[derive(Default)]
struct Jobs {
    waiting: Vec<Job>,
    /// The text that is being checked, until it is cancelled.
    running: Option<Uri>,
}

impl Worker {
    /// Starts the thread, which ends with the worker.
    pub(crate) fn start() -> Worker {
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
                let (uri, version) = (job.uri.clone(), job.version);
                if catch_unwind(AssertUnwindSafe(|| check(job, &shared, &sender))).is_err() {
                    let _ = sender.send(Outcome { uri, version, progress: Progress::Failed });
                }
            }
        };
        let name = "checks of large texts".to_string();
        // Without a thread, large texts have the diagnostics of parts alone.
        let thread = thread::Builder::new().name(name).stack_size(stablo::STACK_BYTES).spawn(work);
        Worker { jobs, wake, outcomes, is_running: thread.is_ok() }
    }

    /// Checks a text.
    pub(crate) fn submit(&self, job: Job) {
        let mut jobs = lock(&self.jobs);
        jobs.waiting.retain(|waiting| waiting.uri != job.uri);
        jobs.waiting.push(job);
        // The receiver is gone only if the thread could not be started.
        let _ = self.wake.send(());
    }

    /// Cancels the check of a text.
    pub(crate) fn cancel(&self, uri: &Uri) {
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
    let send = |progress| {
        // The receiver is gone when the server ends.
        let _ = sender.send(Outcome { uri: uri.clone(), version, progress });
    };
    send(Progress::Errors(checked.errors()));
    send(Progress::Types(checked.value_types()));
    if !is_cancelled() {
        send(Progress::All { findings: checked.all(), checked: Box::new(checked) });
    }
}
