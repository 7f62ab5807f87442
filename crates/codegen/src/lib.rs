//! Machine code for elementwise functions, made at run time.
//!
//! [`VectorFunction`] is straight-line code over vectors; [`compute`] adds that of a function of
//! `numerics`, with the same bits; [`emit`] gives its values registers and encodes it. The code
//! runs on x86-64 with AVX2, FMA and F16C, loops also with AVX-512, and on AArch64 under Linux;
//! elsewhere, or with `STABLO_JIT=0`, no code is made ([`is_available`]), and users of this crate
//! run the functions of `numerics` instead.
//!
//! The operations and the registers of code belong to no machine ([`Op`], [`Register`]); a
//! [`Encoder`] encodes them.

pub mod a64;
mod allocate;
mod elementwise;
mod executable;
mod integers;
mod lanes;
mod loops;
mod machine;
mod masks;
mod ops;
mod schedule;
mod small;
mod vector;
pub mod x64;

pub use allocate::{MAX_CARRIED, emit, emit_loop};
pub use elementwise::{
    Chunk, LANES, compute, compute_with_exceptions, is_expensive, needs_range_reduction,
};
pub use executable::ExecutableMemory;
pub use loops::{
    Loop, LoopCode, LoopInput, MAX_STEP, NotRun, has_code, has_loop_code, is_faster_alone,
};
pub use machine::{
    Condition, ConstantBytes, ConstantData, Encoder, InstOperand, Label, Mem, MemoryBase, Register,
};
pub use masks::{bytes_of_mask, mask_of_bytes, mask_store};
pub use ops::{IntegerRounding, Op, Predicate, Store};
pub use small::{lanes_of_small, small_load, small_store};
pub use vector::{NOWHERE, NeededParts, ScalarInst, Value, VectorFunction, Width};

/// The code of this machine while it is made.
#[cfg(target_arch = "aarch64")]
pub use a64::A64Emitter as Emitter;
#[cfg(not(target_arch = "aarch64"))]
pub use x64::X64Emitter as Emitter;

use numerics::simd::Isa;
use std::sync::OnceLock;

/// True if there is code for processors of this kind.
pub const HAS_CODE: bool = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));

/// True if code can be made for this machine, and may be.
pub fn is_available() -> bool {
    /// A function that returns.
    const RETURN: [u8; 4] = match cfg!(target_arch = "aarch64") {
        true => 0xD65F_03C0_u32.to_le_bytes(),
        false => [0xC3; 4],
    };
    static AVAILABLE: OnceLock<bool> = OnceLock::new();
    *AVAILABLE.get_or_init(|| {
        let is_refused = std::env::var_os("STABLO_JIT").is_some_and(|value| value == "0");
        let is_known = match cfg!(target_arch = "aarch64") {
            // Other systems have different rules for new code.
            true => cfg!(all(target_os = "linux", target_endian = "little")),
            false => Isa::best().has_avx2(),
        };
        HAS_CODE && !is_refused && is_known && ExecutableMemory::new(&RETURN).is_some()
    })
}
