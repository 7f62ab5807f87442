//! Elements read at equal distances, or read and written in a small pattern again and again, by
//! permutations of vectors of AVX-512.

#[cfg(target_arch = "x86_64")]
use super::Isa;
use crate::dispatch::by_size;
use bytemuck::{Pod, cast_slice, cast_slice_mut};

/// Maximum number of elements of a pattern.
pub const PATTERN: usize = 64;

/// Fills `out` with elements of `source` that are `stride` apart, from its first one on.
///
/// # Panics
/// If there are fewer, or `stride` is zero.
pub fn read_strided<T: Pod>(source: &[T], stride: usize, out: &mut [T]) {
    by_size!(T, read_plain(cast_slice(source), stride, cast_slice_mut(out)));
}

/// As [`read_strided`], compiled once for all crates.
#[inline(never)]
fn read_plain<T: Pod>(source: &[T], stride: usize, out: &mut [T]) {
    #[cfg(target_arch = "x86_64")]
    let done = vectors::strided(source, stride, out);
    #[cfg(not(target_arch = "x86_64"))]
    let done = 0;
    let out = &mut out[done..];
    if out.is_empty() {
        return;
    }
    let source = &source[done * stride..];
    match stride {
        2 => read_columns::<T, 2>(source, out),
        3 => read_columns::<T, 3>(source, out),
        4 => read_columns::<T, 4>(source, out),
        _ => {
            let elements = source[..=(out.len() - 1) * stride].iter().step_by(stride);
            out.iter_mut().zip(elements).for_each(|(element, &x)| *element = x);
        }
    }
}

/// Reads elements that are `N` apart.
#[inline]
fn read_columns<T: Pod, const N: usize>(source: &[T], out: &mut [T]) {
    let Some((last, others)) = out.split_last_mut() else { return };
    *last = source[others.len() * N];
    for (element, row) in others.iter_mut().zip(source.as_chunks::<N>().0) {
        *element = row[0];
    }
}

/// The number of elements from which [`read_patterns`] reads a pattern at once; 0 where there are
/// no instructions for it.
pub fn pattern_reach<T>() -> usize {
    #[cfg(target_arch = "x86_64")]
    return vectors::pattern_reach::<T>();
    #[cfg(not(target_arch = "x86_64"))]
    0
}

/// Fills the beginning of `out` with patterns of elements: each has, from a position on, the
/// elements at these `places`, which are less than [`pattern_reach`]; the first position is `first`
/// and each next one `distance` further. Returns the number of whole patterns that it has written:
/// not all of them where vectors would reach beyond the elements.
pub fn read_patterns<T: Pod>(
    source: &[T],
    (first, distance): (usize, isize),
    places: &[usize],
    out: &mut [T],
) -> usize {
    #[cfg(target_arch = "x86_64")]
    return vectors::patterns(source, (first, distance), places, out);
    #[cfg(not(target_arch = "x86_64"))]
    {
        let _ = (source, first, distance, places, out);
        0
    }
}

/// Writes patterns of elements in order: each to these `places` from a position on, which are less
/// than [`pattern_reach`]; the first position is `first` and each next one `distance`
/// further. Returns the number of whole patterns that it has written: not all of them where vectors
/// would reach beyond the elements.
pub fn write_patterns<T: Pod>(
    source: &[T],
    target: &mut [T],
    (first, distance): (usize, isize),
    places: &[usize],
) -> usize {
    #[cfg(target_arch = "x86_64")]
    return vectors::written(source, target, (first, distance), places);
    #[cfg(not(target_arch = "x86_64"))]
    {
        let _ = (source, target, first, distance, places);
        0
    }
}

#[cfg(target_arch = "x86_64")]
mod vectors {
    use super::{Isa, PATTERN};
    use bytemuck::Pod;
    use std::array::from_fn;

    /// The number of elements of a vector, if there are instructions that permute them.
    pub(super) fn pattern_reach<T>() -> usize {
        let isa = Isa::best();
        match size_of::<T>() {
            1 if isa.has_avx512() && is_x86_feature_detected!("avx512vbmi") => 64,
            size @ (2 | 4 | 8) if isa.has_avx512() => 64 / size,
            _ => 0,
        }
    }

