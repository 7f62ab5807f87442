//! Stacks: work on deeply nested programs takes the thread of the caller where it has room.

/// Bytes that suffice for reading, changing, writing and dropping any program that the parsers
/// accept, in builds with optimization, four times over.
const ENOUGH: usize = 6 << 20;

/// Runs `work` on this thread if its stack has room, else on one with a large stack: starting a
/// thread, whose memory is cold, takes as long as reading a small program.
pub fn on_large_stack<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    // Builds without optimization need more.
    let has_room = !cfg!(debug_assertions) && stablo::stack_left().is_some_and(|n| n >= ENOUGH);
    if has_room { work() } else { stablo::with_large_stack(work) }
}
