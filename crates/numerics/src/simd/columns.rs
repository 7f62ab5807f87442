//! Products of a vector with columns of neighbouring elements, in registers.
//!
//! Columns are read some words of 32 bits at a time, which registers transpose; a word has an
//! element of a type of 32 bits, two of 16 or four of 8, which become numbers of 32 bits there.

#[cfg(target_arch = "x86_64")]
mod packed;
#[cfg(target_family = "wasm")]
mod relaxed;

use super::{Isa, PanelColumns};
use crate::{Complex32, Complex64, bf16, f16};

/// Columns that are summed at a time with AVX2.
pub const GROUP: usize = 8;
/// Columns that are summed at a time with AVX-512.
pub const WIDE_GROUP: usize = 16;
/// Columns of a panel of words.
pub const WORD_COLUMNS: usize = 32;

/// A vector, and columns: the elements of all of them from the first one on, each `stride` elements
/// after the one before.
#[derive(Clone, Copy)]
pub struct Columns<'a, T, S = T> {
    /// The vector.
    pub vector: &'a [T],
    /// The columns.
    pub elements: &'a [S],
    /// The distance between columns.
    pub stride: usize,
    /// The distance to the columns that are read next, which are asked for.
    pub next: usize,
    /// The factors of the elements; none for floats.
    pub scales: ColumnScales<'a, T>,
}

/// Factors of the elements of the columns of a matrix, each of some consecutive ones, and numbers
/// that are added to these elements before: quantized weights are integers with such factors, and
/// with zero points.
#[derive(Clone, Copy)]
pub struct ColumnScales<'a, T> {
    /// The factors of the first elements of all columns, of the next ones, and so on.
    pub factors: &'a [T],
    /// The numbers that are added, in the same places; none if these are all zero.
    pub shifts: &'a [T],
    /// The distance between the factors of a column.
    pub stride: usize,
    /// The number of elements of a column with one factor.
    pub group: usize,
    /// The number of elements before these in their column.
    pub first: usize,
}

impl<'a, T> ColumnScales<'a, T> {
    /// None: elements are what they are.
    pub const NONE: ColumnScales<'a, T> =
        ColumnScales { factors: &[], shifts: &[], stride: 0, group: usize::MAX, first: 0 };

    /// True if the elements are multiplied.
    #[inline(always)]
    pub fn are_some(&self) -> bool {
        !self.factors.is_empty()
    }

    /// The factors of a row of the matrix, column by column.
    #[inline(always)]
    pub fn of_row(&self, row: usize) -> &'a [T] {
        self.factors.get((self.first + row) / self.group * self.stride..).unwrap_or_default()
    }

    /// The numbers that are added in a row of the matrix, column by column; none if there are none.
    #[inline(always)]
    pub fn shifts_of_row(&self, row: usize) -> &'a [T] {
        self.shifts.get((self.first + row) / self.group * self.stride..).unwrap_or_default()
    }

    /// Those from a row and a column on.
    #[inline(always)]
    pub fn from(&self, row: usize, column: usize) -> ColumnScales<'a, T> {
        let factors = self.factors.get(column..).unwrap_or_default();
        let shifts = self.shifts.get(column..).unwrap_or_default();
        ColumnScales { factors, shifts, first: self.first + row, ..*self }
    }
}

