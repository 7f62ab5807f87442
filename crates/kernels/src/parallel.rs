//! How work is divided among threads.

/// Less work, in elementary operations, stays on one thread: it takes about 20 microseconds, and
/// another thread begins half a microsecond late.
const MIN_WORK: usize = 1 << 19;
/// The same if all other threads sleep: to wake one takes 10 to 50 microseconds.
const MIN_WAKING_WORK: usize = 1 << 21;
/// Tasks for each thread: what one that starts late, or is interrupted, leaves to the others.
const TASKS_PER_THREAD: usize = 4;

/// How many of `count` items, of `work` elementary operations each, make a task. A multiple of
/// `unit`, or all. It may differ from run to run, so results must not depend on it.
pub fn task_size(count: usize, work: usize, unit: usize) -> usize {
    let workers = host::workers();
    let least = if host::has_awake_helpers() { MIN_WORK } else { MIN_WAKING_WORK };
    if workers == 1 || count.saturating_mul(work) < least {
        return count.max(1);
    }
    let least = (MIN_WORK / 16).div_ceil(work.max(1));
    count.div_ceil(workers * TASKS_PER_THREAD).max(least).next_multiple_of(unit).max(1)
}
