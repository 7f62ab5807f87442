//! Functions of complex numbers without branches, whose loops become vector instructions, with
//! results precise enough to be rounded to their type in nearly all cases.
//!
//! As in `double_lanes.rs` and with its arithmetic, parts with a bound on their errors are rounded,
//! or the bound leaves two numbers to choose from. `complex.rs` decides then, and for operands
//! outside of the range that is computed here. Its results have errors far below the bounds, so
//! that both agree. Parts of `f32` are computed in `f64`.
//!
//! Products use fused multiply-adds: this code is for machines that have them.

use super::complex::{self, Complex64};
use super::complex_binary;
use super::double::{Double, two_sum};
use super::double_lanes::{
    ERROR, angle_of, exp_m1_of, exp_of, is_moderate, log_of, negated_if, negative, over, plus,
    product, quick_sum, select, sin_cos, sqrt, times,
};
use super::kernel::{SliceKernel, cast, cast_mut};
use super::lanes::split;
use super::lanes_trigonometric::is_odd;
use super::pieces::NativeFloat;
use super::{lanes, lanes_trigonometric};
use crate::Element;
use crate::simd::{Isa, Kernel};
use num_complex::Complex;
use std::marker::PhantomData;

/// The numbers of a chunk, whose parts are computed in vectors.
const CHUNK: usize = 32;

/// A function of `N` complex numbers with results in parts `P`. A trait and not closures, which the
/// compiler does not always inline.
pub trait ComplexNear<P, const N: usize>: Copy + Send + Sync + 'static {
    /// The parts of the result, rounded; NaN for one that is unknown.
    fn near(numbers: [Complex64; N]) -> [P; 2];
    /// The result in `f64`, for all numbers, to be rounded.
    fn exact(numbers: [Complex64; N]) -> Complex64;
}

/// A part rounded to `f64`, with a bound on its relative error.
#[inline(always)]
fn rounded(x: Double, error: f64) -> f64 {
    let above = x.hi + x.hi.mul_add(error, x.lo);
    let below = x.hi + x.hi.mul_add(-error, x.lo);
    if above == below { above } else { f64::NAN }
}

/// Both parts, if a condition holds.
#[inline(always)]
fn rounded_if(condition: bool, parts: [Double; 2], error: f64) -> [f64; 2] {
    let error = if condition { error } else { f64::NAN };
    [rounded(parts[0], error), rounded(parts[1], error)]
}

/// Both parts rounded to `f32`, if a condition holds and an error of 2^-46 does not matter.
#[inline(always)]
fn singles_if(condition: bool, parts: [f64; 2]) -> [f32; 2] {
    const ERROR: f64 = 1.0 / (1u64 << 46) as f64;
    let error = if condition { ERROR } else { f64::NAN };
    let rounded = |x: f64| {
        let (above, below) = (x.mul_add(error, x) as f32, x.mul_add(-error, x) as f32);
        if above == below { above } else { f32::NAN }
    };
    [rounded(parts[0]), rounded(parts[1])]
}

/// A bound on the relative error of parts by sums, products, quotients and roots only.
const TINY_ERROR: f64 = 1.0 / (1u128 << 70) as f64;

/// True for zero, and for numbers of moderate size.
#[inline(always)]
fn is_zero_or_moderate(x: f64) -> bool {
    is_moderate(x) | (x == 0.0)
}

/// The sum of two products, and true if it is so precise that little cancels.
#[inline(always)]
fn sum_of_products(a: [f64; 2], b: [f64; 2]) -> (Double, bool) {
    let (x, y) = (product(a[0], a[1]), product(b[0], b[1]));
    let high = two_sum(x.hi, y.hi);
    let sum = quick_sum(high.hi, high.lo + (x.lo + y.lo));
    let size = x.hi.abs() + y.hi.abs();
    (sum, sum.hi.abs() > size * (1.0 / (1u64 << 30) as f64))
}

/// `divide`.
#[derive(Clone, Copy)]
pub struct Divide;

