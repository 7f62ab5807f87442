//! Functions of numbers of narrow types, by the interpreter's kernels on `f64`.
//!
//! In a quick run, values of types narrower than `f64` are known to about 50 bits, which tell all
//! digits of their results in most programs. The functions of `f64` are tested to differ from
//! correct rounding by one unit in the last place at most (docs/accuracy.md); here, sixteen are
//! allowed. Numbers that this does not tell enough about are left to the proven functions, and a
//! run with results that are not inside of their bounds is repeated with these.

use super::elementwise::Flushing;
use super::slopes::{image_near, rest, slope};
use crate::array::{Array, Number};
use crate::ball::{Ball, U, up};
use crate::bounds::{Bounds, Image, Rounder};
use crate::parallel::fill;
use numerics::DType;
use numerics::math::{SliceKernel, UnaryOp};
use program::EvalError;

/// The largest error of a function in proportion to its value.
pub(super) const ERROR: f64 = 1.0 / (1u64 << 49) as f64;

/// Values closer to zero may have lost digits.
pub(super) const LEAST: f64 = 1e-290;

/// Elements are computed in blocks of this many, which caches hold.
const BLOCK: usize = 512;

/// A function, by a kernel.
pub(super) struct QuickFunction {
    op: UnaryOp,
    kernel: SliceKernel,
    /// The numbers for which it is defined.
    domain: [f64; 2],
}

/// The arguments of an element.
enum QuickArguments {
    /// The element is a float that is what it says.
    Point(f64),
    /// The image of the bounds follows from the value for this number, which is the true one or
    /// their middle.
    Near(f64),
    /// The true value, and the ends of the bounds, or for functions that neither increase nor
    /// decrease the middle of the bounds, twice.
    Three([f64; 3]),
    /// The true value only: the bounds are not finite, or not within the domain.
    Truth(f64),
    /// The element is left to the proven function.
    None,
}

impl QuickFunction {
    /// The function of an op, if it has a kernel whose error is known in proportion to its value.
    pub(super) fn new(op: UnaryOp) -> Option<QuickFunction> {
        const ALL: [f64; 2] = [f64::NEG_INFINITY, f64::INFINITY];
        let domain = match op {
            UnaryOp::Acos | UnaryOp::Asin | UnaryOp::Atanh => [-1.0, 1.0],
            UnaryOp::Acosh => [1.0, f64::INFINITY],
            UnaryOp::Log | UnaryOp::Rsqrt | UnaryOp::Sqrt => [0.0, f64::INFINITY],
            UnaryOp::LogPlusOne => [-1.0, f64::INFINITY],
            UnaryOp::Asinh
            | UnaryOp::Atan
            | UnaryOp::Cbrt
            | UnaryOp::Cosh
            | UnaryOp::Cosine
            | UnaryOp::Erf
            | UnaryOp::Erfc
            | UnaryOp::Exponential
            | UnaryOp::ExponentialMinusOne
            | UnaryOp::Logistic
            | UnaryOp::Sine
            | UnaryOp::Sinh
            | UnaryOp::Tan
            | UnaryOp::Tanh => ALL,
            _ => return None,
        };
        Some(QuickFunction { op, kernel: SliceKernel::unary(op, DType::F64)?, domain })
    }

