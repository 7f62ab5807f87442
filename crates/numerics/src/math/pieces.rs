//! Special functions by polynomials, piece by piece.
//!
//! A result of `digamma` or of the inverse error function takes up to microseconds in twice the
//! precision of `f64`. So the positive numbers are cut into pieces, 16 for each power of two, and
//! on each of them the function is interpolated by a polynomial, which takes nanoseconds. Its
//! coefficients are computed from the function itself as soon as a piece has been asked for a few
//! times, and kept.
//!
//! A polynomial comes with a bound on its error. Where that leaves two numbers to choose from, for
//! one number of hundreds, and where there is no piece, the function itself decides, so that its
//! results keep their bits. (A. Ziv, *Fast evaluation of elementary mathematical functions with
//! correctly rounded last bit*, 1991.)
//!
//! Products use fused multiply-adds: this code is for machines that have them.

use super::double::{Double, two_sum};
use super::double_lanes::{log_of, part, plus, times};
use super::double_lanes_outside::rescaled::{UNIT, in_units, is_subnormal};
use super::gamma::HALF_LOG_TWO_PI;
use super::kernel::SliceKernel;
use super::lanes::split;
use super::unary::RealFunction;
use super::{bessel, erf, gamma, lanes};
use crate::Float;
use crate::simd::{Isa, Kernel};
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{LazyLock, OnceLock};

/// The bits of a positive number below those that all numbers of a piece share.
const PIECE_BITS: u32 = 48;
/// The first piece begins at 2^-64, and the last one ends at 2^64.
const FIRST: usize = (1023 - 64) << (52 - PIECE_BITS);
const PIECES: usize = 128 << (52 - PIECE_BITS);
const SMALLEST: f64 = part(64);
/// A bound of the relative error of functions beyond the pieces, which are logarithms.
const LOG_ERROR: f64 = part(62);
/// The coefficients of a polynomial, and how many of them have twice the precision.
const TERMS: usize = 12;
const HEADS: usize = 3;
/// A piece is computed when it has been asked for this many times, which take about as long.
const PATIENCE: u32 = 16;

/// Functions of positive numbers by polynomials on pieces: relative to its argument, no function
/// changes fast, and none has a singularity but at zero that is near.
struct PieceTable<const N: usize> {
    functions: [fn(f64) -> Double; N],
    /// The pieces of one function after those of another.
    places: Box<[PieceNode]>,
}

/// A piece, or how often it has been asked for.
#[derive(Default)]
struct PieceNode {
    piece: OnceLock<Box<Interpolant>>,
    count: AtomicU32,
}

/// A polynomial in the distance from the middle of a piece.
#[repr(align(64))]
struct Interpolant {
    heads: [Double; HEADS],
    tail: [f64; TERMS - HEADS],
    error: f64,
}

/// A result with a bound on its error, which is NaN if the result is unknown.
#[derive(Clone, Copy, Debug)]
pub struct Near {
    /// The result, whose parts may overlap.
    pub value: Double,
    /// The bound.
    pub error: f64,
}

impl Near {
    const UNKNOWN: Near = Near { value: Double::ZERO, error: f64::NAN };

    /// The number of `f64` nearest to the exact result; NaN if that is unknown.
    #[inline(always)]
    pub fn nearest(self) -> f64 {
        let Near { value: Double { hi, lo }, error } = self;
        let (above, below) = (hi + (lo + error), hi + (lo - error));
        if above == below { above } else { f64::NAN }
    }

    /// The number of `f32` nearest to the exact result; NaN if that is unknown.
    #[inline(always)]
    pub fn nearest_single(self) -> f32 {
        let Near { value: Double { hi, lo }, error } = self;
        let (above, below) = ((hi + (lo + error)) as f32, (hi + (lo - error)) as f32);
        if above == below { above } else { f32::NAN }
    }

    /// The result times a number of size 1.
    #[inline(always)]
    fn times(self, sign: f64) -> Near {
        let Double { hi, lo } = self.value;
        Near { value: Double::new(hi * sign, lo * sign), ..self }
    }

    /// The result with the sign of another number.
    #[inline(always)]
    fn copysign(self, sign: f64) -> Near {
        self.times(1f64.copysign(sign))
    }

    /// The difference.
    #[inline(always)]
    fn minus(self, rhs: Near) -> Near {
        let (x, y) = (self.value, rhs.value);
        let sum = two_sum(x.hi, -y.hi);
        Near {
            value: Double::new(sum.hi, sum.lo + (x.lo - y.lo)),
            error: 1.25 * (self.error + rhs.error),
        }
    }
}

impl Interpolant {
    /// The middle of the piece of a number.
    #[inline(always)]
    fn middle(x: f64) -> f64 {
        let bits = x.to_bits() >> PIECE_BITS << PIECE_BITS;
        f64::from_bits(bits | 1 << (PIECE_BITS - 1))
    }