/// A type in which products with columns of elements that are stored as `S` are summed in vector
/// registers.
pub trait ColumnSums<S>: Sized {
    /// The products of each vector with its `W` columns: chains of fused multiply-adds from zero
    /// on, in the order of the elements. `None` if there are no instructions for the types and the
    /// number of columns, the vectors differ in length, or columns are too short.
    #[inline(always)]
    fn column_chains<const W: usize, const N: usize>(
        _isa: Isa,
        _groups: [Columns<'_, Self, S>; N],
    ) -> Option<[[Self; W]; N]> {
        None
    }

    /// The products of `M` vectors with the same `W` columns, whose own vector is the first one.
    /// `None` as [`ColumnSums::column_chains`] says.
    #[inline(always)]
    fn shared_chains<const W: usize, const M: usize>(
        _isa: Isa,
        _vectors: [&[Self]; M],
        _columns: Columns<'_, Self, S>,
    ) -> Option<[[Self; W]; M]> {
        None
    }

    /// Elements of a column in a word of a panel; zero if there are no panels of words.
    const PER_WORD: usize = 0;

    /// As [`ColumnSums::column_chains`], with panels of [`WORD_COLUMNS`] columns, whose rows have a
    /// word of each column: [`ColumnSums::PER_WORD`] consecutive elements. False, and
    /// nothing is written, if there are no instructions for it, the elements of the vector are no
    /// whole words, or panels or `scales` are too few for the sums.
    #[inline(always)]
    fn word_chains(
        _isa: Isa,
        _vector: &[Self],
        _panels: PanelColumns<'_, i32>,
        _scales: ColumnScales<'_, Self>,
        _sums: &mut [Self],
    ) -> bool {
        false
    }
}

/// True if there are factors for the elements of `width` columns of `len` elements, where elements
/// of this type need them, and the ones of each of some `words` of a column are the same.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn are_scaled<S: words::Words>(
    scales: ColumnScales<'_, f32>,
    [len, width]: [usize; 2],
    words: usize,
) -> bool {
    if !S::IS_SCALED {
        return true;
    }
    let ColumnScales { factors, shifts, stride, group, first } = scales;
    let step = words * S::PER_WORD;
    // Those of the last row are the last ones.
    let end = first.checked_add(len);
    let last = end.and_then(|end| (end.saturating_sub(1) / group.max(1)).checked_mul(stride));
    let end_of_last = last.and_then(|last| last.checked_add(width));
    let has_all = end_of_last.is_some_and(|end| end <= factors.len());
    let are_alike = group >= end.unwrap_or(usize::MAX) || group % step == 0 && first % step == 0;
    let have_shifts = shifts.is_empty() || shifts.len() == factors.len();
    has_all && are_alike && have_shifts && group > 0
}

/// The products of several vectors with the same columns; `None` as [`ColumnSums::shared_chains`]
/// says.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn shared_singles<S: words::Words, const W: usize, const M: usize>(
    isa: Isa,
    vectors: [&[f32]; M],
    columns: Columns<'_, f32, S>,
) -> Option<[[f32; W]; M]> {
    let len = columns.vector.len();
    let end = columns.stride.checked_mul(W - 1).and_then(|last| last.checked_add(len));
    let fits = end.is_some_and(|end| end <= columns.elements.len());
    if !fits || S::IS_SCALED || vectors.iter().any(|vector| vector.len() != len) {
        return None;
    }
    match W {
        GROUP if isa.has_avx2() => {
            // SAFETY: the instructions were detected, and all columns are in the elements.
            Some(unsafe { words::narrow_shared(vectors, columns, len) })
        }
        WIDE_GROUP if isa.has_avx512() => {
            // SAFETY: likewise.
            Some(unsafe { words::wide_shared(vectors, columns, len) })
        }
        _ => None,
    }
}

/// The products of vectors with columns of elements that are stored as `S`; `None` as
/// [`ColumnSums::column_chains`] says.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn singles<S: words::Words, const W: usize, const N: usize>(
    isa: Isa,
    groups: [Columns<'_, f32, S>; N],
) -> Option<[[f32; W]; N]> {
    let len = groups.first()?.vector.len();
    let fits = |group: &Columns<'_, f32, S>| {
        let end = group.stride.checked_mul(W - 1).and_then(|last| last.checked_add(len));
        group.vector.len() == len && end.is_some_and(|end| end <= group.elements.len())
    };
    if !groups.iter().all(fits) {
        return None;
    }
    let are_scaled =
        |words| groups.iter().all(|group| are_scaled::<S>(group.scales, [len, W], words));
    match W {
        GROUP if isa.has_avx2() && are_scaled(words::NARROW_WORDS) => {
            // SAFETY: the instructions were detected, and all columns are in the elements.
            Some(unsafe { words::narrow(groups, len) })
        }
        WIDE_GROUP if isa.has_avx512() && are_scaled(WIDE_GROUP) => {
            // SAFETY: likewise.
            Some(unsafe { words::wide(groups, len) })
        }
        _ => None,
    }
}

