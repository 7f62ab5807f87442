//! Threads that help others: started when first needed, and kept by the process.
//!
//! One thread at a time has the pool's help; all others work alone meanwhile. A helper looks for
//! work for a while after it has done some, so that the next job reaches it in less than a
//! microsecond, and then sleeps.

#![allow(
    unsafe_code,
    reason = "a job borrows from the thread that offers it, which no lifetime can express here"
)]

use std::cell::Cell;
use std::hint::spin_loop;
use std::mem::transmute;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;
use std::time::{Duration, Instant};

/// Bytes of stack of a helper. Kernels do not recurse, but have large frames without optimization.
const STACK_BYTES: usize = 8 << 20;
/// Maximum number of helpers.
const MAX_HELPERS: usize = 255;
/// How long threads spin before they sleep.
const PATIENCE: Duration = Duration::from_micros(200);
/// Number of jobs in quick succession that wake helpers that sleep.
const JOBS_IN_A_ROW: u32 = 4;

type Job<'a> = &'a (dyn Fn() + Sync);

/// The gate of a pool in one word, so that a hand-over moves few lines between caches: the number of
/// the job, how many more helpers may take it, and how many work on it.
#[repr(align(64))]
struct Gate(AtomicU64);

impl Gate {
    const WORKING: u64 = (1 << 16) - 1;
    const VACANCY: u64 = 1 << 16;
    const VACANCIES: u64 = Gate::WORKING << 16;
    const JOB: u64 = 1 << 32;

    /// Opens the gate for a new job. No helper works on another one.
    fn open(&self, helpers: usize) {
        let state = self.0.load(Ordering::Relaxed) & !(Gate::JOB - 1);
        let vacancies = Gate::VACANCY * helpers as u64;
        // Ordered with `Pool::asleep`: a helper that goes to sleep sees the job, or is seen.
        self.0.store(state.wrapping_add(Gate::JOB) | vacancies, Ordering::SeqCst);
    }

    /// Lets no more helpers take the job.
    fn close(&self) {
        self.0.fetch_and(!Gate::VACANCIES, Ordering::AcqRel);
    }

    /// The number of the current job.
    fn job(&self) -> u64 {
        self.0.load(Ordering::Acquire) / Gate::JOB
    }

    /// True if no helper works on the job.
    fn is_done(&self) -> bool {
        self.0.load(Ordering::SeqCst) & Gate::WORKING == 0
    }

    /// Takes a vacancy, if any.
    fn enter(&self) -> bool {
        let take = |state: u64| {
            let has_vacancy = state & Gate::VACANCIES != 0;
            has_vacancy.then(|| state - Gate::VACANCY + 1)
        };
        self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, take).is_ok()
    }

    /// Leaves the job. True for the last helper.
    fn leave(&self) -> bool {
        self.0.fetch_sub(1, Ordering::SeqCst) & Gate::WORKING == 1
    }
}

struct Pool {
    is_taken: AtomicBool,
    gate: Gate,
    /// The job, in memory of its owner, while the gate is open or helpers work on it.
    job: AtomicPtr<Job<'static>>,
    /// The number of helpers that were started; changes with `lock`.
    helpers: AtomicUsize,
    /// The number of helpers that sleep; changes with `lock`.
    asleep: AtomicUsize,
    /// True while the owner of the job sleeps.
    owner_sleeps: AtomicBool,
    lock: Mutex<()>,
    /// Signalled to sleeping helpers when there is a job.
    offered: Condvar,
    /// Signalled to the thread whose job it was when the last helper has left.
    finished: Condvar,
}

static POOL: Pool = Pool {
    is_taken: AtomicBool::new(false),
    gate: Gate(AtomicU64::new(0)),
    job: AtomicPtr::new(null_mut()),
    helpers: AtomicUsize::new(0),
    asleep: AtomicUsize::new(0),
    owner_sleeps: AtomicBool::new(false),
    lock: Mutex::new(()),
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
    if POOL.helpers.load(Ordering::Relaxed) > POOL.asleep.load(Ordering::Relaxed) {
        return true;
    }
    let now = Instant::now();
    let count = match ALONE.get() {
        Some((last, count)) if now.duration_since(last) < PATIENCE => count + 1,
        _ => 1,
    };
    let is_waking = count == JOBS_IN_A_ROW;
    ALONE.set((!is_waking).then_some((now, count)));
    if is_waking && !POOL.is_taken.swap(true, Ordering::Acquire) {
        let _free = Defer(|| POOL.is_taken.store(false, Ordering::Release));
        let helpers = helpers.min(MAX_HELPERS);
        POOL.start(helpers);
        POOL.gate.open(0);
        POOL.wake(helpers);
    }
    false
}

