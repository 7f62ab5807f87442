//! Batch normalization: each feature, an index of one dimension, is normalized on its own.
//!
//! All is computed in double precision and rounded once.

use super::sums::{combine_columns, combine_rows};
use numerics::simd::{Isa, Kernel};
use numerics::{DType, Number, Tensor, TensorError, math};
use program::EvalError;

/// The layout of features in a tensor.
#[derive(Clone, Copy)]
struct Features {
    /// Number of features.
    count: usize,
    /// Neighbouring elements of one feature.
    inner: usize,
    /// Elements of one feature.
    elements: f64,
}

impl Features {
    fn of(tensor: &Tensor, index: usize) -> Result<Features, EvalError> {
        let shape = tensor.shape();
        let Some(&count) = shape.get(index) else {
            return Err(EvalError::new(
                "batch_norm",
                format!("there is no dimension {index} in {shape:?}"),
            ));
        };
        let others = shape.iter().enumerate().filter(|(d, _)| *d != index).map(|(_, &n)| n as f64);
        // On overflow, the tensor is empty.
        let inner = shape[index + 1..].iter().fold(1usize, |n, &size| n.saturating_mul(size));
        Ok(Features { count, inner, elements: others.product() })
    }

    /// Applies the function of each feature to its elements.
    fn map<G: Fn(f64) -> f64>(self, elements: &[f64], of: impl Fn(usize) -> G) -> Vec<f64> {
        let mut results = vec![0.0; elements.len()];
        Isa::best().run(Map { features: self, elements, of, results: &mut results });
        results
    }

    /// The sum of each feature.
    fn sums(self, elements: &[f64]) -> Vec<f64> {
        let Features { count, inner, .. } = self;
        let mut sums = vec![0.0; count];
        let rows = elements.len().checked_div(count).unwrap_or(0);
        let add = &<f64 as Number>::add;
        if inner == 1 {
            combine_columns(elements, 1, rows, &|i| i * count, add, &mut sums);
            return sums;
        }
        if rows == inner {
            combine_rows(elements, rows, add, &mut sums);
            return sums;
        }
        let mut own = Vec::with_capacity(rows);
        for (feature, sum) in sums.iter_mut().enumerate() {
            own.clear();
            let runs = elements.chunks_exact(inner.max(1)).skip(feature).step_by(count);
            runs.for_each(|run| own.extend_from_slice(run));
            combine_rows(&own, rows, add, std::slice::from_mut(sum));
        }
        sums
    }

    /// The mean of each feature.
    fn means(self, elements: &[f64]) -> Vec<f64> {
        self.sums(elements).into_iter().map(|sum| sum / self.elements).collect()
    }
}

/// A function of the elements of each feature.
struct Map<'a, F> {
    features: Features,
    elements: &'a [f64],
    of: F,
    results: &'a mut [f64],
}

impl<F: Fn(usize) -> G, G: Fn(f64) -> f64> Kernel for Map<'_, F> {
    #[inline(always)]
    fn run(self) {
        let Map { features: Features { count, inner, .. }, elements, of, results } = self;
        let runs = results.chunks_exact_mut(inner.max(1)).zip(elements.chunks_exact(inner.max(1)));
        let mut feature = 0;
        for (results, elements) in runs {
            let f = of(feature);
            for (result, &x) in results.iter_mut().zip(elements) {
                *result = f(x);
            }
            feature = if feature + 1 == count { 0 } else { feature + 1 };
        }
    }
}

/// The operands in double precision: the first one, others of its shape, and those with one value a
/// feature.
struct Operands {
    features: Features,
    wide: Vec<Tensor>,
    dtype: DType,
    shape: Vec<usize>,
}

impl Operands {
    /// `whole` marks the operands with the shape of the first one.
    fn new<const N: usize>(
        operands: &[Tensor],
        index: usize,
        whole: [bool; N],
    ) -> Result<Operands, EvalError> {
        let (true, Some(first)) = (operands.len() == N, operands.first()) else {
            return Err(EvalError::new(
                "operands",
                format!("expected {N} operands, found {}", operands.len()),
            ));
        };
        let dtype = first.dtype();
        if !dtype.is_float() {
            return Err(TensorError::Unsupported { op: "batch normalization", dtype }.into());
        }
        let features = Features::of(first, index)?;
        for (operand, whole) in operands.iter().zip(whole) {
            let required = if whole { first.shape() } else { &[features.count][..] };
            if operand.shape() != required {
                let message = format!(
                    "shape {:?} does not fit the operand's {:?}",
                    operand.shape(),
                    first.shape()
                );
                return Err(EvalError::new("batch_norm", message));
            }
        }
        let wide: Result<_, _> =
            operands.iter().map(|t| math::convert(t.clone(), DType::F64)).collect();
        Ok(Operands { features, wide: wide?, dtype, shape: first.shape().to_vec() })
    }

