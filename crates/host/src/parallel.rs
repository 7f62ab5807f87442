//! Work that several threads share.

use crate::crowding::{self, HelpedJob};
use crate::{Host, pool, workers};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Does each task, on the threads that the host of this one lets a kernel use. Tasks are taken by
/// whichever thread is free, so that none waits for one that the system has stopped: this one
/// begins with the first task, helpers with the last, so that they find in their caches what they
/// wrote in a kernel before. The results must not depend on who does what.
///
/// # Errors
/// The error of the first task, in order, that failed.
pub fn parallel<T: Send, E: Send>(
    tasks: Vec<T>,
    work: impl Fn(T) -> Result<(), E> + Sync,
) -> Result<(), E> {
    perform_all(tasks, &work)
}

/// A function of tasks. Not `dyn Fn`, whose tables have a second copy of the code, for `FnOnce`.
trait TaskFunction<T, E>: Sync {
    fn perform(&self, task: T) -> Result<(), E>;
}

impl<T, E, F: Fn(T) -> Result<(), E> + Sync> TaskFunction<T, E> for F {
    fn perform(&self, task: T) -> Result<(), E> {
        self(task)
    }
}

/// As [`parallel`], compiled once for all functions of tasks of a type.
fn perform_all<T: Send, E: Send>(tasks: Vec<T>, work: &dyn TaskFunction<T, E>) -> Result<(), E> {
    let helpers = workers().min(tasks.len()).saturating_sub(1);
    if helpers == 0 || tasks.len() > Queue::MAX || crowding::is_alone() {
        return tasks.into_iter().try_for_each(|task| work.perform(task));
    }
    let tasks: Vec<_> = tasks.into_iter().map(|task| Mutex::new(Some(task))).collect();
    let failure: Mutex<Option<(usize, E)>> = Mutex::new(None);
    share_numbers(helpers, tasks.len(), &|index| {
        let task = tasks[index].lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(Err(error)) = task.map(|task| work.perform(task)) {
            let mut failure = failure.lock().unwrap_or_else(PoisonError::into_inner);
            if failure.as_ref().is_none_or(|&(first, _)| index < first) {
                *failure = Some((index, error));
            }
        }
    });
    match failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some((_, error)) => Err(error),
        None => Ok(()),
    }
}

/// Calls `run` with the numbers below `count` on this thread and up to `helpers` others. Apart from
/// [`parallel`], so that it is compiled once.
fn share_numbers(helpers: usize, count: usize, run: &(dyn Fn(usize) + Sync)) {
    let (queue, start) = (Queue::new(count), Instant::now());
    let (own, own_time) = (AtomicUsize::new(0), AtomicU64::new(0));
    share(helpers, &|is_helper| {
        let mut done = 0;
        while let Some(index) = queue.next(is_helper) {
            run(index);
            done += 1;
        }
        if !is_helper {
            own.store(done, Ordering::Relaxed);
            own_time.store(start.elapsed().as_nanos() as u64, Ordering::Relaxed);
        }
    });
    crowding::record(HelpedJob {
        tasks: [count, own.into_inner()],
        own: Duration::from_nanos(own_time.into_inner()),
        whole: start.elapsed(),
    });
}

/// Numbers that threads take from both ends.
#[repr(align(64))]
struct Queue(AtomicU64);

impl Queue {
    /// The numbers are below this: both ends are in one word.
    const MAX: usize = u32::MAX as usize;

    /// The numbers below `count`.
    fn new(count: usize) -> Queue {
        debug_assert!(count <= Queue::MAX);
        Queue(AtomicU64::new(count as u64))
    }

    /// Takes the first number, or the last one; `None` if all are taken.
    fn next(&self, is_last: bool) -> Option<usize> {
        let ends = |state: u64| (state >> 32, state & u64::from(u32::MAX));
        let take = |state: u64| {
            let (first, end) = ends(state);
            let rest = if is_last { state.wrapping_sub(1) } else { state.wrapping_add(1 << 32) };
            (first < end).then_some(rest)
        };
        let state = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).ok()?;
        let (first, end) = ends(state);
        Some(if is_last { end - 1 } else { first } as usize)
    }
}

