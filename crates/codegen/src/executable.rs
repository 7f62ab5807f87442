//! Memory with code.

#![allow(unsafe_code, reason = "code that was made here is called through a pointer")]

use memmap2::{Mmap, MmapMut};

/// The type of functions that generated code calls or is, or such a function: with the calling
/// convention of System V on x86-64, whatever the operating system, and with that of C elsewhere.
#[macro_export]
#[cfg(target_arch = "x86_64")]
macro_rules! generated {
    ($($function:tt)*) => { extern "sysv64" $($function)* };
}
/// The type of functions that generated code calls or is, or such a function: with the calling
/// convention of System V on x86-64, whatever the operating system, and with that of C elsewhere.
#[macro_export]
#[cfg(not(target_arch = "x86_64"))]
macro_rules! generated {
    ($($function:tt)*) => { extern "C" $($function)* };
}

/// Code that can be called. Its memory is never writable and executable at the same time.
#[derive(Debug)]
pub struct ExecutableMemory {
    code: Mmap,
}

impl ExecutableMemory {
    /// Makes code callable; `None` if the system does not let programs make code.
    pub fn new(code: &[u8]) -> Option<ExecutableMemory> {
        let mut memory = MmapMut::map_anon(code.len().max(1)).ok()?;
        memory[..code.len()].copy_from_slice(code);
        let code = memory.make_exec().ok()?;
        synchronize(&code);
        Some(ExecutableMemory { code })
    }

    /// Calls the code at a position with two pointers.
    ///
    /// # Safety
    /// A function of two pointers must start there, made for this machine, and they must be what
    /// it expects.
    pub unsafe fn call(&self, at: usize, first: *mut u8, second: *mut u8) -> u32 {
        type Function = generated!(fn(*mut u8, *mut u8) -> u32);
        let start = self.code[at..].as_ptr();
        // SAFETY: a function starts there, says the caller, who also says that the pointers are
        // what it expects.
        let function = unsafe { std::mem::transmute::<*const u8, Function>(start) };
        function(first, second)
    }
}

/// Lets the processor see new code as instructions. x86-64 does so by itself.
#[cfg(not(target_arch = "aarch64"))]
fn synchronize(_: &[u8]) {}

/// Lets the processor see new code as instructions: AArch64 has a cache for them that does not
/// follow the one for data.
#[cfg(target_arch = "aarch64")]
fn synchronize(code: &[u8]) {
    use std::arch::asm;
    let sizes: usize;
    // SAFETY: systems let programs read this register, which says how large lines of caches are.
    unsafe { asm!("mrs {}, ctr_el0", out(reg) sizes, options(nomem, nostack, preserves_flags)) };
    let data = 4 << (sizes >> 16 & 15);
    let instructions = 4 << (sizes & 15);
    let (start, end) = (code.as_ptr().addr(), code.as_ptr().addr() + code.len());
    // SAFETY: the lines have parts of mapped bytes, and stay what they are.
    unsafe {
        for line in (start & !(data - 1)..end).step_by(data) {
            asm!("dc cvau, {}", in(reg) line, options(nostack, preserves_flags));
        }
        asm!("dsb ish", options(nostack, preserves_flags));
        for line in (start & !(instructions - 1)..end).step_by(instructions) {
            asm!("ic ivau, {}", in(reg) line, options(nostack, preserves_flags));
        }
        asm!("dsb ish", "isb", options(nostack, preserves_flags));
    }
}