    /// The polynomial that agrees with a function at Chebyshev's points of the piece of `x`.
    fn interpolate(function: fn(f64) -> Double, x: f64) -> Interpolant {
        let middle = Interpolant::middle(x);
        let half = middle - f64::from_bits(x.to_bits() >> PIECE_BITS << PIECE_BITS);
        let point = |i: f64| {
            let angle = std::f64::consts::PI * (i + 0.5) / TERMS as f64;
            middle + half * libm::cos(angle)
        };
        let points: [f64; TERMS] = std::array::from_fn(|i| point(i as f64));
        // Newton's divided differences, and then Horner's method for the powers.
        let mut terms = points.map(function);
        for order in 1..TERMS {
            for i in (order..TERMS).rev() {
                let width = Double::from(points[i] - points[i - order]);
                terms[i] = (terms[i] - terms[i - 1]) / width;
            }
        }
        for order in (0..TERMS - 1).rev() {
            for i in order..TERMS - 1 {
                let offset = Double::from(middle - points[order]);
                terms[i] = terms[i] + terms[i + 1] * offset;
            }
        }
        let mut piece = Interpolant {
            heads: std::array::from_fn(|i| terms[i]),
            tail: std::array::from_fn(|i| terms[HEADS + i].hi),
            error: 0.0,
        };
        // Of the tail, whose rounding errors count, and what is left of the function between the
        // points.
        let size = |i: usize| terms[i].hi.abs() * libm::pow(half, i as f64);
        let rounding = 4.0 * size(3) + 4.0 * size(4);
        let left = (0..TERMS - 1).step_by(2).map(|i| {
            let x = point(i as f64 + 0.5);
            (piece.at(x, middle).value - function(x)).value().abs()
        });
        let left = left.fold(0.0, f64::max);
        piece.error = 4.0 * left + f64::EPSILON * rounding + size(0) / (1u128 << 72) as f64;
        piece
    }

    /// The polynomial in the distance from the third coefficient on.
    #[inline(always)]
    fn tail(&self, distance: f64) -> f64 {
        lanes::polynomial(&self.tail, distance)
    }

    /// The result for a number of the piece.
    #[inline(always)]
    fn at(&self, x: f64, middle: f64) -> Near {
        // Exact.
        let distance = x - middle;
        let mut sum = Double::new(self.tail(distance), 0.0);
        for head in self.heads.iter().rev() {
            let high = sum.hi * distance;
            let low = sum.lo.mul_add(distance, sum.hi.mul_add(distance, -high));
            let high = two_sum(head.hi, high);
            sum = Double::new(high.hi, high.lo + (head.lo + low));
        }
        Near { value: sum, error: self.error }
    }

    /// The result in `f64`.
    #[inline(always)]
    fn single_at(&self, x: f64, middle: f64) -> Near {
        let distance = x - middle;
        let [first, second, third] = &self.heads;
        let rest = self.tail(distance).mul_add(distance, third.hi);
        let rest = rest.mul_add(distance, second.hi) * distance;
        let error = (first.hi.abs() + rest.abs()).mul_add(4.0 * f64::EPSILON, self.error);
        Near { value: Double::new(first.hi + rest, 0.0), error }
    }
}

impl<const N: usize> PieceTable<N> {
    fn new(functions: [fn(f64) -> Double; N]) -> PieceTable<N> {
        PieceTable { functions, places: (0..N * PIECES).map(|_| PieceNode::default()).collect() }
    }

    /// The piece of a number for one of the functions; `None` if it is not computed yet, or never.
    #[inline(always)]
    fn piece(&self, function: usize, x: f64) -> Option<&Interpolant> {
        let index = ((x.to_bits() >> PIECE_BITS) as usize).wrapping_sub(FIRST);
        if index >= PIECES {
            return None;
        }
        let place = self.places.get(function * PIECES + index)?;
        match place.piece.get() {
            Some(piece) => Some(piece),
            None => self.missing(function, place, x),
        }
    }

