//! Elementwise arithmetic.

use super::functions::{atan2_image, function, gamma_image};
use super::quick::{QuickFunction, quick_product, quick_quotient, quick_sum};
use super::{Op, common_doubts, common_shape};
use crate::alternatives::{MAX_ALTERNATIVES, of_tensors};
use crate::array::{Array, Number, from_f64s, to_f64s};
use crate::ball::Ball;
use crate::bounds::{Bounds, Image, Rounder, Rounding, smallest_normal};
use crate::doubts::Kind;
use crate::machine::Machine;
use crate::parallel::collect;
use numerics::math::{self, BinaryOp, UnaryOp};
use numerics::ulp::unit_in_the_last_place as ulp;
use numerics::{DType, I1, Tensor};
use program::{EvalError, Primitive};

/// The result of an elementwise rule, if there is one.
pub(super) type Elementwise = Result<Option<Array>, EvalError>;

/// Applies a rule to pairs of numbers, of which one may be a scalar.
fn zip(
    dtype: DType,
    arrays: [&Array; 2],
    rule: impl Fn(Number, Number) -> Number + Sync,
) -> Result<Array, EvalError> {
    let (lhs, rhs) = (arrays[0].reader()?, arrays[1].reader()?);
    let n = if arrays[0].shape.is_empty() { rhs.len() } else { lhs.len() };
    let numbers = collect(n, Number::UNKNOWN, |i| rule(lhs.at(i), rhs.at(i)));
    let array = Array::of_numbers(dtype, common_shape(&arrays), numbers)?;
    Ok(array.with_doubts(common_doubts(&arrays)?))
}

/// Applies a rule to numbers.
fn map(
    dtype: DType,
    array: &Array,
    rule: impl Fn(&Number) -> Number + Sync,
) -> Result<Array, EvalError> {
    let numbers = array.reader()?;
    let numbers = collect(numbers.len(), Number::UNKNOWN, |i| rule(&numbers.at(i)));
    let result = Array::of_numbers(dtype, array.shape.clone(), numbers)?;
    Ok(result.with_doubts(array.doubts.clone()))
}

/// The zeros that a backend may take subnormal numbers of a type as.
#[derive(Clone, Copy)]
pub(super) struct Flushing {
    /// The smallest normal number; `None` if subnormal numbers are kept.
    normal: Option<f64>,
}

impl Flushing {
    /// The zeros that the model allows.
    pub(super) fn new(machine: &Machine<'_>, dtype: DType) -> Flushing {
        let flushes = machine.model.flushes(dtype);
        Flushing { normal: flushes.then(|| dtype.float_format().map_or(0.0, smallest_normal)) }
    }

    /// The zero that a number may be taken as, if it is subnormal and not zero.
    pub(super) fn zero_of(self, bounds: Bounds) -> Option<Bounds> {
        let normal = self.normal?;
        if bounds.is_empty() {
            return None;
        }
        // Bounds on both sides of zero contain it.
        match (bounds.low > 0.0 && bounds.low < normal, bounds.high < 0.0 && bounds.high > -normal)
        {
            (true, _) => Some(Bounds::point(0.0)),
            (_, true) => Some(Bounds::point(-0.0)),
            _ => None,
        }
    }

    /// A number, or zero if it may be taken as such.
    pub(super) fn or_zero(self, number: Number) -> Number {
        match self.zero_of(number.bounds) {
            Some(zero) => Number { bounds: number.bounds.hull(zero), ..number },
            None => number,
        }
    }
}

/// A function of real numbers that is exact in floats, and does not decrease.
fn steps(number: &Number, step: fn(f64) -> f64) -> Number {
    let bounds = number.bounds;
    let truth = match number.truth {
        x if x.is_nan() || x.is_unknown() => x,
        x => Ball::between(step(x.lower()), step(x.upper())),
    };
    let truth = if truth.is_exact() { Ball::exact(truth.hi) } else { truth };
    Number { truth, bounds: Bounds { low: step(bounds.low), high: step(bounds.high), ..bounds } }
}

fn sign(x: f64) -> f64 {
    if x == 0.0 || x.is_nan() { x } else { 1f64.copysign(x) }
}

