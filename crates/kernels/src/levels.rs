//! Trees over neighbours, as [`sums`](super::sums) defines them, level by level.

use super::sums::{BLOCK, LANES, TINY};
use numerics::Element;

/// Combines each part of `len` neighbouring elements, level by level of the trees of all parts:
/// neighbours, and then neighbours of the results. There are at most [`BLOCK`] elements, each part
/// of an odd number of them counted as one longer.
#[inline(always)]
pub(super) fn combine_parts<'a, T: Element>(
    elements: &'a [T],
    mut len: usize,
    f: impl Fn(T, T) -> T + Copy,
    levels: &'a mut [[T; BLOCK / 2]; 2],
) -> &'a [T] {
    if len == 1 {
        return elements;
    }
    let parts = elements.len() / len;
    let [mut from, mut to] = levels.each_mut();
    let mut is_first = true;
    while len > 1 {
        let level = if is_first { elements } else { &from[..parts * len] };
        let next = if len <= TINY { 1 } else { len.div_ceil(2) };
        let out = &mut to[..parts * next];
        match len {
            3 => combine_tiny(level, |[x, y, z]| f(f(x, y), z), out),
            4 => combine_tiny(level, |[x, y, z, w]| f(f(x, y), f(z, w)), out),
            _ => {
                // All parts together, unless an element of each waits.
                let is_even = len.is_multiple_of(2);
                let [from, to] = if is_even { [level.len(), out.len()] } else { [len, next] };
                for (part, out) in level.chunks_exact(from).zip(out.chunks_exact_mut(to)) {
                    combine_neighbours(part, f, out);
                }
            }
        }
        std::mem::swap(&mut from, &mut to);
        (len, is_first) = (next, false);
    }
    &from[..parts]
}

/// Combines each part of `N` elements, many of them side by side.
#[inline(always)]
fn combine_tiny<T: Element, const N: usize>(
    elements: &[T],
    combine: impl Fn([T; N]) -> T,
    out: &mut [T],
) {
    let (many, rest) = out.as_chunks_mut::<LANES>();
    let (parts, _) = elements.as_chunks::<N>();
    let (blocks, rest_parts) = parts.as_chunks::<LANES>();
    for (out, block) in many.iter_mut().zip(blocks) {
        // Without a branch or a call in between, so that they become vectors.
        for (out, &part) in out.iter_mut().zip(block) {
            *out = combine(part);
        }
    }
    for (out, &part) in rest.iter_mut().zip(rest_parts) {
        *out = combine(part);
    }
}

/// Combines neighbours; an element without one waits.
#[inline(always)]
fn combine_neighbours<T: Element>(elements: &[T], f: impl Fn(T, T) -> T, out: &mut [T]) {
    let (pairs, rest) = elements.as_chunks::<2>();
    for (out, [x, y]) in out.iter_mut().zip(pairs) {
        *out = f(*x, *y);
    }
    if let ([x], Some(out)) = (rest, out.get_mut(pairs.len())) {
        *out = *x;
    }
}