    /// The results; `proven` computes elements for which the kernel is not good enough, and `image`
    /// the images of bounds that are not finite.
    pub(super) fn apply(
        &self,
        x: &Array,
        has_truth: bool,
        flushing: Flushing,
        rounder: Rounder,
        proven: &(dyn Fn(&Number) -> Number + Sync),
        image: &(dyn Fn(&Number) -> Image + Sync),
    ) -> Result<Array, EvalError> {
        let all = x.reader()?;
        let mut results = vec![Number::UNKNOWN; all.len()];
        fill(&mut results, |first, results| {
            let mut values = Vec::with_capacity(3 * BLOCK);
            let mut numbers = Vec::with_capacity(BLOCK);
            for (index, results) in results.chunks_mut(BLOCK).enumerate() {
                let start = first + index * BLOCK;
                numbers.clear();
                numbers.extend((start..start + results.len()).map(|i| all.at(i)));
                values.clear();
                for number in &numbers {
                    match self.arguments(number, has_truth, flushing) {
                        QuickArguments::Point(x)
                        | QuickArguments::Near(x)
                        | QuickArguments::Truth(x) => values.push(x),
                        QuickArguments::Three(all) => values.extend(all),
                        QuickArguments::None => {}
                    }
                }
                let is_computed = match self.kernel.overwrites() {
                    true => self.kernel.overwrite(bytemuck::cast_slice_mut(&mut values)).is_ok(),
                    false => {
                        let operands = values.clone();
                        let operands = bytemuck::cast_slice(&operands);
                        self.kernel
                            .apply(bytemuck::cast_slice_mut(&mut values), &[operands])
                            .is_ok()
                    }
                };
                let mut values = values.iter().copied();
                for (number, result) in numbers.iter().zip(results.iter_mut()) {
                    let quick = match self.arguments(number, has_truth, flushing) {
                        QuickArguments::Point(x) => {
                            values.next().and_then(|y| self.of_point(x, y, rounder))
                        }
                        QuickArguments::Near(x) => values
                            .next()
                            .and_then(|y| self.of_near(number, (x, y), has_truth, rounder)),
                        QuickArguments::Three(_) => {
                            let own = [(); 3].map(|()| values.next().unwrap_or(f64::NAN));
                            self.of_bounds(number, own, has_truth, rounder)
                        }
                        QuickArguments::Truth(_) => values.next().and_then(|y| {
                            let truth = self.truth(number.truth, y)?;
                            Some(Number { truth, bounds: rounder.bounds(image(number)) })
                        }),
                        QuickArguments::None => None,
                    };
                    *result = quick.filter(|_| is_computed).unwrap_or_else(|| proven(number));
                }
            }
        });
        let result = Array::of_numbers(x.dtype, x.shape.clone(), results)?;
        Ok(result.with_doubts(x.doubts.clone()))
    }

    fn arguments(&self, number: &Number, has_truth: bool, flushing: Flushing) -> QuickArguments {
        let (truth, bounds) = (number.truth, number.bounds);
        let [least, greatest] = self.domain;
        let is_inside = bounds.low >= least && bounds.high <= greatest && bounds.low <= bounds.high;
        // Functions of infinities are exact.
        let is_finite = bounds.low.is_finite() && bounds.high.is_finite();
        if flushing.zero_of(bounds).is_some() {
            return QuickArguments::None;
        }
        if !is_inside || !is_finite {
            let is_known = has_truth && truth.is_finite() && !bounds.is_empty();
            let is_defined = (least..=greatest).contains(&truth.hi);
            return match is_known && is_defined {
                true => QuickArguments::Truth(truth.hi),
                false => QuickArguments::None,
            };
        }
        let is_float = truth.lo == 0.0 && truth.radius == 0.0 && truth.hi == bounds.low;
        if bounds.low == bounds.high && is_float && !bounds.nan {
            return QuickArguments::Point(bounds.low);
        }
        let Bounds { low, high, .. } = bounds;
        let near = if has_truth { truth.hi } else { low / 2.0 + high / 2.0 };
        let is_narrow = high - low <= 1e-4 * low.abs().min(high.abs()).min(1.0);
        if is_narrow && (near - low).abs() <= 4.0 * (high - low) {
            return QuickArguments::Near(near);
        }
        let [first, second] = match self.op {
            UnaryOp::Cosine | UnaryOp::Sine => [low / 2.0 + high / 2.0; 2],
            UnaryOp::Cosh => {
                let nearest = if bounds.has_zero() { 0.0 } else { low.abs().min(high.abs()) };
                [nearest, low.abs().max(high.abs())]
            }
            UnaryOp::Acos | UnaryOp::Erfc | UnaryOp::Rsqrt => [high, low],
            _ => [low, high],
        };
        QuickArguments::Three([truth.hi, first, second])
    }

    /// The result for a float, given the kernel's.
    fn of_point(&self, x: f64, y: f64, rounder: Rounder) -> Option<Number> {
        if x == 0.0 && y == 0.0 {
            return Some(Number { truth: Ball::exact(y), bounds: rounder.bounds_of(y) });
        }
        let [low, high] = ends(y, self.op)?;
        let bounds = rounder.bounds(Image::between(low, high));
        // The digits do not tell to which side a number is rounded.
        if rounder.is_nearest() && bounds.low != bounds.high {
            return None;
        }
        let truth = Ball { radius: y.abs() * ERROR, ..Ball::exact(y) };
        (x.is_finite() && y.is_finite()).then_some(Number { truth, bounds })
    }