/// Calls `work` while up to `helpers` other threads call `job`. They may be fewer, or none: `work`
/// must not wait for them. `job` must not panic.
pub(crate) fn with_helpers(helpers: usize, job: Job<'_>, work: &dyn Fn()) {
    if POOL.is_taken.swap(true, Ordering::Acquire) {
        return work();
    }
    // SAFETY: the reference is gone before `job`'s lifetime ends. Helpers read it from `POOL` only
    // after they have entered the gate, which `end` closes, before it waits for them.
    // `end` runs before this function returns, also if `work` panics. No other thread offers
    // another job meanwhile, because `is_taken` is set.
    let mut job = unsafe { transmute::<Job<'_>, Job<'static>>(job) };
    // Dropped last: the pool is free when no thread has the job any more.
    let _free = Defer(|| POOL.is_taken.store(false, Ordering::Release));
    let _end = Defer(|| POOL.end());
    let helpers = helpers.min(MAX_HELPERS);
    POOL.start(helpers);
    POOL.job.store(&raw mut job, Ordering::Relaxed);
    POOL.gate.open(helpers);
    POOL.wake(helpers);
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
    fn lock(&self) -> MutexGuard<'_, ()> {
        self.lock.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts helpers if there are fewer than these.
    fn start(&'static self, helpers: usize) {
        if self.helpers.load(Ordering::Relaxed) >= helpers {
            return;
        }
        let _locked = self.lock();
        while self.helpers.load(Ordering::Relaxed) < helpers {
            let started = Builder::new().stack_size(STACK_BYTES).spawn(|| self.help());
            if started.is_err() {
                break;
            }
            self.helpers.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Wakes up to `helpers` helpers, if they sleep.
    fn wake(&self, helpers: usize) {
        let asleep = self.asleep.load(Ordering::SeqCst);
        if asleep > 0 {
            // One that has not seen the job waits before it can be locked here.
            drop(self.lock());
            (0..asleep.min(helpers)).for_each(|_| self.offered.notify_one());
        }
    }

    /// Withdraws the job, and returns when no helper works on it.
    fn end(&self) {
        self.gate.close();
        if wait_until(|| self.gate.is_done()) {
            return;
        }
        let mut locked = self.lock();
        self.owner_sleeps.store(true, Ordering::SeqCst);
        while !self.gate.is_done() {
            locked = self.finished.wait(locked).unwrap_or_else(PoisonError::into_inner);
        }
        self.owner_sleeps.store(false, Ordering::Relaxed);
    }

    /// The loop of a helper: waits for jobs and does them.
    fn help(&self) {
        let mut seen = 0;
        loop {
            if !wait_until(|| self.gate.job() != seen) {
                self.sleep(seen);
            }
            seen = self.gate.job();
            if !self.gate.enter() {
                continue;
            }
            // It may be a later job than the one that was seen.
            seen = self.gate.job();
            // SAFETY: the owner of the job keeps it where it is until this helper leaves.
            let job = unsafe { *self.job.load(Ordering::Relaxed) };
            job();
            if self.gate.leave() && self.owner_sleeps.load(Ordering::SeqCst) {
                drop(self.lock());
                self.finished.notify_one();
            }
        }
    }

    /// Sleeps until there is another job than this one.
    fn sleep(&self, seen: u64) {
        let mut locked = self.lock();
        self.asleep.fetch_add(1, Ordering::SeqCst);
        while self.gate.0.load(Ordering::SeqCst) / Gate::JOB == seen {
            locked = self.offered.wait(locked).unwrap_or_else(PoisonError::into_inner);
        }
        self.asleep.fetch_sub(1, Ordering::SeqCst);
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