    fn slices<const N: usize>(&self) -> Result<[&[f64]; N], EvalError> {
        let slices: Vec<&[f64]> =
            self.wide.iter().map(|t| t.as_slice()).collect::<Result<_, _>>()?;
        slices.try_into().map_err(|_| EvalError::new("operands", "another number of operands"))
    }

    /// A result of the shape of the first operand.
    fn whole(&self, values: Vec<f64>) -> Result<Tensor, EvalError> {
        Ok(math::convert(Tensor::from_vec(&self.shape, values)?, self.dtype)?)
    }

    /// A result with one value a feature.
    fn per_feature(&self, values: Vec<f64>) -> Result<Tensor, EvalError> {
        Ok(math::convert(Tensor::from_vec([self.features.count], values)?, self.dtype)?)
    }
}

/// The output, for operand, scale, offset, mean and variance.
///
/// # Errors
/// If shapes do not fit or the elements are no floats.
pub fn batch_norm_inference(
    operands: &[Tensor],
    epsilon: f64,
    feature_index: usize,
) -> Result<Vec<Tensor>, EvalError> {
    let operands = Operands::new(operands, feature_index, [true, false, false, false, false])?;
    let [x, scale, offset, mean, variance] = operands.slices()?;
    Ok(vec![operands.whole(normalized(
        operands.features,
        x,
        scale,
        offset,
        mean,
        variance,
        epsilon,
    ))?])
}

fn normalized(
    features: Features,
    x: &[f64],
    scale: &[f64],
    offset: &[f64],
    mean: &[f64],
    variance: &[f64],
    epsilon: f64,
) -> Vec<f64> {
    let deviation = deviations(variance, epsilon);
    features.map(x, |i| {
        let (scale, mean, deviation, offset) = (scale[i], mean[i], deviation[i], offset[i]);
        move |x| scale * ((x - mean) / deviation) + offset
    })
}

/// The square roots of variances, each increased a little.
fn deviations(variances: &[f64], epsilon: f64) -> Vec<f64> {
    variances.iter().map(|variance| (variance + epsilon).sqrt()).collect()
}

/// The output, the means and the variances, for operand, scale and offset.
///
/// # Errors
/// If shapes do not fit or the elements are no floats.
pub fn batch_norm_training(
    operands: &[Tensor],
    epsilon: f64,
    feature_index: usize,
) -> Result<Vec<Tensor>, EvalError> {
    let operands = Operands::new(operands, feature_index, [true, false, false])?;
    let (features, [x, scale, offset]) = (operands.features, operands.slices()?);
    let mean = features.means(x);
    let squares = features.map(x, |i| {
        let mean = mean[i];
        move |x| (x - mean) * (x - mean)
    });
    let variance = features.means(&squares);
    let output = normalized(features, x, scale, offset, &mean, &variance, epsilon);
    Ok(vec![operands.whole(output)?, operands.per_feature(mean)?, operands.per_feature(variance)?])
}

/// The gradients of operand, scale and offset, for operand, scale, mean, variance and the gradient
/// of the output.
///
/// # Errors
/// If shapes do not fit or the elements are no floats.
pub fn batch_norm_grad(
    operands: &[Tensor],
    epsilon: f64,
    feature_index: usize,
) -> Result<Vec<Tensor>, EvalError> {
    let operands = Operands::new(operands, feature_index, [true, false, false, false, true])?;
    let (features, [x, scale, mean, variance, grad]) = (operands.features, operands.slices()?);
    let centered = features.map(x, |i| {
        let mean = mean[i];
        move |x| x - mean
    });
    let grad_offset = features.sums(grad);
    let products: Vec<f64> = grad.iter().zip(&centered).map(|(g, c)| g * c).collect();
    let projected = features.sums(&products);
    let deviation = deviations(variance, epsilon);
    let grad_scale = projected.iter().zip(&deviation).map(|(p, d)| p / d).collect();
    // The contributions of means and variances to the gradient.
    let corrections = features.map(&centered, |i| {
        let (offset, projected, variance) = (grad_offset[i], projected[i], variance[i] + epsilon);
        move |c| offset + projected * c / variance
    });
    let differences: Vec<f64> =
        grad.iter().zip(&corrections).map(|(g, c)| g * features.elements - c).collect();
    let grad_operand = features.map(&differences, |i| {
        let factor = scale[i] / deviation[i] / features.elements;
        move |d| factor * d
    });
    Ok(vec![
        operands.whole(grad_operand)?,
        operands.per_feature(grad_scale)?,
        operands.per_feature(grad_offset)?,
    ])
}
