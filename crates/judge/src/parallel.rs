//! Vectors whose elements the threads of the host compute.

use crate::precise;
use std::convert::Infallible;

/// A task has at least this many elements.
const CHUNK: usize = 2048;

/// Shorter vectors are left to one thread: to wake others takes about as long as they save.
const LEAST_SHARED: usize = 8 * CHUNK;

/// Overwrites a vector, given by the part and the place of its first element.
pub(crate) fn fill<T: Send>(values: &mut [T], work: impl Fn(usize, &mut [T]) + Sync) {
    // Numbers with more digits are in a store of this thread.
    if values.len() < LEAST_SHARED || host::workers() < 2 || precise::is_on() {
        return work(0, values);
    }
    let chunk = CHUNK.max(values.len() / (8 * host::workers()));
    let tasks: Vec<(usize, &mut [T])> = values.chunks_mut(chunk).enumerate().collect();
    let done = host::parallel(tasks, |(index, part)| {
        work(index * chunk, part);
        Ok::<(), Infallible>(())
    });
    match done {
        Ok(()) => {}
        Err(never) => match never {},
    }
}

/// The vector of a function of places.
pub(crate) fn collect<T: Send + Clone>(
    count: usize,
    empty: T,
    value: impl Fn(usize) -> T + Sync,
) -> Vec<T> {
    if count < LEAST_SHARED || host::workers() < 2 || precise::is_on() {
        return (0..count).map(value).collect();
    }
    let mut values = vec![empty; count];
    fill(&mut values, |first, part| {
        part.iter_mut().enumerate().for_each(|(i, own)| *own = value(first + i));
    });
    values
}
