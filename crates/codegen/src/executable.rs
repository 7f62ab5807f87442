//! Memory with code.

// Code that was made here is called through a pointer.
#![allow(unsafe_code)]

use memmap2::{Mmap, MmapMut};

/// A function that generated code calls or is: with the calling convention of System V, whatever
/// the operating system.
#[cfg(target_arch = "x86_64")]
pub type Function = unsafe extern "sysv64" fn(*mut u8, *mut u8) -> u32;

/// Code that can be called. Its memory is never writable and executable at the same time.
#[derive(Debug)]
pub struct Executable {
    /// Read by calls only, of which other machines have none.
    #[cfg_attr(not(target_arch = "x86_64"), expect(dead_code))]
    code: Mmap,
}

impl Executable {
    /// Makes code callable; `None` if the system does not let programs make code.
    pub fn new(code: &[u8]) -> Option<Executable> {
        let mut memory = MmapMut::map_anon(code.len().max(1)).ok()?;
        memory[..code.len()].copy_from_slice(code);
        Some(Executable { code: memory.make_exec().ok()? })
    }

    /// Calls the code at a position with two pointers.
    ///
    /// # Safety
    /// A function of two pointers must start there, and they must be what it expects.
    #[cfg(target_arch = "x86_64")]
    pub unsafe fn call(&self, at: usize, first: *mut u8, second: *mut u8) -> u32 {
        let start = self.code[at..].as_ptr();
        // SAFETY: a function starts there, says the caller.
        let function = unsafe { std::mem::transmute::<*const u8, Function>(start) };
        // SAFETY: likewise for the pointers.
        unsafe { function(first, second) }
    }

    /// There is no code for this machine.
    ///
    /// # Safety
    /// None: there is nothing to call.
    #[cfg(not(target_arch = "x86_64"))]
    pub unsafe fn call(&self, _: usize, _: *mut u8, _: *mut u8) -> u32 {
        0
    }
}