/// Calls `work` on this thread with false, and with true on up to `helpers` others that have its
/// host.
fn share(helpers: usize, work: &(dyn Fn(bool) + Sync)) {
    // The panic of a helper goes on in this thread.
    let panic: Mutex<Option<Box<dyn Any + Send>>> = Mutex::new(None);
    let host = Host::current();
    let help = || {
        host.enter_as_helper();
        if let Err(payload) = catch_unwind(AssertUnwindSafe(|| work(true))) {
            *panic.lock().unwrap_or_else(PoisonError::into_inner) = Some(payload);
        }
    };
    pool::with_helpers(helpers, &help, &|| work(false));
    if let Some(payload) = panic.into_inner().unwrap_or_else(PoisonError::into_inner) {
        resume_unwind(payload);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Budget;
    use std::collections::HashSet;
    use std::sync::{Barrier, MutexGuard};

    /// Tests with tasks that meet need the pool for themselves, and its help.
    fn alone() -> MutexGuard<'static, ()> {
        static TURN: Mutex<()> = Mutex::new(());
        crowding::set_alone(false);
        TURN.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[test]
    fn threads_share_tasks() {
        let _turn = alone();
        let _entered = Host::default().with_workers(2).enter();
        let barrier = Barrier::new(2);
        let threads = Mutex::new(HashSet::new());
        // Each task waits for the other one, so two threads do them.
        let done: Result<(), ()> = parallel(vec![0, 1], |_| {
            barrier.wait();
            threads.lock().expect("no panic").insert(std::thread::current().id());
            Ok(())
        });
        assert_eq!((done, threads.into_inner().expect("no panic").len()), (Ok(()), 2));
    }

    #[test]
    fn threads_whose_helpers_are_late_do_all_tasks() {
        let _entered = Host::default().with_workers(8).enter();
        let own = std::thread::current().id();
        let same = |_| if std::thread::current().id() == own { Ok(()) } else { Err(()) };
        crowding::set_alone(true);
        for _ in 0..100 {
            assert_eq!(parallel(vec![(); 8], same), Ok(()));
        }
        crowding::set_alone(false);
    }

    /// Many jobs in a row, from several threads, each of which sees all its tasks done.
    #[test]
    fn jobs_end_before_their_caller_goes_on() {
        let _turn = alone();
        let share = |threads: usize| {
            let _entered = Host::default().with_workers(threads).enter();
            for round in 0..300 {
                let mut done = vec![0; 9];
                let increment = |count: &mut usize| -> Result<(), ()> {
                    let mut inner = [0; 4];
                    parallel(inner.iter_mut().collect(), |x: &mut usize| -> Result<(), ()> {
                        *x = round;
                        Ok(())
                    })?;
                    *count = inner.iter().sum();
                    Ok(())
                };
                assert_eq!(parallel(done.iter_mut().collect(), increment), Ok(()));
                assert_eq!(done, [4 * round; 9]);
            }
        };
        std::thread::scope(|scope| {
            for threads in [2, 3, 4] {
                scope.spawn(move || share(threads));
            }
        });
    }

    /// Jobs that are too short to wake a helper wake one if there are many.
    #[test]
    fn jobs_in_a_row_wake_helpers() {
        let _turn = alone();
        let start = Instant::now();
        while !pool::may_help(1) {
            assert!(start.elapsed().as_secs() < 60, "no helper is awake");
        }
    }

    #[test]
    fn panics_reach_the_caller() {
        let _turn = alone();
        let _entered = Host::default().with_workers(2).enter();
        for culprit in 0..8 {
            let work =
                |task| if task == culprit { panic!("task {task}") } else { Ok::<(), ()>(()) };
            let result = catch_unwind(|| parallel((0..8).collect(), work));
            let payload = result.expect_err("a panic");
            assert_eq!(payload.downcast_ref(), Some(&format!("task {culprit}")));
        }
    }

    #[test]
    fn helpers_charge_the_budget_of_the_caller() {
        let _turn = alone();
        let budget = Budget::new(100);
        let _entered = Host::default().with_workers(2).with_budget(budget.clone()).enter();
        let barrier = Barrier::new(2);
        let charge = |_| -> Result<(), ()> {
            let _charge = crate::charge(30);
            barrier.wait();
            assert_eq!(budget.used(), 60);
            barrier.wait();
            Ok(())
        };
        assert_eq!(parallel(vec![0, 1], charge), Ok(()));
        assert_eq!(budget.used(), 0);
    }

    #[test]
    fn the_first_failure_is_reported() {
        let _turn = alone();
        for workers in [1, 2, 3] {
            let _entered = Host::default().with_workers(workers).enter();
            let failed = parallel((0..10).collect(), |i| if i < 4 { Ok(()) } else { Err(i) });
            assert_eq!(failed, Err(4));
        }
    }

    #[test]
    fn hosts_without_threads_work_alone() {
        let _entered = Host::default().with_workers(8).without_threads().enter();
        let own = std::thread::current().id();
        let same = |_| if std::thread::current().id() == own { Ok(()) } else { Err(()) };
        assert_eq!(parallel(vec![(); 8], same), Ok(()));
    }
}