impl ComplexNear<f64, 2> for Divide {
    #[inline(always)]
    fn near([lhs, rhs]: [Complex64; 2]) -> [f64; 2] {
        let (square, _) = sum_of_products([rhs.re, rhs.re], [rhs.im, rhs.im]);
        let (re, is_re) = sum_of_products([lhs.re, rhs.re], [lhs.im, rhs.im]);
        let (im, is_im) = sum_of_products([lhs.im, rhs.re], [-lhs.re, rhs.im]);
        let is_easy = is_zero_or_moderate(lhs.re)
            & is_zero_or_moderate(lhs.im)
            & is_zero_or_moderate(rhs.re)
            & is_zero_or_moderate(rhs.im);
        rounded_if(is_easy & is_re & is_im, [over(re, square), over(im, square)], TINY_ERROR)
    }

    fn exact([lhs, rhs]: [Complex64; 2]) -> Complex64 {
        complex::divide(lhs, rhs)
    }
}

/// The absolute value of a number, and the absolute values of the parts of its square root.
#[inline(always)]
fn root(z: Complex64) -> (Double, [Double; 2]) {
    let (square, _) = sum_of_products([z.re, z.re], [z.im, z.im]);
    let abs = sqrt(square);
    let sum = two_sum(abs.hi, z.re.abs());
    let half = quick_sum(sum.hi, sum.lo + abs.lo).scaled(0.5);
    let main = sqrt(half);
    let other = over(Double::new(0.5 * z.im.abs(), 0.0), main);
    let is_right = z.re > 0.0;
    (abs, [select(is_right, main, other), select(is_right, other, main)])
}

/// As [`root`], for a number with parts of `f32`, whose squares are exact.
#[inline(always)]
fn root_of_single(z: Complex64) -> (f64, [f64; 2]) {
    let abs = (z.re * z.re + z.im * z.im).sqrt();
    let main = (0.5 * (abs + z.re.abs())).sqrt();
    let other = 0.5 * z.im.abs() / main;
    (abs, if z.re > 0.0 { [main, other] } else { [other, main] })
}

/// `sqrt`.
#[derive(Clone, Copy)]
pub struct Sqrt;

impl ComplexNear<f64, 1> for Sqrt {
    #[inline(always)]
    fn near([z]: [Complex64; 1]) -> [f64; 2] {
        let (_, [re, im]) = root(z);
        let im = select(z.im < 0.0, negative(im), im);
        rounded_if(is_moderate(z.re) & is_moderate(z.im), [re, im], TINY_ERROR)
    }

    fn exact([z]: [Complex64; 1]) -> Complex64 {
        complex::sqrt::<Double>(z)
    }
}

impl ComplexNear<f32, 1> for Sqrt {
    #[inline(always)]
    fn near([z]: [Complex64; 1]) -> [f32; 2] {
        let (_, [re, im]) = root_of_single(z);
        singles_if(true, [re, im.copysign(z.im)])
    }

    fn exact([z]: [Complex64; 1]) -> Complex64 {
        complex::sqrt::<f64>(z)
    }
}

/// The sine and the cosine of an angle, and if they are known.
#[inline(always)]
fn sine_and_cosine(angle: f64) -> ([Double; 2], bool) {
    let ([sin, cos], turns, is_easy) = sin_cos(angle);
    let is_odd = is_odd(turns);
    let sine = negated_if(select(is_odd, cos, sin), turns);
    let ahead = f64::from_bits(turns.to_bits().wrapping_add(1));
    let cosine = negated_if(select(is_odd, sin, cos), ahead);
    ([sine, cosine], is_easy)
}

/// `exponential`.
#[derive(Clone, Copy)]
pub struct Exp;

impl ComplexNear<f64, 1> for Exp {
    #[inline(always)]
    fn near([z]: [Complex64; 1]) -> [f64; 2] {
        let ([sin, cos], is_angle) = sine_and_cosine(z.im);
        let power = exp_of(Double::new(z.re, 0.0));
        // The product with a sine is normal.
        let is_easy = is_angle & (z.re.abs() <= 300.0) & is_moderate(z.im);
        rounded_if(is_easy, [times(power, cos), times(power, sin)], 2.5 * ERROR)
    }

