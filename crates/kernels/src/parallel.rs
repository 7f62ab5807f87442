//! How work is divided among threads.

/// Tasks for each thread: what one that starts late, or is interrupted, leaves to the others.
const TASKS_PER_THREAD: usize = 4;

/// How many of `count` items, of `work` elementary operations each, make a task. A multiple of
/// `unit`, or all. It may differ from run to run, so results must not depend on it.
pub(crate) fn task_size(count: usize, work: usize, unit: usize) -> usize {
    let workers = host::workers();
    if workers == 1 {
        return count.max(1);
    }
    let (machine, all) = (host::machine(), count.saturating_mul(work));
    let is_shared = match all {
        _ if all < machine.min_shared_work() => false,
        _ if all < machine.min_waking_work() => host::may_help(workers - 1),
        _ => true,
    };
    if !is_shared {
        return count.max(1);
    }
    let least = machine.min_task_work().div_ceil(work.max(1));
    count.div_ceil(tasks_of(workers)).max(least).next_multiple_of(unit).max(1)
}

/// The number of tasks of work that this many threads share.
pub(crate) fn tasks_of(workers: usize) -> usize {
    workers * TASKS_PER_THREAD
}

/// The work of a fold of elements: it takes as long as reading them from a cache that is not the
/// nearest, and of what another thread wrote a byte takes about an elementary operation.
pub(crate) fn fold_work<T>(elements: usize) -> usize {
    elements.saturating_mul(size_of::<T>())
}
