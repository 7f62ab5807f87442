//! Batch normalization: each feature, an index of one dimension, is normalized independently.
//!
//! All is computed in double precision and rounded once.

use super::converted::{elements, elements_mut};
use super::features::{FeatureFunction, FeatureSample, Features};
use super::kernel::{Kernel, expect_bytes};
use numerics::shape::num_elements;
use numerics::{DType, Tensor, TensorError, math};
use program::EvalError;

/// The features of a tensor.
#[derive(Clone, Copy, Debug)]
struct Batch {
    features: Features,
    /// Elements of one feature.
    elements: f64,
}

impl Batch {
    /// The batch of a tensor whose features are the indices of dimension `index`. `None` if there
    /// is no such dimension.
    fn new(shape: &[usize], index: usize) -> Option<Batch> {
        let count = *shape.get(index)?;
        let others = shape.iter().enumerate().filter(|(d, _)| *d != index).map(|(_, &n)| n as f64);
        // On overflow, the tensor is empty.
        let inner = shape[index + 1..].iter().fold(1usize, |n, &size| n.saturating_mul(size));
        Some(Batch { features: Features { count, inner }, elements: others.product() })
    }

    /// The means and variances of features.
    fn statistics<S: FeatureSample>(self, x: &[S]) -> [Vec<f64>; 2] {
        let divide = |mut sums: Vec<f64>| {
            sums.iter_mut().for_each(|sum| *sum /= self.elements);
            sums
        };
        let mean = divide(self.features.sums(FeatureFunction::new([x, x], [], |[], x, _| x)));
        let squares = FeatureFunction::new([x, x], [&mean], |[mean], x, _| (x - mean) * (x - mean));
        let variance = divide(self.features.sums(squares));
        [mean, variance]
    }

    /// Writes the output for elements `x`.
    fn normalize<S: FeatureSample>(
        self,
        x: &[S],
        [scale, offset, mean, variance]: [&[f64]; 4],
        epsilon: f64,
        out: &mut [S],
    ) {
        let factor: Vec<f64> =
            scale.iter().zip(deviations(variance, epsilon)).map(|(s, d)| s / d).collect();
        let parameters = [mean, &factor, offset];
        self.features.map(
            FeatureFunction::new([x, x], parameters, |[mean, factor, offset], x, _| {
                (x - mean) * factor + offset
            }),
            out,
        );
    }
}

/// The output of [`batch_norm_training`] without means and variances, prepared for a type.
#[derive(Debug)]
pub struct Normalization {
    dtype: DType,
    batch: Batch,
    /// Elements of the tensor.
    len: usize,
    epsilon: f64,
}

impl Normalization {
    /// The normalization of a tensor. `None` if its elements are neither `f32` nor `f64`, or there
    /// is no such dimension.
    pub fn new(
        dtype: DType,
        shape: &[usize],
        feature_index: usize,
        epsilon: f64,
    ) -> Option<Normalization> {
        if !matches!(dtype, DType::F32 | DType::F64) {
            return None;
        }
        let batch = Batch::new(shape, feature_index)?;
        Some(Normalization { dtype, batch, len: num_elements(shape)?, epsilon })
    }

    /// Computes the bytes of the output from the bytes of operand, scale and offset.
    ///
    /// # Errors
    /// If they do not have the sizes of their types.
    pub fn run(&self, operands: [&[u8]; 3], result: &mut [u8]) -> Result<(), TensorError> {
        match self.dtype {
            DType::F32 => self.run_on::<f32>(operands, result),
            _ => self.run_on::<f64>(operands, result),
        }
    }

    fn run_on<S: FeatureSample>(
        &self,
        operands: [&[u8]; 3],
        result: &mut [u8],
    ) -> Result<(), TensorError> {
        let Normalization { batch, len, epsilon, .. } = *self;
        let count = batch.features.count;
        let [x, scale, offset] = operands;
        let x = elements::<S>(x, len)?;
        let (scale, offset) = (elements::<S>(scale, count)?, elements::<S>(offset, count)?);
        let result = elements_mut::<S>(result, len)?;
        let [mean, variance] = batch.statistics(x);
        let [scale, offset] = [scale, offset].map(wide);
        batch.normalize(x, [&scale, &offset, &mean, &variance], epsilon, result);
        Ok(())
    }
}

impl Kernel for Normalization {
    fn run(&self, operands: &[&[u8]], results: &mut [&mut [u8]]) -> Result<(), TensorError> {
        let (operands, result) = expect_bytes(operands, results)?;
        self.run(operands, result)
    }
}

/// Operands as `f32` or `f64`: the first one, others of its shape, and per-feature ones, with one
/// value a feature.
struct Operands {
    batch: Batch,
    converted: Vec<Tensor>,
    dtype: DType,
}

