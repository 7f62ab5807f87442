//! Sums: products of matrices, convolutions, reductions and scattered updates.
//!
//! The error of a sum of `n` numbers in any order is at most `(n - 1) u Σ|x|`, of a sum of `n`
//! products, with fused multiply-adds or without, at most `n u Σ|ab|` (C.-P. Jeannerod and S. M.
//! Rump, *Improved error bounds for inner products in floating-point arithmetic*, 2013). Sums whose
//! partial sums all are numbers of the type have no error.

use super::quick_products::quick_products;
use super::{Op, Ruled, any_doubt};
use crate::array::{Array, Number, tensor};
use crate::ball::{Ball, up};
use crate::bounds::{Bounds, Image, Rounder, Rounding, largest, smallest_normal};
use crate::exact_sums::{Kernel, bilinear, bounded, linear};
use crate::machine::Machine;
use crate::precise;
use crate::quick_sums::{MAX_QUICK_TERMS, quick_bilinear, quick_linear};
use numerics::math::BinaryOp;
use numerics::{DType, Tensor};
use program::primitives::{self, Dynamic};
use program::{Body, BodyShape, EvalError, Primitive, RuntimeValue};

/// The least power of two of which all numbers are multiples; infinite if all are zero, 0 if there
/// are others than floats.
fn granularity(numbers: &[Number]) -> f64 {
    granularity_of(numbers.iter().map(|n| n.bounds.value().unwrap_or(f64::NAN)))
}

/// Likewise of floats.
pub(super) fn granularity_of(numbers: impl Iterator<Item = f64>) -> f64 {
    let unit = |x: f64| match x {
        0.0 => f64::INFINITY,
        x if !x.is_finite() => 0.0,
        x => {
            let bits = x.abs().to_bits();
            let mantissa = bits & ((1 << 52) - 1) | u64::from(bits >> 52 != 0) << 52;
            let exponent = ((bits >> 52) as i32).max(1) - 1075;
            libm::scalbn(1.0, exponent + mantissa.trailing_zeros() as i32)
        }
    };
    numbers.map(unit).fold(f64::INFINITY, f64::min)
}

/// Bounds as a ball.
pub(super) fn ball(bounds: Bounds) -> Ball {
    match bounds.value() {
        Some(value) => Ball::exact(value),
        None if bounds.nan || bounds.is_empty() => Ball::UNKNOWN,
        None => Ball::between(bounds.low, bounds.high),
    }
}

/// True for types whose rounding is far above that of `f64`.
fn is_narrow(dtype: DType) -> bool {
    dtype.part() != DType::F64
}

fn is_same(numbers: &[Number]) -> bool {
    let same = |n: &Number| {
        n.truth.is_exact() && n.truth.lo == 0.0 && n.bounds.value() == Some(n.truth.hi)
    };
    numbers.iter().all(same)
}

/// An infinity or NaN that all conforming sums are.
#[derive(Clone, Copy)]
struct SpecialSum {
    value: f64,
    /// True if it is the true value, too.
    is_true: bool,
}

/// The facts by which the error of a sum is bounded.
pub(super) struct Sum {
    /// The sum of what a conforming backend adds, without rounding.
    pub image: Ball,
    /// The sum of absolute values.
    pub size: f64,
    /// The number of terms that are not zero.
    pub terms: f64,
    /// All terms are multiples of this.
    pub unit: f64,
}

/// How sums are rounded.
pub(super) struct SumRounding {
    pub dtype: DType,
    /// The unit roundoff of partial sums.
    pub roundoff: f64,
    /// True for sums of products, each of which may be rounded.
    pub products: bool,
    /// The largest relative error of a product because of rounded operands.
    pub operands: f64,
    pub rounding: Rounding,
    /// The last rounding of a sum, to the nearest number.
    pub rounder: Rounder,
    /// The error of a term because of zeros in place of subnormal numbers, or of underflow.
    pub tiny: f64,
    /// True if the sum is rounded once more, from a wider type.
    pub is_wide: bool,
    /// The largest number of the type.
    pub limit: f64,
    /// The number of integers that the type's digits tell apart; 0 for types that are no floats.
    pub integers: f64,
}