macro_rules! column_sums {
    ($($stored:ident)*) => {$(
        #[cfg(target_arch = "x86_64")]
        impl ColumnSums<$stored> for f32 {
            #[inline(always)]
            fn column_chains<const W: usize, const N: usize>(
                isa: Isa,
                groups: [Columns<'_, f32, $stored>; N],
            ) -> Option<[[f32; W]; N]> {
                singles(isa, groups)
            }

            #[inline(always)]
            fn shared_chains<const W: usize, const M: usize>(
                isa: Isa,
                vectors: [&[f32]; M],
                columns: Columns<'_, f32, $stored>,
            ) -> Option<[[f32; W]; M]> {
                shared_singles(isa, vectors, columns)
            }

            const PER_WORD: usize = <$stored as words::Words>::PER_WORD;

            #[inline(always)]
            fn word_chains(
                isa: Isa,
                vector: &[f32],
                panels: PanelColumns<'_, i32>,
                scales: ColumnScales<'_, f32>,
                sums: &mut [f32],
            ) -> bool {
                packed::chains::<$stored>(isa, vector, panels, scales, sums)
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        impl ColumnSums<$stored> for f32 {}
    )*};
}

#[cfg(not(target_family = "wasm"))]
column_sums!(f32);
column_sums!(bf16 f16 i8 u8);
impl ColumnSums<f64> for f64 {}
impl ColumnSums<i32> for i32 {}
impl ColumnSums<i64> for i64 {}
impl ColumnSums<Complex32> for Complex32 {}
impl ColumnSums<Complex64> for Complex64 {}

#[cfg(target_arch = "x86_64")]
mod words {
    use super::{Columns, GROUP, WIDE_GROUP, bf16, f16};
    use crate::Widen;
    use crate::simd::prefetch_later;
    use std::arch::x86_64::*;

    /// Words of a column that are read at a time with AVX2.
    pub(crate) const NARROW_WORDS: usize = 4;

    /// An element whose vectors are read as words of 32 bits.
    ///
    /// # Safety
    /// Its size is that of `PER_WORD` parts of a word.
    pub(crate) unsafe trait Words: Copy + Widen<f32> {
        /// Elements in a word: at most four.
        const PER_WORD: usize;
        /// True if elements are multiplied with [`ColumnScales`](super::ColumnScales).
        const IS_SCALED: bool = false;

        /// Element `e` of each word, of which the lowest is the first. Its number is a constant
        /// where the function is inlined.
        ///
        /// # Safety
        /// The processor has AVX2.
        unsafe fn narrow(words: __m256i, e: usize) -> __m256;

        /// As [`Words::narrow`].
        ///
        /// # Safety
        /// The processor has AVX-512 F.
        unsafe fn wide(words: __m512i, e: usize) -> __m512;
    }

    // SAFETY: four bytes.
    unsafe impl Words for f32 {
        const PER_WORD: usize = 1;

        #[inline(always)]
        unsafe fn narrow(words: __m256i, _: usize) -> __m256 {
            // SAFETY: the caller says so.
            unsafe { _mm256_castsi256_ps(words) }
        }

        #[inline(always)]
        unsafe fn wide(words: __m512i, _: usize) -> __m512 {
            // SAFETY: likewise.
            unsafe { _mm512_castsi512_ps(words) }
        }
    }

    // SAFETY: two bytes. They are the upper half of an `f32`.
    unsafe impl Words for bf16 {
        const PER_WORD: usize = 2;

        #[inline(always)]
        unsafe fn narrow(words: __m256i, e: usize) -> __m256 {
            // SAFETY: the caller says so.
            unsafe {
                _mm256_castsi256_ps(match e {
                    0 => _mm256_slli_epi32::<16>(words),
                    _ => _mm256_and_si256(words, _mm256_set1_epi32(!0xFFFF)),
                })
            }
        }

        #[inline(always)]
        unsafe fn wide(words: __m512i, e: usize) -> __m512 {
            // SAFETY: likewise.
            unsafe {
                _mm512_castsi512_ps(match e {
                    0 => _mm512_slli_epi32::<16>(words),
                    _ => _mm512_and_si512(words, _mm512_set1_epi32(!0xFFFF)),
                })
            }
        }
    }

    // SAFETY: two bytes.
    unsafe impl Words for f16 {
        const PER_WORD: usize = 2;

        #[inline(always)]
        unsafe fn narrow(words: __m256i, e: usize) -> __m256 {
            // SAFETY: the caller says so.
            unsafe {
                // The sign, the exponent and the mantissa where an `f32` has them.
                let halves = match e {
                    0 => _mm256_slli_epi32::<16>(words),
                    _ => words,
                };
                let sign = _mm256_and_si256(halves, _mm256_set1_epi32(i32::MIN));
                let magnitude = _mm256_and_si256(
                    _mm256_srli_epi32::<3>(halves),
                    _mm256_set1_epi32(0x0FFF_E000),
                );
                let is_special =
                    _mm256_cmpgt_epi32(magnitude, _mm256_set1_epi32((0x7C00 << 13) - 1));
                let is_small = _mm256_cmpgt_epi32(_mm256_set1_epi32(1 << 23), magnitude);
                let bias = _mm256_set1_epi32(112 << 23);
                let normal = _mm256_add_epi32(magnitude, bias);
                // Infinities and NaNs have the greatest exponent there, too.
                let special = _mm256_and_si256(is_special, bias);
                let normal = _mm256_add_epi32(normal, special);
                // Subnormal numbers as the difference of two normal ones.
                let one = _mm256_set1_epi32(113 << 23);
                let small = _mm256_sub_ps(
                    _mm256_castsi256_ps(_mm256_add_epi32(magnitude, one)),
                    _mm256_castsi256_ps(one),
                );
                let magnitude = _mm256_blendv_ps(
                    _mm256_castsi256_ps(normal),
                    small,
                    _mm256_castsi256_ps(is_small),
                );
                _mm256_or_ps(magnitude, _mm256_castsi256_ps(sign))
            }
        }

        #[inline(always)]
        unsafe fn wide(words: __m512i, e: usize) -> __m512 {
            // SAFETY: the caller says so.
            unsafe {
                let halves = match e {
                    0 => words,
                    _ => _mm512_srli_epi32::<16>(words),
                };
                _mm512_cvtph_ps(_mm512_cvtepi32_epi16(halves))
            }
        }
    }

    macro_rules! integers {
        ($($ty:ident $right_256:ident $right_512:ident)*) => {$(
            // SAFETY: a whole number of them is a word.
            unsafe impl Words for $ty {
                const PER_WORD: usize = 4;
                const IS_SCALED: bool = true;

                #[inline(always)]
                unsafe fn narrow(words: __m256i, e: usize) -> __m256 {
                    // SAFETY: the caller says so.
                    unsafe {
                        // At the upper end of the word, and from there to the lower one.
                        let upper = match e {
                            0 => _mm256_slli_epi32::<24>(words),
                            1 => _mm256_slli_epi32::<16>(words),
                            2 => _mm256_slli_epi32::<8>(words),
                            _ => words,
                        };
                        _mm256_cvtepi32_ps($right_256::<24>(upper))
                    }
                }

                #[inline(always)]
                unsafe fn wide(words: __m512i, e: usize) -> __m512 {
                    // SAFETY: likewise.
                    unsafe {
                        let upper = match e {
                            0 => _mm512_slli_epi32::<24>(words),
                            1 => _mm512_slli_epi32::<16>(words),
                            2 => _mm512_slli_epi32::<8>(words),
                            _ => words,
                        };
                        _mm512_cvtepi32_ps($right_512::<24>(upper))
                    }
                }
            }
        )*};
    }

    integers! {
        i8 _mm256_srai_epi32 _mm512_srai_epi32
        u8 _mm256_srli_epi32 _mm512_srli_epi32
    }

    /// Adds products of elements from `k` on to chains, one by one.
    #[inline(always)]
    fn finish<S: Words, const W: usize, const N: usize>(
        chains: &mut [[f32; W]; N],
        groups: &[Columns<'_, f32, S>; N],
        k: usize,
    ) {
        for (chains, group) in chains.iter_mut().zip(groups) {
            for (column, chain) in chains.iter_mut().enumerate() {
                let elements = &group.elements[column * group.stride..];
                for (i, (factor, element)) in group.vector.iter().zip(elements).enumerate().skip(k)
                {
                    let element = match S::IS_SCALED {
                        true => {
                            let shift = group.scales.shifts_of_row(i).get(column).unwrap_or(&0.0);
                            (element.widen() + shift) * group.scales.of_row(i)[column]
                        }
                        false => element.widen(),
                    };
                    *chain = factor.mul_add(element, *chain);
                }
            }
        }
    }

    /// Four words of each of eight columns as rows.
    ///
    /// # Safety
    /// The processor has AVX2, and the columns have these elements.
    #[inline]
    #[target_feature(enable = "avx2,fma")]
    unsafe fn narrow_rows<S: Words>(
        first: *const S,
        stride: usize,
        next: Option<usize>,
    ) -> [__m256i; NARROW_WORDS] {
        // Four words of a column, and of that four columns further on.
        let pair = |column: usize| {
            let low = first.wrapping_add(column * stride);
            let high = low.wrapping_add(4 * stride);
            if let Some(next) = next {
                // The line of the columns that are read next.
                prefetch_later(low.wrapping_add(next));
                prefetch_later(high.wrapping_add(next));
            }
            // SAFETY: both columns have these elements.
            let [low, high] =
                unsafe { [_mm_loadu_ps(low.cast::<f32>()), _mm_loadu_ps(high.cast::<f32>())] };
            _mm256_insertf128_ps::<1>(_mm256_castps128_ps256(low), high)
        };
        let [a, b, c, d] = [pair(0), pair(1), pair(2), pair(3)];
        // Pairs of neighbouring columns: of their words 0 and 1, and 2 and 3.
        let halves = [
            [_mm256_unpacklo_ps(a, b), _mm256_unpacklo_ps(c, d)],
            [_mm256_unpackhi_ps(a, b), _mm256_unpackhi_ps(c, d)],
        ];
        let mut rows = [_mm256_setzero_si256(); NARROW_WORDS];
        for (i, half) in halves.into_iter().enumerate() {
            let [left, right] = half.map(|pair| _mm256_castps_pd(pair));
            let words = [_mm256_unpacklo_pd(left, right), _mm256_unpackhi_pd(left, right)];
            for (j, words) in words.into_iter().enumerate() {
                rows[2 * i + j] = _mm256_castpd_si256(words);
            }
        }
        rows
    }

    /// # Safety
    /// The processor has AVX2, vectors and columns have `len` elements, and there are [`GROUP`]
    /// columns.
    #[target_feature(enable = "avx2,fma")]
    pub(crate) unsafe fn narrow<S: Words, const W: usize, const N: usize>(
        groups: [Columns<'_, f32, S>; N],
        len: usize,
    ) -> [[f32; W]; N] {
        const { assert!(size_of::<S>() * S::PER_WORD == 4) }
        let step = NARROW_WORDS * S::PER_WORD;
        let mut sums = [_mm256_setzero_ps(); N];
        let mut k = 0;
        while k + step <= len {
            for (sum, group) in sums.iter_mut().zip(&groups) {
                let first = group.elements.as_ptr().wrapping_add(k);
                let next = k.is_multiple_of(4 * step).then_some(group.next);
                // SAFETY: the columns have these elements.
                let rows = unsafe { narrow_rows(first, group.stride, next) };
                let (mut scales, mut shifts) = (_mm256_setzero_ps(), _mm256_setzero_ps());
                if S::IS_SCALED {
                    // SAFETY: `are_scaled` has checked that each row has `W` scales.
                    scales = unsafe { _mm256_loadu_ps(group.scales.of_row(k).as_ptr()) };
                    let row = group.scales.shifts_of_row(k);
                    if !row.is_empty() {
                        // SAFETY: it has as many shifts, if any.
                        shifts = unsafe { _mm256_loadu_ps(row.as_ptr()) };
                    }
                }
                for (word, row) in rows.into_iter().enumerate() {
                    for e in 0..S::PER_WORD {
                        let at = k + S::PER_WORD * word + e;
                        // SAFETY: this function has the instructions.
                        let mut elements = unsafe { S::narrow(row, e) };
                        if S::IS_SCALED {
                            elements = _mm256_mul_ps(_mm256_add_ps(elements, shifts), scales);
                        }
                        // SAFETY: there are at least `step` elements from `k` on.
                        let factor = unsafe { *group.vector.get_unchecked(at) };
                        *sum = _mm256_fmadd_ps(_mm256_set1_ps(factor), elements, *sum);
                    }
                }
            }
            k += step;
        }
        let mut chains = [[0.0; W]; N];
        for (chains, sum) in chains.iter_mut().zip(sums) {
            chains.copy_from_slice(&bytemuck::cast::<__m256, [f32; GROUP]>(sum));
        }
        finish(&mut chains, &groups, k);
        chains
    }

    /// As [`narrow`], of several vectors with the same columns.
    ///
    /// # Safety
    /// As there.
    #[target_feature(enable = "avx2,fma")]
    pub(crate) unsafe fn narrow_shared<S: Words, const W: usize, const M: usize>(
        vectors: [&[f32]; M],
        columns: Columns<'_, f32, S>,
        len: usize,
    ) -> [[f32; W]; M] {
        const { assert!(size_of::<S>() * S::PER_WORD == 4) }
        let step = NARROW_WORDS * S::PER_WORD;
        let mut sums = [_mm256_setzero_ps(); M];
        let mut k = 0;
        while k + step <= len {
            let first = columns.elements.as_ptr().wrapping_add(k);
            let next = k.is_multiple_of(4 * step).then_some(columns.next);
            // SAFETY: the columns have these elements.
            let rows = unsafe { narrow_rows(first, columns.stride, next) };
            for (word, row) in rows.into_iter().enumerate() {
                for e in 0..S::PER_WORD {
                    let at = k + S::PER_WORD * word + e;
                    // SAFETY: this function has the instructions.
                    let elements = unsafe { S::narrow(row, e) };
                    for (sum, vector) in sums.iter_mut().zip(vectors) {
                        // SAFETY: there are at least `step` elements from `k` on.
                        let factor = unsafe { *vector.get_unchecked(at) };
                        *sum = _mm256_fmadd_ps(_mm256_set1_ps(factor), elements, *sum);
                    }
                }
            }
            k += step;
        }
        let mut chains = [[0.0; W]; M];
        for (chains, sum) in chains.iter_mut().zip(sums) {
            chains.copy_from_slice(&bytemuck::cast::<__m256, [f32; GROUP]>(sum));
        }
        finish(&mut chains, &vectors.map(|vector| Columns { vector, ..columns }), k);
        chains
    }

    /// The words of 16 columns as rows.
    ///
    /// # Safety
    /// The processor has AVX-512 F, and the columns have these words.
    #[inline]
    #[target_feature(enable = "avx512f")]
    unsafe fn wide_rows<S: Words>(first: *const S, stride: usize, next: usize) -> [__m512i; 16] {
        let mut columns = [_mm512_setzero_si512(); WIDE_GROUP];
        for (column, words) in columns.iter_mut().enumerate() {
            let at = first.wrapping_add(column * stride);
            // The columns that are read next.
            prefetch_later(at.wrapping_add(next));
            // SAFETY: the column has these elements.
            *words = unsafe { _mm512_loadu_si512(at.cast()) };
        }
        transposed(columns)
    }

    /// # Safety
    /// The processor has AVX-512 F, vectors and columns have `len` elements, and there are
    /// [`WIDE_GROUP`] columns.
    #[target_feature(enable = "avx512f")]
    pub(crate) unsafe fn wide<S: Words, const W: usize, const N: usize>(
        groups: [Columns<'_, f32, S>; N],
        len: usize,
    ) -> [[f32; W]; N] {
        const { assert!(size_of::<S>() * S::PER_WORD == 4) }
        let step = WIDE_GROUP * S::PER_WORD;
        let mut sums = [_mm512_setzero_ps(); N];
        let mut k = 0;
        while k + step <= len {
            let mut rows = [[_mm512_setzero_si512(); WIDE_GROUP]; N];
            let mut scales = [[_mm512_setzero_ps(); 2]; N];
            for ((rows, scales), group) in rows.iter_mut().zip(&mut scales).zip(&groups) {
                let first = group.elements.as_ptr().wrapping_add(k);
                // SAFETY: the columns have these elements.
                *rows = unsafe { wide_rows(first, group.stride, group.next) };
                if S::IS_SCALED {
                    // SAFETY: `are_scaled` has checked that each row has `W` scales.
                    scales[0] = unsafe { _mm512_loadu_ps(group.scales.of_row(k).as_ptr()) };
                    let row = group.scales.shifts_of_row(k);
                    if !row.is_empty() {
                        // SAFETY: it has as many shifts, if any.
                        scales[1] = unsafe { _mm512_loadu_ps(row.as_ptr()) };
                    }
                }
            }
            // The chains in turn, as each step waits for the one before.
            for word in 0..WIDE_GROUP {
                for e in 0..S::PER_WORD {
                    let at = k + S::PER_WORD * word + e;
                    for (((sum, group), rows), [scales, shifts]) in
                        sums.iter_mut().zip(&groups).zip(&rows).zip(scales)
                    {
                        // SAFETY: this function has the instructions.
                        let mut elements = unsafe { S::wide(rows[word], e) };
                        if S::IS_SCALED {
                            elements = _mm512_mul_ps(_mm512_add_ps(elements, shifts), scales);
                        }
                        // SAFETY: there are at least `step` elements from `k` on.
                        let factor = unsafe { *group.vector.get_unchecked(at) };
                        *sum = _mm512_fmadd_ps(_mm512_set1_ps(factor), elements, *sum);
                    }
                }
            }
            k += step;
        }
        let mut chains = [[0.0; W]; N];
        for (chains, sum) in chains.iter_mut().zip(sums) {
            chains.copy_from_slice(&bytemuck::cast::<__m512, [f32; WIDE_GROUP]>(sum));
        }
        finish(&mut chains, &groups, k);
        chains
    }

    /// As [`wide`], of several vectors with the same columns.
    ///
    /// # Safety
    /// As there.
    #[target_feature(enable = "avx512f")]
    pub(crate) unsafe fn wide_shared<S: Words, const W: usize, const M: usize>(
        vectors: [&[f32]; M],
        columns: Columns<'_, f32, S>,
        len: usize,
    ) -> [[f32; W]; M] {
        const { assert!(size_of::<S>() * S::PER_WORD == 4) }
        let step = WIDE_GROUP * S::PER_WORD;
        let mut sums = [_mm512_setzero_ps(); M];
        let mut k = 0;
        while k + step <= len {
            let first = columns.elements.as_ptr().wrapping_add(k);
            // SAFETY: the columns have these elements.
            let rows = unsafe { wide_rows(first, columns.stride, columns.next) };
            for (word, row) in rows.into_iter().enumerate() {
                for e in 0..S::PER_WORD {
                    let at = k + S::PER_WORD * word + e;
                    // SAFETY: this function has the instructions.
                    let elements = unsafe { S::wide(row, e) };
                    for (sum, vector) in sums.iter_mut().zip(vectors) {
                        // SAFETY: there are at least `step` elements from `k` on.
                        let factor = unsafe { *vector.get_unchecked(at) };
                        *sum = _mm512_fmadd_ps(_mm512_set1_ps(factor), elements, *sum);
                    }
                }
            }
            k += step;
        }
        let mut chains = [[0.0; W]; M];
        for (chains, sum) in chains.iter_mut().zip(sums) {
            chains.copy_from_slice(&bytemuck::cast::<__m512, [f32; WIDE_GROUP]>(sum));
        }
        finish(&mut chains, &vectors.map(|vector| Columns { vector, ..columns }), k);
        chains
    }

    /// The words of 16 columns as 16 rows.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn transposed(columns: [__m512i; 16]) -> [__m512i; 16] {
        let mut pairs = columns;
        for i in 0..8 {
            let [a, b] = [columns[2 * i], columns[2 * i + 1]];
            pairs[2 * i] = _mm512_unpacklo_epi32(a, b);
            pairs[2 * i + 1] = _mm512_unpackhi_epi32(a, b);
        }
        // In each lane, a word of four columns.
        let mut quads = pairs;
        for i in 0..4 {
            for j in 0..2 {
                let [a, b] = [pairs[4 * i + j], pairs[4 * i + 2 + j]];
                quads[4 * i + 2 * j] = _mm512_unpacklo_epi64(a, b);
                quads[4 * i + 2 * j + 1] = _mm512_unpackhi_epi64(a, b);
            }
        }
        let mut rows = quads;
        for i in 0..4 {
            let [a, b, c, d] = [quads[i], quads[4 + i], quads[8 + i], quads[12 + i]];
            let even = [_mm512_shuffle_i32x4::<0x88>(a, b), _mm512_shuffle_i32x4::<0x88>(c, d)];
            let odd = [_mm512_shuffle_i32x4::<0xDD>(a, b), _mm512_shuffle_i32x4::<0xDD>(c, d)];
            rows[i] = _mm512_shuffle_i32x4::<0x88>(even[0], even[1]);
            rows[4 + i] = _mm512_shuffle_i32x4::<0x88>(odd[0], odd[1]);
            rows[8 + i] = _mm512_shuffle_i32x4::<0xDD>(even[0], even[1]);
            rows[12 + i] = _mm512_shuffle_i32x4::<0xDD>(odd[0], odd[1]);
        }
        rows
    }
}
