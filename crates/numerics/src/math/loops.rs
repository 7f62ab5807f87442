//! Loops of functions over elements, as kernels run them.

use super::double_lanes::{Rounded, nearest};
use super::lanes::one_nan;
use super::single::Inlined;
use super::unary::RealFunction;
use crate::Element;
use crate::simd::{Isa, Kernel};
use std::marker::PhantomData;

/// Runs a loop over elements of a type, with the widest instructions where there are many that
/// compute with it. The condition is a constant: a loop over other types is compiled once.
#[inline(always)]
pub(super) fn run<T: Element>(kernel: impl Kernel) {
    if const { T::DTYPE.is_vectorized() } {
        Isa::best().run(kernel);
    } else {
        kernel.run();
    }
}

pub(super) struct InPlaceLoop<'a, T, F> {
    pub(super) elements: &'a mut [T],
    pub(super) f: &'a F,
}

impl<T: Element, F: Fn(T) -> T> Kernel for InPlaceLoop<'_, T, F> {
    #[inline(always)]
    fn run(self) {
        for x in self.elements {
            *x = (self.f)(*x);
        }
    }

    fn run_shared(self) {
        #[inline(never)]
        fn run<T: Element>(kernel: InPlaceLoop<'_, T, &dyn Fn(T) -> T>) {
            kernel.run();
        }
        let InPlaceLoop { elements, f } = self;
        let f: &dyn Fn(T) -> T = f;
        run(InPlaceLoop { elements, f: &f });
    }
}

pub(super) struct OneLoop<'a, T, R, F> {
    pub(super) results: &'a mut [R],
    pub(super) xs: &'a [T],
    pub(super) f: &'a F,
}

impl<T: Element, R: Element, F: Fn(T) -> R> Kernel for OneLoop<'_, T, R, F> {
    #[inline(always)]
    fn run(self) {
        for (result, &x) in self.results.iter_mut().zip(self.xs) {
            *result = (self.f)(x);
        }
    }

    fn run_shared(self) {
        #[inline(never)]
        fn run<T: Element, R: Element>(kernel: OneLoop<'_, T, R, &dyn Fn(T) -> R>) {
            kernel.run();
        }
        let OneLoop { results, xs, f } = self;
        let f: &dyn Fn(T) -> R = f;
        run(OneLoop { results, xs, f: &f });
    }
}

/// [`InPlaceLoop`] by a function that is inlined.
pub(super) struct InlinedLoop<'a, T, F> {
    pub(super) elements: &'a mut [T],
    pub(super) function: PhantomData<F>,
}

impl<T: Element, F: Inlined<T, 1>> Kernel for InlinedLoop<'_, T, F> {
    #[inline(always)]
    fn run(self) {
        for x in self.elements {
            *x = F::of([*x]);
        }
    }

    fn run_shared(self) {
        InPlaceLoop { elements: self.elements, f: &|x: T| F::of([x]) }.run_shared();
    }
}

/// [`InlinedLoop`] from one memory to another for elements that are easy, and another function for
/// the rest.
pub(super) struct EasyLoop<'a, F, E, G> {
    pub(super) results: &'a mut [f32],
    pub(super) xs: &'a [f32],
    pub(super) function: PhantomData<F>,
    pub(super) easy: &'a E,
    pub(super) other: &'a G,
}

impl<F: Inlined<f32, 1>, E: Fn(f32) -> bool, G: Fn(f32) -> f32> Kernel for EasyLoop<'_, F, E, G> {
    #[inline(always)]
    fn run(self) {
        let EasyLoop { results, xs, easy, other, .. } = self;
        for (result, &x) in results.iter_mut().zip(xs) {
            *result = F::of([x]);
        }
        if xs.iter().fold(true, |all, &x| all & easy(x)) {
            return;
        }
        for (result, &x) in results.iter_mut().zip(xs) {
            if !easy(x) {
                *result = other(x);
            }
        }
    }

    fn run_shared(self) {
        let EasyLoop { results, xs, easy, other, .. } = self;
        let f = |x| if easy(x) { F::of([x]) } else { other(x) };
        OneLoop { results, xs, f: &f }.run_shared();
    }
}