/// Evaluates an expression with a type alias bound to the type that operands have been converted
/// to.
macro_rules! with_samples {
    ($operands:expr, $S:ident => $body:expr) => {
        match $operands.converted.first().map(Tensor::dtype) {
            Some(DType::F32) => {
                type $S = f32;
                $body
            }
            _ => {
                type $S = f64;
                $body
            }
        }
    };
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
        let (dtype, shape) = (first.dtype(), first.shape());
        if !dtype.is_float() {
            return Err(TensorError::Unsupported { op: "batch normalization", dtype }.into());
        }
        let Some(batch) = Batch::new(shape, index) else {
            let message = format!("there is no dimension {index} in {shape:?}");
            return Err(EvalError::new("batch_norm", message));
        };
        for (operand, whole) in operands.iter().zip(whole) {
            let required = if whole { shape } else { &[batch.features.count][..] };
            if operand.shape() != required {
                let message = format!("shape {:?} does not fit {shape:?}", operand.shape());
                return Err(EvalError::new("batch_norm", message));
            }
        }
        let wide = if dtype == DType::F32 { DType::F32 } else { DType::F64 };
        let converted: Result<_, _> =
            operands.iter().map(|operand| math::convert(operand.clone(), wide)).collect();
        Ok(Operands { batch, converted: converted?, dtype })
    }

    fn slices<S: FeatureSample, const N: usize>(&self) -> Result<[&[S]; N], EvalError> {
        let mut slices = [&[][..]; N];
        for (slice, operand) in slices.iter_mut().zip(&self.converted) {
            *slice = operand.as_slice()?;
        }
        Ok(slices)
    }

    /// A result of the shape of the first operand.
    fn whole<S: FeatureSample>(&self, write: impl FnOnce(&mut [S])) -> Result<Tensor, EvalError> {
        let shape = self.converted.first().map_or(&[][..], Tensor::shape);
        let mut result = Tensor::zeros(S::DTYPE, shape)?;
        write(result.make_mut()?);
        Ok(math::convert(result, self.dtype)?)
    }

    /// A result with one value a feature.
    fn per_feature(&self, values: Vec<f64>) -> Result<Tensor, EvalError> {
        let count = self.batch.features.count;
        Ok(math::convert(Tensor::from_vec([count], values)?, self.dtype)?)
    }
}

fn wide<S: FeatureSample>(elements: &[S]) -> Vec<f64> {
    elements.iter().map(|x| x.wide()).collect()
}

/// The square roots of variances, each increased a little.
fn deviations(variances: &[f64], epsilon: f64) -> impl Iterator<Item = f64> {
    variances.iter().map(move |variance| (variance + epsilon).sqrt())
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
    with_samples!(operands, S => {
        let [x, features @ ..] = operands.slices::<S, 5>()?;
        let features = features.map(wide);
        let features = features.each_ref().map(Vec::as_slice);
        Ok(vec![operands.whole(|out| operands.batch.normalize(x, features, epsilon, out))?])
    })
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
    with_samples!(operands, S => {
        let [x, scale, offset] = operands.slices::<S, 3>()?;
        let [mean, variance] = operands.batch.statistics(x);
        let [scale, offset] = [scale, offset].map(wide);
        let features = [&scale[..], &offset, &mean, &variance];
        let output =
            operands.whole(|out| operands.batch.normalize(x, features, epsilon, out))?;
        Ok(vec![output, operands.per_feature(mean)?, operands.per_feature(variance)?])
    })
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
    with_samples!(operands, S => {
        let [x, scale, mean, variance, grad] = operands.slices::<S, 5>()?;
        let [scale, mean, variance] = [scale, mean, variance].map(wide);
        let Batch { features, elements } = operands.batch;
        let grad_offset = features.sums(FeatureFunction::new([grad, grad], [], |[], grad, _| grad));
        let products = FeatureFunction::new([x, grad], [&mean], |[mean], x, grad| grad * (x - mean));
        let projected = features.sums(products);
        let deviation: Vec<f64> = deviations(&variance, epsilon).collect();
        let grad_scale = projected.iter().zip(&deviation).map(|(p, d)| p / d).collect();
        // The contributions of means and variances to the gradient.
        let slope: Vec<f64> =
            projected.iter().zip(&variance).map(|(p, variance)| p / (variance + epsilon)).collect();
        let factor: Vec<f64> =
            scale.iter().zip(&deviation).map(|(scale, d)| scale / d / elements).collect();
        let parameters = [&mean[..], &grad_offset, &slope, &factor];
        let gradient = FeatureFunction::new(
            [x, grad],
            parameters,
            |[mean, offset, slope, factor], x, grad| {
                factor * (grad * elements - (offset + slope * (x - mean)))
            },
        );
        let grad_operand = operands.whole(|out| features.map(gradient, out))?;
        let [grad_scale, grad_offset] =
            [grad_scale, grad_offset].map(|values| operands.per_feature(values));
        Ok(vec![grad_operand, grad_scale?, grad_offset?])
    })
}
