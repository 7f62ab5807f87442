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

/// A computation with some numbers at a time. All that handles vectors must be inlined, or it has
/// none: mark it `#[inline(always)]`, and leave arithmetic out of closures.
pub trait DoublesKernel {
    /// As many numbers as it computes with.
    type Array: DoublesArray;

    /// Computes it with vectors of so many, and of four. Implementations are `#[inline(always)]`.
    fn run<V: Doubles<Array = Self::Array>, Q: Doubles<Array = [f64; 4]>>(self);
}

/// Numbers of kernels: one, four or eight.
pub trait DoublesArray: Sized {
    /// Runs a kernel with the vectors of an instruction set.
    fn run(isa: Isa, kernel: impl DoublesKernel<Array = Self>);
}

impl Isa {
    /// Runs a computation with these instructions.
    pub fn run_doubles<K: DoublesKernel>(self, kernel: K) {
        K::Array::run(self, kernel);
    }
}

/// For each number of numbers, the vectors of each level.
macro_rules! arrays {
    ($($count:literal $baseline:ty, $avx2:ty, $avx512:ty;)*) => {$(
        impl DoublesArray for [f64; $count] {
            fn run(isa: Isa, kernel: impl DoublesKernel<Array = Self>) {
                match isa.0 {
                    Level::Baseline => kernel.run::<$baseline, Many<4>>(),
                    // SAFETY: only `available` makes these levels, after it has detected the
                    // features.
                    #[cfg(target_arch = "x86_64")]
                    Level::Avx2 => unsafe { x86::run_avx2::<$avx2, _>(kernel) },
                    // SAFETY: as above.
                    #[cfg(target_arch = "x86_64")]
                    Level::Avx512 => unsafe { x86::run_avx512::<$avx512, _>(kernel) },
                }
            }
        }
    )*};
}
arrays! {
    1 f64, f64, f64;
    4 Many<4>, x86::Four, x86::Four;
    8 Many<8>, Many<8>, x86::Eight;
}

/// Numbers that the compiler finds vectors for.
#[derive(Clone, Copy)]
struct Many<const N: usize>([f64; N]);

macro_rules! each {
    ($($op:ident $method:ident)*) => {$(
        impl<const N: usize> $op for Many<N> {
            type Output = Many<N>;
            #[inline(always)]
            fn $method(self, other: Many<N>) -> Many<N> {
                Many(from_fn(|l| self.0[l].$method(other.0[l])))
            }
        }
    )*};
}
each! { Add add Sub sub Mul mul Div div }

impl<const N: usize> Neg for Many<N> {
    type Output = Many<N>;
    #[inline(always)]
    fn neg(self) -> Many<N> {
        Many(self.0.map(|x| -x))
    }
}

impl<const N: usize> Doubles for Many<N> {
    type Array = [f64; N];

    #[inline(always)]
    fn splat(x: f64) -> Many<N> {
        Many([x; N])
    }
    #[inline(always)]
    fn mul_add(self, factor: Many<N>, sum: Many<N>) -> Many<N> {
        Many(from_fn(|l| self.0[l].mul_add(factor.0[l], sum.0[l])))
    }
    #[inline(always)]
    fn mul_sub(self, factor: Many<N>, other: Many<N>) -> Many<N> {
        Many(from_fn(|l| self.0[l].mul_add(factor.0[l], -other.0[l])))
    }
    #[inline(always)]
    fn read(array: &[f64; N]) -> Many<N> {
        Many(*array)
    }
    #[inline(always)]
    fn array(self) -> [f64; N] {
        self.0
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Doubles, DoublesKernel};
    use std::arch::x86_64::*;
    use std::ops::{Add, Div, Mul, Neg, Sub};

    /// Four numbers in a register of AVX2. Only [`run_avx2`] and [`run_avx512`] make any, for
    /// kernels that know nothing but [`Doubles`] of them.
    #[derive(Clone, Copy)]
    #[repr(transparent)]
    pub struct Four(__m256d);

    /// Eight numbers in a register of AVX-512. Only [`run_avx512`] makes any.
    #[derive(Clone, Copy)]
    #[repr(transparent)]
    pub struct Eight(__m512d);

    #[target_feature(enable = "avx2,fma")]
    pub fn run_avx2<V: Doubles<Array = K::Array>, K: DoublesKernel>(kernel: K) {
        kernel.run::<V, Four>();
    }

    #[target_feature(enable = "avx2,fma,avx512f,avx512dq")]
    pub fn run_avx512<V: Doubles<Array = K::Array>, K: DoublesKernel>(kernel: K) {
        kernel.run::<V, Four>();
    }

    macro_rules! registers {
        ($name:ident $count:literal $add:ident $sub:ident $mul:ident $div:ident $xor:ident
            $set1:ident $fmadd:ident $fmsub:ident $loadu:ident $storeu:ident) => {
            registers!(@each $name Add add $add Sub sub $sub Mul mul $mul Div div $div);

            impl Neg for $name {
                type Output = $name;
                #[inline(always)]
                fn neg(self) -> $name {
                    // SAFETY: there are registers only where the instructions were detected.
                    $name(unsafe { $xor(self.0, $set1(-0.0)) })
                }
            }

            impl Doubles for $name {
                type Array = [f64; $count];

                #[inline(always)]
                fn splat(x: f64) -> $name {
                    // SAFETY: kernels get this type only where the instructions were detected.
                    $name(unsafe { $set1(x) })
                }
                #[inline(always)]
                fn mul_add(self, factor: $name, sum: $name) -> $name {
                    // SAFETY: as above.
                    $name(unsafe { $fmadd(self.0, factor.0, sum.0) })
                }
                #[inline(always)]
                fn mul_sub(self, factor: $name, other: $name) -> $name {
                    // SAFETY: as above.
                    $name(unsafe { $fmsub(self.0, factor.0, other.0) })
                }
                #[inline(always)]
                fn read(array: &[f64; $count]) -> $name {
                    // SAFETY: as above; and there are as many numbers.
                    $name(unsafe { $loadu(array.as_ptr()) })
                }
                #[inline(always)]
                fn array(self) -> [f64; $count] {
                    let mut array = [0.0; $count];
                    // SAFETY: as above; and there is room for as many numbers.
                    unsafe { $storeu(array.as_mut_ptr(), self.0) };
                    array
                }
            }
        };
        (@each $name:ident $($op:ident $method:ident $instruction:ident)*) => {$(
            impl $op for $name {
                type Output = $name;
                #[inline(always)]
                fn $method(self, other: $name) -> $name {
                    // SAFETY: there are registers only where the instructions were detected.
                    $name(unsafe { $instruction(self.0, other.0) })
                }
            }
        )*};
    }
    registers!(Four 4 _mm256_add_pd _mm256_sub_pd _mm256_mul_pd _mm256_div_pd _mm256_xor_pd
        _mm256_set1_pd _mm256_fmadd_pd _mm256_fmsub_pd _mm256_loadu_pd _mm256_storeu_pd);
    registers!(Eight 8 _mm512_add_pd _mm512_sub_pd _mm512_mul_pd _mm512_div_pd _mm512_xor_pd
        _mm512_set1_pd _mm512_fmadd_pd _mm512_fmsub_pd _mm512_loadu_pd _mm512_storeu_pd);
}
