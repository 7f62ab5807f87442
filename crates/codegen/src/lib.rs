//! Machine code for elementwise functions, made at run time.
//!
//! [`Vectors`] is straight-line code over vectors; [`compute`] adds that of a function of
//! `numerics`, with the same bits; [`emit`] gives its values registers and encodes it. The code
//! runs on x86-64 with AVX2 and FMA, loops also with AVX-512; elsewhere, or with `STABLO_JIT=0`,
//! there is none ([`is_available`]), and users of this crate run the functions of `numerics`
//! instead.

mod allocate;
mod elementwise;
mod executable;
mod lanes;
mod loops;
mod schedule;
mod vector;
mod x64;

pub use allocate::{INDEX, MAX_CARRIED, emit, emit_loop};
pub use elementwise::{
    Chunk, LANES, bytes_of_mask, compute, compute_with_exceptions, has_lanes, is_long, is_of_angle,
    mask_of_bytes,
};
pub use executable::Executable;
pub use loops::{Input, Loop, LoopCode, MAX_STEP, NotRun, has_code, has_loop_code};
pub use vector::{NOWHERE, Parts, Scalar, Value, Vectors, Width};
pub use x64::{
    Assembler, Avx, Base, Condition, Constant, ConstantBytes, Gpr, Label, Length, Mem, Rm, Ymm,
};

use numerics::simd::Isa;
use std::sync::OnceLock;

/// True if code can be made for this machine, and may be.
pub fn is_available() -> bool {
    static AVAILABLE: OnceLock<bool> = OnceLock::new();
    *AVAILABLE.get_or_init(|| {
        let is_refused = std::env::var_os("STABLO_JIT").is_some_and(|value| value == "0");
        !is_refused && Isa::best().has_avx2() && Executable::new(&[0xC3]).is_some()
    })
}