    /// The result for bounds near a number, given the kernel's for that.
    fn of_near(
        &self,
        number: &Number,
        (x, y): (f64, f64),
        has_truth: bool,
        rounder: Rounder,
    ) -> Option<Number> {
        let x = if has_truth { number.truth } else { Ball::exact(x) };
        let value = self.truth(x, y)?;
        let image = image_near(self.op, number.bounds, x, value)?;
        let truth = if has_truth { value } else { Ball::UNKNOWN };
        Some(Number { truth, bounds: rounder.bounds(image) })
    }

    /// The result for bounds, given the kernel's at the arguments.
    fn of_bounds(
        &self,
        number: &Number,
        [value, first, second]: [f64; 3],
        has_truth: bool,
        rounder: Rounder,
    ) -> Option<Number> {
        let Bounds { low, high, nan } = number.bounds;
        let image = match self.op {
            UnaryOp::Cosine | UnaryOp::Sine => {
                // The slope is at most 1.
                let room = (high - low) * 0.501 + first.abs() * ERROR + 1e-300;
                let ends = [(first - room).max(-1.0), (first + room).min(1.0)];
                let [low, high] = ends.map(Ball::exact);
                Image::between(low, high)
            }
            // Unless there is a pole between the ends.
            UnaryOp::Tan if high - low > 1.0 || first >= second => return None,
            _ => Image::between(ends(first, self.op)?[0], ends(second, self.op)?[1]),
        };
        let truth = match has_truth {
            true => self.truth(number.truth, value)?,
            false => Ball::UNKNOWN,
        };
        Some(Number { truth, bounds: rounder.bounds(image.or_nan(nan)) })
    }

    /// The true value, given that of its middle.
    fn truth(&self, x: Ball, value: f64) -> Option<Ball> {
        if !x.is_finite() || !value.is_finite() || value.abs() < LEAST {
            return None;
        }
        let around = rest(x);
        let slope = if around == 0.0 { 0.0 } else { slope(self.op, x.hi, value, around)? };
        let radius = value.abs() * ERROR + 1.01 * slope * around;
        Some(Ball { radius, ..Ball::exact(value) })
    }
}

/// The sum to about 50 bits.
#[inline(always)]
pub(super) fn quick_sum(x: Ball, y: Ball) -> Ball {
    let hi = x.hi + y.hi;
    let rests = rest(x) + rest(y);
    if !(rests > 0.0 && rests < f64::INFINITY && hi.is_finite()) {
        return x + y;
    }
    Ball { radius: up(rests + hi.abs() * U), ..Ball::exact(hi) }
}

/// True if a product or quotient neither overflows nor loses digits.
#[inline(always)]
fn is_moderate(x: f64) -> bool {
    (1e-250..1e250).contains(&x.abs())
}

/// The product to about 50 bits.
#[inline(always)]
pub(super) fn quick_product(x: Ball, y: Ball) -> Ball {
    let (hi, a, b) = (x.hi * y.hi, rest(x), rest(y));
    if !(a + b > 0.0 && a + b < f64::INFINITY && is_moderate(hi)) {
        return x * y;
    }
    let spread = x.hi.abs() * b + y.hi.abs() * a + a * b;
    Ball { radius: up(spread + hi.abs() * U), ..Ball::exact(hi) }
}

/// The quotient to about 50 bits.
#[inline(always)]
pub(super) fn quick_quotient(x: Ball, y: Ball) -> Ball {
    let (hi, a, b) = (x.hi / y.hi, rest(x), rest(y));
    let (size, divisor) = (hi.abs(), y.hi.abs());
    let is_usual = a + b > 0.0 && a < f64::INFINITY && b < 1e-3 * divisor;
    if !(is_usual && is_moderate(hi) && is_moderate(divisor)) {
        return x.over(y);
    }
    // (x ± a) / (y ± b) - q = (x - q y ± (a + |q| b)) / (y ± b).
    let apart = (a + size * b) / (divisor - b);
    Ball { radius: up(apart + size * (U * 1.01)), ..Ball::exact(hi) }
}

/// The least and the greatest number that a value of a kernel may stand for; `None` if it tells
/// too little.
fn ends(y: f64, op: UnaryOp) -> Option<[Ball; 2]> {
    let size = y.abs();
    if !(LEAST..1e290).contains(&size) {
        return None;
    }
    let error = size * ERROR;
    let (mut low, mut high) = (y - error, y + error);
    if matches!(op, UnaryOp::Cosine | UnaryOp::Sine) {
        (low, high) = (low.max(-1.0), high.min(1.0));
    }
    Some([low, high].map(Ball::exact))
}