impl SumRounding {
    pub(crate) fn new(
        op: &Op<'_>,
        machine: &Machine<'_>,
        dtype: DType,
        products: bool,
    ) -> SumRounding {
        let rounding = op.rounding(machine, "sum", dtype);
        let dtype = dtype.part();
        let format = dtype.float_format();
        let normal = format.map_or(0.0, smallest_normal);
        let roundoff = machine.model.sum_roundoff(dtype);
        let own = format.map_or(0.0, |format| (0.5f64).powi(format.precision() as i32));
        let operands = match machine.model.products.and_then(DType::float_format) {
            Some(narrow) if products && dtype.part() == DType::F32 => {
                // Each of two operands by half a unit in the last place.
                2.1 * (0.5f64).powi(narrow.precision() as i32)
            }
            _ => 0.0,
        };
        let flushed = if machine.model.flushes(dtype) { 4.0 * normal } else { 0.0 };
        let tiny = flushed + if products { normal * own * 2.0 } else { 0.0 };
        let rounder = Rounder::new(dtype, Rounding { ulps: 0.5, ..rounding });
        let limit = format.map_or(0.0, largest);
        let integers = format.map_or(0.0, |format| 2f64.powi(format.precision() as i32));
        let is_wide = roundoff < own;
        SumRounding {
            dtype,
            roundoff,
            products,
            operands,
            rounding,
            rounder,
            tiny,
            is_wide,
            limit,
            integers,
        }
    }

    /// The results of sums with this image, sum of absolute values and number of terms.
    pub(crate) fn of(&self, image: Ball, size: f64, terms: f64) -> Bounds {
        self.bounds(&Sum { image, size, terms, unit: 0.0 })
    }

    /// The results that conforming sums may have.
    pub(super) fn bounds(&self, sum: &Sum) -> Bounds {
        if self.integers == 0.0 || !sum.image.is_finite() {
            return Bounds::ANY;
        }
        let is_exact = self.tiny == 0.0 || sum.unit > self.tiny;
        let is_exact = is_exact && self.operands == 0.0 && sum.unit > 0.0;
        let error = if is_exact && sum.size <= self.integers * sum.unit || sum.terms < 1.0 {
            0.0
        } else {
            let roundings = if self.products { sum.terms } else { sum.terms - 1.0 };
            // One addition, or one product, is rounded once, by the last rounding.
            let once = if self.is_wide { 0.0 } else { 1.0 };
            let roundings = if roundings <= once { 0.0 } else { roundings };
            up(sum.size * (roundings * self.roundoff + self.operands) + sum.terms * self.tiny)
        };
        let image = sum.image.widened(error);
        let bounds = self.rounder.bounds(Image::between(image, image));
        // Partial sums may leave the range.
        if sum.size + error > self.limit {
            return Bounds::ANY;
        }
        bounds
    }
}

/// The product of numbers, in any order.
pub(super) fn product_of(
    numbers: &[Number],
    dtype: DType,
    roundoff: f64,
    rounding: Rounding,
) -> Number {
    let truth = numbers.iter().fold(Ball::ONE, |product, n| product * n.truth);
    let image = numbers.iter().fold(Ball::ONE, |product, n| product * ball(n.bounds));
    let others = numbers.iter().filter(|n| n.bounds.value() != Some(1.0)).count();
    let error = others.saturating_sub(1) as f64 * roundoff * 1.1;
    let normal = dtype.float_format().map_or(0.0, smallest_normal);
    let limit = dtype.float_format().map_or(f64::INFINITY, largest);
    let image = match others > 2 && image.is_finite() {
        true => image.widened(up(image.magnitude() * error + normal)),
        false => image,
    };
    // Partial products may leave the range.
    let partial: f64 = numbers.iter().map(|n| n.bounds.magnitude().max(1.0)).product();
    let bounds = match image.is_finite() && (others <= 2 || partial < limit) {
        true => Image::between(image, image).rounded(dtype, rounding),
        false => Bounds::ANY,
    };
    Number { truth, bounds }
}

/// A body that adds `f64`.
fn adding(body: &Body) -> Body {
    Body {
        dtypes: vec![Some(DType::F64); 2],
        shape: BodyShape::Binary { op: BinaryOp::Add, swapped: false },
        extremum: None,
        choice: None,
        ..body.clone()
    }
}

/// A primitive that reduces, with another body.
pub(super) type WithBody<'b> = dyn Fn(Body) -> Primitive + 'b;

fn with_f64(body: &Body) -> Body {
    Body { dtypes: vec![Some(DType::F64); body.dtypes.len()], ..body.clone() }
}

