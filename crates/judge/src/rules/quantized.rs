//! Ops on quantized operands: on the floats that they express, quantized again.

use super::{Op, Ruled};
use crate::array::{Array, Number, Value};
use crate::ball::Ball;
use crate::bounds::{Bounds, Image, Rounding};
use crate::machine::Machine;
use numerics::DType;
use program::primitives::Quantized;
use program::{EvalError, UniformQuantization};

/// The scale and the zero point of each element.
fn parameters(
    quantization: &UniformQuantization,
    shape: &[usize],
) -> Result<Vec<(f64, f64)>, EvalError> {
    let UniformQuantization { scales, zero_points, expressed, axis, .. } = quantization;
    let n: usize = shape.iter().product();
    // Scales are numbers of the expressed type.
    let scale = |x: f64| crate::bounds::nearest(x.into(), *expressed);
    let own: Vec<(f64, f64)> =
        scales.iter().zip(zero_points).map(|(&s, &z)| (scale(s), z as f64)).collect();
    match (&own[..], axis) {
        ([one], _) => Ok(vec![*one; n]),
        (many, Some(axis)) if shape.get(*axis) == Some(&many.len()) => {
            let inner: usize = shape[axis + 1..].iter().product();
            Ok((0..n).map(|i| many[i / inner % many.len()]).collect())
        }
        _ => Err(EvalError::new("quantized", "sub-channel quantization cannot be judged")),
    }
}

impl Op<'_> {
    /// A primitive on floats between conversions of quantized operands and results.
    pub(super) fn quantized(
        &self,
        machine: &mut Machine<'_>,
        quantized: &Quantized,
        operands: &[&Array],
    ) -> Ruled {
        let mut floats = Vec::with_capacity(operands.len());
        for (i, &operand) in operands.iter().enumerate() {
            floats.push(Value::from(match quantized.operands.get(i) {
                Some(Some(own)) => match self.dequantized(machine, operand, own)? {
                    Some(array) => array,
                    None => return Ok(None),
                },
                _ => operand.clone(),
            }));
        }
        let dtypes: Vec<Option<DType>> = (0..self.instruction.result_types.len())
            .map(|i| match quantized.results.get(i) {
                Some(Some(own)) => Some(own.expressed),
                _ => self.result_dtype(i),
            })
            .collect();
        let own = Op { primitive: &quantized.primitive, dtypes: Some(&dtypes), ..*self };
        let results = own.apply(machine, floats)?;
        let mut stored = Vec::with_capacity(results.len());
        for (i, result) in results.iter().enumerate() {
            stored.push(match quantized.results.get(i) {
                Some(Some(own)) => match self.requantized(machine, result.array()?, own)? {
                    Some(array) => array,
                    None => return Ok(None),
                },
                _ => result.array()?.clone(),
            });
        }
        Ok(Some(stored))
    }

    /// The floats that storage values express.
    fn dequantized(
        &self,
        machine: &Machine<'_>,
        array: &Array,
        quantization: &UniformQuantization,
    ) -> Result<Option<Array>, EvalError> {
        let dtype = quantization.expressed;
        let numbers = array.numbers()?;
        let rounding = machine.model.rounding("multiply", dtype);
        let rounding = Rounding { unrounded: true, ..rounding };
        let own = parameters(quantization, &array.shape)?;
        let number = |(n, (scale, zero)): (&Number, (f64, f64))| {
            let truth = (n.truth - Ball::exact(zero)) * Ball::exact(scale);
            Number { truth, bounds: Image::between(truth, truth).rounded(dtype, rounding) }
        };
        let numbers = numbers.iter().zip(own).map(number).collect();
        let result = Array::of_numbers(dtype, array.shape.clone(), numbers)?;
        Ok(Some(result.with_doubts(array.doubts.clone())))
    }

    /// The storage values that express floats: decided if rounding leads all backends to the same.
    fn requantized(
        &self,
        machine: &mut Machine<'_>,
        array: &Array,
        quantization: &UniformQuantization,
    ) -> Result<Option<Array>, EvalError> {
        let dtype = quantization.expressed;
        let numbers = array.numbers()?;
        let own = parameters(quantization, &array.shape)?;
        let limits = [quantization.storage_min as f64, quantization.storage_max as f64];
        let rounding = Rounding { unrounded: true, ..machine.model.rounding("divide", dtype) };
        let scaled = |(n, (scale, zero)): (&Number, (f64, f64))| {
            let truth = n.truth.over(Ball::exact(scale)) + Ball::exact(zero);
            let quotient = n.bounds.over(Bounds::point(scale)).rounded(dtype, rounding);
            // A product with the inverse is rounded twice.
            let spread = |x: f64, up: bool| match dtype.float_format() {
                Some(format) if x.is_finite() => {
                    let unit = numerics::ulp::unit_in_the_last_place(x, format);
                    if up { x + unit } else { x - unit }
                }
                _ => x,
            };
            let is_power = scale.to_bits() & ((1 << 52) - 1) == 0;
            let exact = is_power || quotient.value() == Some(0.0);
            let quotient = match exact {
                true => quotient,
                false => Bounds {
                    low: spread(quotient.low, false),
                    high: spread(quotient.high, true),
                    ..quotient
                },
            };
            let moved = quotient.plus(Bounds::point(zero)).rounded(dtype, rounding);
            let step = |x: f64| x.clamp(limits[0], limits[1]).round_ties_even();
            let bounds = match moved.is_empty() {
                true => moved,
                false => Bounds { low: step(moved.low), high: step(moved.high), ..moved },
            };
            let truth = match truth.is_finite() {
                true => Ball::between(step(truth.lower()), step(truth.upper())),
                false => truth,
            };
            Number { truth, bounds }
        };
        let numbers = numbers.iter().zip(own).map(scaled).collect();
        let wide = Array::of_numbers(DType::F64, array.shape.clone(), numbers)?;
        let wide = wide.with_doubts(array.doubts.clone());
        self.convert(machine, quantization.storage, &[&wide])
    }
}
