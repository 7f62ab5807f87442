//! Some `f64` in a vector, by the same names for all instruction sets.

use super::{Isa, Level};
use std::array::from_fn;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// Numbers that are computed with at the same time, each for itself.
pub trait Doubles:
    Copy
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// The numbers in memory.
    type Array: Copy + AsRef<[f64]> + AsMut<[f64]>;

    /// The same number everywhere.
    fn splat(x: f64) -> Self;

    /// `self * factor + sum`, rounded once.
    fn mul_add(self, factor: Self, sum: Self) -> Self;

    /// `self * factor - other`, rounded once.
    fn mul_sub(self, factor: Self, other: Self) -> Self;

    /// The numbers of an array.
    fn read(array: &Self::Array) -> Self;

    /// The numbers as an array.
    fn array(self) -> Self::Array;
}

impl Doubles for f64 {
    type Array = [f64; 1];

    #[inline(always)]
    fn splat(x: f64) -> f64 {
        x
    }
    #[inline(always)]
    fn mul_add(self, factor: f64, sum: f64) -> f64 {
        f64::mul_add(self, factor, sum)
    }
    #[inline(always)]
    fn mul_sub(self, factor: f64, other: f64) -> f64 {
        f64::mul_add(self, factor, -other)
    }
    #[inline(always)]
    fn read(&[x]: &[f64; 1]) -> f64 {
        x
    }
    #[inline(always)]
    fn array(self) -> [f64; 1] {
        [self]
    }
}

/// A computation with four numbers at a time. All that handles vectors must be inlined, or it has
/// none: mark it `#[inline(always)]`, and leave arithmetic out of closures.
pub trait DoublesKernel {
    /// Computes it with these vectors. Implementations are `#[inline(always)]`.
    fn run<V: Doubles<Array = [f64; 4]>>(self);
}

impl Isa {
    /// Runs a computation with these instructions.
    pub fn run_doubles(self, kernel: impl DoublesKernel) {
        match self.0 {
            Level::Baseline => kernel.run::<Four>(),
            // SAFETY: only `available` makes these levels, after it has detected the features.
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 | Level::Avx512 => unsafe { avx2::run(kernel) },
        }
    }
}

/// Four numbers that the compiler finds vectors for.
#[derive(Clone, Copy)]
struct Four([f64; 4]);

macro_rules! each {
    ($($op:ident $method:ident)*) => {$(
        impl $op for Four {
            type Output = Four;
            #[inline(always)]
            fn $method(self, other: Four) -> Four {
                Four(from_fn(|l| self.0[l].$method(other.0[l])))
            }
        }
    )*};
}
each! { Add add Sub sub Mul mul Div div }

impl Neg for Four {
    type Output = Four;
    #[inline(always)]
    fn neg(self) -> Four {
        Four(self.0.map(|x| -x))
    }
}

impl Doubles for Four {
    type Array = [f64; 4];

    #[inline(always)]
    fn splat(x: f64) -> Four {
        Four([x; 4])
    }
    #[inline(always)]
    fn mul_add(self, factor: Four, sum: Four) -> Four {
        Four(from_fn(|l| self.0[l].mul_add(factor.0[l], sum.0[l])))
    }
    #[inline(always)]
    fn mul_sub(self, factor: Four, other: Four) -> Four {
        Four(from_fn(|l| self.0[l].mul_add(factor.0[l], -other.0[l])))
    }
    #[inline(always)]
    fn read(array: &[f64; 4]) -> Four {
        Four(*array)
    }
    #[inline(always)]
    fn array(self) -> [f64; 4] {
        self.0
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::{Doubles, DoublesKernel};
    use std::arch::x86_64::*;
    use std::ops::{Add, Div, Mul, Neg, Sub};

    /// A register of AVX2. Private, so that only [`run`] makes any, for a kernel that knows
    /// nothing but [`Doubles`] of it.
    #[derive(Clone, Copy)]
    #[repr(transparent)]
    struct Register(__m256d);

    #[target_feature(enable = "avx2,fma")]
    pub fn run(kernel: impl DoublesKernel) {
        kernel.run::<Register>();
    }

    macro_rules! each {
        ($($op:ident $method:ident $instruction:ident)*) => {$(
            impl $op for Register {
                type Output = Register;
                #[inline(always)]
                fn $method(self, other: Register) -> Register {
                    // SAFETY: there are registers only where the instructions were detected.
                    Register(unsafe { $instruction(self.0, other.0) })
                }
            }
        )*};
    }
    each! {
        Add add _mm256_add_pd
        Sub sub _mm256_sub_pd
        Mul mul _mm256_mul_pd
        Div div _mm256_div_pd
    }

    impl Neg for Register {
        type Output = Register;
        #[inline(always)]
        fn neg(self) -> Register {
            // SAFETY: as above.
            Register(unsafe { _mm256_xor_pd(self.0, _mm256_set1_pd(-0.0)) })
        }
    }

    impl Doubles for Register {
        type Array = [f64; 4];

        #[inline(always)]
        fn splat(x: f64) -> Register {
            // SAFETY: `run` gives kernels this type only where the instructions were detected.
            Register(unsafe { _mm256_set1_pd(x) })
        }
        #[inline(always)]
        fn mul_add(self, factor: Register, sum: Register) -> Register {
            // SAFETY: as above.
            Register(unsafe { _mm256_fmadd_pd(self.0, factor.0, sum.0) })
        }
        #[inline(always)]
        fn mul_sub(self, factor: Register, other: Register) -> Register {
            // SAFETY: as above.
            Register(unsafe { _mm256_fmsub_pd(self.0, factor.0, other.0) })
        }
        #[inline(always)]
        fn read(array: &[f64; 4]) -> Register {
            // SAFETY: as above; and there are four numbers.
            Register(unsafe { _mm256_loadu_pd(array.as_ptr()) })
        }
        #[inline(always)]
        fn array(self) -> [f64; 4] {
            let mut array = [0.0; 4];
            // SAFETY: as above; and there is room for four numbers.
            unsafe { _mm256_storeu_pd(array.as_mut_ptr(), self.0) };
            array
        }
    }
}