pub(super) fn first_tensor(results: Vec<RuntimeValue>) -> Result<Tensor, EvalError> {
    let first = results.into_iter().next();
    first.ok_or_else(|| EvalError::new("judge", "a kernel has no results"))?.into_tensor()
}

impl Op<'_> {
    /// The sums of a linear kernel of operands, as arrays of `f64`.
    fn linear_sums(
        &self,
        machine: &Machine<'_>,
        dtype: DType,
        operands: &[(&[usize], &[Number])],
        kernel: &mut Kernel<'_>,
    ) -> Result<(Vec<usize>, Vec<Number>), EvalError> {
        let mut floats = |value: &dyn Fn(&Number) -> f64| -> Result<Tensor, EvalError> {
            let operands = operands.iter();
            let operands = operands.map(|(shape, n)| tensor(shape, n.iter().map(value).collect()));
            kernel(operands.collect::<Result<_, _>>()?)
        };
        let all_terms = floats(&|_| 1.0)?;
        let shape = all_terms.shape().to_vec();
        let most = all_terms.as_slice::<f64>()?.iter().copied().fold(0.0, f64::max);
        let is_zero = |n: &Number| n.bounds.value() == Some(0.0);
        let terms = match operands.iter().any(|(_, numbers)| numbers.iter().any(is_zero)) {
            true => floats(&|n| f64::from(u8::from(!is_zero(n))))?,
            false => all_terms.clone(),
        };
        let finite = |x: f64| if x.is_finite() { x } else { 0.0 };
        let sizes = floats(&|n| finite(n.bounds.magnitude()))?;
        let sizes: Vec<f64> = sizes.as_slice::<f64>()?.to_vec();
        let unit = operands.iter().map(|(_, n)| granularity(n)).fold(f64::INFINITY, f64::min);
        let same = operands.iter().all(|(_, numbers)| is_same(numbers));
        let has_few_terms = most <= MAX_QUICK_TERMS;
        let is_quick = machine.is_quick(dtype) && has_few_terms;
        let images_are_quick = is_quick || (has_few_terms && !same && is_narrow(dtype));
        let mut balls = |value: &dyn Fn(&Number) -> Ball, unit: f64, is_quick: bool| {
            let lists: Vec<Vec<Ball>> =
                operands.iter().map(|(_, n)| n.iter().map(value).collect()).collect();
            let lists: Vec<(&[usize], &[Ball])> =
                operands.iter().zip(&lists).map(|((shape, _), list)| (*shape, &list[..])).collect();
            match is_quick {
                true => quick_linear(&lists, most, unit, kernel),
                false => linear(&lists, most, kernel),
            }
        };
        let images = {
            // These are true values, too, if operands are exact.
            let _pause = (!same).then(precise::pause);
            balls(&|n| ball(n.bounds), unit, images_are_quick)?
        };
        let truths = match (same, machine.has_truth) {
            (true, _) => images.clone(),
            (false, true) => balls(&|n| n.truth, 0.0, is_quick)?,
            (false, false) => vec![Ball::UNKNOWN; images.len()],
        };
        let special = self.special_sums(operands, kernel)?;
        let sums = SumRounding::new(self, machine, dtype, false);
        let terms = terms.as_slice::<f64>()?;
        let number = |i: usize| {
            let size = up(sizes[i] * (1.0 + 2.0 * most * crate::ball::U));
            let sum = Sum { image: images[i], size, terms: terms[i], unit };
            let mut number = Number { truth: truths[i], bounds: sums.bounds(&sum) };
            if let Some(special) = &special
                && let Some(SpecialSum { value, is_true }) = special[i]
            {
                let truth = if is_true { Ball::exact(value) } else { number.truth };
                number = Number { truth, ..Number::exact(value) };
            }
            number
        };
        Ok((shape, (0..images.len()).map(number).collect()))
    }

    /// Sums with infinities or NaNs that all results have; `None` for the others.
    fn special_sums(
        &self,
        operands: &[(&[usize], &[Number])],
        kernel: &mut Kernel<'_>,
    ) -> Result<Option<Vec<Option<SpecialSum>>>, EvalError> {
        let special = |n: &Number| n.bounds.value().filter(|x| !x.is_finite());
        if !operands.iter().any(|(_, numbers)| numbers.iter().any(|n| special(n).is_some())) {
            return Ok(None);
        }
        let mut count = |test: &dyn Fn(&Number) -> bool| -> Result<Vec<f64>, EvalError> {
            let flags = operands.iter().map(|(shape, numbers)| {
                tensor(shape, numbers.iter().map(|n| f64::from(u8::from(test(n)))).collect())
            });
            Ok(kernel(flags.collect::<Result<_, _>>()?)?.to_vec::<f64>()?)
        };
        let positive = count(&|n| special(n) == Some(f64::INFINITY))?;
        let negative = count(&|n| special(n) == Some(f64::NEG_INFINITY))?;
        let nans = count(&|n| special(n).is_some_and(f64::is_nan))?;
        let open = count(&|n| {
            special(n).is_none()
                && (n.bounds.nan || n.bounds.has_infinity() || !n.truth.is_finite())
        })?;
        // Rounding may have led to them where the true value is another one.
        let untrue = count(&|n| {
            let is = |value: f64| n.truth.is_exact() && n.truth.hi.to_bits() == value.to_bits();
            special(n).is_some_and(|value| !(is(value) || value.is_nan() && n.truth.is_nan()))
        })?;
        let sum = |i: usize| {
            let of = |value: f64| Some(SpecialSum { value, is_true: untrue[i] == 0.0 });
            if nans[i] > 0.0 || (positive[i] > 0.0 && negative[i] > 0.0) {
                return of(f64::NAN);
            }
            if open[i] > 0.0 || (positive[i] == 0.0 && negative[i] == 0.0) {
                return None;
            }
            of(if positive[i] > 0.0 { f64::INFINITY } else { f64::NEG_INFINITY })
        };
        Ok(Some((0..nans.len()).map(sum).collect()))
    }

    pub(super) fn reduce(
        &self,
        machine: &mut Machine<'_>,
        reduce: &primitives::Reduce,
        operands: &[&Array],
    ) -> Ruled {
        if reduce.body.extremum.is_some() {
            return self.reduce_extremum(machine, reduce, operands);
        }
        let with = |body: Body| {
            let dimensions = reduce.dimensions.clone();
            Primitive::Reduce(primitives::Reduce { dimensions, body: Box::new(body) })
        };
        match self.reduced(machine, &reduce.body, &with, operands)? {
            Some(results) => Ok(Some(results)),
            None => self.reduce_by_body(machine, reduce, &with, operands),
        }
    }

    /// The results of a reduction of floats by addition, maximum or minimum; `with` has the
    /// primitive with another body.
    fn reduced(
        &self,
        machine: &mut Machine<'_>,
        body: &Body,
        with: &WithBody<'_>,
        operands: &[&Array],
    ) -> Ruled {
        let (&[input, init], BodyShape::Binary { op, .. }) = (operands, body.shape) else {
            return Ok(None);
        };
        if input.dtype.is_complex() && op == BinaryOp::Add {
            let primitive = with(super::folds::body_of(body, op, input.dtype.part()));
            return self.by_parts(operands, |own, parts| {
                Op { primitive: &primitive, ..*own }.ruled(machine, parts)
            });
        }
        if !input.dtype.is_float() {
            return Ok(None);
        }
        match op {
            BinaryOp::Add => {
                let primitive = with(adding(body));
                // The initial value is one more term; the kernel takes it from its operand.
                let mut kernel = |tensors: Vec<Tensor>| {
                    let values = tensors.into_iter().map(RuntimeValue::from).collect();
                    let mut env = program::NoEvaluator;
                    first_tensor(kernels::evaluate(&primitive, self.origin(), values, &mut env)?)
                };
                let (numbers, start) = (input.numbers()?, init.numbers()?[0]);
                let operands: [(&[usize], &[Number]); 2] =
                    [(&input.shape, &numbers), (&[], std::slice::from_ref(&start))];
                let (shape, sums) =
                    self.linear_sums(machine, input.dtype, &operands, &mut kernel)?;
                self.with_any_doubt(&[input, init], Array::of_numbers(input.dtype, shape, sums)?)
            }
            BinaryOp::Maximum | BinaryOp::Minimum => {
                let primitive = with(with_f64(body));
                self.extremes(machine, &primitive, [input, init], op == BinaryOp::Minimum)
            }
            _ => Ok(None),
        }
    }

    /// An array with the doubts of all elements of operands.
    pub(super) fn with_any_doubt(&self, operands: &[&Array], array: Array) -> Ruled {
        let doubt = any_doubt(operands)?;
        let doubts = match doubt {
            0 => None,
            doubt => Some(Tensor::splat(&array.shape, doubt)?),
        };
        Ok(Some(vec![array.with_doubts(doubts)]))
    }

    /// The largest or smallest of elements, by a kernel that finds it.
    fn extremes(
        &self,
        machine: &mut Machine<'_>,
        primitive: &Primitive,
        operands: [&Array; 2],
        smaller: bool,
    ) -> Ruled {
        let numbers = [operands[0].numbers()?, operands[1].numbers()?];
        let mut run = |value: &dyn Fn(&Number) -> f64| -> Result<Tensor, EvalError> {
            let mut values = Vec::new();
            for (array, numbers) in operands.iter().zip(&numbers) {
                values.push(tensor(&array.shape, numbers.iter().map(value).collect())?.into());
            }
            first_tensor(kernels::evaluate(primitive, self.origin(), values, machine)?)
        };
        let limit = if smaller { f64::INFINITY } else { f64::NEG_INFINITY };
        let part = |x: f64, n: &Number| if n.bounds.is_empty() { limit } else { x };
        let low = run(&|n| part(n.bounds.low, n))?;
        let high = run(&|n| part(n.bounds.high, n))?;
        // A NaN among the elements is the result.
        let nan = run(&|n| match (n.bounds.nan, smaller) {
            (true, true) => 0.0,
            (false, false) => 0.0,
            _ => 1.0,
        })?;
        let always = run(&|n| match (n.bounds.nan && n.bounds.is_empty(), smaller) {
            (true, true) => 0.0,
            (false, false) => 0.0,
            _ => 1.0,
        })?;
        let below = run(&|n| if n.truth.is_nan() { f64::NAN } else { n.truth.lower() })?;
        let above = run(&|n| if n.truth.is_nan() { f64::NAN } else { n.truth.upper() })?;
        let flag = if smaller { 0.0 } else { 1.0 };
        let [low, high, nan] = [&low, &high, &nan].map(Tensor::to_vec::<f64>);
        let [always, below, above] = [&always, &below, &above].map(Tensor::to_vec::<f64>);
        let (low, high, nan) = (low?, high?, nan?);
        let (always, below, above) = (always?, below?, above?);
        let number = |i: usize| {
            let truth = match below[i].is_nan() {
                true => Ball::NAN,
                false => Ball::between(below[i], above[i]),
            };
            let bounds = match always[i] == flag {
                true => Bounds::NAN,
                false => Bounds { low: low[i], high: high[i], nan: nan[i] == flag },
            };
            Number { truth, bounds }
        };
        let numbers: Vec<Number> = (0..low.len()).map(number).collect();
        let shape = self.shape_of(&operands, primitive, machine)?;
        let array = Array::of_numbers(operands[0].dtype, shape, numbers)?;
        self.with_any_doubt(&operands, array)
    }

    /// The shape of the result of a kernel.
    fn shape_of(
        &self,
        operands: &[&Array; 2],
        primitive: &Primitive,
        machine: &mut Machine<'_>,
    ) -> Result<Vec<usize>, EvalError> {
        let mut zeros = Vec::new();
        for array in operands {
            zeros.push(Tensor::zeros(DType::F64, &array.shape)?.into());
        }
        let result = kernels::evaluate(primitive, self.origin(), zeros, machine)?;
        Ok(first_tensor(result)?.shape().to_vec())
    }

    pub(super) fn reduce_window(
        &self,
        machine: &mut Machine<'_>,
        reduce: &primitives::ReduceWindow,
        operands: &[&Array],
    ) -> Ruled {
        let Some(window) = &reduce.window else { return Ok(None) };
        let with = |body: Body| {
            let window = Some(window.clone());
            Primitive::ReduceWindow(primitives::ReduceWindow {
                window,
                inputs: 1,
                body: Box::new(body),
            })
        };
        match self.reduced(machine, &reduce.body, &with, operands)? {
            Some(results) => Ok(Some(results)),
            None => self.reduce_window_by_body(machine, reduce, &with, operands),
        }
    }

    pub(super) fn scatter(
        &self,
        machine: &mut Machine<'_>,
        scatter: &primitives::Scatter,
        operands: &[&Array],
    ) -> Ruled {
        if scatter.body.shape == BodyShape::Values {
            return self.replaced(machine, scatter, operands);
        }
        let (&[input, indices, updates], BodyShape::Binary { op, .. }) =
            (operands, scatter.body.shape)
        else {
            return self.scatter_by_body(machine, scatter, operands);
        };
        let Some(places) = indices.tensor() else { return Ok(None) };
        if input.dtype.is_complex() && op == BinaryOp::Add {
            let dims = Box::new(primitives::ScatterDims::clone(&scatter.dims));
            let body = Box::new(super::folds::body_of(&scatter.body, op, input.dtype.part()));
            let own = primitives::Scatter { dims, body };
            return self.by_parts(operands, |op, parts| op.scatter(machine, &own, parts));
        }
        if !input.dtype.is_float() || !super::windows::is_combined(op) {
            return self.scatter_by_body(machine, scatter, operands);
        }
        if op != BinaryOp::Add {
            return self.scatter_by(machine, scatter, op, [input, updates], places);
        }
        let body = adding(&scatter.body);
        let dims = primitives::ScatterDims::clone(&scatter.dims);
        let primitive =
            Primitive::Scatter(primitives::Scatter { dims: Box::new(dims), body: Box::new(body) });
        let mut kernel = |mut tensors: Vec<Tensor>| {
            tensors.insert(1, places.clone());
            let values = tensors.into_iter().map(RuntimeValue::from).collect();
            let mut env = program::NoEvaluator;
            first_tensor(kernels::evaluate(&primitive, self.origin(), values, &mut env)?)
        };
        let (inputs, news) = (input.numbers()?, updates.numbers()?);
        let lists: [(&[usize], &[Number]); 2] = [(&input.shape, &inputs), (&updates.shape, &news)];
        let (shape, mut sums) = self.linear_sums(machine, input.dtype, &lists, &mut kernel)?;
        // Elements without updates are what they were.
        let zeros = Tensor::zeros(DType::F64, &input.shape)?;
        let ones = Tensor::splat(&updates.shape, 1f64)?;
        let counts = kernel(vec![zeros, ones])?;
        for (i, &count) in counts.as_slice::<f64>()?.iter().enumerate() {
            if count == 0.0 {
                sums[i] = inputs[i];
            }
        }
        self.with_any_doubt(operands, Array::of_numbers(input.dtype, shape, sums)?)
    }

    /// The same primitive for operands of `f64`.
    fn of_f64(&self) -> Option<Primitive> {
        let dims = |dims: &primitives::DotDims| {
            let primitives::DotDims {
                lhs_batching_dimensions,
                rhs_batching_dimensions,
                lhs_contracting_dimensions,
                rhs_contracting_dimensions,
            } = dims.clone();
            Box::new(primitives::DotDims {
                lhs_batching_dimensions,
                rhs_batching_dimensions,
                lhs_contracting_dimensions,
                rhs_contracting_dimensions,
            })
        };
        Some(match self.primitive() {
            Primitive::Dot(dot) => Primitive::Dot(primitives::Dot {
                dims: dot.dims.as_deref().map(dims),
                dtype: DType::F64,
            }),
            Primitive::Einsum(einsum) => Primitive::Einsum(primitives::Einsum {
                config: einsum.config.clone(),
                dtype: DType::F64,
                declared: einsum.declared.clone(),
            }),
            Primitive::Convolution(convolution) => {
                let own = primitives::Convolution::clone(convolution);
                primitives::Convolution { dtype: DType::F64, ..own }.into()
            }
            Primitive::Dynamic(dynamic) => match &**dynamic {
                Dynamic::Convolution(convolution) => {
                    Dynamic::Convolution(primitives::Convolution {
                        dtype: DType::F64,
                        ..convolution.clone()
                    })
                    .into()
                }
                _ => return None,
            },
            _ => return None,
        })
    }

    /// Sums of products.
    pub(super) fn products(&self, machine: &mut Machine<'_>, operands: &[&Array]) -> Ruled {
        let Some(dtype) = self.result_dtype(0) else { return Ok(None) };
        if !dtype.is_float() && !dtype.is_complex() {
            return self.exact_kernel(machine, operands);
        }
        let (Some(primitive), &[lhs, rhs, ref others @ ..]) = (self.of_f64(), operands) else {
            return Ok(None);
        };
        let others: Option<Vec<Tensor>> =
            others.iter().map(|array| array.tensor().cloned()).collect();
        let Some(others) = others else { return Ok(None) };
        let mut kernel = |mut tensors: Vec<Tensor>| {
            tensors.extend(others.iter().cloned());
            let values = tensors.into_iter().map(RuntimeValue::from).collect();
            let mut env = program::NoEvaluator;
            first_tensor(kernels::evaluate(&primitive, self.origin(), values, &mut env)?)
        };
        let sums = SumRounding::new(self, machine, dtype, true);
        let terms = contracted(self.primitive(), &lhs.shape);
        if machine.has_truth && machine.is_quick(dtype) && !dtype.is_complex() {
            let quick = quick_products([lhs, rhs], terms, &sums, &mut kernel)?;
            if let Some((shape, numbers)) = quick {
                let array = Array::of_numbers(dtype, shape, numbers)?;
                return self.with_any_doubt(&[lhs, rhs], array);
            }
        }
        let (a, b) = (lhs.numbers()?, rhs.numbers()?);
        let mut facts = |a: &[Number], b: &[Number]| {
            let is_quick = [machine.is_quick(dtype), is_narrow(dtype)];
            let operands: [(&[usize], _); 2] = [(&lhs.shape, a), (&rhs.shape, b)];
            Products::of(operands, terms, machine.has_truth, is_quick, &mut kernel)
        };
        let (shape, numbers) = if dtype.is_complex() {
            let part = |numbers: &[Number], width: usize, part: usize| -> Vec<Number> {
                match width {
                    2 => numbers.iter().skip(part).step_by(2).copied().collect(),
                    _ if part == 0 => numbers.to_vec(),
                    _ => vec![Number::exact(0.0); numbers.len()],
                }
            };
            let [re, im] = [0, 1].map(|i| part(&a, lhs.width(), i));
            let [other_re, other_im] = [0, 1].map(|i| part(&b, rhs.width(), i));
            let real = facts(&re, &other_re)?.plus(&facts(&im, &other_im)?, true);
            let imaginary = facts(&re, &other_im)?.plus(&facts(&im, &other_re)?, false);
            let (re, im) = (real.numbers(&sums), imaginary.numbers(&sums));
            (real.shape, re.into_iter().zip(im).flat_map(|(re, im)| [re, im]).collect())
        } else {
            let facts = facts(&a, &b)?;
            let numbers = facts.numbers(&sums);
            (facts.shape, numbers)
        };
        self.with_any_doubt(&[lhs, rhs], Array::of_numbers(dtype, shape, numbers)?)
    }

    /// A linear op on complex operands: the same on real and imaginary parts. Operands of other
    /// types are taken as they are.
    fn by_parts(
        &self,
        operands: &[&Array],
        mut rule: impl FnMut(&Op<'_>, &[&Array]) -> Ruled,
    ) -> Ruled {
        let mut parts = Vec::with_capacity(2);
        for part in 0..2 {
            let own = operands.iter().map(|array| super::complex::part_of(array, part));
            let own = own.collect::<Result<Vec<Array>, EvalError>>()?;
            let Some(results) = rule(self, &own.iter().collect::<Vec<_>>())? else {
                return Ok(None);
            };
            parts.extend(results);
        }
        let [re, im] = &parts[..] else { return Ok(None) };
        Ok(Some(vec![super::elementwise::complex_of([re, im])?]))
    }
}

