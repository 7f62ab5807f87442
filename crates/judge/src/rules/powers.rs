//! Powers of real numbers, whose bounds follow from a single value where they are narrow.

use super::elementwise::BinaryRules;
use super::functions::power_image;
use super::quick::{ERROR, LEAST};
use super::slopes::rest;
use crate::array::{Array, Number};
use crate::ball::{Ball, U, up};
use crate::bounds::Image;
use crate::parallel::fill;
use crate::precise;
use numerics::DType;
use numerics::math::{BinaryOp, SliceKernel};
use program::EvalError;

/// Elements are computed in blocks of this many, which caches hold.
const BLOCK: usize = 512;

/// The largest change of the logarithm of a power that counts as small.
const SMALL: f64 = 1e-3;

/// A base and an exponent with the power of some numbers near them.
struct PowerNear {
    /// The base, which is positive.
    x: Ball,
    /// The exponent.
    y: Ball,
    /// Bounds of the logarithm of the base.
    log: [f64; 2],
}

impl PowerNear {
    /// `None` unless the base is known to be positive and both are well known.
    fn new(x: Ball, y: Ball) -> Option<PowerNear> {
        let is_near = |ball: Ball| ball.is_finite() && rest(ball) <= 1e-6 * ball.hi.abs();
        if !(x.hi > LEAST && x.hi < 1.0 / LEAST && is_near(x) && y.is_finite()) {
            return None;
        }
        let log = libm::log(x.hi);
        let error = up(1.01 * rest(x) / x.hi + 1e-12 * log.abs() + 1e-300);
        Some(PowerNear { x, y, log: [log - error, log + error] })
    }

    /// Bounds of the difference of the logarithms of the power of numbers from two intervals, and
    /// of the power of the base and the exponent; `None` unless they are small.
    ///
    /// It is `y log(x / x₀) + (y - y₀) log(x₀)`.
    fn exponents(&self, x: [f64; 2], y: [f64; 2]) -> Option<[f64; 2]> {
        // Roundings, and log(1 + d) in place of d.
        let outward = |d: f64, sign: f64| d + sign * (d.abs() * 2.0 * SMALL + 1e-300);
        let apart = |own: [f64; 2], ball: Ball, unit: f64| {
            let distance = |x: f64, sign: f64| {
                let between = x - ball.hi;
                let error = rest(ball) * (1.0 + 4.0 * U) + between.abs() * 4.0 * U;
                outward((between + sign * error) / unit, sign)
            };
            [distance(own[0], -1.0), distance(own[1], 1.0)]
        };
        let from_base = apart(x, self.x, self.x.hi);
        let is_small = |d: &f64| d.abs() <= SMALL;
        if !from_base.iter().all(is_small) {
            return None;
        }
        let hull = |a: [f64; 2], b: [f64; 2]| {
            let corners = [a[0] * b[0], a[0] * b[1], a[1] * b[0], a[1] * b[1]];
            let low = corners.into_iter().fold(f64::INFINITY, f64::min);
            let high = corners.into_iter().fold(f64::NEG_INFINITY, f64::max);
            [outward(low, -1.0), outward(high, 1.0)]
        };
        let (first, mut second) = (hull(y, from_base), [0.0; 2]);
        if y != [self.y.hi; 2] || rest(self.y) != 0.0 {
            second = hull(apart(y, self.y, 1.0), self.log);
        }
        let bounds = [outward(first[0] + second[0], -1.0), outward(first[1] + second[1], 1.0)];
        bounds.iter().all(is_small).then_some(bounds)
    }

    /// The differences of logarithms for the bounds of a base and an exponent.
    fn distances(&self, x: Number, y: Number) -> Option<[f64; 2]> {
        let bounds = [x.bounds, y.bounds];
        let is_usual = bounds.iter().all(|b| !b.nan && !b.is_empty() && !b.has_infinity());
        let [x, y] = bounds.map(|bounds| [bounds.low, bounds.high]);
        if is_usual { self.exponents(x, y) } else { None }
    }

    /// The image of the bounds of a base and an exponent, given the power.
    fn image(&self, x: Number, y: Number, power: Ball) -> Option<Image> {
        if !power.is_finite() || !(LEAST..1.0 / LEAST).contains(&power.hi) {
            return None;
        }
        let [below, above] = self.distances(x, y)?;
        let _pause = precise::pause();
        let power = Ball { handle: 0, ..power };
        // exp(t) is within t and 1.01 t of 1 on either side.
        let size = power.magnitude() * 1.01;
        let low = power.widened(up(size * (-below).max(0.0)));
        let high = power.widened(up(size * above.max(0.0)));
        Some(Image::between(low, high))
    }

    /// The power with the error of a kernel's.
    fn of_kernel(&self, power: f64) -> Option<Ball> {
        if !(LEAST..1.0 / LEAST).contains(&power) {
            return None;
        }
        let (x_rest, y_rest) = (rest(self.x), rest(self.y));
        let relative = match x_rest == 0.0 && y_rest == 0.0 {
            true => 0.0,
            false => {
                let x = [self.x.hi - up(x_rest), self.x.hi + up(x_rest)];
                let y = [self.y.hi - up(y_rest), self.y.hi + up(y_rest)];
                let [below, above] = self.exponents(x, y)?;
                1.01 * above.max(-below)
            }
        };
        Some(Ball { radius: up(power * (ERROR + relative)), ..Ball::exact(power) })
    }
}

