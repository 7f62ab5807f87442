//! How work is divided among threads.

/// Less work, in elementary operations, stays on one thread: it takes about 5 microseconds, and
/// to share it half a microsecond.
const MIN_WORK: usize = 1 << 17;
/// The same if all other threads sleep: to wake one takes 10 to 50 microseconds.
const MIN_WAKING_WORK: usize = 1 << 21;
/// Work of a task, at least.
const MIN_TASK: usize = 1 << 16;
/// Tasks for each thread: what one that starts late, or is interrupted, leaves to the others.
const TASKS_PER_THREAD: usize = 4;

/// How many of `count` items, of `work` elementary operations each, make a task. A multiple of
/// `unit`, or all. It may differ from run to run, so results must not depend on it.
pub fn task_size(count: usize, work: usize, unit: usize) -> usize {
    let workers = host::workers();
    let is_shared = match count.saturating_mul(work) {
        _ if workers == 1 => false,
        ..MIN_WORK => false,
        MIN_WORK..MIN_WAKING_WORK => host::may_help(workers - 1),
        MIN_WAKING_WORK.. => true,
    };
    if !is_shared {
        return count.max(1);
    }
    let least = MIN_TASK.div_ceil(work.max(1));
    count.div_ceil(workers * TASKS_PER_THREAD).max(least).next_multiple_of(unit).max(1)
}