impl Op<'_> {
    pub(super) fn unary(
        &self,
        machine: &mut Machine<'_>,
        op: UnaryOp,
        operands: &[&Array],
    ) -> Elementwise {
        let [x] = operands else { return Ok(None) };
        let dtype = x.dtype;
        if dtype.is_complex() {
            return self.complex_unary(machine, op, x);
        }
        if !dtype.is_float() {
            return self.exact_elementwise(machine, operands);
        }
        let flushing = Flushing::new(machine, dtype);
        match op {
            UnaryOp::Negate => {
                map(dtype, x, |n| Number { truth: -n.truth, bounds: n.bounds.negated() })
            }
            UnaryOp::Abs => map(dtype, x, |n| {
                let (low, high) = (n.bounds.low, n.bounds.high);
                let bounds = match (low > high, low >= 0.0, high <= 0.0) {
                    (true, ..) | (_, true, _) => n.bounds,
                    (.., true) => n.bounds.negated(),
                    _ => Bounds { low: 0.0, high: high.max(-low), ..n.bounds },
                };
                Number { truth: n.truth.abs(), bounds }
            }),
            UnaryOp::Floor
            | UnaryOp::Ceil
            | UnaryOp::RoundNearestAfz
            | UnaryOp::RoundNearestEven
            | UnaryOp::Sign => {
                let step: fn(f64) -> f64 = match op {
                    UnaryOp::Floor => f64::floor,
                    UnaryOp::Ceil => f64::ceil,
                    UnaryOp::RoundNearestAfz => f64::round,
                    UnaryOp::Sign => sign,
                    _ => f64::round_ties_even,
                };
                map(dtype, x, |n| {
                    let (own, zero) = (steps(n, step), flushing.zero_of(n.bounds));
                    let bounds = zero.map_or(own.bounds, |zero| own.bounds.hull(zero));
                    Number { bounds, ..own }
                })
            }
            UnaryOp::Real => return Ok(Some((*x).clone())),
            UnaryOp::IsFinite | UnaryOp::IsInf | UnaryOp::IsNegInf | UnaryOp::IsPosInf => {
                return self.class_of(machine, op, x);
            }
            _ => {
                let Some(function) = function(op) else { return Ok(None) };
                let rounder = Rounder::new(dtype, self.rounding(machine, op.name(), dtype));
                let has_truth = machine.has_truth;
                let proven = |n: &Number| {
                    let is_needed = has_truth || n.bounds.low == n.truth.hi;
                    let truth = if is_needed { function.truth(n.truth) } else { Ball::UNKNOWN };
                    let near = match has_truth && n.bounds.low < n.bounds.high {
                        true => function.image_near(op, n.bounds, n.truth, truth),
                        false => None,
                    };
                    let image = near.unwrap_or_else(|| function.image(n.bounds, n.truth, truth));
                    let of_zero = flushing
                        .zero_of(n.bounds)
                        .map(|zero| function.image(zero, Ball::NAN, Ball::NAN));
                    let image = of_zero.map_or(image, |own| image.hull(own));
                    Number { truth, bounds: rounder.bounds(image) }
                };
                if let Some(quick) = QuickFunction::new(op).filter(|_| machine.is_quick(dtype)) {
                    let image = |n: &Number| function.image(n.bounds, Ball::NAN, Ball::NAN);
                    return quick.apply(x, has_truth, flushing, rounder, &proven, &image).map(Some);
                }
                map(dtype, x, proven)
            }
        }
        .map(Some)
    }

    /// Properties of floats.
    fn class_of(&self, machine: &mut Machine<'_>, op: UnaryOp, x: &Array) -> Elementwise {
        let test: fn(f64) -> bool = match op {
            UnaryOp::IsFinite => f64::is_finite,
            UnaryOp::IsInf => f64::is_infinite,
            UnaryOp::IsNegInf => |x| x == f64::NEG_INFINITY,
            _ => |x| x == f64::INFINITY,
        };
        let decide = |n: &Number| {
            let b = n.bounds;
            let mut outcomes = Outcomes::default();
            if b.nan {
                outcomes.add(test(f64::NAN));
            }
            if !b.is_empty() {
                outcomes.add(test(b.low));
                outcomes.add(test(b.high));
                if b.low < b.high {
                    outcomes.add(test(b.low.max(-1e300).min(b.high)));
                }
            }
            let truth = n.truth.is_finite() || n.truth.is_exact();
            (outcomes, truth.then(|| test(n.truth.hi)))
        };
        let numbers = x.numbers()?;
        self.decided(machine, &[x], numbers.iter().map(|n| (decide(n), [*n, *n])))
    }

    /// Booleans that are decided, or in doubt.
    pub(super) fn decided(
        &self,
        machine: &mut Machine<'_>,
        arrays: &[&Array],
        decisions: impl Iterator<Item = ((Outcomes, Option<bool>), [Number; 2])>,
    ) -> Elementwise {
        let shape = common_shape(arrays);
        let dtype = arrays.first().map_or(DType::F64, |array| array.dtype.part());
        let merged = common_doubts(arrays)?;
        let mut doubts = match merged {
            Some(doubts) => doubts.to_vec::<u32>()?,
            None => vec![0; shape.iter().product()],
        };
        let mut values = Vec::with_capacity(doubts.len());
        for (i, ((outcomes, truth), [a, b])) in decisions.enumerate() {
            let outcome = match outcomes {
                Outcomes { is_true: true, is_false: true } => None,
                Outcomes { is_true, .. } => Some(is_true),
            };
            // Rounding may also lead all backends to what is not true.
            let is_true = outcome.is_some() && (outcome == truth || !machine.has_truth);
            if !is_true && doubts[i] == 0 {
                let (origin, kind) = (self.origin(), Kind::Decision);
                let distance = apart(a, b, dtype);
                doubts[i] = machine.doubts.code(origin, kind, truth.is_none(), distance, || {
                    format!("{} and {}", shown(a), shown(b))
                });
            }
            let value = truth.or(outcome).unwrap_or_default();
            let value = if machine.has_truth { value } else { outcome.unwrap_or(value) };
            values.push(I1::from(value));
        }
        let doubts = crate::array::tensor(&shape, doubts)?;
        let array = Array::exact(crate::array::tensor(&shape, values)?);
        Ok(Some(array.with_doubts(Some(doubts))))
    }

    /// An elementwise kernel on exact operands with doubts.
    pub(super) fn exact_elementwise(
        &self,
        machine: &mut Machine<'_>,
        operands: &[&Array],
    ) -> Elementwise {
        let tensors: Option<Vec<&Tensor>> = operands.iter().map(|array| array.tensor()).collect();
        let Some(tensors) = tensors else { return Ok(None) };
        let values = tensors.into_iter().map(|tensor| tensor.clone().into()).collect();
        let results = self.kernel(machine, values)?;
        let Some(result) = results.into_iter().next() else { return Ok(None) };
        let array = Array::exact(result.into_tensor()?);
        Ok(Some(array.with_doubts(common_doubts(operands)?)))
    }

    pub(super) fn binary(
        &self,
        machine: &mut Machine<'_>,
        op: BinaryOp,
        operands: &[&Array],
    ) -> Elementwise {
        let &[x, y] = operands else { return Ok(None) };
        let dtype = x.dtype;
        if op == BinaryOp::Complex {
            return complex_of([x, y]).map(Some);
        }
        if dtype.is_complex() {
            return self.complex_binary(machine, op, [x, y]);
        }
        if !dtype.is_float() {
            return self.exact_elementwise(machine, operands);
        }
        let rounder = Rounder::new(dtype, self.rounding(machine, op.name(), dtype));
        let (has_truth, flushing) = (machine.has_truth, Flushing::new(machine, dtype));
        let rules = BinaryRules { operands: [x, y], has_truth, flushing, rounder };
        let is_basic = matches!(
            op,
            BinaryOp::Add | BinaryOp::Subtract | BinaryOp::Multiply | BinaryOp::Divide
        );
        match op {
            _ if is_basic && machine.is_quick(dtype) => rules.quick(op, self.is_same),
            BinaryOp::Add => rules.apply(|x, y| x + y, Bounds::plus),
            BinaryOp::Subtract => rules.apply(|x, y| x - y, |x, y| x.plus(y.negated())),
            BinaryOp::Multiply if self.is_same => {
                rules.apply(|x, _| x.square(), |x, _| x.squared())
            }
            BinaryOp::Multiply => rules.apply(|x, y| x * y, Bounds::times),
            BinaryOp::Divide => rules.apply(Ball::over, Bounds::over),
            BinaryOp::Power => rules.powers(machine.is_quick(dtype)),
            BinaryOp::Atan2 => rules.apply(Ball::atan2, atan2_image),
            BinaryOp::Remainder => rules.apply(remainder, remainder_image),
            BinaryOp::Zeta => rules.apply(Ball::zeta, |x, y| gamma_image(x, y, Ball::zeta)),
            BinaryOp::Polygamma => {
                rules.apply(Ball::polygamma, |x, y| gamma_image(x, y, Ball::polygamma))
            }
            BinaryOp::NextAfter => zip(dtype, [x, y], |x, y| next_after(x, y, dtype)),
            BinaryOp::Maximum | BinaryOp::Minimum => {
                let smaller = op == BinaryOp::Minimum;
                zip(dtype, [x, y], |x, y| flushing.or_zero(extreme(x, y, smaller)))
            }
            BinaryOp::And
            | BinaryOp::Complex
            | BinaryOp::Or
            | BinaryOp::ShiftLeft
            | BinaryOp::ShiftRightArithmetic
            | BinaryOp::ShiftRightLogical
            | BinaryOp::Xor => return Ok(None),
        }
        .map(Some)
    }

    pub(super) fn convert(
        &self,
        machine: &mut Machine<'_>,
        to: DType,
        operands: &[&Array],
    ) -> Elementwise {
        let &[x] = operands else { return Ok(None) };
        let from = x.dtype;
        if from.is_complex() || to.is_complex() {
            return self.complex_convert(machine, to, x);
        }
        if !to.is_float() {
            return match from.is_float() {
                true => self.integers_of(machine, to, x),
                false => self.exact_elementwise(machine, operands),
            };
        }
        let rounder = Rounder::new(to, self.rounding(machine, "convert", to));
        let flushing = Flushing::new(machine, from);
        // A boolean in doubt is 0 or 1.
        if from == DType::I1
            && let Some(doubts) = x.doubt_codes()?
        {
            let numbers = x.numbers()?;
            let number = |(&n, &doubt): (&Number, &u32)| match doubt {
                0 => n,
                _ => {
                    let bounds = Bounds { low: 0.0, high: 1.0, nan: false };
                    let truth = if doubt & 1 == 1 { Ball::between(0.0, 1.0) } else { n.truth };
                    Number { truth, bounds }
                }
            };
            let numbers = numbers.iter().zip(&doubts).map(number).collect();
            return Ok(Some(Array::of_numbers(to, x.shape.clone(), numbers)?));
        }
        let is_integer = !from.is_float();
        map(to, x, |n| {
            let image = match (is_integer, flushing.zero_of(n.bounds)) {
                (true, _) => Image::between(n.truth, n.truth),
                (false, None) => image_of(n.bounds),
                (false, Some(zero)) => image_of(n.bounds.hull(zero)),
            };
            Number { truth: n.truth, bounds: rounder.bounds(image) }
        })
        .map(Some)
    }

    /// Floats as integers or booleans: decided if both bounds are converted to the same.
    fn integers_of(&self, machine: &mut Machine<'_>, to: DType, x: &Array) -> Elementwise {
        let numbers = x.numbers()?;
        let converted = |value: &dyn Fn(&Number) -> f64| -> Result<Tensor, EvalError> {
            let values = numbers.iter().map(value).collect();
            Ok(math::convert(crate::array::tensor(&x.shape, values)?, to)?)
        };
        let low = converted(&|n| n.bounds.low)?;
        let high = converted(&|n| n.bounds.high)?;
        let (below, above) = (converted(&|n| n.truth.lower())?, converted(&|n| n.truth.upper())?);
        let same = |a: &Tensor, b: &Tensor, i: usize| {
            let size = to.bytes();
            let at = i * size..(i + 1) * size;
            a.bytes()[at.clone()] == b.bytes()[at]
        };
        let (is_settled, flushing) = (x.doubts.is_none(), Flushing::new(machine, x.dtype));
        let mut doubts = x.doubt_codes()?.unwrap_or_else(|| vec![0; numbers.len()]);
        let mut result = below.clone();
        let size = to.bytes();
        for (i, number) in numbers.iter().enumerate() {
            // Zero is not between two numbers that are not.
            let is_zero = flushing.zero_of(number.bounds).is_some();
            let spans = to == DType::I1 && (number.bounds.has_zero() || is_zero);
            let point = number.bounds.low == number.bounds.high && !is_zero;
            let is_true = same(&low, &below, i) && same(&below, &above, i);
            let is_decided = !number.bounds.nan && same(&low, &high, i) && (!spans || point);
            if is_decided && (is_true || !machine.has_truth) {
                let bytes = low.bytes()[i * size..(i + 1) * size].to_vec();
                result.bytes_mut()?[i * size..(i + 1) * size].copy_from_slice(&bytes);
                continue;
            }
            if doubts[i] == 0 {
                let is_truth = !same(&below, &above, i);
                let (origin, kind) = (self.origin(), Kind::Decision);
                let nearest = Number::exact(number.truth.hi.round());
                let distance = apart(*number, nearest, x.dtype);
                let example = || shown(*number);
                doubts[i] = machine.doubts.code(origin, kind, is_truth, distance, example);
            }
        }
        // All integers that the bounds are converted to are followed.
        let has_nan = numbers.iter().any(|n| n.bounds.nan || n.truth.is_unknown());
        if is_settled && !has_nan && to != DType::I1 && doubts.iter().any(|&doubt| doubt != 0) {
            let first = |n: &Number| n.bounds.low.min(n.truth.lower()).trunc();
            let last = |n: &Number| n.bounds.high.max(n.truth.upper()).trunc();
            let mut tensors = vec![result.clone()];
            for step in 0..=MAX_ALTERNATIVES {
                // One more than may be followed shows that there are too many.
                let value = |(n, &doubt): (&Number, &u32)| match doubt {
                    0 => n.bounds.low,
                    _ => (first(n) + step as f64).min(last(n)),
                };
                let values = numbers.iter().zip(&doubts).map(value).collect();
                tensors.push(math::convert(crate::array::tensor(&x.shape, values)?, to)?);
            }
            if let Some(array) = of_tensors(&tensors, &|i| doubts[i])? {
                return Ok(Some(array));
            }
        }
        let doubts = crate::array::tensor(&x.shape, doubts)?;
        Ok(Some(Array::exact(result).with_doubts(Some(doubts))))
    }

    pub(super) fn reduce_precision(&self, operands: &[&Array]) -> Elementwise {
        let (&[x], Primitive::ReducePrecision(precision)) = (operands, self.primitive()) else {
            return Ok(None);
        };
        let numbers = x.numbers()?;
        let rounded = |value: &dyn Fn(&Number) -> f64| -> Result<Vec<f64>, EvalError> {
            let values = numbers.iter().map(value).collect();
            let values = from_f64s(DType::F64, &[numbers.len()], values)?;
            let (exponent, mantissa) = (precision.exponent_bits, precision.mantissa_bits);
            Ok(to_f64s(&math::reduce_precision(values, exponent, mantissa)?)?)
        };
        let (low, high) = (rounded(&|n| n.bounds.low)?, rounded(&|n| n.bounds.high)?);
        let number = |(i, n): (usize, &Number)| {
            let (low, high) = match n.bounds.is_empty() {
                true => (n.bounds.low, n.bounds.high),
                false => (low[i], high[i]),
            };
            Number { truth: n.truth, bounds: Bounds { low, high, nan: n.bounds.nan } }
        };
        let numbers = numbers.iter().enumerate().map(number).collect();
        let result = Array::of_numbers(x.dtype, x.shape.clone(), numbers)?;
        Ok(Some(result.with_doubts(x.doubts.clone())))
    }
}