    /// As [`super::read_strided`], for the first elements; returns how many these are.
    pub(super) fn strided<T: Pod>(source: &[T], stride: usize, out: &mut [T]) -> usize {
        let lanes = pattern_reach::<T>();
        // Vectors are read for a few elements each.
        if out.len() < lanes || !(1..=lanes / 2).contains(&stride) {
            return 0;
        }
        // SAFETY: there are instructions for elements of this size.
        unsafe {
            match size_of::<T>() {
                1 => in_words(source, out, |source, out| bytes::strided(source, stride, out)),
                2 => in_words(source, out, |source, out| halves::strided(source, stride, out)),
                4 => in_words(source, out, |source, out| words::strided(source, stride, out)),
                _ => in_words(source, out, |source, out| doubles::strided(source, stride, out)),
            }
        }
    }

    /// As [`super::read_patterns`].
    pub(super) fn patterns<T: Pod>(
        source: &[T],
        (first, distance): (usize, isize),
        places: &[usize],
        out: &mut [T],
    ) -> usize {
        let lanes = pattern_reach::<T>();
        let Some((together, all)) = in_reach(places, distance, [lanes, PATTERN]) else { return 0 };
        let all = &all[..together * places.len()];
        let start = (first, distance.wrapping_mul(together as isize));
        // SAFETY: there are instructions for elements of this size.
        let done = unsafe {
            match size_of::<T>() {
                1 => in_words(source, out, |source, out| bytes::patterns(source, start, all, out)),
                2 => in_words(source, out, |source, out| halves::patterns(source, start, all, out)),
                4 => in_words(source, out, |source, out| words::patterns(source, start, all, out)),
                _ => {
                    in_words(source, out, |source, out| doubles::patterns(source, start, all, out))
                }
            }
        };
        done * together
    }

    /// As [`super::write_patterns`].
    pub(super) fn written<T: Pod>(
        source: &[T],
        target: &mut [T],
        (first, distance): (usize, isize),
        places: &[usize],
    ) -> usize {
        let lanes = pattern_reach::<T>();
        let Some((together, all)) = in_reach(places, distance, [lanes, lanes]) else { return 0 };
        let all = &all[..together * places.len()];
        let start = (first, distance.wrapping_mul(together as isize));
        // SAFETY: there are instructions for elements of this size.
        let done = unsafe {
            match size_of::<T>() {
                1 => in_words(source, target, |from, to| bytes::written(from, to, start, all)),
                2 => in_words(source, target, |from, to| halves::written(from, to, start, all)),
                4 => in_words(source, target, |from, to| words::written(from, to, start, all)),
                _ => in_words(source, target, |from, to| doubles::written(from, to, start, all)),
            }
        };
        done * together
    }

    /// The number of patterns, of at most `most` elements together, that are in reach of one vector
    /// of `lanes` elements, and their places; `None` if the first is not.
    fn in_reach(
        places: &[usize],
        distance: isize,
        [lanes, most]: [usize; 2],
    ) -> Option<(usize, [usize; PATTERN])> {
        let last = places.iter().max().filter(|&&last| last < lanes)?;
        let most = most.checked_div(places.len()).filter(|&most| most > 0)?;
        let mut together = 1;
        if let Ok(distance) = usize::try_from(distance) {
            together += (lanes - 1 - last).checked_div(distance).unwrap_or(most);
            together = together.min(most);
        }
        let mut all = [0; PATTERN];
        for (number, all) in all.chunks_exact_mut(places.len()).take(together).enumerate() {
            let from = number * distance.unsigned_abs();
            all.iter_mut().zip(places).for_each(|(to, place)| *to = from + place);
        }
        Some((together, all))
    }

    /// Calls a function with elements as integers of their size; 0 if they are not aligned as such.
    fn in_words<T: Pod, W: Pod>(
        source: &[T],
        out: &mut [T],
        call: impl FnOnce(&[W], &mut [W]) -> usize,
    ) -> usize {
        match (bytemuck::try_cast_slice(source), bytemuck::try_cast_slice_mut(out)) {
            (Ok(source), Ok(out)) => call(source, out),
            _ => 0,
        }
    }