/// The image between the powers of a kernel at the ends of bounds.
fn ends_image(first: f64, second: f64) -> Option<Image> {
    let (low, high) = (first.min(second), first.max(second));
    let is_usual = low > LEAST && high < 1.0 / LEAST;
    let end = |power: f64| Ball::exact(power).widened(power * ERROR);
    is_usual.then(|| Image::between(end(low), end(high)))
}

impl BinaryRules<'_> {
    /// Powers; in a quick run, of the interpreter's kernel on `f64` where that tells enough.
    pub(super) fn powers(&self, is_quick: bool) -> Result<Array, EvalError> {
        let has_truth = self.has_truth;
        let is_flushed = |x: Number, y: Number| {
            [x, y].into_iter().any(|n| self.flushing.zero_of(n.bounds).is_some())
        };
        let near = |x: Number, y: Number| match (has_truth, is_flushed(x, y)) {
            (_, true) => None,
            (true, _) => PowerNear::new(x.truth, y.truth),
            (false, _) => {
                let middle = |n: Number| Ball::exact(n.bounds.low / 2.0 + n.bounds.high / 2.0);
                PowerNear::new(middle(x), middle(y))
            }
        };
        let proven = |x: Number, y: Number| {
            let truth = if has_truth { x.truth.power(y.truth) } else { Ball::UNKNOWN };
            let near = near(x, y).filter(|_| has_truth);
            let bounds = match near.and_then(|near| near.image(x, y, truth)) {
                Some(image) => self.rounder.bounds(image),
                None => self.bounds(x.bounds, y.bounds, power_image),
            };
            Number { truth, bounds }
        };
        let kernel = match is_quick {
            true => SliceKernel::binary(BinaryOp::Power, DType::F64),
            false => None,
        };
        let Some(kernel) = kernel else { return self.zip(proven) };
        // Small integers are left to products.
        let is_left = |y: Ball| y.lo == 0.0 && y.hi.fract() == 0.0 && y.hi.abs() <= 64.0;
        let rounder = self.rounder;
        let quick = |x: Number, y: Number, near: &PowerNear, powers: [f64; 3]| {
            let value = near.of_kernel(powers[0])?;
            let image = match Self::ends_of(x, y) {
                Some(_) if near.distances(x, y).is_none() => ends_image(powers[1], powers[2])?,
                _ => match near.image(x, y, value) {
                    Some(image) => image,
                    None => power_image(x.bounds, y.bounds),
                },
            };
            let bounds = rounder.bounds(image);
            let is_point = [x, y].iter().all(|n| n.bounds.low == n.bounds.high);
            // The digits do not tell to which side a number is rounded.
            if is_point && rounder.is_nearest() && bounds.low != bounds.high {
                return None;
            }
            Some(Number { truth: if has_truth { value } else { Ball::UNKNOWN }, bounds })
        };
        self.zip_slices(|pair, results| {
            let mut first = 0;
            for results in results.chunks_mut(BLOCK) {
                let pair = |i: usize| pair(first + i);
                let own = |i: usize| {
                    let (x, y) = pair(i);
                    near(x, y).filter(|near| !is_left(near.y))
                };
                let near: Vec<Option<PowerNear>> = (0..results.len()).map(own).collect();
                // Of each element the power near it, and at the ends of its bounds.
                let (mut bases, mut exponents) = (Vec::new(), Vec::new());
                for (i, near) in near.iter().enumerate() {
                    let Some(near) = near else { continue };
                    let (x, y) = pair(i);
                    let ends = Self::ends_of(x, y).unwrap_or([near.x.hi; 2]);
                    bases.extend([near.x.hi, ends[0], ends[1]]);
                    exponents.extend([near.y.hi; 3]);
                }
                let mut powers = vec![f64::NAN; bases.len()];
                let operands = [bytemuck::cast_slice(&bases), bytemuck::cast_slice(&exponents)];
                let applied = kernel.apply(bytemuck::cast_slice_mut(&mut powers), &operands);
                let mut powers = powers.chunks_exact(3);
                for (i, (result, near)) in results.iter_mut().zip(&near).enumerate() {
                    let (x, y) = pair(i);
                    let own = near.as_ref().and_then(|near| Some((near, powers.next()?)));
                    let own = own.filter(|_| applied.is_ok());
                    let own = own.and_then(|(near, powers)| {
                        quick(x, y, near, [powers[0], powers[1], powers[2]])
                    });
                    *result = own.unwrap_or_else(|| proven(x, y));
                }
                first += results.len();
            }
        })
    }

    /// The ends of the bounds of a positive base, if its exponent is a number.
    fn ends_of(x: Number, y: Number) -> Option<[f64; 2]> {
        let is_point = y.truth.is_exact() && y.bounds.value() == Some(y.truth.hi);
        let is_usual = x.bounds.low > LEAST && x.bounds.high < 1.0 / LEAST && !x.bounds.nan;
        (is_point && is_usual).then_some([x.bounds.low, x.bounds.high])
    }

    /// Fills the results, given the pair of operands at a place and a part of them.
    fn zip_slices(
        &self,
        work: impl Fn(&dyn Fn(usize) -> (Number, Number), &mut [Number]) + Sync,
    ) -> Result<Array, EvalError> {
        let [lhs, rhs] = [self.operands[0].reader()?, self.operands[1].reader()?];
        let count = if self.operands[0].shape.is_empty() { rhs.len() } else { lhs.len() };
        let mut numbers = vec![Number::UNKNOWN; count];
        fill(&mut numbers, |first, part| {
            work(&|i| (lhs.at(first + i), rhs.at(first + i)), part);
        });
        self.array(numbers)
    }
}
