//! Loops compiled for the vector instructions that the machine has.
//!
//! A [`Kernel`] is plain Rust whose results do not depend on how it is compiled. [`Isa::run`]
//! instantiates it once for each instruction set, so that the compiler vectorizes its loops and
//! turns `mul_add` into one instruction where there is one.

// `target_feature` functions may only be called where the features are known to exist.
#![allow(unsafe_code)]

mod tile;
mod transpose;

pub use tile::{TILE_ROWS, Tile};
pub use transpose::transpose;

/// A loop to be compiled for several instruction sets. Everything that `run` calls in its inner
/// loops must be inlined: mark it `#[inline(always)]`.
pub trait Kernel {
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
}

/// A set of vector instructions that this machine has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Isa(Level);

/// Private, so that no [`Isa`] stands for instructions that were not detected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    /// The baseline instructions of the target architecture.
    Baseline,
    #[cfg(target_arch = "x86_64")]
    Avx2,
}

impl Isa {
    /// The target's baseline.
    pub const BASELINE: Isa = Isa(Level::Baseline);

    /// True if fused multiply-adds are function calls with the baseline.
    const HAS_CALLS: bool = cfg!(any(target_arch = "x86_64", target_family = "wasm"));

    /// The widest instruction set of this machine for which kernels are compiled.
    pub fn best() -> Isa {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            return Isa(Level::Avx2);
        }
        Isa::BASELINE
    }

    /// Every instruction set of this machine for which kernels are compiled.
    pub fn available() -> Vec<Isa> {
        let mut all = vec![Isa::BASELINE, Isa::best()];
        all.dedup();
        all
    }

    /// Runs a kernel with these instructions.
    pub fn run(self, kernel: impl Kernel) {
        match self.0 {
            Level::Baseline if Isa::HAS_CALLS => kernel.run_baseline(),
            Level::Baseline => kernel.run(),
            // SAFETY: only `best` makes this level, after it has detected the features.
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => unsafe { avx2(kernel) },
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn avx2(kernel: impl Kernel) {
    kernel.run();
}
