//! Large pages for the memory of large tensors: the system gives new memory page by page, at the
//! first write, which takes longer than arithmetic on the elements where pages are small.

// Advice to the system takes the address of memory.
#![allow(unsafe_code)]

/// The least size of memory that is given in large pages, in bytes.
#[cfg(target_os = "linux")]
const MIN_BYTES: usize = 4 << 20;

/// Asks the system for large pages for the memory of a vector, if that is large. It may decline.
#[cfg(target_os = "linux")]
pub fn prefer_large<T>(elements: &Vec<T>) {
    let bytes = elements.capacity().saturating_mul(size_of::<T>());
    if bytes < MIN_BYTES {
        return;
    }
    // Advice is for whole pages; those of 64 kB, which some machines have, hold small ones.
    const PAGE: usize = 64 << 10;
    let start = elements.as_ptr().cast::<u8>();
    let before = start.align_offset(PAGE).min(bytes);
    let len = (bytes - before) & !(PAGE - 1);
    // SAFETY: the range is within the memory of the vector, and the advice leaves its contents.
    unsafe {
        libc::madvise(start.add(before).cast_mut().cast(), len, libc::MADV_HUGEPAGE);
    }
}

/// Asks the system for large pages for the memory of a vector, if that is large. It may decline.
#[cfg(not(target_os = "linux"))]
pub fn prefer_large<T>(_: &Vec<T>) {}
