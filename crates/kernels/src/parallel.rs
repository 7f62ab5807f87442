//! How work is divided among threads.

use bytemuck::{Pod, cast_slice_mut};

/// Tasks for each thread, at most: what one that starts late, or is interrupted, leaves to the
/// others.
const TASKS_PER_THREAD: usize = 4;
/// Threads wait for others for this part of a task, as they are interrupted or begin late.
const WAIT: usize = 8;

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
    // Short work has fewer tasks: each costs its beginning, and with two halves a thread has the
    // results of its part of the kernel before in its cache.
    let units = count.div_ceil(unit);
    let size = |tasks_per_thread: usize| units.div_ceil(workers * tasks_per_thread);
    let time = |&size: &usize| {
        let task = size.saturating_mul(unit).saturating_mul(work);
        let tasks = units.div_ceil(size).div_ceil(workers);
        let whole = tasks.saturating_mul(task.saturating_add(machine.task_work()));
        whole.saturating_add(task / WAIT)
    };
    let size = (1..=TASKS_PER_THREAD).map(size).min_by_key(time).unwrap_or(units);
    size.saturating_mul(unit).max(1)
}

/// Does work on each part of `size` elements, with its number, on several threads. As bytes, so
/// that what shares it among threads is compiled once for all types.
///
/// # Errors
/// The error of the first part that failed.
pub(crate) fn parts_in_parallel<T: Pod, E: Send>(
    elements: &mut [T],
    size: usize,
    work: impl Fn(usize, &mut [T]) -> Result<(), E> + Sync,
) -> Result<(), E> {
    let bytes = size.saturating_mul(size_of::<T>());
    let tasks = cast_slice_mut::<T, u8>(elements).chunks_mut(bytes).enumerate();
    host::parallel(tasks.collect(), |(number, part)| work(number, cast_slice_mut(part)))
}

/// The work of a fold of elements: it takes as long as reading them from a cache that is not the
/// nearest, and of what another thread wrote a byte takes about an elementary operation.
pub(crate) fn fold_work<T>(elements: usize) -> usize {
    elements.saturating_mul(size_of::<T>())
}
