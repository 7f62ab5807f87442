//! Einstein notation: sums of products over labelled dimensions, as `einsum` and `unary_einsum`
//! write them.
//!
//! Source: XLA, "Einsum": `lhs,rhs->result`, one letter per dimension, `...` for the others.

use super::contract::dot_general;
use numerics::shape::{StridedView, strides};
use numerics::{DType, Number, Tensor, dispatch_all};
use program::EvalError;
use program::einsum::{AxisLabel, invalid, parse, result_shape};
use program::primitives::DotDims;

/// Without labels that repeat (only the diagonal stays), and without labels that `keep` does not
/// choose (they are summed).
fn simplified(
    tensor: Tensor,
    names: Vec<AxisLabel>,
    keep: impl Fn(AxisLabel) -> bool,
    dtype: DType,
) -> Result<(Tensor, Vec<AxisLabel>), EvalError> {
    let (mut shape, mut steps, mut unique): (Vec<usize>, Vec<isize>, Vec<AxisLabel>) =
        (vec![], vec![], vec![]);
    for ((&size, step), &name) in tensor.shape().iter().zip(strides(tensor.shape())).zip(&names) {
        let step = isize::try_from(step).map_err(|_| invalid("the operand is too large"))?;
        match unique.iter().position(|&other| other == name) {
            None => {
                shape.push(size);
                steps.push(step);
                unique.push(name);
            }
            Some(at) => steps[at] += step,
        }
    }
    let tensor = if unique.len() == names.len() {
        tensor
    } else {
        tensor.gather(&StridedView::new(0, &shape, &steps)?)?
    };
    let summed: Vec<i64> =
        (0..unique.len()).filter(|&d| !keep(unique[d])).map(|d| d as i64).collect();
    if summed.is_empty() {
        return Ok((tensor, unique));
    }
    // A sum is a product with ones.
    let sizes: Vec<usize> = summed.iter().map(|&d| tensor.shape()[d as usize]).collect();
    let one = dispatch_all!(tensor.dtype(), T => Tensor::scalar(<T as Number>::from_i64(1)));
    let all: Vec<i64> = (0..summed.len() as i64).collect();
    let numbers = DotDims {
        lhs_contracting_dimensions: summed,
        rhs_contracting_dimensions: all,
        ..DotDims::default()
    };
    let sum = dot_general(tensor, one.broadcast_scalar(&sizes)?, &numbers, dtype)?;
    Ok((sum, unique.into_iter().filter(|&label| keep(label)).collect()))
}

/// The dimensions in the order of the result, which has each label of `names` once.
fn ordered(tensor: Tensor, names: &[AxisLabel], result: &[AxisLabel]) -> Result<Tensor, EvalError> {
    let place = |label: &AxisLabel| names.iter().position(|other| other == label);
    let order: Option<Vec<usize>> = result.iter().map(place).collect();
    let order = order.ok_or_else(|| invalid("the result has a label that no operand has"))?;
    Ok(tensor.gather(&StridedView::dense(tensor.shape())?.permute(&order)?)?)
}

/// The sums of products given by `config`, of one operand or two, with elements of type `dtype`.
///
/// # Errors
/// If `config` is invalid, or does not match the operands.
pub fn einsum(config: &str, operands: Vec<Tensor>, dtype: DType) -> Result<Tensor, EvalError> {
    let sizes = |tensor: &Tensor| tensor.shape().iter().copied().map(Some).collect();
    let shapes: Vec<Vec<Option<usize>>> = operands.iter().map(sizes).collect();
    result_shape(config, &shapes)?;
    let ranks: Vec<usize> = operands.iter().map(Tensor::rank).collect();
    let (named, result) = parse(config, &ranks)?;
    let mut simple = Vec::new();
    for (i, tensor) in operands.into_iter().enumerate() {
        let elsewhere = |label| {
            result.contains(&label)
                || named.iter().enumerate().any(|(j, n)| j != i && n.contains(&label))
        };
        simple.push(simplified(tensor, named[i].clone(), elsewhere, dtype)?);
    }
    let second = if simple.len() > 1 { simple.pop() } else { None };
    let Some((lhs, left)) = simple.pop() else { return Err(invalid("there are no operands")) };
    let Some((rhs, right)) = second else { return ordered(lhs, &left, &result) };
    let shared: Vec<AxisLabel> =
        left.iter().copied().filter(|label| right.contains(label)).collect();
    let (batch, contracted): (Vec<AxisLabel>, Vec<AxisLabel>) =
        shared.iter().partition(|label| result.contains(label));
    let places = |names: &[AxisLabel], wanted: &[AxisLabel]| -> Vec<i64> {
        wanted
            .iter()
            .filter_map(|label| names.iter().position(|other| other == label))
            .map(|d| d as i64)
            .collect()
    };
    let numbers = DotDims {
        lhs_batching_dimensions: places(&left, &batch),
        rhs_batching_dimensions: places(&right, &batch),
        lhs_contracting_dimensions: places(&left, &contracted),
        rhs_contracting_dimensions: places(&right, &contracted),
    };
    let product = dot_general(lhs, rhs, &numbers, dtype)?;
    let free = |names: Vec<AxisLabel>| {
        names.into_iter().filter(|label| !shared.contains(label)).collect::<Vec<_>>()
    };
    let names = [batch, free(left), free(right)].concat();
    ordered(product, &names, &result)
}