/// Results at a time in memory of the loop itself. A loop that reads a table and writes to memory
/// that it does not know is no loop of vectors.
const ROUNDED: usize = 256;

/// The numbers, or a copy in which NaN replaces subnormal ones: arithmetic with these takes a
/// hundred times as long as with others, longer than the fallback of a function.
#[inline(always)]
fn without_subnormals<'a>(xs: &'a [f64], copy: &'a mut [f64; ROUNDED]) -> &'a [f64] {
    let is_subnormal = |x: f64| x.abs().to_bits().wrapping_sub(1) < f64::MIN_POSITIVE.to_bits() - 1;
    if !xs.iter().fold(false, |any, &x| any | is_subnormal(x)) {
        return xs;
    }
    let copy = &mut copy[..xs.len()];
    for (other, &x) in copy.iter_mut().zip(xs) {
        *other = if is_subnormal(x) { f64::NAN } else { x };
    }
    copy
}

/// From this number of unknown results of a block on, the known ones outside of the range of the
/// faster form are looked for in vectors.
const MANY: u64 = 8;

/// Number of results that are unknown.
#[inline(always)]
fn count_unknown(block: &[f64]) -> u64 {
    block.iter().fold(0, |count, result| count + u64::from(result.is_nan()))
}

/// The result, or what is known of it without the faster form of a function, and counts it
/// as `unknown` if that is nothing.
#[inline(always)]
fn known(result: f64, outside: Option<f64>, unknown: &mut u64) -> f64 {
    *unknown += u64::from(result.is_nan() & outside.is_none());
    if result.is_nan() { outside.unwrap_or(f64::NAN) } else { result }
}

/// A loop by the faster form of a function, and by a fallback where that leaves the result open.
pub(super) struct RoundedLoop<'a, F> {
    pub(super) results: &'a mut [f64],
    pub(super) xs: &'a [f64],
    pub(super) function: PhantomData<F>,
    /// The exact form, or one that is precise enough for the type to which results are converted.
    pub(super) fallback: RealFunction,
}

impl<F: Rounded<1>> Kernel for RoundedLoop<'_, F> {
    const IS_WIDE: bool = true;

    #[inline(always)]
    fn run(self) {
        let RoundedLoop { results, xs, fallback, .. } = self;
        for (results, xs) in results.chunks_mut(ROUNDED).zip(xs.chunks(ROUNDED)) {
            let mut block = [0.0; ROUNDED];
            let block = &mut block[..xs.len()];
            let mut others = [0.0; ROUNDED];
            for (result, &x) in block.iter_mut().zip(without_subnormals(xs, &mut others)) {
                *result = nearest(F::near([x]), F::ERROR);
            }
            let mut unknown = count_unknown(block);
            if unknown >= MANY {
                unknown = 0;
                for (result, &x) in block.iter_mut().zip(xs) {
                    *result = known(*result, F::outside([x]), &mut unknown);
                }
            }
            if F::RESCALES && unknown >= MANY {
                for (result, &x) in block.iter_mut().zip(xs) {
                    *result = known(*result, F::rescaled([x]), &mut 0);
                }
                unknown = count_unknown(block);
            }
            if unknown > 0 {
                for (result, &x) in block.iter_mut().zip(xs) {
                    if result.is_nan() {
                        *result = one_nan(x, fallback(x));
                    }
                }
            }
            results.copy_from_slice(block);
        }
    }

    fn run_baseline(self) {
        let f = |x| one_nan(x, (self.fallback)(x));
        OneLoop { results: self.results, xs: self.xs, f: &f }.run_shared();
    }
}