    fn exact([z]: [Complex64; 1]) -> Complex64 {
        complex::exp::<Double>(z)
    }
}

impl ComplexNear<f32, 1> for Exp {
    #[inline(always)]
    fn near([z]: [Complex64; 1]) -> [f32; 2] {
        let power = lanes::exp(z.re);
        let re = power * lanes_trigonometric::cos(z.im);
        let im = power * lanes_trigonometric::sin(z.im);
        let is_easy = (z.re.abs() <= 200.0) & lanes_trigonometric::is_angle(z.im);
        singles_if(is_easy, [re, im])
    }

    fn exact([z]: [Complex64; 1]) -> Complex64 {
        complex::exp::<f64>(z)
    }
}

/// `log`.
#[derive(Clone, Copy)]
pub struct Logarithm;

impl ComplexNear<f64, 1> for Logarithm {
    #[inline(always)]
    fn near([z]: [Complex64; 1]) -> [f64; 2] {
        let (square, _) = sum_of_products([z.re, z.re], [z.im, z.im]);
        let [m, exponent] = split(square.hi);
        // The rest of the square, divided by the same power of two.
        let power = square.hi.to_bits().wrapping_sub(m.to_bits());
        let rest = square.lo * f64::from_bits((1023u64 << 52).wrapping_sub(power));
        let beside_one = two_sum(m - 1.0, rest);
        let log = log_of(beside_one, exponent).scaled(0.5);
        let angle = angle_of(Double::new(z.im, 0.0), Double::new(z.re, 0.0));
        // The square has an error of 2^-104.
        let is_precise = (exponent != 0.0) | (beside_one.hi.abs() > 1.0 / (1u64 << 36) as f64);
        rounded_if(is_precise & is_moderate(z.re) & is_moderate(z.im), [log, angle], 1.25 * ERROR)
    }

    fn exact([z]: [Complex64; 1]) -> Complex64 {
        complex::log::<Double>(z)
    }
}

impl ComplexNear<f32, 1> for Logarithm {
    #[inline(always)]
    fn near([z]: [Complex64; 1]) -> [f32; 2] {
        // The squares are exact, and the sum with what is lost of it is, too.
        let square = two_sum(z.re * z.re, z.im * z.im);
        let log = lanes::log(square.hi) + square.lo / square.hi;
        let angle = lanes_trigonometric::atan2(z.im, z.re);
        singles_if(square.hi < f64::INFINITY, [0.5 * log, angle])
    }

    fn exact([z]: [Complex64; 1]) -> Complex64 {
        complex::log::<f64>(z)
    }
}

/// `tanh`.
#[derive(Clone, Copy)]
pub struct Tanh;

impl ComplexNear<f64, 1> for Tanh {
    #[inline(always)]
    fn near([z]: [Complex64; 1]) -> [f64; 2] {
        let ([sin, cos], is_angle) = sine_and_cosine(z.im);
        // With e = exp(|x|): (e - 1 / e) / 2 and (e + 1 / e) / 2.
        let grown = exp_m1_of(Double::new(z.re.abs(), 0.0));
        let sum = two_sum(grown.hi, 1.0);
        let power = quick_sum(sum.hi, sum.lo + grown.lo);
        let sinh = plus(grown, over(grown, power)).scaled(0.5);
        let cosh = plus(power, over(Double::ONE, power)).scaled(0.5);
        let sinh_square = times(sinh, sinh);
        let cos_square = times(cos, cos);
        let sum = two_sum(sinh_square.hi, cos_square.hi);
        let divisor = quick_sum(sum.hi, sum.lo + (sinh_square.lo + cos_square.lo));
        let (re, im) = (over(times(sinh, cosh), divisor), over(times(sin, cos), divisor));
        let re = select(z.re < 0.0, negative(re), re);
        let is_easy = is_angle & is_moderate(z.re) & is_moderate(z.im) & (z.re.abs() <= 40.0);
        // Those of two functions in a product, and of two in the divisor.
        rounded_if(is_easy, [re, im], 6.0 * ERROR)
    }

