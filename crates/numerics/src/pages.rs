//! Large pages for the memory of large tensors: the system gives new memory page by page, at the
//! first write, which takes longer than arithmetic on the elements where pages are small.

// Advice to the system takes the address of memory.
#![allow(unsafe_code)]

/// The least size of memory that is given in large pages, in bytes.
#[cfg(target_os = "linux")]
const MIN_BYTES: usize = 4 << 20;
/// The least size of unused memory that is offered to the system, in bytes.
#[cfg(target_os = "linux")]
const MIN_OFFERED: usize = 16 << 20;

/// Asks the system for large pages for the memory of a vector, if that is large. It may decline.
#[cfg(target_os = "linux")]
pub fn prefer_large<T>(elements: &Vec<T>) {
    advise(elements, MIN_BYTES, libc::MADV_HUGEPAGE);
}

/// Lets the system take the pages of large memory until they are written again: what is there are
/// the same bytes or zeros then.
#[cfg(target_os = "linux")]
pub(crate) fn offer(memory: &Vec<u8>) {
    advise(memory, MIN_OFFERED, libc::MADV_FREE);
}

/// Gives advice for the memory of a vector, if that has at least so many bytes.
#[cfg(target_os = "linux")]
fn advise<T>(elements: &Vec<T>, least: usize, advice: libc::c_int) {
    let bytes = elements.capacity().saturating_mul(size_of::<T>());
    if bytes < least {
        return;
    }
    // Advice is for whole pages; those of 64 kB, which some machines have, hold small ones.
    const PAGE: usize = 64 << 10;
    let start = elements.as_ptr().cast::<u8>();
    let before = start.align_offset(PAGE).min(bytes);
    let len = (bytes - before) & !(PAGE - 1);
    // SAFETY: the range is within the memory of the vector, and the advice leaves its contents, or
    // is about bytes that nobody reads before they are written.
    unsafe {
        libc::madvise(start.add(before).cast_mut().cast(), len, advice);
    }
}

/// Asks the system for large pages for the memory of a vector, if that is large. It may decline.
#[cfg(not(target_os = "linux"))]
pub fn prefer_large<T>(_: &Vec<T>) {}

/// Lets the system take the pages of large memory until they are written again.
#[cfg(not(target_os = "linux"))]
pub(crate) fn offer(_: &Vec<u8>) {}