    #[cold]
    #[inline(never)]
    fn missing<'a>(
        &self,
        function: usize,
        place: &'a PieceNode,
        x: f64,
    ) -> Option<&'a Interpolant> {
        if place.count.fetch_add(1, Ordering::Relaxed) < PATIENCE {
            return None;
        }
        let function = self.functions[function];
        Some(place.piece.get_or_init(|| Box::new(Interpolant::interpolate(function, x))))
    }

    /// The result of one of the functions.
    #[inline(always)]
    fn near(&self, function: usize, x: f64) -> Near {
        match self.piece(function, x) {
            Some(piece) => piece.at(x, Interpolant::middle(x)),
            None => Near::UNKNOWN,
        }
    }

    /// The result of one of the functions, at `x + low`.
    #[inline(always)]
    fn near_sum(&self, function: usize, Double { hi: x, lo: low }: Double) -> Near {
        let Some(piece) = self.piece(function, x) else { return Near::UNKNOWN };
        let distance = x - Interpolant::middle(x);
        let Near { value, error } = piece.at(x, Interpolant::middle(x));
        // The derivative, of which the terms left out are below 2^-10 of the first.
        let [_, second, third] = &piece.heads;
        let slope = (3.0 * piece.tail[0]).mul_add(distance, 2.0 * third.hi);
        let slope = slope.mul_add(distance, second.hi);
        Near {
            value: Double::new(value.hi, slope.mul_add(low, value.lo)),
            error: (second.hi * low).abs().mul_add(1.0 / 512.0, error),
        }
    }

    /// The result of one of the functions for results in `f32`.
    #[inline(always)]
    fn near_single(&self, function: usize, x: f64) -> Near {
        match self.piece(function, x) {
            Some(piece) => piece.single_at(x, Interpolant::middle(x)),
            None => Near::UNKNOWN,
        }
    }
}

/// A function by pieces. A trait and not closures, which the compiler does not always inline.
pub trait Pieced: Copy + Send + Sync + 'static {
    /// The result, or that it is unknown.
    fn near(x: f64) -> Near;
    /// The result of a number of `f32`, to be rounded to that type.
    #[inline(always)]
    fn near_single(x: f64) -> Near {
        Self::near(x)
    }
    /// The result rounded, for all numbers.
    fn exact(x: f64) -> f64;
}

/// The inverse error function.
#[derive(Clone, Copy)]
pub struct ErfInv;

static ERF_INV: LazyLock<PieceTable<2>> =
    LazyLock::new(|| PieceTable::new([erf::inverse_of, erf::inverse_beside_one]));

impl Pieced for ErfInv {
    #[inline(always)]
    fn near(y: f64) -> Near {
        let size = y.abs();
        let is_large = size >= 0.5;
        let x = if is_large { 1.0 - size } else { size };
        ERF_INV.near(usize::from(is_large), x).copysign(y)
    }

    fn exact(y: f64) -> f64 {
        erf::erf_inv(y)
    }
}

/// The Bessel function.
#[derive(Clone, Copy)]
pub struct BesselI1e;

static BESSEL_I1E: LazyLock<PieceTable<1>> =
    LazyLock::new(|| PieceTable::new([bessel::moderate_i1e]));

impl Pieced for BesselI1e {
    #[inline(always)]
    fn near(x: f64) -> Near {
        BESSEL_I1E.near(0, x.abs()).copysign(x)
    }

    #[inline(always)]
    fn near_single(x: f64) -> Near {
        BESSEL_I1E.near_single(0, x.abs()).copysign(x)
    }

    fn exact(x: f64) -> f64 {
        bessel::i1e(x)
    }
}

/// The distance of a number from the nearest integer, which is exact.
#[inline(always)]
fn fraction(x: f64) -> f64 {
    x - x.round_ties_even()
}

/// True for finite numbers beyond the pieces.
#[inline(always)]
fn is_large(x: f64) -> bool {
    x > 1.0 / SMALLEST && x < f64::INFINITY
}

/// The logarithm of a positive number, with the precision of pieces.
fn log(x: f64) -> Near {
    let is_subnormal = is_subnormal(x);
    let [m, exponent] = split(if is_subnormal { in_units(x) } else { x });
    let exponent = if is_subnormal { exponent + UNIT } else { exponent };
    let value = log_of(Double::new(m - 1.0, 0.0), exponent);
    Near { value, error: value.hi.abs() * LOG_ERROR }
}

/// The logarithm of the gamma function.
#[derive(Clone, Copy)]
pub struct Lgamma;

static LGAMMA: LazyLock<PieceTable<2>> =
    LazyLock::new(|| PieceTable::new([gamma::moderate_lgamma, gamma::lgamma_reflection]));

impl Pieced for Lgamma {
    #[inline(always)]
    fn near(x: f64) -> Near {
        if x != 0.0 && x.abs() < SMALLEST {
            // Euler's constant times the number is below the error.
            return log(x.abs()).times(-1.0);
        }
        if is_large(x) {
            // Stirling's formula, of which 1 / (12 x) is below the error.
            let log = log(x).value;
            let main = times(plus(log, Double::new(-1.0, 0.0)), Double::new(x, 0.0));
            let value = Double::new(main.hi, main.lo + (HALF_LOG_TWO_PI.hi - 0.5 * log.hi));
            return Near { value, error: value.hi * LOG_ERROR };
        }
        if x > 0.0 {
            return LGAMMA.near(0, x);
        }
        let mirrored = LGAMMA.near_sum(0, two_sum(1.0, -x));
        LGAMMA.near(1, fraction(x).abs()).minus(mirrored)
    }

