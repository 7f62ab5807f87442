//! Loops compiled for the vector instructions that the machine has.
//!
//! A [`Kernel`] is plain Rust whose results do not depend on how it is compiled. [`Isa::run`]
//! instantiates it for the baseline and, on x86-64, for AVX2, so that the compiler vectorizes its
//! loops and turns `mul_add` into one instruction where there is one. AArch64 has NEON and fused
//! multiply-adds in its baseline. The baseline of x86-64 is a fallback, for which kernels share
//! loops: see [`Kernel::run_shared`]. WebAssembly has vectors of 128 bits in its baseline, which
//! loops with explicit vectors use: fused multiply-adds where relaxed SIMD makes them so, and
//! elsewhere exact ones of `f32` (`emulated`).

#![allow(
    unsafe_code,
    reason = "`target_feature` functions may only be called where the features are known to exist"
)]

mod columns;
mod doubles;
#[cfg(target_family = "wasm")]
mod emulated;
mod neighbours;
mod pairs;
mod peak;
mod permuted;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64", target_family = "wasm"))]
mod registers;
#[cfg(target_family = "wasm")]
pub(crate) mod relaxed;
mod tile;
mod transpose;
mod windows;

pub use columns::{ColumnScales, ColumnSums, Columns, GROUP, WIDE_GROUP, WORD_COLUMNS};
pub use doubles::{Doubles, DoublesArray, DoublesKernel};
pub use neighbours::AddEights;
pub use pairs::{PAIR_COLUMNS, PAIR_ROWS, Pair, PairSums, multiply_pairs};
pub use permuted::{PATTERN, pattern_reach, read_patterns, read_strided, write_patterns};
pub use tile::{
    ChainBlocks, Factors, PanelColumns, ResultRows, Starts, Sums, TILE_ROWS, Tile, TreeLeaf,
};
pub use transpose::{transpose, transpose_streamed};
pub use windows::{FeatureWindows, Tap, Windowed};

use std::sync::OnceLock;

/// A loop to be compiled for several instruction sets. Everything that `run` calls in its inner
/// loops must be inlined: mark it `#[inline(always)]`.
pub trait Kernel {
    /// True if it is compiled for AVX-512, too. Only what computes for long with each element
    /// gains from it.
    const IS_WIDE: bool = false;

    /// Runs the loop. Implementations are `#[inline(always)]`.
    fn run(self);

    /// Runs the loop, with the same results, where fused multiply-adds are function calls: a
    /// kernel that is made for registers may have smaller code for this.
    fn run_baseline(self)
    where
        Self: Sized,
    {
        self.run();
    }

    /// Runs the loop, with the same results, on a machine with x86-64 but without AVX2. Only old
    /// and small ones are, so that code for them is to be little rather than fast: a kernel that is
    /// generic over a function may share one loop for all functions, which it calls by a pointer.
    fn run_shared(self)
    where
        Self: Sized,
    {
        self.run_baseline();
    }
}

/// A set of vector instructions that this machine has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Isa(Level);

/// Private, so that no [`Isa`] stands for instructions that were not detected. A level has the
/// instructions of the levels before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    /// The baseline instructions of the target architecture.
    Baseline,
    /// AVX2, FMA and F16C.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// AVX-512 F, BW and DQ, for matrix products and code that is made at run time.
    #[cfg(target_arch = "x86_64")]
    Avx512,
    /// Relaxed SIMD, whose multiply-adds are fused.
    #[cfg(target_family = "wasm")]
    Relaxed,
}

impl Isa {
    /// The target's baseline.
    pub const BASELINE: Isa = Isa(Level::Baseline);

    /// The names of instruction sets, as [`Isa::available`] orders them.
    const NAMES: [&str; 3] = ["baseline", "avx2", "avx512"];

    /// True if fused multiply-adds are function calls with the baseline.
    const HAS_CALLS: bool = cfg!(any(target_arch = "x86_64", target_family = "wasm"));

    /// The widest instruction set of this machine, or of the sets up to the one that the
    /// environment variable `STABLO_ISA` names: `baseline`, `avx2` or `avx512`. Other names have no
    /// effect. That of AVX2 if the machine model has vectors of 256 bits.
    pub fn best() -> Isa {
        static BEST: OnceLock<Isa> = OnceLock::new();
        let best = *BEST.get_or_init(|| {
            let named = std::env::var("STABLO_ISA").ok();
            let last = named.and_then(|name| {
                Isa::NAMES.iter().position(|known| name.eq_ignore_ascii_case(known))
            });
            let available = Isa::available();
            available[last.unwrap_or(usize::MAX).min(available.len() - 1)]
        });
        #[cfg(target_arch = "x86_64")]
        if best.has_avx512() && host::machine().vector_bits < 512 {
            return Isa(Level::Avx2);
        }
        best
    }

