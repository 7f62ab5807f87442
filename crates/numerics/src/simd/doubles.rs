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
    /// True if operations are calls, so that code for them is to be little.
    const HAS_CALLS: bool = false;

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

    /// Transposes a matrix of one row for each number. These may be any bits.
    fn transpose(rows: &mut [Self]);

    /// The bits of the first pairs, one pair for a number, the first one in its lower
    /// half.
    fn read_pairs(pairs: &[[f32; 2]]) -> Self;

    /// Writes pairs that [`Doubles::read_pairs`] has read.
    fn write_pairs(self, pairs: &mut [[f32; 2]]);

    /// The numbers of pairs that [`Doubles::read_pairs`] has read: the first ones, and the second
    /// ones.
    fn widened(self) -> [Self; 2];

    /// Pairs of the numbers, each rounded, as [`Doubles::read_pairs`] has them.
    fn narrowed(numbers: [Self; 2]) -> Self;

    /// The numbers of the first pairs: the first ones, and the second ones.
    fn read_wide_pairs(pairs: &[[f64; 2]]) -> [Self; 2];

    /// Writes pairs of numbers.
    fn write_wide_pairs(numbers: [Self; 2], pairs: &mut [[f64; 2]]);
}

/// The bits of a pair as one number.
#[inline(always)]
fn from_pair(pair: [f32; 2]) -> f64 {
    let [first, second] = pair.map(|x| u64::from(x.to_bits()));
    f64::from_bits(first | second << 32)
}

/// The pair whose bits a number has.
#[inline(always)]
fn to_pair(x: f64) -> [f32; 2] {
    let bits = x.to_bits();
    [f32::from_bits(bits as u32), f32::from_bits((bits >> 32) as u32)]
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
    #[inline(always)]
    fn transpose(_: &mut [f64]) {}
    #[inline(always)]
    fn read_pairs(pairs: &[[f32; 2]]) -> f64 {
        from_pair(pairs[0])
    }
    #[inline(always)]
    fn write_pairs(self, pairs: &mut [[f32; 2]]) {
        pairs[0] = to_pair(self);
    }
    #[inline(always)]
    fn widened(self) -> [f64; 2] {
        to_pair(self).map(f64::from)
    }
    #[inline(always)]
    fn narrowed(numbers: [f64; 2]) -> f64 {
        from_pair(numbers.map(|x| x as f32))
    }
    #[inline(always)]
    fn read_wide_pairs(pairs: &[[f64; 2]]) -> [f64; 2] {
        pairs[0]
    }
    #[inline(always)]
    fn write_wide_pairs(numbers: [f64; 2], pairs: &mut [[f64; 2]]) {
        pairs[0] = numbers;
    }
}

/// A computation with some numbers at a time. All that handles vectors must be inlined, or it has
/// none: mark it `#[inline(always)]`, and leave arithmetic out of closures.
pub trait DoublesKernel {
    /// The numbers that it computes with.
    type Array: DoublesArray;

    /// Computes it with vectors of this many, and of four. Implementations are `#[inline(always)]`.
    fn run<V: Doubles<Array = Self::Array>, Q: Doubles<Array = [f64; 4]>>(self);
}

/// Numbers of kernels: one, four or eight.
pub trait DoublesArray: Sized {
    /// True if kernels of this number of lanes are compiled for an instruction set. Kernels of one
    /// lane are for all.
    fn is_compiled(isa: Isa) -> bool;

    /// Runs a kernel with the vectors of an instruction set.
    ///
    /// # Panics
    /// If it is not compiled for that.
    fn run(isa: Isa, kernel: impl DoublesKernel<Array = Self>);
}

impl Isa {
    /// Runs a computation with these instructions.
    ///
    /// # Panics
    /// If kernels of this number of lanes are not compiled for them: see
    /// [`DoublesArray::is_compiled`].
    pub fn run_doubles<K: DoublesKernel>(self, kernel: K) {
        K::Array::run(self, kernel);
    }
}

impl DoublesArray for [f64; 1] {
    fn is_compiled(_: Isa) -> bool {
        true
    }