/// An operation on pairs of numbers.
pub(super) struct BinaryRules<'a> {
    pub operands: [&'a Array; 2],
    pub has_truth: bool,
    pub flushing: Flushing,
    pub rounder: Rounder,
}

impl BinaryRules<'_> {
    /// The results, by functions of true values and of bounds.
    fn apply(
        &self,
        truth: impl Fn(Ball, Ball) -> Ball + Sync,
        image: impl Fn(Bounds, Bounds) -> Image + Sync,
    ) -> Result<Array, EvalError> {
        self.zip(|x, y| {
            let truth = if self.has_truth { truth(x.truth, y.truth) } else { Ball::UNKNOWN };
            Number { truth, bounds: self.bounds(x.bounds, y.bounds, &image) }
        })
    }

    /// The results of basic arithmetic in a quick run.
    fn quick(&self, op: BinaryOp, is_same: bool) -> Result<Array, EvalError> {
        match op {
            BinaryOp::Add => self.apply(quick_sum, Bounds::plus),
            BinaryOp::Subtract => self.apply(|x, y| quick_sum(x, -y), |x, y| x.plus(y.negated())),
            BinaryOp::Multiply if is_same => {
                self.apply(|x, _| quick_product(x, x), |x, _| x.squared())
            }
            BinaryOp::Multiply => self.apply(quick_product, Bounds::times),
            _ => self.apply(quick_quotient, Bounds::over),
        }
    }

    /// The results for each pair.
    pub(super) fn zip(
        &self,
        rule: impl Fn(Number, Number) -> Number + Sync,
    ) -> Result<Array, EvalError> {
        zip(self.operands[0].dtype, self.operands, rule)
    }

    /// The results.
    pub(super) fn array(&self, numbers: Vec<Number>) -> Result<Array, EvalError> {
        let operands = &self.operands;
        let array = Array::of_numbers(operands[0].dtype, common_shape(operands), numbers)?;
        Ok(array.with_doubts(common_doubts(operands)?))
    }

    /// The results for bounds, by their image.
    pub(super) fn bounds(
        &self,
        x: Bounds,
        y: Bounds,
        image: impl Fn(Bounds, Bounds) -> Image,
    ) -> Bounds {
        let mut all = image(x, y);
        if self.flushing.normal.is_some() {
            let zeros = [x, y].map(|bounds| self.flushing.zero_of(bounds));
            if let Some(zero) = zeros[0] {
                all = all.hull(image(zero, y));
            }
            if let Some(zero) = zeros[1] {
                all = all.hull(image(x, zero));
            }
            if let [Some(first), Some(second)] = zeros {
                all = all.hull(image(first, second));
            }
        }
        self.rounder.bounds(all)
    }
}

