//! Large pages for the memory of large tensors: the system gives new memory page by page, at the
//! first write, which takes longer than arithmetic on the elements where pages are small.

// Memory of the system, and advice to it, are addresses.
#![allow(unsafe_code, reason = "functions of the system")]

use crate::TensorError;
use bytemuck::allocation::try_zeroed_vec;
use std::ops::{Deref, DerefMut};

/// Bytes of a line of the cache, and of the widest vectors.
const LINE_BYTES: usize = 64;
/// The least size of memory that is given in large pages, in bytes.
#[cfg(target_os = "linux")]
const MIN_BYTES: usize = 4 << 20;

/// The least size of zeros that are mapped because they are only read, in bytes: these are many
/// times a page.
#[cfg(target_os = "linux")]
const MIN_UNWRITTEN: usize = 64 << 10;

/// Asks the system for large pages for the memory of a vector, if that is large. It may decline.
#[cfg(target_os = "linux")]
pub fn prefer_large<T>(elements: &Vec<T>) {
    let bytes = elements.capacity().saturating_mul(size_of::<T>());
    if bytes < MIN_BYTES {
        return;
    }
    // Advice is for whole pages; pages of 64 kB, which some machines have, hold small ones.
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

/// Bytes that begin with a line of the cache, so that no vector of a kernel is in two lines; if
/// they are many, with a large page.
pub struct AlignedMemory {
    owner: Owner,
    start: usize,
    len: usize,
}

enum Owner {
    Vector(Vec<u8>),
    #[cfg(target_os = "linux")]
    Mapping(mapping::Mapping),
}

impl AlignedMemory {
    /// This many zeros, which the system clears when they are first written.
    ///
    /// # Errors
    /// If there is no memory for them.
    pub fn try_zeros(len: usize) -> Result<AlignedMemory, TensorError> {
        AlignedMemory::zeros(len).ok_or(TensorError::OutOfMemory { bytes: len })
    }

    /// As [`AlignedMemory::try_zeros`]; `None` if there is no memory for them.
    pub fn zeros(len: usize) -> Option<AlignedMemory> {
        #[cfg(target_os = "linux")]
        if len >= MIN_BYTES {
            let owner = Owner::Mapping(mapping::Mapping::new(len)?);
            return Some(AlignedMemory { owner, start: 0, len });
        }
        let bytes: Vec<u8> = try_zeroed_vec(len.checked_add(LINE_BYTES)?).ok()?;
        let start = bytes.as_ptr().align_offset(LINE_BYTES);
        let fits = start.checked_add(len)? <= bytes.len();
        fits.then_some(AlignedMemory { owner: Owner::Vector(bytes), start, len })
    }

    /// This many zeros that will only be read, for which the system gives no memory; `None` if it
    /// has none of this kind, or they are too few for pages.
    pub fn unwritten_zeros(len: usize) -> Option<AlignedMemory> {
        #[cfg(target_os = "linux")]
        if len >= MIN_UNWRITTEN {
            let owner = Owner::Mapping(mapping::Mapping::new(len)?);
            return Some(AlignedMemory { owner, start: 0, len });
        }
        let _ = len;
        None
    }

    /// Lets the system take the pages of large memory until they are written again: the bytes are
    /// the same or zeros then.
    pub fn offer(&self) {
        #[cfg(target_os = "linux")]
        if let Owner::Mapping(mapping) = &self.owner {
            mapping.offer();
        }
    }
}

impl Deref for AlignedMemory {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        let bytes: &[u8] = match &self.owner {
            Owner::Vector(bytes) => bytes,
            #[cfg(target_os = "linux")]
            Owner::Mapping(mapping) => mapping.bytes(),
        };
        &bytes[self.start..][..self.len]
    }
}

impl AsRef<[u8]> for AlignedMemory {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl DerefMut for AlignedMemory {
    fn deref_mut(&mut self) -> &mut [u8] {
        let bytes: &mut [u8] = match &mut self.owner {
            Owner::Vector(bytes) => bytes,
            #[cfg(target_os = "linux")]
            Owner::Mapping(mapping) => mapping.bytes_mut(),
        };
        &mut bytes[self.start..][..self.len]
    }
}

/// Memory from the system itself: an allocator gives memory that is not at a large page, or that
/// has small ones already.
#[cfg(target_os = "linux")]
mod mapping {
    use std::ptr::{NonNull, null_mut};
    use std::slice;

    /// Bytes of a large page, on most machines.
    const LARGE_PAGE: usize = 2 << 20;
    /// The least size of unused memory that is offered to the system, in bytes: to take it back
    /// costs little beside writing it.
    const MIN_OFFERED: usize = 64 << 20;

    /// Pages of the system, of which some bytes from the start of a large page on are used.
    pub(crate) struct Mapping {
        pages: NonNull<u8>,
        start: NonNull<u8>,
        len: usize,
    }

    // SAFETY: the memory is that of the mapping alone.
    unsafe impl Send for Mapping {}
    // SAFETY: likewise.
    unsafe impl Sync for Mapping {}

    impl Mapping {
        /// This many zeros; `None` if the system has no memory for them.
        pub(crate) fn new(len: usize) -> Option<Mapping> {
            let all = len.checked_add(LARGE_PAGE)?;
            isize::try_from(all).ok()?;
            let access = libc::PROT_READ | libc::PROT_WRITE;
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            // SAFETY: new memory is asked for.
            let pages = unsafe { libc::mmap(null_mut(), all, access, flags, -1, 0) };
            if pages == libc::MAP_FAILED {
                return None;
            }
            let pages = NonNull::new(pages.cast::<u8>())?;
            let start = pages.addr().get().next_multiple_of(LARGE_PAGE) - pages.addr().get();
            // SAFETY: less than a large page lies before it, and `len` bytes after that.
            let start = unsafe { pages.add(start) };
            // The last bytes are in small pages, so that no more memory is used than there is.
            let large = len - len % LARGE_PAGE;
            // SAFETY: the advice is for pages of the mapping, and leaves their contents.
            unsafe { libc::madvise(start.as_ptr().cast(), large, libc::MADV_HUGEPAGE) };
            Some(Mapping { pages, start, len })
        }

        pub(crate) fn bytes(&self) -> &[u8] {
            // SAFETY: these bytes are in the mapping, which lasts as long.
            unsafe { slice::from_raw_parts(self.start.as_ptr(), self.len) }
        }

        pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
            // SAFETY: as above; `self` is borrowed mutably, so that no other reference exists.
            unsafe { slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
        }

        /// As [`AlignedMemory::offer`](super::Memory::offer).
        pub(crate) fn offer(&self) {
            let large = self.len - self.len % LARGE_PAGE;
            if large >= MIN_OFFERED {
                // SAFETY: the pages are of the mapping. Losing their contents is within the
                // contract: memory that is offered is unwritten.
                unsafe { libc::madvise(self.start.as_ptr().cast(), large, libc::MADV_FREE) };
            }
        }
    }

    impl Drop for Mapping {
        fn drop(&mut self) {
            // SAFETY: these are the pages as they were mapped; the owner of all references is
            // dropped.
            unsafe { libc::munmap(self.pages.as_ptr().cast(), self.len + LARGE_PAGE) };
        }
    }
}