    fn exact([z]: [Complex64; 1]) -> Complex64 {
        complex::tanh::<Double>(z)
    }
}

impl ComplexNear<f32, 1> for Tanh {
    #[inline(always)]
    fn near([z]: [Complex64; 1]) -> [f32; 2] {
        let (sin, cos) = (lanes_trigonometric::sin(z.im), lanes_trigonometric::cos(z.im));
        let grown = lanes::exp_m1(z.re.abs());
        let inverse = 1.0 / (1.0 + grown);
        let sinh = 0.5 * (grown + grown * inverse);
        let cosh = 0.5 * (1.0 + grown + inverse);
        let divisor = 1.0 / (sinh * sinh + cos * cos);
        let is_easy = (z.re.abs() <= 20.0) & lanes_trigonometric::is_angle(z.im);
        singles_if(is_easy, [(sinh * cosh * divisor).copysign(z.re), sin * cos * divisor])
    }

    fn exact([z]: [Complex64; 1]) -> Complex64 {
        complex::tanh::<f64>(z)
    }
}

/// `|1 + z|^2 - 1`, and true if little of it cancels.
#[inline(always)]
fn square_beside_one(z: Complex64) -> (Double, bool) {
    let (re, im) = (product(z.re, z.re), product(z.im, z.im));
    let sum = two_sum(2.0 * z.re, re.hi);
    let high = two_sum(sum.hi, im.hi);
    let beside = quick_sum(high.hi, high.lo + (sum.lo + (re.lo + im.lo)));
    let size = 2.0 * z.re.abs() + (re.hi + im.hi);
    (beside, beside.hi.abs() > size * (1.0 / (1u64 << 30) as f64))
}

/// `log_plus_one`.
#[derive(Clone, Copy)]
pub struct LogPlusOne;

impl ComplexNear<f64, 1> for LogPlusOne {
    #[inline(always)]
    fn near([z]: [Complex64; 1]) -> [f64; 2] {
        let (beside, is_beside) = square_beside_one(z);
        let sum = two_sum(1.0, beside.hi);
        let square = quick_sum(sum.hi, sum.lo + beside.lo);
        let [m, exponent] = split(square.hi);
        let power = square.hi.to_bits().wrapping_sub(m.to_bits());
        let rest = square.lo * f64::from_bits((1023u64 << 52).wrapping_sub(power));
        let beside_one = select(exponent == 0.0, beside, two_sum(m - 1.0, rest));
        let log = log_of(beside_one, exponent).scaled(0.5);
        let re = two_sum(1.0, z.re);
        let angle = angle_of(Double::new(z.im, 0.0), re);
        let is_square = square.hi > 1.0 / (1u64 << 30) as f64;
        let is_easy = is_beside & is_square & is_moderate(re.hi);
        rounded_if(is_easy & is_moderate(z.re) & is_moderate(z.im), [log, angle], 1.25 * ERROR)
    }

    fn exact([z]: [Complex64; 1]) -> Complex64 {
        complex::log_1p::<Double>(z)
    }
}

impl ComplexNear<f32, 1> for LogPlusOne {
    #[inline(always)]
    fn near([z]: [Complex64; 1]) -> [f32; 2] {
        let (beside, is_precise) = square_beside_one(z);
        let re = 1.0 + z.re;
        // Then 1 + x and the squares are exact.
        let is_small = beside.hi < -0.5;
        let square = if is_small { re * re + z.im * z.im } else { 1.0 };
        let near_one = if is_small { 0.0 } else { beside.hi };
        let log = lanes::log(square) + lanes::log_1p(near_one);
        let angle = lanes_trigonometric::atan2(z.im, re);
        singles_if(is_precise & (beside.hi < f64::INFINITY) & (square > 0.0), [0.5 * log, angle])
    }

    fn exact([z]: [Complex64; 1]) -> Complex64 {
        complex::log_1p::<f64>(z)
    }
}