/// The possible outcomes of a decision.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Outcomes {
    pub is_true: bool,
    pub is_false: bool,
}

impl Outcomes {
    pub(crate) fn add(&mut self, outcome: bool) {
        if outcome {
            self.is_true = true;
        } else {
            self.is_false = true;
        }
    }
}

/// The distance of the true values of two numbers in units in the last place of the larger one.
pub(super) fn apart(a: Number, b: Number, dtype: DType) -> Option<f64> {
    let format = dtype.part().float_format()?;
    let (x, y) = (a.truth, b.truth);
    if !x.is_finite() || !y.is_finite() {
        return None;
    }
    let unit = ulp(x.hi.abs().max(y.hi.abs()), format);
    let distance = (x - y).abs();
    Some((distance.hi / unit).abs())
}

/// A number for people: its bounds, or its value.
pub(super) fn shown(number: Number) -> String {
    let Bounds { low, high, nan } = number.bounds;
    let or_nan = if nan { " or NaN" } else { "" };
    match number.bounds.value() {
        Some(value) => format!("{value:e}"),
        None => format!("[{low:e}, {high:e}]{or_nan}"),
    }
}

/// Bounds as an image that is rounded once more.
fn image_of(bounds: Bounds) -> Image {
    if bounds.is_empty() {
        return Image::EMPTY.or_nan(bounds.nan);
    }
    Image::between(Ball::exact(bounds.low), Ball::exact(bounds.high)).or_nan(bounds.nan)
}