/// The number of products of each sum, if that follows from the shape of the first operand.
fn contracted(primitive: &Primitive, shape: &[usize]) -> Option<f64> {
    let Primitive::Dot(dot) = primitive else { return None };
    let dimensions = &dot.dims.as_ref()?.lhs_contracting_dimensions;
    let sizes = dimensions.iter().map(|&d| shape.get(usize::try_from(d).ok()?).copied());
    sizes.map(|size| size.map(|size| size as f64)).product()
}

/// The facts about sums of products.
struct Products {
    shape: Vec<usize>,
    images: Vec<Ball>,
    truths: Vec<Ball>,
    sizes: Vec<f64>,
    terms: Vec<f64>,
    unit: f64,
}

impl Products {
    /// The sums that a kernel makes of products of two operands. `terms` is the number of products
    /// of each sum if it is the same for all; few digits are enough for true values, and for images.
    fn of(
        [(a_shape, a), (b_shape, b)]: [(&[usize], &[Number]); 2],
        terms: Option<f64>,
        has_truth: bool,
        is_quick: [bool; 2],
        kernel: &mut Kernel<'_>,
    ) -> Result<Products, EvalError> {
        fn floats(
            shape: &[usize],
            numbers: &[Number],
            value: impl Fn(&Number) -> f64,
        ) -> Result<Tensor, EvalError> {
            Ok(tensor(shape, numbers.iter().map(value).collect())?)
        }
        let size = |n: &Number| match n.bounds.magnitude() {
            size if size.is_finite() => size,
            _ => 0.0,
        };
        let sizes = kernel(vec![floats(a_shape, a, size)?, floats(b_shape, b, size)?])?;
        let shape = sizes.shape().to_vec();
        // Products with zero are exact.
        let is_zero =
            |n: &Number| n.bounds.value() == Some(0.0) && n.truth.is_exact() && n.truth.hi == 0.0;
        let terms = match terms.filter(|_| !a.iter().any(is_zero) && !b.iter().any(is_zero)) {
            Some(terms) => vec![terms; sizes.num_elements()],
            None => {
                let is_used = |n: &Number| f64::from(u8::from(!is_zero(n)));
                let used = vec![floats(a_shape, a, is_used)?, floats(b_shape, b, is_used)?];
                kernel(used)?.to_vec::<f64>()?
            }
        };
        let most = terms.iter().copied().fold(0.0, f64::max);
        let [is_quick, images_are_quick] = is_quick.map(|is| is && most <= MAX_QUICK_TERMS);
        let sizes = sizes.as_slice::<f64>()?.iter().map(|&sum| bounded(sum, most)).collect();
        let unit = granularity(a) * granularity(b);
        let unit = if unit.is_nan() { 0.0 } else { unit };
        let balls_of = |numbers: &[Number], is_image: bool| -> Vec<Ball> {
            match is_image {
                true => numbers.iter().map(|n| ball(n.bounds)).collect(),
                false => numbers.iter().map(|n| n.truth).collect(),
            }
        };
        let mut balls = |is_image: bool, unit: f64, is_quick: bool| {
            let (a, b) = (balls_of(a, is_image), balls_of(b, is_image));
            let operands: [(&[usize], &[Ball]); 2] = [(a_shape, &a), (b_shape, &b)];
            match is_quick {
                true => quick_bilinear(operands, most, unit, kernel),
                false => bilinear(operands, most, kernel),
            }
        };
        let same = is_same(a) && is_same(b);
        let images = {
            // These are true values, too, if operands are exact.
            let _pause = (!same).then(precise::pause);
            balls(true, unit, if same { is_quick } else { images_are_quick })?
        };
        let truths = match (same, has_truth) {
            (true, _) => images.clone(),
            (false, true) => balls(false, 0.0, is_quick)?,
            (false, false) => vec![Ball::UNKNOWN; images.len()],
        };
        Ok(Products { shape, images, truths, sizes, terms, unit })
    }

