//! Executions that do not block the client: a thread runs them in order.
//!
//! Dependencies of an execution are enqueued before it, so that the thread never waits for itself.
//! Short programs run on the thread of the client, which takes less time than waking another.

use crate::error::{Code, Failure, Outcome};
use crate::event::{Promise, Signal};
use crate::executable::Compiled;
use std::cell::Cell;
use std::sync::mpsc::{SendError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// An execution.
type Job = Box<dyn FnOnce() + Send>;

/// Programs that take no longer run on the thread of the client.
const SHORT: Duration = Duration::from_micros(200);

/// Stack of the thread: nested programs run on other stacks.
const STACK_BYTES: usize = 4 << 20;

thread_local! {
    /// True on the thread that runs executions.
    static IS_WORKER: Cell<bool> = const { Cell::new(false) };
}

static QUEUE: Mutex<Option<Sender<Job>>> = Mutex::new(None);

/// True if an execution is to run at once: it is short and its inputs are there, it calls Python
/// functions, or it is part of another, such as of a Python function that a program calls.
pub(crate) fn is_inline(compiled: &Compiled, is_ready: bool) -> bool {
    let has_results = !compiled.results.is_empty();
    let is_short = compiled.duration().is_some_and(|duration| duration <= SHORT);
    IS_WORKER.get() || compiled.calls_host || !has_results || (is_short && is_ready)
}

/// Adds an execution to the queue.
///
/// # Errors
/// If there is no thread for it.
pub(crate) fn enqueue(mut job: Job) -> Outcome {
    let mut queue = QUEUE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(sender) = &*queue {
        match sender.send(job) {
            Ok(()) => return Ok(()),
            // The thread is gone, as after a fork.
            Err(SendError(back)) => job = back,
        }
    }
    let (sender, jobs) = channel::<Job>();
    let run = move || {
        IS_WORKER.set(true);
        jobs.into_iter().for_each(|job| job());
    };
    let thread = std::thread::Builder::new().name("stablo".to_string()).stack_size(STACK_BYTES);
    thread.spawn(run).map_err(|error| no_thread(&error.to_string()))?;
    let sent = sender.send(job).map_err(|_| no_thread("it has ended"));
    *queue = Some(sender);
    sent
}

/// Waits for the executions in the queue.
pub(crate) fn wait() {
    let queue = QUEUE.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let done = Arc::new(Promise::<()>::default());
    let signal = done.clone();
    if !IS_WORKER.get()
        && queue.is_some_and(|q| q.send(Box::new(move || signal.set(Ok(())))).is_ok())
    {
        let _ = done.wait();
    }
}

fn no_thread(reason: &str) -> Failure {
    Failure::new(Code::ResourceExhausted, format!("there is no thread for executions: {reason}"))
}