/// `rsqrt`.
#[derive(Clone, Copy)]
pub struct Rsqrt;

impl ComplexNear<f64, 1> for Rsqrt {
    #[inline(always)]
    fn near([z]: [Complex64; 1]) -> [f64; 2] {
        let (abs, [re, im]) = root(z);
        let (re, im) = (over(re, abs), over(im, abs));
        let im = select(z.im < 0.0, im, negative(im));
        rounded_if(is_moderate(z.re) & is_moderate(z.im), [re, im], TINY_ERROR)
    }

    fn exact([z]: [Complex64; 1]) -> Complex64 {
        complex::rsqrt::<Double>(z)
    }
}

impl ComplexNear<f32, 1> for Rsqrt {
    #[inline(always)]
    fn near([z]: [Complex64; 1]) -> [f32; 2] {
        let (abs, [re, im]) = root_of_single(z);
        let (re, im) = (re / abs, (im / abs).copysign(z.im));
        singles_if(is_zero_or_moderate(z.re) & is_moderate(z.im), [re, -im])
    }

    fn exact([z]: [Complex64; 1]) -> Complex64 {
        complex::rsqrt::<f64>(z)
    }
}

/// `power`.
#[derive(Clone, Copy)]
pub struct Power;

/// Exponents of powers are at most this in size.
const LARGEST_EXPONENT: f64 = 300.0;

impl Power {
    /// The parts of a power, with bounds on their relative errors, which are NaN for unknown parts.
    #[inline(always)]
    fn parts([base, exponent]: [Complex64; 2]) -> [(Double, f64); 2] {
        let (square, _) = sum_of_products([base.re, base.re], [base.im, base.im]);
        let [m, count] = split(square.hi);
        let power = square.hi.to_bits().wrapping_sub(m.to_bits());
        let rest = square.lo * f64::from_bits((1023u64 << 52).wrapping_sub(power));
        let beside_one = two_sum(m - 1.0, rest);
        let log = log_of(beside_one, count).scaled(0.5);
        let angle = angle_of(Double::new(base.im, 0.0), Double::new(base.re, 0.0));
        let [x, y] = [exponent.re, exponent.im].map(|part| Double::new(part, 0.0));
        let sum = |a: Double, b: Double| {
            let high = two_sum(a.hi, b.hi);
            quick_sum(high.hi, high.lo + (a.lo + b.lo))
        };
        let re = sum(times(x, log), negative(times(y, angle)));
        let im = sum(times(x, angle), times(y, log));
        // The sizes of the products, which bound errors where they cancel.
        let size = (x.hi.abs() + y.hi.abs()) * (log.hi.abs() + angle.hi.abs());
        let ([sine, cosine], is_angle) = sine_and_cosine(im.hi);
        let turned = |a: Double, slope: f64| quick_sum(a.hi, im.lo.mul_add(slope, a.lo));
        let [sine, cosine] = [turned(sine, cosine.hi), turned(cosine, -sine.hi)];
        let power = exp_of(re);
        let is_precise = (count != 0.0) | (beside_one.hi.abs() > 1.0 / (1u64 << 36) as f64);
        let is_easy = is_angle
            & is_precise
            & is_moderate(base.re)
            & is_moderate(base.im)
            & is_zero_or_moderate(x.hi)
            & is_zero_or_moderate(y.hi)
            & (re.hi.abs() <= LARGEST_EXPONENT)
            & (size <= 1024.0);
        [cosine, sine].map(|part| {
            let is_known = is_easy & (part.hi.abs() >= 1.0 / (1u64 << 20) as f64);
            // An error of 2^-64 of logarithm, angle, sine and cosine each.
            let error = 0.5 * ERROR * (2.0 + size * (1.0 + 1.0 / part.hi.abs()));
            (times(power, part), if is_known { error } else { f64::NAN })
        })
    }
}

impl ComplexNear<f64, 2> for Power {
    #[inline(always)]
    fn near(numbers: [Complex64; 2]) -> [f64; 2] {
        Power::parts(numbers).map(|(part, error)| rounded(part, error))
    }