/// The larger number of two, or the smaller one; NaN if one is NaN.
pub(super) fn extreme(x: Number, y: Number, smaller: bool) -> Number {
    let (a, b) = (x.bounds, y.bounds);
    let nan = a.nan || b.nan;
    if a.is_empty() || b.is_empty() {
        return Number { truth: Ball::NAN, bounds: Bounds::NAN };
    }
    let (bounds, truth) = match smaller {
        true => (
            Bounds { low: a.low.min(b.low), high: a.high.min(b.high), nan },
            -(-x.truth).max(-y.truth),
        ),
        false => {
            (Bounds { low: a.low.max(b.low), high: a.high.max(b.high), nan }, x.truth.max(y.truth))
        }
    };
    Number { truth, bounds }
}

/// The next float after `x` in the direction of `y`.
fn next_after(x: Number, y: Number, dtype: DType) -> Number {
    let nan = x.bounds.nan || y.bounds.nan;
    let (Some(format), false) = (dtype.float_format(), x.bounds.is_empty() || y.bounds.is_empty())
    else {
        return Number { truth: Ball::NAN, bounds: Bounds::NAN };
    };
    let step = |value: f64| ulp(value, format).max(format.decode(1));
    let Bounds { low, high, .. } = x.bounds;
    let bounds = Bounds {
        low: if y.bounds.low < high { low - step(low) } else { low },
        high: if y.bounds.high > low { high + step(high) } else { high },
        nan,
    };
    let step = step(x.truth.hi);
    let truth = if step.is_finite() { x.truth.widened(step) } else { Ball::UNKNOWN };
    Number { truth, bounds }
}

