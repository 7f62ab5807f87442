//! Stacks for deeply nested programs.

use host::Host;
use std::cell::Cell;
use std::panic::resume_unwind;

/// Stack size in bytes that suffices for reading, printing and dropping any program that the
/// parsers accept.
///
/// The C library of GNU keeps up to 40 MB of stacks for the next threads: with larger ones, each
/// call of [`with_large_stack`] maps its stack and touches its pages anew, which takes as long as
/// reading a small program.
pub const STACK_BYTES: usize = 32 << 20;

thread_local! {
    static IS_LARGE: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work` on a thread with a stack of [`STACK_BYTES`], for callers on small stacks: 250 nested
/// regions overflow one of 512 KB. Runs it at once if this is such a thread, or the host has no
/// threads.
///
/// # Panics
/// If `work` panics, or no thread can be started.
pub fn with_large_stack<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    let host = Host::current();
    if IS_LARGE.get() || !host.has_threads() {
        return work();
    }
    std::thread::scope(|scope| {
        let run = || {
            IS_LARGE.set(true);
            work()
        };
        match host.spawn(scope, STACK_BYTES, run) {
            Ok(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
            Err(error) => panic!("no thread for deeply nested programs: {error}"),
        }
    })
}