    fn exact([base, exponent]: [Complex64; 2]) -> Complex64 {
        complex_binary::power(base, exponent)
    }
}

impl ComplexNear<f32, 2> for Power {
    #[inline(always)]
    fn near(numbers: [Complex64; 2]) -> [f32; 2] {
        Power::parts(numbers).map(|(part, error)| {
            let error = error + f64::EPSILON;
            let (above, below) =
                (part.hi.mul_add(error, part.hi), part.hi.mul_add(-error, part.hi));
            if above as f32 == below as f32 { above as f32 } else { f32::NAN }
        })
    }

    fn exact([base, exponent]: [Complex64; 2]) -> Complex64 {
        complex_binary::power(base, exponent)
    }
}

/// A loop over complex numbers.
struct ComplexLoop<'a, P, F, const N: usize> {
    results: &'a mut [Complex<P>],
    operands: [&'a [Complex<P>]; N],
    function: PhantomData<F>,
}

impl<P: NativeFloat, F: ComplexNear<P, N>, const N: usize> ComplexLoop<'_, P, F, N> {
    /// The exact result of operands.
    #[inline(never)]
    fn exact(numbers: [Complex<P>; N]) -> Complex<P> {
        complex::narrow(F::exact(numbers.map(complex::widen)))
    }
}

impl<P: NativeFloat, F: ComplexNear<P, N>, const N: usize> Kernel for ComplexLoop<'_, P, F, N> {
    const IS_WIDE: bool = true;

    #[inline(always)]
    fn run(self) {
        let ComplexLoop { results, operands, .. } = self;
        let mut parts = [[[1.0f64; CHUNK]; 2]; N];
        let mut found = [[P::ZERO; CHUNK]; 2];
        for (chunk, results) in results.chunks_mut(CHUNK).enumerate() {
            let start = chunk * CHUNK;
            for (parts, operand) in parts.iter_mut().zip(operands) {
                let [re, im] = parts;
                let numbers = &operand[start..start + results.len()];
                for ((re, im), z) in re.iter_mut().zip(im).zip(numbers) {
                    (*re, *im) = (z.re.into(), z.im.into());
                }
            }
            let [re, im] = &mut found;
            for i in 0..CHUNK {
                let mut numbers = [complex::ONE; N];
                let mut n = 0;
                while n < N {
                    numbers[n] = Complex::new(parts[n][0][i], parts[n][1][i]);
                    n += 1;
                }
                [re[i], im[i]] = F::near(numbers);
            }
            let mut is_unknown = false;
            for ((result, &re), &im) in results.iter_mut().zip(&*re).zip(&*im) {
                *result = Complex::new(re, im);
                is_unknown |= re.is_unknown() | im.is_unknown();
            }
            if is_unknown {
                for (i, result) in results.iter_mut().enumerate() {
                    if result.re.is_unknown() | result.im.is_unknown() {
                        *result = Self::exact(operands.map(|operand| operand[start + i]));
                    }
                }
            }
        }
    }

    fn run_baseline(self) {
        let ComplexLoop { results, operands, .. } = self;
        for (i, result) in results.iter_mut().enumerate() {
            *result = Self::exact(operands.map(|operand| operand[i]));
        }
    }
}

/// The kernel of a function.
pub(super) fn kernel<P, F, const N: usize>() -> SliceKernel
where
    P: NativeFloat,
    F: ComplexNear<P, N>,
    Complex<P>: Element,
{
    let dtype = <Complex<P> as Element>::DTYPE;
    SliceKernel::of([dtype; 3], N, dtype, |results, operands| {
        let results = cast_mut::<Complex<P>>(results)?;
        let mut slices = [&[][..]; N];
        for (slice, operand) in slices.iter_mut().zip(operands) {
            *slice = cast::<Complex<P>>(operand)?.get(..results.len())?;
        }
        let function = PhantomData::<F>;
        Isa::best().run(ComplexLoop { results, operands: slices, function });
        Some(())
    })
}
