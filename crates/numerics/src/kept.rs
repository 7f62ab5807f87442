//! Memory of dropped tensors, for later ones: the system clears new memory when it is first
//! written, which takes longer than to write results.

use crate::pages::AlignedMemory;
use std::sync::{Mutex, PoisonError};

/// The least number of bytes of a tensor whose memory is kept,
pub(crate) const MIN_BYTES: usize = 64 << 10;
/// The greatest number of bytes of all memory that is kept.
const MAX_BYTES: usize = 512 << 20;
/// The greatest number of tensors whose memory is kept.
const MAX_COUNT: usize = 512;

static KEPT: Mutex<Kept> = Mutex::new(Kept { memory: Vec::new(), bytes: 0 });

/// The memory that is kept, the oldest first.
struct Kept {
    memory: Vec<AlignedMemory>,
    bytes: usize,
}

impl Kept {
    /// Takes out the oldest memory until the rest is within these limits.
    fn limit(&mut self, bytes: usize, count: usize) -> Vec<AlignedMemory> {
        let mut first = 0;
        while self.bytes > bytes || self.memory.len() - first > count {
            self.bytes -= self.memory[first].len();
            first += 1;
        }
        self.memory.drain(..first).collect()
    }
}

fn with_kept<R>(change: impl FnOnce(&mut Kept) -> R) -> R {
    change(&mut KEPT.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Keeps memory for a later tensor, unless it is small, as far as the budget of the thread has as
/// much besides what is in use. The memory itself is still charged. The system may take its pages
/// back.
pub(crate) fn keep(memory: AlignedMemory) {
    let available = host::available().saturating_add(memory.len()).min(MAX_BYTES);
    if !(MIN_BYTES..=available).contains(&memory.len()) {
        return;
    }
    memory.offer();
    let freed = with_kept(|kept| {
        kept.bytes += memory.len();
        kept.memory.push(memory);
        kept.limit(available, MAX_COUNT)
    });
    // To free memory takes long.
    drop(freed);
}

/// Memory of this many bytes that was kept last, with what was there or zeros.
pub(crate) fn take(bytes: usize) -> Option<AlignedMemory> {
    if bytes < MIN_BYTES {
        return None;
    }
    with_kept(|kept| {
        let at = kept.memory.iter().rposition(|memory| memory.len() == bytes)?;
        kept.bytes -= bytes;
        Some(kept.memory.remove(at))
    })
}

/// Frees kept memory for this many new bytes, if they are many.
pub(crate) fn make_room(bytes: usize) {
    if bytes >= MIN_BYTES {
        let freed = with_kept(|kept| kept.limit(kept.bytes.saturating_sub(bytes), MAX_COUNT));
        drop(freed);
    }
}

/// Frees all memory that is kept: the system has no more.
pub(crate) fn clear() {
    drop(with_kept(|kept| kept.limit(0, 0)));
}