    /// The sum or difference of two.
    fn plus(self, other: &Products, subtracts: bool) -> Products {
        let signed = |x: Ball| if subtracts { -x } else { x };
        let balls = |own: &[Ball], other: &[Ball]| -> Vec<Ball> {
            own.iter().zip(other).map(|(&x, &y)| x + signed(y)).collect()
        };
        let floats = |own: &[f64], other: &[f64]| -> Vec<f64> {
            own.iter().zip(other).map(|(x, y)| up(x + y)).collect()
        };
        Products {
            images: balls(&self.images, &other.images),
            truths: balls(&self.truths, &other.truths),
            sizes: floats(&self.sizes, &other.sizes),
            terms: self.terms.iter().zip(&other.terms).map(|(x, y)| x + y).collect(),
            unit: self.unit.min(other.unit),
            shape: self.shape,
        }
    }

    /// True values and bounds.
    fn numbers(&self, sums: &SumRounding) -> Vec<Number> {
        let number = |i: usize| {
            let (image, size, terms) = (self.images[i], self.sizes[i], self.terms[i]);
            let sum = Sum { image, size, terms, unit: self.unit };
            Number { truth: self.truths[i], bounds: sums.bounds(&sum) }
        };
        (0..self.images.len()).map(number).collect()
    }
}
