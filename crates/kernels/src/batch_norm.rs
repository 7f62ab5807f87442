//! Batch normalization: each feature, an index of one dimension, is normalized on its own.
//!
//! All is computed in double precision and rounded once.

use super::features::{Features, Function, Sample};
use numerics::{DType, Tensor, TensorError, math};
use program::EvalError;

/// Operands as `f32` or `f64`: the first one, others of its shape, and those with one value a
/// feature.
struct Operands {
    features: Features,
    /// Elements of one feature.
    elements: f64,
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
        let Some(&count) = shape.get(index) else {
            let message = format!("there is no dimension {index} in {shape:?}");
            return Err(EvalError::new("batch_norm", message));
        };
        for (operand, whole) in operands.iter().zip(whole) {
            let required = if whole { shape } else { &[count][..] };
            if operand.shape() != required {
                let message = format!("shape {:?} does not fit {shape:?}", operand.shape());
                return Err(EvalError::new("batch_norm", message));
            }
        }
        let others = shape.iter().enumerate().filter(|(d, _)| *d != index).map(|(_, &n)| n as f64);
        // On overflow, the tensor is empty.
        let inner = shape[index + 1..].iter().fold(1usize, |n, &size| n.saturating_mul(size));
        let wide = if dtype == DType::F32 { DType::F32 } else { DType::F64 };
        let converted: Result<_, _> =
            operands.iter().map(|operand| math::convert(operand.clone(), wide)).collect();
        Ok(Operands {
            features: Features { count, inner },
            elements: others.product(),
            converted: converted?,
            dtype,
        })
    }

    fn slices<S: Sample, const N: usize>(&self) -> Result<[&[S]; N], EvalError> {
        let mut slices = [&[][..]; N];
        for (slice, operand) in slices.iter_mut().zip(&self.converted) {
            *slice = operand.as_slice()?;
        }
        Ok(slices)
    }

    /// A result of the shape of the first operand.
    fn whole<S, F, const P: usize>(
        &self,
        function: Function<'_, S, F, P>,
    ) -> Result<Tensor, EvalError>
    where
        S: Sample,
        F: Fn([f64; P], f64, f64) -> f64 + Copy + Sync,
    {
        let shape = self.converted.first().map_or(&[][..], Tensor::shape);
        let mut result = Tensor::zeros(S::DTYPE, shape)?;
        self.features.map(function, result.make_mut()?);
        Ok(math::convert(result, self.dtype)?)
    }

    /// A result with one value a feature.
    fn per_feature(&self, values: Vec<f64>) -> Result<Tensor, EvalError> {
        Ok(math::convert(Tensor::from_vec([self.features.count], values)?, self.dtype)?)
    }

    /// The output for elements `x`.
    fn normalized<S: Sample>(
        &self,
        x: &[S],
        [scale, offset, mean, variance]: [&[f64]; 4],
        epsilon: f64,
    ) -> Result<Tensor, EvalError> {
        let factor: Vec<f64> =
            scale.iter().zip(deviations(variance, epsilon)).map(|(s, d)| s / d).collect();
        self.whole(Function::new(
            [x, x],
            [mean, &factor, offset],
            |[mean, factor, offset], x, _| (x - mean) * factor + offset,
        ))
    }
}

fn wide<S: Sample>(elements: &[S]) -> Vec<f64> {
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
        Ok(vec![operands.normalized(x, features.each_ref().map(Vec::as_slice), epsilon)?])
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
        let divide = |mut sums: Vec<f64>| {
            sums.iter_mut().for_each(|sum| *sum /= operands.elements);
            sums
        };
        let elements = Function::new([x, x], [], |[], x, _| x);
        let mean = divide(operands.features.sums(elements));
        let squares = Function::new([x, x], [&mean], |[mean], x, _| (x - mean) * (x - mean));
        let variance = divide(operands.features.sums(squares));
        let [scale, offset] = [scale, offset].map(wide);
        let output = operands.normalized(x, [&scale, &offset, &mean, &variance], epsilon)?;
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
        let (features, elements) = (operands.features, operands.elements);
        let grad_offset = features.sums(Function::new([grad, grad], [], |[], grad, _| grad));
        let products = Function::new([x, grad], [&mean], |[mean], x, grad| grad * (x - mean));
        let projected = features.sums(products);
        let deviation: Vec<f64> = deviations(&variance, epsilon).collect();
        let grad_scale = projected.iter().zip(&deviation).map(|(p, d)| p / d).collect();
        // The contributions of means and variances to the gradient.
        let slope: Vec<f64> =
            projected.iter().zip(&variance).map(|(p, variance)| p / (variance + epsilon)).collect();
        let factor: Vec<f64> =
            scale.iter().zip(&deviation).map(|(scale, d)| scale / d / elements).collect();
        let parameters = [&mean[..], &grad_offset, &slope, &factor];
        let grad_operand = operands.whole(Function::new(
            [x, grad],
            parameters,
            |[mean, offset, slope, factor], x, grad| {
                factor * (grad * elements - (offset + slope * (x - mean)))
            },
        ))?;
        let [grad_scale, grad_offset] =
            [grad_scale, grad_offset].map(|values| operands.per_feature(values));
        Ok(vec![grad_operand, grad_scale?, grad_offset?])
    })
}