    fn run(isa: Isa, kernel: impl DoublesKernel<Array = Self>) {
        match isa.0 {
            Level::Baseline => kernel.run::<f64, Plain<4>>(),
            #[cfg(target_family = "wasm")]
            Level::Relaxed => kernel.run::<f64, Plain<4>>(),
            // SAFETY: only `available` makes these levels, after it has detected the features.
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 | Level::Avx512 => unsafe { x86::run_avx2::<f64, _>(kernel) },
        }
    }
}

/// Without vectors, x86-64 has one number at a time, as WebAssembly, whose fused multiply-adds are
/// calls.
impl DoublesArray for [f64; 4] {
    fn is_compiled(isa: Isa) -> bool {
        !Isa::HAS_CALLS || isa.has_avx2()
    }

    fn run(isa: Isa, kernel: impl DoublesKernel<Array = Self>) {
        match isa.0 {
            #[cfg(not(any(target_arch = "x86_64", target_family = "wasm")))]
            Level::Baseline => kernel.run::<Plain<4>, Plain<4>>(),
            #[cfg(target_arch = "x86_64")]
            Level::Baseline => {
                drop(kernel);
                unreachable!("four numbers at a time without vectors")
            }
            #[cfg(target_family = "wasm")]
            Level::Baseline | Level::Relaxed => {
                drop(kernel);
                unreachable!("four numbers at a time with functions")
            }
            // SAFETY: as above. AVX-512 has no more instructions for four numbers.
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 | Level::Avx512 => unsafe { x86::run_avx2::<x86::Four, _>(kernel) },
        }
    }
}

/// Only AVX-512 has eight numbers at a time.
impl DoublesArray for [f64; 8] {
    fn is_compiled(isa: Isa) -> bool {
        isa.has_avx512()
    }

    fn run(isa: Isa, kernel: impl DoublesKernel<Array = Self>) {
        #[cfg(target_arch = "x86_64")]
        if isa.0 == Level::Avx512 {
            // SAFETY: as above.
            return unsafe { x86::run_avx512(kernel) };
        }
        drop(kernel);
        unreachable!("eight numbers at a time with {isa:?}");
    }
}

/// Numbers that the compiler vectorizes. Where fused multiply-adds are function calls, one shared
/// function makes them for all numbers: inlined, they would be most of the code.
#[derive(Clone, Copy)]
struct Plain<const N: usize>([f64; N]);

/// Each `x * y + z`, rounded once.
#[inline(never)]
fn mul_add_calls<const N: usize>(x: &[f64; N], y: &[f64; N], z: &[f64; N]) -> [f64; N] {
    from_fn(|l| x[l].mul_add(y[l], z[l]))
}

macro_rules! each {
    ($($op:ident $method:ident)*) => {$(
        impl<const N: usize> $op for Plain<N> {
            type Output = Plain<N>;
            #[inline(always)]
            fn $method(self, other: Plain<N>) -> Plain<N> {
                #[inline(never)]
                fn shared<const N: usize>(x: &[f64; N], y: &[f64; N]) -> [f64; N] {
                    from_fn(|l| x[l].$method(y[l]))
                }
                // A fallback, whose code is to be little rather than fast.
                if cfg!(target_arch = "x86_64") {
                    return Plain(shared(&self.0, &other.0));
                }
                Plain(from_fn(|l| self.0[l].$method(other.0[l])))
            }
        }
    )*};
}
each! { Add add Sub sub Mul mul Div div }

impl<const N: usize> Neg for Plain<N> {
    type Output = Plain<N>;
    #[inline(always)]
    fn neg(self) -> Plain<N> {
        Plain(self.0.map(|x| -x))
    }
}

impl<const N: usize> Doubles for Plain<N> {
    const HAS_CALLS: bool = Isa::HAS_CALLS;

    type Array = [f64; N];