    /// Every instruction set of this machine, from the baseline to the widest.
    #[cfg(target_arch = "x86_64")]
    pub fn available() -> Vec<Isa> {
        let mut all = vec![Isa::BASELINE];
        if is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("fma")
            && is_x86_feature_detected!("f16c")
        {
            all.push(Isa(Level::Avx2));
            if is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq")
            {
                all.push(Isa(Level::Avx512));
            }
        }
        all
    }

    /// Every instruction set of this machine for which kernels are compiled.
    #[cfg(target_family = "wasm")]
    pub fn available() -> Vec<Isa> {
        let relaxed = relaxed::is_fused().then_some(Isa(Level::Relaxed));
        [Isa::BASELINE].into_iter().chain(relaxed).collect()
    }

    /// Every instruction set of this machine for which kernels are compiled.
    #[cfg(not(any(target_arch = "x86_64", target_family = "wasm")))]
    pub fn available() -> Vec<Isa> {
        vec![Isa::BASELINE]
    }

    /// True if it has AVX2, FMA and F16C.
    pub fn has_avx2(self) -> bool {
        #[cfg(target_arch = "x86_64")]
        return self.0 >= Level::Avx2;
        #[cfg(not(target_arch = "x86_64"))]
        false
    }

    /// True if it has AVX-512 F, BW and DQ.
    pub fn has_avx512(self) -> bool {
        #[cfg(target_arch = "x86_64")]
        return self.0 >= Level::Avx512;
        #[cfg(not(target_arch = "x86_64"))]
        false
    }

    /// True if its vectors of 512 bits have full throughput, by the machine model. Where they have
    /// that of 256 bits, they only take more room in caches.
    pub fn has_fast_avx512(self) -> bool {
        self.has_avx512() && host::machine().full_rate_bits >= 512
    }

    /// True if there are loops written for its vectors: vectors of AVX2, of NEON, which is part of
    /// the baseline of AArch64, or of relaxed SIMD.
    pub fn has_vectors(self) -> bool {
        #[cfg(target_family = "wasm")]
        return self.0 == Level::Relaxed;
        #[cfg(not(target_family = "wasm"))]
        return cfg!(target_arch = "aarch64") || self.has_avx2();
    }

    /// As [`Isa::has_vectors`], for `f32` and `i32`: in WebAssembly, exact multiply-adds take the
    /// place of fused ones.
    pub fn has_vectors_of_32_bits(self) -> bool {
        cfg!(target_family = "wasm") || self.has_vectors()
    }

    /// Runs a kernel with these instructions.
    pub fn run<K: Kernel>(self, kernel: K) {
        match self.0 {
            Level::Baseline if cfg!(target_arch = "x86_64") => kernel.run_shared(),
            Level::Baseline if Isa::HAS_CALLS => kernel.run_baseline(),
            Level::Baseline => kernel.run(),
            // Explicit vectors look for themselves: a second copy of all loops would gain nothing.
            #[cfg(target_family = "wasm")]
            Level::Relaxed => kernel.run_baseline(),
            // SAFETY: only `available` makes these levels, after it has detected the features.
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 if const { K::IS_WIDE } => unsafe { avx512(kernel) },
            // SAFETY: likewise.
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 | Level::Avx512 => unsafe { avx2(kernel) },
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn avx2(kernel: impl Kernel) {
    kernel.run();
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,avx512f,avx512bw,avx512dq")]
fn avx512(kernel: impl Kernel) {
    kernel.run();
}

/// Asks the processor for the memory of an element, which will be read soon.
#[inline(always)]
pub fn prefetch<T>(element: &T) {
    prefetch_at(element);
}

/// Likewise, wherever the address is.
#[inline(always)]
fn prefetch_at<T>(element: *const T) {
    prefetch_to::<T, false>(element);
}

/// Asks for memory that will be read later: it need not be in the first-level cache.
#[inline(always)]
#[cfg_attr(not(any(target_arch = "x86_64", target_arch = "aarch64")), allow(dead_code))]
fn prefetch_later<T>(element: *const T) {
    prefetch_to::<T, true>(element);
}

#[inline(always)]
fn prefetch_to<T, const LATER: bool>(element: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch has no effect that a program could see, whatever the address is.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _MM_HINT_T1, _mm_prefetch};
        match LATER {
            false => _mm_prefetch::<_MM_HINT_T0>(element.cast()),
            true => _mm_prefetch::<_MM_HINT_T1>(element.cast()),
        }
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: likewise.
    unsafe {
        use std::arch::asm;
        let address = element.addr();
        match LATER {
            false => {
                asm!("prfm pldl1keep, [{}]", in(reg) address, options(nomem, nostack, preserves_flags));
            }
            true => {
                asm!("prfm pldl2keep, [{}]", in(reg) address, options(nomem, nostack, preserves_flags));
            }
        }
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = element;
}
