//! Threads that help others: started when first needed, and kept by the process.
//!
//! One thread at a time has the pool's help; all others work alone meanwhile. A helper looks for
//! work for a while after it has done some, so that the next job reaches it in less than a
//! microsecond, and then sleeps.

// A job borrows from the thread that offers it, which no lifetime can express here.
#![allow(unsafe_code)]

use std::cell::Cell;
use std::hint::spin_loop;
use std::mem::transmute;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;
use std::time::{Duration, Instant};

/// Bytes of stack of a helper. Kernels do not recurse, but have large frames without optimization.
const STACK_BYTES: usize = 8 << 20;
/// At most so many helpers are started.
const MAX_HELPERS: usize = 255;
/// How long threads wait for each other before they sleep.
const PATIENCE: Duration = Duration::from_micros(200);
/// So many jobs, each soon after the one before, wake helpers that sleep.
const JOBS_IN_A_ROW: u32 = 4;

type Job<'a> = &'a (dyn Fn() + Sync);

struct Pool {
    is_taken: AtomicBool,
    state: Mutex<State>,
    /// How often helpers were woken so far; changes with `state`.
    jobs: AtomicUsize,
    /// The number of helpers that work on a job; changes with `state`.
    working: AtomicUsize,
    /// The number of helpers that do not sleep; changes with `state`.
    awake: AtomicUsize,
    /// Signalled to sleeping helpers when there is a job.
    offered: Condvar,
    /// Signalled to the thread whose job it was when the last helper has left.
    finished: Condvar,
}

struct State {
    job: Option<Job<'static>>,
    /// How many more helpers may take the job.
    vacancies: usize,
    helpers: usize,
    asleep: usize,
    owner_sleeps: bool,
}

static POOL: Pool = Pool {
    is_taken: AtomicBool::new(false),
    state: Mutex::new(State {
        job: None,
        vacancies: 0,
        helpers: 0,
        asleep: 0,
        owner_sleeps: false,
    }),
    jobs: AtomicUsize::new(0),
    working: AtomicUsize::new(0),
    awake: AtomicUsize::new(0),
    offered: Condvar::new(),
    finished: Condvar::new(),
};

/// True if a helper looks for work, so that a job reaches it at once. Otherwise the caller, who has
/// a job that is too short for waking one, does it alone; where such jobs follow each other, up to
/// `helpers` are woken for the next ones.
pub fn may_help(helpers: usize) -> bool {
    thread_local! {
        /// When the last job was, and how many there have been in a row.
        static ALONE: Cell<Option<(Instant, u32)>> = const { Cell::new(None) };
    }
    if POOL.awake.load(Ordering::Relaxed) > 0 {
        return true;
    }
    let now = Instant::now();
    let count = match ALONE.get() {
        Some((last, count)) if now.duration_since(last) < PATIENCE => count + 1,
        _ => 1,
    };
    let is_waking = count == JOBS_IN_A_ROW;
    ALONE.set((!is_waking).then_some((now, count)));
    if is_waking {
        POOL.wake(POOL.lock(), helpers.min(MAX_HELPERS));
    }
    false
}

/// Calls `work` while up to `helpers` other threads call `job`. They may be fewer, or none: `work`
/// must not wait for them. `job` must not panic.
pub fn with_helpers(helpers: usize, job: Job<'_>, work: &dyn Fn()) {
    if POOL.is_taken.swap(true, Ordering::Acquire) {
        return work();
    }
    // Dropped last: the pool is free when no thread has the job any more.
    let _free = Defer(|| POOL.is_taken.store(false, Ordering::Release));
    let _end = Defer(|| POOL.end());
    // SAFETY: the reference is gone before `job`'s lifetime ends. `POOL` holds it from `offer` to
    // `end`, which removes it and then waits for all helpers that have taken it. `end` runs before
    // this function returns, also if `work` panics. No other thread replaces the job meanwhile,
    // because `is_taken` is set.
    let job = unsafe { transmute::<Job<'_>, Job<'static>>(job) };
    POOL.offer(job, helpers.min(MAX_HELPERS));
    work();
}

/// Calls a function when dropped.
struct Defer<F: FnMut()>(F);

impl<F: FnMut()> Drop for Defer<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

impl Pool {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn offer(&'static self, job: Job<'static>, helpers: usize) {
        let mut state = self.lock();
        state.job = Some(job);
        state.vacancies = helpers;
        self.wake(state, helpers);
    }

    /// Lets helpers look for a job, and starts them if there are fewer.
    fn wake(&'static self, mut state: MutexGuard<'_, State>, helpers: usize) {
        while state.helpers < helpers {
            let started = Builder::new().stack_size(STACK_BYTES).spawn(|| self.help());
            if started.is_err() {
                break;
            }
            state.helpers += 1;
        }
        self.jobs.fetch_add(1, Ordering::Release);
        let asleep = state.asleep;
        drop(state);
        for _ in 0..asleep.min(helpers) {
            self.offered.notify_one();
        }
    }

    /// Withdraws the job, and returns when no helper works on it.
    fn end(&self) {
        self.lock().job = None;
        if wait_until(|| self.working.load(Ordering::Acquire) == 0) {
            return;
        }
        let mut state = self.lock();
        state.owner_sleeps = true;
        while self.working.load(Ordering::Acquire) > 0 {
            state = self.finished.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.owner_sleeps = false;
    }

    /// The loop of a helper: waits for jobs and does them.
    fn help(&self) {
        let mut seen = 0;
        self.awake.fetch_add(1, Ordering::Relaxed);
        loop {
            wait_until(|| self.jobs.load(Ordering::Acquire) != seen);
            let mut state = self.lock();
            while self.jobs.load(Ordering::Acquire) == seen {
                state.asleep += 1;
                self.awake.fetch_sub(1, Ordering::Relaxed);
                state = self.offered.wait(state).unwrap_or_else(PoisonError::into_inner);
                self.awake.fetch_add(1, Ordering::Relaxed);
                state.asleep -= 1;
            }
            seen = self.jobs.load(Ordering::Acquire);
            let Some(job) = state.job.filter(|_| state.vacancies > 0) else { continue };
            state.vacancies -= 1;
            self.working.fetch_add(1, Ordering::Relaxed);
            drop(state);
            job();
            let state = self.lock();
            if self.working.fetch_sub(1, Ordering::Release) == 1 && state.owner_sleeps {
                self.finished.notify_one();
            }
        }
    }
}

/// Waits for a condition, but not long. True if it has come.
fn wait_until(condition: impl Fn() -> bool) -> bool {
    let mut start = None;
    loop {
        for _ in 0..64 {
            if condition() {
                return true;
            }
            spin_loop();
        }
        if start.get_or_insert_with(Instant::now).elapsed() > PATIENCE {
            return false;
        }
    }
}