    #[inline(always)]
    fn splat(x: f64) -> Plain<N> {
        Plain([x; N])
    }
    #[inline(always)]
    fn mul_add(self, factor: Plain<N>, sum: Plain<N>) -> Plain<N> {
        if Isa::HAS_CALLS {
            return Plain(mul_add_calls(&self.0, &factor.0, &sum.0));
        }
        Plain(from_fn(|l| self.0[l].mul_add(factor.0[l], sum.0[l])))
    }
    #[inline(always)]
    fn mul_sub(self, factor: Plain<N>, other: Plain<N>) -> Plain<N> {
        self.mul_add(factor, -other)
    }
    #[inline(always)]
    fn read(array: &[f64; N]) -> Plain<N> {
        Plain(*array)
    }
    #[inline(always)]
    fn array(self) -> [f64; N] {
        self.0
    }
    #[inline(always)]
    fn transpose(rows: &mut [Plain<N>]) {
        for row in 1..N {
            for column in 0..row {
                let [upper, lower] = [rows[column].0[row], rows[row].0[column]];
                (rows[column].0[row], rows[row].0[column]) = (lower, upper);
            }
        }
    }
    #[inline(always)]
    fn read_pairs(pairs: &[[f32; 2]]) -> Plain<N> {
        let mut numbers = [0.0; N];
        for (number, &pair) in numbers.iter_mut().zip(&pairs[..N]) {
            *number = from_pair(pair);
        }
        Plain(numbers)
    }
    #[inline(always)]
    fn write_pairs(self, pairs: &mut [[f32; 2]]) {
        for (pair, number) in pairs[..N].iter_mut().zip(self.0) {
            *pair = to_pair(number);
        }
    }
    #[inline(always)]
    fn widened(self) -> [Plain<N>; 2] {
        let mut parts = [[0.0; N]; 2];
        for (lane, pair) in self.0.into_iter().enumerate() {
            [parts[0][lane], parts[1][lane]] = to_pair(pair).map(f64::from);
        }
        parts.map(Plain)
    }
    #[inline(always)]
    fn narrowed([first, second]: [Plain<N>; 2]) -> Plain<N> {
        let mut pairs = [0.0; N];
        for (pair, (first, second)) in pairs.iter_mut().zip(first.0.into_iter().zip(second.0)) {
            *pair = from_pair([first as f32, second as f32]);
        }
        Plain(pairs)
    }
    #[inline(always)]
    fn read_wide_pairs(pairs: &[[f64; 2]]) -> [Plain<N>; 2] {
        let mut parts = [[0.0; N]; 2];
        for (lane, pair) in pairs[..N].iter().enumerate() {
            [parts[0][lane], parts[1][lane]] = *pair;
        }
        parts.map(Plain)
    }
    #[inline(always)]
    fn write_wide_pairs([first, second]: [Plain<N>; 2], pairs: &mut [[f64; 2]]) {
        for (lane, pair) in pairs[..N].iter_mut().enumerate() {
            *pair = [first.0[lane], second.0[lane]];
        }
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
    pub(crate) struct Four(__m256d);

    /// Eight numbers in a register of AVX-512. Only [`run_avx512`] makes any.
    #[derive(Clone, Copy)]
    #[repr(transparent)]
    pub(crate) struct Eight(__m512d);

    #[target_feature(enable = "avx2,fma")]
    pub(crate) fn run_avx2<V: Doubles<Array = K::Array>, K: DoublesKernel>(kernel: K) {
        kernel.run::<V, Four>();
    }

    #[target_feature(enable = "avx2,fma,avx512f,avx512dq")]
    pub(crate) fn run_avx512<K: DoublesKernel<Array = [f64; 8]>>(kernel: K) {
        kernel.run::<Eight, Four>();
    }

    macro_rules! registers {
        ($name:ident $count:literal $add:ident $sub:ident $mul:ident $div:ident $xor:ident
            $set1:ident $fmadd:ident $fmsub:ident $loadu:ident $storeu:ident
            $transpose:ident $widened:ident $narrowed:ident $unzipped:ident $zipped:ident) => {
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
                    // SAFETY: as above; and the array has the numbers.
                    $name(unsafe { $loadu(array.as_ptr()) })
                }
                #[inline(always)]
                fn array(self) -> [f64; $count] {
                    let mut array = [0.0; $count];
                    // SAFETY: as above; and the array has room for the numbers.
                    unsafe { $storeu(array.as_mut_ptr(), self.0) };
                    array
                }
                #[inline(always)]
                fn transpose(rows: &mut [$name]) {
                    if let Ok(rows) = <&mut [$name; $count]>::try_from(rows) {
                        // SAFETY: as above.
                        unsafe { $transpose(rows) };
                    }
                }
                #[inline(always)]
                fn read_pairs(pairs: &[[f32; 2]]) -> $name {
                    let pairs = &pairs[..$count];
                    // SAFETY: as above; and the pairs are in the slice, of the size of a number
                    // each.
                    $name(unsafe { $loadu(pairs.as_ptr().cast()) })
                }
                #[inline(always)]
                fn write_pairs(self, pairs: &mut [[f32; 2]]) {
                    let pairs = &mut pairs[..$count];
                    // SAFETY: as above.
                    unsafe { $storeu(pairs.as_mut_ptr().cast(), self.0) };
                }
                #[inline(always)]
                fn widened(self) -> [$name; 2] {
                    // SAFETY: as above.
                    unsafe { $widened(self) }
                }
                #[inline(always)]
                fn narrowed(numbers: [$name; 2]) -> $name {
                    // SAFETY: as above.
                    unsafe { $narrowed(numbers) }
                }
                #[inline(always)]
                fn read_wide_pairs(pairs: &[[f64; 2]]) -> [$name; 2] {
                    let pairs: *const f64 = pairs[..$count].as_ptr().cast();
                    // SAFETY: as above; and the pairs are in the slice.
                    unsafe { $unzipped([$loadu(pairs), $loadu(pairs.add($count))]) }
                }
                #[inline(always)]
                fn write_wide_pairs(numbers: [$name; 2], pairs: &mut [[f64; 2]]) {
                    let pairs: *mut f64 = pairs[..$count].as_mut_ptr().cast();
                    // SAFETY: as above.
                    unsafe {
                        let [first, second] = $zipped(numbers);
                        $storeu(pairs, first);
                        $storeu(pairs.add($count), second);
                    }
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
        _mm256_set1_pd _mm256_fmadd_pd _mm256_fmsub_pd _mm256_loadu_pd _mm256_storeu_pd
        transpose_four widened_four narrowed_four unzipped_four zipped_four);
    registers!(Eight 8 _mm512_add_pd _mm512_sub_pd _mm512_mul_pd _mm512_div_pd _mm512_xor_pd
        _mm512_set1_pd _mm512_fmadd_pd _mm512_fmsub_pd _mm512_loadu_pd _mm512_storeu_pd
        transpose_eight widened_eight narrowed_eight unzipped_eight zipped_eight);

    #[inline]
    #[target_feature(enable = "avx2,fma")]
    fn transpose_four(rows: &mut [Four; 4]) {
        let [a, b, c, d] = rows.map(|row| row.0);
        // Even columns of two rows, and odd ones.
        let [ab, cd] = [_mm256_unpacklo_pd(a, b), _mm256_unpacklo_pd(c, d)];
        let [odd_ab, odd_cd] = [_mm256_unpackhi_pd(a, b), _mm256_unpackhi_pd(c, d)];
        *rows = [
            Four(_mm256_permute2f128_pd::<0x20>(ab, cd)),
            Four(_mm256_permute2f128_pd::<0x20>(odd_ab, odd_cd)),
            Four(_mm256_permute2f128_pd::<0x31>(ab, cd)),
            Four(_mm256_permute2f128_pd::<0x31>(odd_ab, odd_cd)),
        ];
    }

    #[inline]
    #[target_feature(enable = "avx2,fma")]
    fn widened_four(pairs: Four) -> [Four; 2] {
        let apart = _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7);
        let parts = _mm256_permutevar8x32_ps(_mm256_castpd_ps(pairs.0), apart);
        let first = _mm256_cvtps_pd(_mm256_castps256_ps128(parts));
        [Four(first), Four(_mm256_cvtps_pd(_mm256_extractf128_ps::<1>(parts)))]
    }

    #[inline]
    #[target_feature(enable = "avx2,fma")]
    fn narrowed_four([first, second]: [Four; 2]) -> Four {
        let [first, second] = [_mm256_cvtpd_ps(first.0), _mm256_cvtpd_ps(second.0)];
        let [low, high] = [_mm_unpacklo_ps(first, second), _mm_unpackhi_ps(first, second)];
        Four(_mm256_castps_pd(_mm256_set_m128(high, low)))
    }

    #[inline]
    #[target_feature(enable = "avx2,fma")]
    fn unzipped_four([a, b]: [__m256d; 2]) -> [Four; 2] {
        let low = _mm256_permute2f128_pd::<0x20>(a, b);
        let high = _mm256_permute2f128_pd::<0x31>(a, b);
        [Four(_mm256_unpacklo_pd(low, high)), Four(_mm256_unpackhi_pd(low, high))]
    }

    #[inline]
    #[target_feature(enable = "avx2,fma")]
    fn zipped_four([first, second]: [Four; 2]) -> [__m256d; 2] {
        let low = _mm256_unpacklo_pd(first.0, second.0);
        let high = _mm256_unpackhi_pd(first.0, second.0);
        [_mm256_permute2f128_pd::<0x20>(low, high), _mm256_permute2f128_pd::<0x31>(low, high)]
    }

    #[inline]
    #[target_feature(enable = "avx2,fma,avx512f,avx512dq")]
    fn transpose_eight(rows: &mut [Eight; 8]) {
        let mut columns = *rows;
        for odd in 0..2 {
            // Every second column of two rows, by quarters of vectors: 0, 2, 4 and 6, or the next.
            let mut two = [_mm512_setzero_pd(); 4];
            for (i, two) in two.iter_mut().enumerate() {
                let [a, b] = [rows[2 * i].0, rows[2 * i + 1].0];
                *two = if odd == 0 { _mm512_unpacklo_pd(a, b) } else { _mm512_unpackhi_pd(a, b) };
            }
            // Of four rows: columns 0 and 4, or 2 and 6.
            let [a, b, c, d] = two;
            let first = [_mm512_shuffle_f64x2::<0x88>(a, b), _mm512_shuffle_f64x2::<0x88>(c, d)];
            let second = [_mm512_shuffle_f64x2::<0xdd>(a, b), _mm512_shuffle_f64x2::<0xdd>(c, d)];
            columns[odd] = Eight(_mm512_shuffle_f64x2::<0x88>(first[0], first[1]));
            columns[odd + 2] = Eight(_mm512_shuffle_f64x2::<0x88>(second[0], second[1]));
            columns[odd + 4] = Eight(_mm512_shuffle_f64x2::<0xdd>(first[0], first[1]));
            columns[odd + 6] = Eight(_mm512_shuffle_f64x2::<0xdd>(second[0], second[1]));
        }
        *rows = columns;
    }

    #[inline]
    #[target_feature(enable = "avx2,fma,avx512f,avx512dq")]
    fn widened_eight(pairs: Eight) -> [Eight; 2] {
        let apart = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15);
        let parts = _mm512_permutexvar_ps(apart, _mm512_castpd_ps(pairs.0));
        let first = _mm512_cvtps_pd(_mm512_castps512_ps256(parts));
        [Eight(first), Eight(_mm512_cvtps_pd(_mm512_extractf32x8_ps::<1>(parts)))]
    }

