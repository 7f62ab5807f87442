//! `stablehlo.torch_index_select`.

use super::prelude::*;
use numerics::Tensor;
use numerics::shape::{Indices, num_elements, strides};

op! {
    /// The slices of `operand` along `dim` that `index` names; deprecated in favour of `gather`.
    pub TorchIndexSelectOp, "stablehlo.torch_index_select" {
        operands { operand: single TENSOR, index: single TENSOR }
        results { result: single TENSOR }
        attributes { dim: required Int(64), batch_dims: required Int(64) }
        traits [Pure]
        hooks { eval: Some(eval) }
    }
}

/// The element at `(b, i, k, j)` is that of `operand` at `(b, i, index[b, k], j)`: `b` are
/// `batch_dims` dimensions, `i` those up to `dim`. Indices outside are moved inside, as those of
/// `gather`.
fn eval(op: OpRef<'_>, operands: Vec<RuntimeValue>, _: &mut dyn EvalEnv) -> EvalResult {
    let [operand, index] = eval::tensors(operands)?;
    let (dim, batch) =
        (signed_dim(op, "dim", operand.rank())?, signed_dim(op, "batch_dims", index.rank() + 1)?);
    let fits = batch <= dim && operand.shape()[..batch] == index.shape()[..batch];
    if !fits {
        let message = format!(
            "{batch} batch dimensions and dimension {dim} do not fit {:?} and {:?}",
            operand.shape(),
            index.shape()
        );
        return Err(EvalError::new("torch_index_select", message));
    }
    let chosen = index.to_i64s()?;
    let (sizes, index_steps) = (operand.shape(), strides(index.shape()));
    let kept = index.rank() - batch;
    let shape = [&sizes[..dim], &index.shape()[batch..], &sizes[dim + 1..]].concat();
    eval::fits_result(op, &shape)?;
    let last = sizes[dim] as i64 - 1;
    let count = num_elements(&shape)
        .ok_or_else(|| EvalError::new("torch_index_select", "the result is too large"))?;
    if count == 0 || last < 0 {
        return eval::one(Tensor::zeros(operand.dtype(), &shape)?);
    }
    let steps = strides(sizes);
    let mut places = Vec::new();
    places
        .try_reserve_exact(count)
        .map_err(|_| EvalError::new("torch_index_select", "the result is too large"))?;
    let mut positions = Indices::new(&shape);
    while let Some(at) = positions.next_index() {
        let (before, rest) = at.split_at(dim);
        let (within, after) = rest.split_at(kept);
        let from = before[..batch]
            .iter()
            .chain(within)
            .zip(&index_steps)
            .map(|(i, step)| i * step)
            .sum::<usize>();
        let row = chosen[from].clamp(0, last) as usize;
        let whole = before.iter().chain([&row]).chain(after);
        places.push(whole.zip(&steps).map(|(i, step)| i * step).sum());
    }
    eval::one(operand.take(&places)?.into_shape(&shape)?)
}

/// A dimension of `rank`; negative ones count from the end.
fn signed_dim(op: OpRef<'_>, name: &str, rank: usize) -> Result<usize, EvalError> {
    let dim = integer(op.attr(name));
    let dim = if dim < 0 { dim.saturating_add(rank as i64) } else { dim };
    let found = usize::try_from(dim).ok().filter(|&dim| dim < rank);
    found.ok_or_else(|| {
        EvalError::new(
            "torch_index_select",
            format!("{name} {dim} is out of range: the rank is {rank}"),
        )
    })
}