/// The remainder of a truncated division.
fn remainder(x: Ball, y: Ball) -> Ball {
    if x.is_nan() || y.is_nan() {
        return Ball::NAN;
    }
    let plain = |b: Ball| b.is_exact() && b.lo == 0.0;
    if plain(x) && plain(y) {
        return Ball::exact(x.hi % y.hi);
    }
    if x.is_unknown() || y.is_unknown() {
        return Ball::UNKNOWN;
    }
    let quotient = x.over(y);
    let (low, high) = (quotient.lower().trunc(), quotient.upper().trunc());
    if low == high && low.abs() < 9e15 {
        return x - Ball::exact(low) * y;
    }
    let size = y.magnitude();
    Ball::between(-size, size)
}

fn remainder_image(x: Bounds, y: Bounds) -> Image {
    let nan = x.nan || y.nan || y.has_zero() || x.has_infinity();
    if x.is_empty() || y.is_empty() {
        return Image::EMPTY.or_nan(true);
    }
    if let (Some(a), Some(b)) = (x.value(), y.value()) {
        return image_of(Bounds::point(a % b)).or_nan(nan);
    }
    let size = y.magnitude();
    if let Some(b) = y.value()
        && (x.low / b).trunc() == (x.high / b).trunc()
        && !nan
    {
        let (low, high) = (x.low % b, x.high % b);
        // The quotients rounded may both have passed an integer that the numbers have not.
        if low <= high && (high - low) <= (x.high - x.low) * 1.5 {
            return image_of(Bounds { low, high, nan });
        }
    }
    image_of(Bounds { low: -size, high: size, nan })
}

/// Complex numbers of real and imaginary parts.
pub(super) fn complex_of(arrays: [&Array; 2]) -> Result<Array, EvalError> {
    let (re, im) = (arrays[0].numbers()?, arrays[1].numbers()?);
    let dtype = arrays[0].dtype.complex();
    let dtype = dtype.ok_or_else(|| EvalError::new("type", "there is no such complex type"))?;
    let n = re.len().max(im.len());
    let at = |numbers: &[Number], i: usize| numbers[if numbers.len() == 1 { 0 } else { i }];
    let numbers = (0..n).flat_map(|i| [at(&re, i), at(&im, i)]).collect();
    let array = Array::of_numbers(dtype, common_shape(&arrays), numbers)?;
    Ok(array.with_doubts(common_doubts(&arrays)?))
}

/// Rounds the image of a real operation.
pub(super) fn rounded(image: Image, dtype: DType, rounding: Rounding) -> Bounds {
    image.rounded(dtype.part(), rounding)
}
