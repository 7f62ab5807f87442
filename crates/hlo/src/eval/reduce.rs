//! Folding tensors with a region.

use mlir::RegionId;
use mlir::eval::{EvalEnv, EvalError};
use numerics::Tensor;
use numerics::shape::{Indices, StridedView};

/// Folds `inputs` along `dimensions` with a region, starting from the scalars `init_values`. Positions along the reduced
/// dimensions are taken in row-major order; each step runs the region once on all elements of the result.
///
/// # Errors
/// Whatever stops the region, or shapes that do not fit.
pub fn reduce(
    env: &mut dyn EvalEnv,
    body: RegionId,
    inputs: Vec<Tensor>,
    init_values: Vec<Tensor>,
    dimensions: &[usize],
) -> Result<Vec<Tensor>, EvalError> {
    let shape = match inputs.first() {
        Some(input) => input.shape().to_vec(),
        None => return Err(EvalError::new("reduce", "there are no inputs")),
    };
    if dimensions.iter().any(|&d| d >= shape.len()) {
        return Err(EvalError::new("reduce_c4", format!("dimensions {dimensions:?} of a rank of {}", shape.len())));
    }
    if inputs.iter().any(|t| t.shape() != shape) {
        return Err(EvalError::new("reduce_c1", "the inputs have different shapes"));
    }
    let kept: Vec<usize> = (0..shape.len()).filter(|d| !dimensions.contains(d)).collect();
    let result_shape: Vec<usize> = kept.iter().map(|&d| shape[d]).collect();
    let reduced_shape: Vec<usize> = dimensions.iter().map(|&d| shape[d]).collect();
    let n: usize = result_shape.iter().product();
    let strides = StridedView::dense(&shape)?.strides().to_vec();
    let result_strides: Vec<isize> = kept.iter().map(|&d| strides[d]).collect();
    let reduced_strides: Vec<usize> = dimensions.iter().map(|&d| strides[d].unsigned_abs()).collect();

    let mut accumulators = Vec::with_capacity(init_values.len());
    for init in &init_values {
        accumulators.push(init.broadcast_scalar([n])?);
    }
    let mut positions = Indices::new(&reduced_shape);
    while let Some(position) = positions.next_index() {
        let offset = position.iter().zip(&reduced_strides).map(|(i, s)| i * s).sum();
        let view = StridedView::new(offset, &result_shape, &result_strides)?;
        let mut args = accumulators;
        for input in &inputs {
            args.push(input.gather(&view)?.into_shape([n])?);
        }
        accumulators = env.scalar_region(body, n, args)?;
    }
    accumulators.into_iter().map(|t| Ok(t.into_shape(&result_shape)?)).collect()
}