    fn exact(x: f64) -> f64 {
        gamma::lgamma(x)
    }
}

/// The digamma function.
#[derive(Clone, Copy)]
pub struct Digamma;

static DIGAMMA: LazyLock<PieceTable<2>> =
    LazyLock::new(|| PieceTable::new([gamma::moderate_digamma, gamma::digamma_reflection]));

impl Pieced for Digamma {
    #[inline(always)]
    fn near(x: f64) -> Near {
        if is_large(x) {
            return log(x);
        }
        if x > 0.0 {
            return DIGAMMA.near(0, x);
        }
        let fraction = fraction(x);
        let mirrored = DIGAMMA.near_sum(0, two_sum(1.0, -x));
        mirrored.minus(DIGAMMA.near(1, fraction.abs()).copysign(fraction))
    }

    #[inline(always)]
    fn near_single(x: f64) -> Near {
        if x > 0.0 && !is_large(x) { DIGAMMA.near_single(0, x) } else { Self::near(x) }
    }

    fn exact(x: f64) -> f64 {
        gamma::digamma(x)
    }
}

/// The inverse hyperbolic sine in `f32`: a formula in `f64` whose loops become vector instructions.
#[derive(Clone, Copy)]
pub struct Asinh;

impl Pieced for Asinh {
    #[inline(always)]
    fn near(x: f64) -> Near {
        // log(1 + x + (sqrt(x^2 + 1) - 1)).
        let (size, square) = (x.abs(), x * x);
        let grown = square / (1.0 + (1.0 + square).sqrt());
        let value = lanes::log_1p(size + grown).copysign(x);
        // The sign of zero is left to the function.
        let error = if x == 0.0 { f64::NAN } else { 16.0 * f64::EPSILON * value.abs() };
        Near { value: Double::new(value, 0.0), error }
    }

    fn exact(x: f64) -> f64 {
        libm::asinh(x)
    }
}

/// A type of numbers that the machine computes with.
pub trait NativeFloat: Float + Into<f64> {
    /// True for NaN.
    fn is_unknown(self) -> bool;

    /// The result; NaN if it is unknown.
    fn near_result<F: Pieced>(self) -> Self;

    /// The result, by a function that is precise enough.
    #[inline(never)]
    fn fallback_result(self, fallback: RealFunction) -> Self {
        let wide = self.into();
        Self::from_float(lanes::one_nan(wide, fallback(wide)))
    }
}

impl NativeFloat for f64 {
    #[inline(always)]
    fn is_unknown(self) -> bool {
        self.is_nan()
    }

    #[inline(always)]
    fn near_result<F: Pieced>(self) -> f64 {
        F::near(self).nearest()
    }
}

impl NativeFloat for f32 {
    #[inline(always)]
    fn is_unknown(self) -> bool {
        self.is_nan()
    }

    #[inline(always)]
    fn near_result<F: Pieced>(self) -> f32 {
        F::near_single(f64::from(self)).nearest_single()
    }
}

struct PiecedLoop<'a, T, F> {
    results: &'a mut [T],
    xs: &'a [T],
    function: PhantomData<F>,
    fallback: RealFunction,
}

impl<T: NativeFloat, F: Pieced> Kernel for PiecedLoop<'_, T, F> {
    #[inline(always)]
    fn run(self) {
        let PiecedLoop { results, xs, fallback, .. } = self;
        for (result, &x) in results.iter_mut().zip(xs) {
            *result = x.near_result::<F>();
        }
        if results.iter().fold(false, |any, result| any | result.is_unknown()) {
            for (result, &x) in results.iter_mut().zip(xs) {
                if result.is_unknown() {
                    *result = x.fallback_result(fallback);
                }
            }
        }
    }

    fn run_baseline(self) {
        for (result, &x) in self.results.iter_mut().zip(self.xs) {
            *result = x.fallback_result(self.fallback);
        }
    }
}

/// The kernel of a function, with its exact form as the fallback, or one that is precise enough for
/// the types to which results are converted.
pub(super) fn kernel<T: NativeFloat, F: Pieced>(fallback: RealFunction) -> SliceKernel {
    SliceKernel::of([T::DTYPE; 3], 1, T::DTYPE, move |results, operands| {
        let results = bytemuck::try_cast_slice_mut(results).ok()?;
        let xs = bytemuck::try_cast_slice(operands.first()?).ok()?;
        Isa::best().run(PiecedLoop::<T, F> { results, xs, function: PhantomData, fallback });
        Some(())
    })
}
