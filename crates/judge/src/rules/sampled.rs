//! Runs with random rounding: the kernels of the interpreter, whose results are moved at random by
//! as much as rounding in another order, or with the errors of the model, is likely to move them.
//!
//! The error of a sum of `n` terms is bounded by `n u Σ|x|`, and hardly ever more than a small
//! multiple of `√n u Σ|x|` (N. J. Higham and T. Mary, *A new approach to probabilistic rounding
//! error analysis*, 2019), which is taken here.

use super::Op;
use crate::array::{Array, Value, from_f64s, parts, to_f64s};
use crate::bounds::Rounding;
use crate::machine::{Machine, is_inexact};
use numerics::math::{self, BinaryOp, UnaryOp};
use numerics::ulp::unit_in_the_last_place as ulp;
use numerics::{DType, Tensor};
use program::primitives::{self, Dynamic};
use program::{Body, BodyShape, EvalError, Primitive, RuntimeValue};

/// Random numbers (S. Vigna's SplitMix64).
pub(crate) struct RoundingNumbers(u64);

impl RoundingNumbers {
    /// The numbers of a seed.
    pub(crate) fn new(seed: u64) -> RoundingNumbers {
        RoundingNumbers(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }

    /// A number from [-1, 1).
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^= z >> 31;
        (z >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}

/// The likely errors of the elements of a result.
enum Errors {
    /// None.
    None,
    /// The errors of a rounding.
    Rounding(Rounding),
    /// The errors of sums of this number of terms.
    Sums(f64),
    /// In units in the last place of the largest element.
    OfLargest(f64),
}

impl Op<'_> {
    /// The results of a run with random rounding; `None` if operands are not exact.
    pub(super) fn sampled(
        &self,
        machine: &mut Machine<'_>,
        operands: &[Value],
    ) -> Result<Option<Vec<Value>>, EvalError> {
        if machine.random.is_none() {
            return Ok(None);
        }
        let exact: Option<Vec<RuntimeValue>> = operands.iter().map(Value::as_exact).collect();
        let Some(exact) = exact else { return Ok(None) };
        let results = match self.kernel(machine, exact) {
            Err(error) if is_inexact(&error) => return Ok(None),
            results => results?,
        };
        let mut values = Vec::with_capacity(results.len());
        for result in results {
            values.push(match result {
                RuntimeValue::Tensor(tensor) => {
                    Array::exact(self.moved_at_random(machine, operands, tensor)?).into()
                }
                other => other.into(),
            });
        }
        Ok(Some(values))
    }

    fn moved_at_random(
        &self,
        machine: &mut Machine<'_>,
        operands: &[Value],
        result: Tensor,
    ) -> Result<Tensor, EvalError> {
        let dtype = result.dtype();
        let Some(format) = dtype.part().float_format() else { return Ok(result) };
        let errors = self.likely_errors(machine, operands, &result);
        let sizes = match errors {
            Errors::None => return Ok(result),
            Errors::Sums(_) => Some(self.sizes(machine, operands)?),
            Errors::Rounding(_) | Errors::OfLargest(_) => None,
        };
        let mut values = to_f64s(&parts(&result)?)?;
        let finite = values.iter().filter(|x| x.is_finite());
        let largest = finite.fold(0.0f64, |largest, x| largest.max(x.abs()));
        let roundoff = machine.model.sum_roundoff(dtype);
        let products = machine.model.products.filter(|_| dtype.part() == DType::F32);
        let products = products.and_then(DType::float_format);
        let products = products.map_or(0.0, |narrow| 0.5f64.powi(narrow.precision() as i32));
        let Some(random) = &mut machine.random else { return Ok(result) };
        let width = if dtype.is_complex() { 2 } else { 1 };
        for (i, value) in values.iter_mut().enumerate().filter(|(_, value)| value.is_finite()) {
            let error = match (&errors, &sizes) {
                (Errors::Rounding(rounding), _) => {
                    let ulps = rounding.ulps - if rounding.unrounded { 0.0 } else { 0.5 };
                    ulps * ulp(*value, format) + rounding.absolute + rounding.relative * value.abs()
                }
                (Errors::Sums(terms), Some(sizes)) if sizes[i / width].is_finite() => {
                    terms.sqrt() * (roundoff + products) * sizes[i / width]
                }
                (Errors::OfLargest(ulps), _) => ulps * ulp(largest, format),
                _ => 0.0,
            };
            if error > 0.0 {
                *value += error * random.next();
            }
        }
        Ok(from_f64s(dtype, result.shape(), values)?)
    }

    /// The sums of absolute values that the op makes.
    fn sizes(&self, machine: &mut Machine<'_>, operands: &[Value]) -> Result<Vec<f64>, EvalError> {
        let size = |value: &Value| -> Result<RuntimeValue, EvalError> {
            let array = value.array()?;
            let tensor = array.approximate()?;
            let is_float = array.dtype.is_float() || array.dtype.is_complex();
            if !is_float {
                return Ok(tensor.into());
            }
            let tensor = math::unary(UnaryOp::Abs, tensor)?;
            Ok(math::convert(tensor, array.dtype)?.into())
        };
        let operands = operands.iter().map(size).collect::<Result<_, _>>()?;
        let sums = super::sums::first_tensor(self.kernel(machine, operands)?)?;
        let sums = if sums.dtype().is_complex() { math::unary(UnaryOp::Abs, sums)? } else { sums };
        Ok(to_f64s(&sums)?)
    }

    fn likely_errors(&self, machine: &Machine<'_>, operands: &[Value], result: &Tensor) -> Errors {
        let dtype = result.dtype();
        let len = |index: usize| {
            let array = operands.get(index).and_then(|value| value.array().ok());
            array.map_or(0, Array::len)
        };
        let ratio = |whole: usize, parts: usize| whole as f64 / parts.max(1) as f64;
        let of_rounding = |name: &str| {
            let rounding = self.rounding(machine, name, dtype);
            let is_exact = rounding.ulps <= 0.5
                && rounding.absolute == 0.0
                && rounding.relative == 0.0
                && !rounding.unrounded;
            if is_exact { Errors::None } else { Errors::Rounding(rounding) }
        };
        let of_body = |body: &Body, terms: f64| match body.shape {
            BodyShape::Binary { op: BinaryOp::Add, .. } => Errors::Sums(terms),
            BodyShape::Binary { op: BinaryOp::Multiply, .. } => {
                Errors::Rounding(Rounding { ulps: 0.5 + terms.sqrt(), ..Rounding::NEAREST })
            }
            _ => Errors::None,
        };
        let outputs = result.num_elements();
        match self.primitive() {
            Primitive::Unary(op) => match op {
                UnaryOp::Abs | UnaryOp::Negate | UnaryOp::Real | UnaryOp::Imag => Errors::None,
                op => of_rounding(op.name()),
            },
            Primitive::Binary(op) => match op {
                BinaryOp::Maximum | BinaryOp::Minimum | BinaryOp::Complex => Errors::None,
                op => of_rounding(op.name()),
            },
            Primitive::Convert(_) => of_rounding("convert"),
            Primitive::Dot(_) | Primitive::Einsum(_) => {
                // Each factor is in a product for each row of the other operand.
                Errors::Sums((ratio(len(0), outputs) * len(1) as f64).sqrt())
            }
            Primitive::Convolution(convolution) => {
                Errors::Sums(self.products_of(convolution, operands))
            }
            Primitive::Dynamic(dynamic) => match &**dynamic {
                Dynamic::Convolution(convolution) => {
                    Errors::Sums(self.products_of(convolution, operands))
                }
                _ => Errors::None,
            },
            Primitive::Reduce(reduce) => of_body(&reduce.body, ratio(len(0), outputs)),
            Primitive::ReduceWindow(reduce) => {
                let window = reduce.window.as_ref();
                let sizes = window.map(|window| window.iter().map(|d| d.size as f64).product());
                of_body(&reduce.body, sizes.unwrap_or(1.0))
            }
            Primitive::Scatter(scatter) => of_body(&scatter.body, 2.0),
            Primitive::SelectAndScatter(_)
            | Primitive::Fft(_)
            | Primitive::Cholesky(_)
            | Primitive::TriangularSolve(_)
            | Primitive::BatchNorm(_) => Errors::OfLargest(2.0),
            _ => Errors::None,
        }
    }

    /// The number of products of an element of a convolution.
    fn products_of(&self, convolution: &primitives::Convolution, operands: &[Value]) -> f64 {
        let kernel = operands.get(1).and_then(|value| value.array().ok());
        let Some(kernel) = kernel else { return 1.0 };
        let features = usize::try_from(convolution.dims.kernel_output_feature_dimension);
        let features = features.ok().and_then(|d| kernel.shape.get(d)).copied().unwrap_or(1);
        kernel.len() as f64 / features.max(1) as f64
    }
}