    /// The functions for elements that are integers of a type, with the masks and the instruction
    /// for them.
    macro_rules! permuted {
        (
            $module:ident, $features:literal, $word:ty, $lanes:literal, $mask:ty,
            $permute:ident, $store:ident
        ) => {
            mod $module {
                use super::{PATTERN, from_fn};
                use std::arch::x86_64::*;

                /// Elements of a vector.
                const LANES: usize = $lanes;

                #[target_feature(enable = $features)]
                fn read(lanes: &[$word; LANES]) -> __m512i {
                    // SAFETY: the elements fill a vector.
                    unsafe { _mm512_loadu_si512(lanes.as_ptr().cast()) }
                }

                #[target_feature(enable = $features)]
                fn write(vector: __m512i, lanes: &mut [$word; LANES]) {
                    // SAFETY: a vector fills the elements.
                    unsafe { _mm512_storeu_si512(lanes.as_mut_ptr().cast(), vector) }
                }

                /// Elements that are `stride` apart, as long as whole vectors are there.
                #[target_feature(enable = $features)]
                pub(super) fn strided(source: &[$word], stride: usize, out: &mut [$word]) -> usize {
                    // The place of each element in its vector, and the elements of each vector.
                    let places = read(&from_fn(|lane| (lane * stride % LANES) as $word));
                    let mut masks: [$mask; LANES / 2] = [0; LANES / 2];
                    (0..LANES).for_each(|lane| masks[lane * stride / LANES] |= 1 << lane);
                    let mut done = 0;
                    let blocks = source.chunks_exact(LANES * stride);
                    for (out, block) in out.as_chunks_mut().0.iter_mut().zip(blocks) {
                        let mut lanes = _mm512_setzero_si512();
                        for (vector, &mask) in block.as_chunks().0.iter().zip(&masks) {
                            lanes = $permute(lanes, mask, places, read(vector));
                        }
                        write(lanes, out);
                        done += LANES;
                    }
                    done
                }

                /// Whole patterns, as long as whole vectors are there. The last vector of one
                /// writes some elements of the next.
                #[target_feature(enable = $features)]
                pub(super) fn patterns(
                    source: &[$word],
                    (first, distance): (usize, isize),
                    places: &[usize],
                    out: &mut [$word],
                ) -> usize {
                    let vectors = places.len().div_ceil(LANES);
                    let mut indices = [_mm512_setzero_si512(); PATTERN / LANES];
                    for (indices, places) in indices.iter_mut().zip(places.chunks(LANES)) {
                        let place = |lane: usize| places.get(lane).map_or(0, |&at| at as $word);
                        *indices = read(&from_fn(place));
                    }
                    let (mut position, mut done) = (first, 0);
                    let last = source.len().wrapping_sub(LANES);
                    let mut out = &mut out[..];
                    while position <= last && last < source.len() && out.len() >= vectors * LANES {
                        let (all, vector) = (<$mask>::MAX, source[position..].first_chunk());
                        let Some(vector) = vector.map(|lanes| read(lanes)) else { break };
                        for (to, &indices) in
                            out.as_chunks_mut().0.iter_mut().zip(&indices[..vectors])
                        {
                            write($permute(vector, all, indices, vector), to);
                        }
                        done += 1;
                        position = position.wrapping_add_signed(distance);
                        out = &mut out[places.len()..];
                    }
                    done
                }

                /// Whole patterns that fit into a vector, as long as whole vectors are there.
                #[target_feature(enable = $features)]
                pub(super) fn written(
                    mut source: &[$word],
                    target: &mut [$word],
                    (first, distance): (usize, isize),
                    places: &[usize],
                ) -> usize {
                    // The element for each lane, and the lanes that are written.
                    let (mut elements, mut mask): ([$word; LANES], $mask) = ([0; LANES], 0);
                    for (element, &place) in places.iter().enumerate() {
                        elements[place] = element as $word;
                        mask |= 1 << place;
                    }
                    let (all, elements) = (<$mask>::MAX, read(&elements));
                    let (mut position, mut done) = (first, 0);
                    while let (Some(vector), Some(room)) = (
                        source.first_chunk().map(|lanes| read(lanes)),
                        target.get_mut(position..).and_then(|rest| rest.first_chunk_mut::<LANES>()),
                    ) {
                        let lanes = $permute(vector, all, elements, vector);
                        // SAFETY: there is room for a vector.
                        unsafe { $store(room.as_mut_ptr().cast(), mask, lanes) };
                        done += 1;
                        position = position.wrapping_add_signed(distance);
                        source = &source[places.len()..];
                    }
                    done
                }
            }
        };
    }

    permuted! {
        bytes, "avx512vbmi,avx512bw", u8, 64, __mmask64,
        _mm512_mask_permutexvar_epi8, _mm512_mask_storeu_epi8
    }
    permuted! {
        halves, "avx512bw", u16, 32, __mmask32,
        _mm512_mask_permutexvar_epi16, _mm512_mask_storeu_epi16
    }
    permuted! {
        words, "avx512f", u32, 16, __mmask16,
        _mm512_mask_permutexvar_epi32, _mm512_mask_storeu_epi32
    }
    permuted! {
        doubles, "avx512f", u64, 8, __mmask8,
        _mm512_mask_permutexvar_epi64, _mm512_mask_storeu_epi64
    }
}