    #[inline]
    #[target_feature(enable = "avx2,fma,avx512f,avx512dq")]
    fn narrowed_eight([first, second]: [Eight; 2]) -> Eight {
        let together = _mm512_setr_epi32(0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15);
        let first = _mm512_castps256_ps512(_mm512_cvtpd_ps(first.0));
        let parts = _mm512_insertf32x8::<1>(first, _mm512_cvtpd_ps(second.0));
        Eight(_mm512_castps_pd(_mm512_permutexvar_ps(together, parts)))
    }

    #[inline]
    #[target_feature(enable = "avx2,fma,avx512f,avx512dq")]
    fn unzipped_eight([a, b]: [__m512d; 2]) -> [Eight; 2] {
        let first = _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14);
        let second = _mm512_setr_epi64(1, 3, 5, 7, 9, 11, 13, 15);
        [Eight(_mm512_permutex2var_pd(a, first, b)), Eight(_mm512_permutex2var_pd(a, second, b))]
    }

    #[inline]
    #[target_feature(enable = "avx2,fma,avx512f,avx512dq")]
    fn zipped_eight([first, second]: [Eight; 2]) -> [__m512d; 2] {
        let low = _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11);
        let high = _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15);
        [
            _mm512_permutex2var_pd(first.0, low, second.0),
            _mm512_permutex2var_pd(first.0, high, second.0),
        ]
    }
}