pub(super) struct TwoLoop<'a, T, R, F> {
    pub(super) results: &'a mut [R],
    pub(super) operands: [&'a [T]; 2],
    pub(super) f: &'a F,
}

impl<T: Element, R: Element, F: Fn(T, T) -> R> Kernel for TwoLoop<'_, T, R, F> {
    #[inline(always)]
    fn run(self) {
        let [xs, ys] = self.operands;
        for ((result, &x), &y) in self.results.iter_mut().zip(xs).zip(ys) {
            *result = (self.f)(x, y);
        }
    }

    fn run_shared(self) {
        #[inline(never)]
        fn run<T: Element, R: Element>(kernel: TwoLoop<'_, T, R, &dyn Fn(T, T) -> R>) {
            kernel.run();
        }
        let TwoLoop { results, operands, f } = self;
        let f: &dyn Fn(T, T) -> R = f;
        run(TwoLoop { results, operands, f: &f });
    }
}

/// As [`InlinedLoop`], of two numbers.
pub(super) struct InlinedPairLoop<'a, T, F> {
    pub(super) results: &'a mut [T],
    pub(super) operands: [&'a [T]; 2],
    pub(super) function: PhantomData<F>,
}

impl<T: Element, F: Inlined<T, 2>> Kernel for InlinedPairLoop<'_, T, F> {
    #[inline(always)]
    fn run(self) {
        let [xs, ys] = self.operands;
        for ((result, &x), &y) in self.results.iter_mut().zip(xs).zip(ys) {
            *result = F::of([x, y]);
        }
    }

    fn run_shared(self) {
        let InlinedPairLoop { results, operands, .. } = self;
        TwoLoop { results, operands, f: &|x: T, y: T| F::of([x, y]) }.run_shared();
    }
}

/// As [`RoundedLoop`], of two numbers.
pub(super) struct RoundedPairLoop<'a, F> {
    pub(super) results: &'a mut [f64],
    pub(super) operands: [&'a [f64]; 2],
    pub(super) function: PhantomData<F>,
}

impl<F: Rounded<2>> Kernel for RoundedPairLoop<'_, F> {
    const IS_WIDE: bool = true;

    #[inline(always)]
    fn run(self) {
        let RoundedPairLoop { results, operands: [xs, ys], .. } = self;
        let operands = xs.chunks(ROUNDED).zip(ys.chunks(ROUNDED));
        for (results, (xs, ys)) in results.chunks_mut(ROUNDED).zip(operands) {
            let mut block = [0.0; ROUNDED];
            let block = &mut block[..xs.len()];
            let mut others = [[0.0; ROUNDED]; 2];
            let [easy_xs, easy_ys] = {
                let [x, y] = &mut others;
                [without_subnormals(xs, x), without_subnormals(ys, y)]
            };
            for ((result, &x), &y) in block.iter_mut().zip(easy_xs).zip(easy_ys) {
                *result = nearest(F::near([x, y]), F::ERROR);
            }
            let mut unknown = count_unknown(block);
            if unknown >= MANY {
                unknown = 0;
                for ((result, &x), &y) in block.iter_mut().zip(xs).zip(ys) {
                    *result = known(*result, F::outside([x, y]), &mut unknown);
                }
            }
            if F::RESCALES && unknown >= MANY {
                for ((result, &x), &y) in block.iter_mut().zip(xs).zip(ys) {
                    *result = known(*result, F::rescaled([x, y]), &mut 0);
                }
                unknown = count_unknown(block);
            }
            if unknown > 0 {
                for ((result, &x), &y) in block.iter_mut().zip(xs).zip(ys) {
                    if result.is_nan() {
                        *result = F::exact([x, y]);
                    }
                }
            }
            results.copy_from_slice(block);
        }
    }

    fn run_baseline(self) {
        let f = |x, y| F::exact([x, y]);
        TwoLoop { results: self.results, operands: self.operands, f: &f }.run_shared();
    }
}
