//! The meaning of the ops of the dialect. Scalars are tensors of rank 0, indices `i64`.

use super::{GenerateOp, PadOp};
use mlir::eval::{EvalEnv, EvalError, EvalResult, RuntimeValue};
use mlir::types::DYNAMIC;
use mlir::{OpRef, RegionId, Type};
use numerics::shape::{Indices, StridedView};
use numerics::{DType, Tensor, math};

fn invalid(what: impl Into<String>) -> EvalError {
    EvalError::new("tensor", what)
}

fn all(operands: Vec<RuntimeValue>) -> Result<Vec<Tensor>, EvalError> {
    operands.into_iter().map(RuntimeValue::into_tensor).collect()
}

fn one(tensor: Tensor) -> EvalResult {
    Ok(vec![tensor.into()])
}

fn first(tensors: &[Tensor]) -> Result<&Tensor, EvalError> {
    tensors.first().ok_or_else(|| invalid("an operand is missing"))
}

fn index(tensor: &Tensor) -> Result<usize, EvalError> {
    let value = tensor.to_i64s()?.first().copied().unwrap_or(-1);
    usize::try_from(value).map_err(|_| invalid(format!("the index {value} is negative")))
}

fn indices(tensors: &[Tensor]) -> Result<Vec<usize>, EvalError> {
    tensors.iter().map(index).collect()
}

fn element_dtype(ty: &Type) -> Result<DType, EvalError> {
    let element = ty.element_type();
    element
        .dtype()
        .ok_or_else(|| invalid(format!("elements of type {element} cannot be evaluated")))
}

/// A list of constants, in which `DYNAMIC` stands for the next of some values.
fn mixed(list: &[i64], values: &[Tensor]) -> Result<Vec<usize>, EvalError> {
    let mut values = values.iter();
    let entry = |&entry: &i64| match entry {
        DYNAMIC => index(values.next().ok_or_else(|| invalid("a value is missing"))?),
        size => usize::try_from(size).map_err(|_| invalid(format!("{size} is negative"))),
    };
    list.iter().map(entry).collect()
}

/// The shape of a result, with values for its dynamic sizes.
fn result_shape(op: OpRef<'_>, values: &[Tensor]) -> Result<Vec<usize>, EvalError> {
    mixed(op.result_type(0).shape().unwrap_or(&[]), values)
}

/// A tensor that has the type of the result.
fn fits(op: OpRef<'_>, tensor: Tensor) -> EvalResult {
    let declared = op.result_type(0);
    let size_fits =
        |(&size, &wanted): (&usize, &i64)| wanted == DYNAMIC || i64::try_from(size) == Ok(wanted);
    match declared.shape() {
        Some(shape)
            if shape.len() != tensor.rank() || !tensor.shape().iter().zip(shape).all(size_fits) =>
        {
            Err(invalid(format!("the shape {:?} does not fit {declared}", tensor.shape())))
        }
        _ => one(tensor),
    }
}

pub(super) fn cast(op: OpRef<'_>, operands: Vec<RuntimeValue>, _: &mut dyn EvalEnv) -> EvalResult {
    fits(op, first(&all(operands)?)?.clone())
}

pub(super) fn bitcast(
    op: OpRef<'_>,
    operands: Vec<RuntimeValue>,
    _: &mut dyn EvalEnv,
) -> EvalResult {
    one(math::bitcast(first(&all(operands)?)?, element_dtype(op.result_type(0))?)?)
}

pub(super) fn dim(_: OpRef<'_>, operands: Vec<RuntimeValue>, _: &mut dyn EvalEnv) -> EvalResult {
    let operands = all(operands)?;
    let (shape, axis) = (first(&operands)?.shape(), indices(&operands[1..])?);
    let size = axis.first().and_then(|&axis| shape.get(axis));
    let size =
        size.ok_or_else(|| invalid(format!("there is no dimension {axis:?} in {shape:?}")))?;
    one(Tensor::scalar(*size as i64))
}

pub(super) fn rank(_: OpRef<'_>, operands: Vec<RuntimeValue>, _: &mut dyn EvalEnv) -> EvalResult {
    one(Tensor::scalar(first(&all(operands)?)?.rank() as i64))
}

/// Zeros: the elements are not specified.
pub(super) fn empty(op: OpRef<'_>, operands: Vec<RuntimeValue>, _: &mut dyn EvalEnv) -> EvalResult {
    let shape = result_shape(op, &all(operands)?)?;
    one(Tensor::zeros(element_dtype(op.result_type(0))?, shape)?)
}

pub(super) fn splat(op: OpRef<'_>, operands: Vec<RuntimeValue>, _: &mut dyn EvalEnv) -> EvalResult {
    let operands = all(operands)?;
    one(first(&operands)?.broadcast_scalar(result_shape(op, &operands[1..])?)?)
}

/// The part of a tensor at an element.
fn element(shape: &[usize], at: &[usize]) -> Result<StridedView, EvalError> {
    if at.len() != shape.len() || at.iter().zip(shape).any(|(i, n)| i >= n) {
        return Err(invalid(format!("there is no element {at:?} in a tensor of shape {shape:?}")));
    }
    Ok(StridedView::window(shape, at, &vec![1; at.len()], &vec![1; at.len()])?)
}

pub(super) fn extract(
    _: OpRef<'_>,
    operands: Vec<RuntimeValue>,
    _: &mut dyn EvalEnv,
) -> EvalResult {
    let operands = all(operands)?;
    let tensor = first(&operands)?;
    one(tensor.gather(&element(tensor.shape(), &indices(&operands[1..])?)?)?.into_shape([])?)
}

pub(super) fn insert(_: OpRef<'_>, operands: Vec<RuntimeValue>, _: &mut dyn EvalEnv) -> EvalResult {
    let mut operands = all(operands)?;
    if operands.len() < 2 {
        return Err(invalid("an operand is missing"));
    }
    let at = indices(&operands[2..])?;
    let mut tensor = operands.swap_remove(1);
    let view = element(tensor.shape(), &at)?;
    tensor.scatter(&view, &operands[0].reshape(vec![1; at.len()])?)?;
    one(tensor)
}

pub(super) fn from_elements(
    op: OpRef<'_>,
    operands: Vec<RuntimeValue>,
    _: &mut dyn EvalEnv,
) -> EvalResult {
    let mut bytes = Vec::new();
    all(operands)?.iter().for_each(|element| bytes.extend_from_slice(element.bytes()));
    let shape = result_shape(op, &[])?;
    one(Tensor::from_bytes(element_dtype(op.result_type(0))?, shape, bytes.into())?)
}

/// A tensor of elements that a region computes from their indices.
fn generated(
    dtype: DType,
    shape: &[usize],
    region: RegionId,
    env: &mut dyn EvalEnv,
) -> Result<Tensor, EvalError> {
    let mut result = Tensor::zeros(dtype, shape)?;
    let mut positions = Indices::new(shape);
    while let Some(position) = positions.next_index() {
        let arguments = position.iter().map(|&i| Tensor::scalar(i as i64).into()).collect();
        let view = element(shape, position)?;
        let value = env
            .region(region, arguments)?
            .into_iter()
            .next()
            .ok_or_else(|| invalid("no element is yielded"))?;
        result.scatter(&view, &value.tensor()?.reshape(vec![1; shape.len()])?)?;
    }
    Ok(result)
}

pub(super) fn generate(
    op: OpRef<'_>,
    operands: Vec<RuntimeValue>,
    env: &mut dyn EvalEnv,
) -> EvalResult {
    let shape = result_shape(op, &all(operands)?)?;
    one(generated(element_dtype(op.result_type(0))?, &shape, GenerateOp(op).body(), env)?)
}

pub(super) fn pad(op: OpRef<'_>, operands: Vec<RuntimeValue>, env: &mut dyn EvalEnv) -> EvalResult {
    let operands = all(operands)?;
    let source = first(&operands)?;
    let lows = 1 + op.operand_slot(1).len();
    let list = |name| op.int_array(name).unwrap_or(&[]);
    let low = mixed(list("static_low"), operands.get(1..lows).unwrap_or(&[]))?;
    let high = mixed(list("static_high"), operands.get(lows..).unwrap_or(&[]))?;
    if [low.len(), high.len()] != [source.rank(); 2] {
        return Err(invalid("the padding does not fit the rank"));
    }
    let sizes = source.shape().iter().zip(low.iter().zip(&high));
    let shape: Option<Vec<usize>> =
        sizes.map(|(n, (low, high))| n.checked_add(*low)?.checked_add(*high)).collect();
    let shape = shape.ok_or_else(|| invalid("the result is too large"))?;
    let mut result = generated(source.dtype(), &shape, PadOp(op).region(), env)?;
    result.scatter(
        &StridedView::window(&shape, &low, source.shape(), &vec![1; low.len()])?,
        source,
    )?;
    fits(op, result)
}

/// The same elements in the shape of the result, of whose sizes at most one of each group is not
/// known.
pub(super) fn regroup(
    op: OpRef<'_>,
    operands: Vec<RuntimeValue>,
    _: &mut dyn EvalEnv,
) -> EvalResult {
    let operands = all(operands)?;
    let source = first(&operands)?;
    let declared = op.result_type(0).shape().unwrap_or(&[]);
    let groups: Vec<Vec<usize>> = op
        .attr("reassociation")
        .and_then(|r| r.as_array())
        .unwrap_or(&[])
        .iter()
        .map(|g| {
            g.as_array()
                .unwrap_or(&[])
                .iter()
                .filter_map(|d| usize::try_from(d.as_i64()?).ok())
                .collect()
        })
        .collect();
    let shape = if declared.len() <= source.rank() {
        let product =
            |group: &Vec<usize>| group.iter().filter_map(|&d| source.shape().get(d)).product();
        groups.iter().map(product).collect::<Vec<usize>>()
    } else {
        mixed(op.int_array("static_output_shape").unwrap_or(declared), &operands[1..])?
    };
    fits(op, source.reshape(shape)?)
}

pub(super) fn reshape(
    op: OpRef<'_>,
    operands: Vec<RuntimeValue>,
    _: &mut dyn EvalEnv,
) -> EvalResult {
    let operands = all(operands)?;
    let sizes = operands.get(1).ok_or_else(|| invalid("an operand is missing"))?.to_i64s()?;
    let sizes: Option<Vec<usize>> =
        sizes.into_iter().map(|size| usize::try_from(size).ok()).collect();
    let sizes = sizes.ok_or_else(|| invalid("a size is negative"))?;
    fits(op, first(&operands)?.reshape(sizes)?)
}

pub(super) fn concat(
    op: OpRef<'_>,
    operands: Vec<RuntimeValue>,
    _: &mut dyn EvalEnv,
) -> EvalResult {
    let operands = all(operands)?;
    let axis = op.attr("dim").and_then(|d| usize::try_from(d.as_i64()?).ok()).unwrap_or(usize::MAX);
    let mut shape = first(&operands)?.shape().to_vec();
    let sizes = operands.iter().map(|t| t.shape().get(axis).copied());
    let total = sizes.clone().try_fold(0usize, |sum, size| sum.checked_add(size?));
    let total =
        total.ok_or_else(|| invalid(format!("there is no dimension {axis} in all operands")))?;
    shape[axis] = total;
    let mut result = Tensor::zeros(first(&operands)?.dtype(), &shape)?;
    let mut start = vec![0; shape.len()];
    for tensor in &operands {
        result.scatter(
            &StridedView::window(&shape, &start, tensor.shape(), &vec![1; shape.len()])?,
            tensor,
        )?;
        start[axis] += tensor.shape()[axis];
    }
    fits(op, result)
}

/// The window of a tensor of `shape` that offsets, sizes and strides name: constants, or operands
/// from `given` on.
fn window(
    op: OpRef<'_>,
    shape: &[usize],
    given: usize,
    operands: &[Tensor],
) -> Result<(StridedView, Vec<usize>), EvalError> {
    let mut start = given;
    let mut list = |slot: usize, name| -> Result<Vec<usize>, EvalError> {
        let end = start + op.operand_slot(slot).len();
        let values = operands.get(start..end).unwrap_or(&[]);
        start = end;
        mixed(op.int_array(name).unwrap_or(&[]), values)
    };
    let offsets = list(given, "static_offsets")?;
    let sizes = list(given + 1, "static_sizes")?;
    let strides = list(given + 2, "static_strides")?;
    let inside = (0..shape.len()).all(|d| {
        let last = sizes
            .get(d)
            .zip(strides.get(d))
            .and_then(|(n, step)| n.saturating_sub(1).checked_mul(*step));
        let last = last.zip(offsets.get(d)).and_then(|(span, start)| start.checked_add(span));
        sizes.get(d) == Some(&0) || last.is_some_and(|last| last < shape[d])
    });
    if !inside || sizes.len() != shape.len() {
        return Err(invalid(format!(
            "the slice of {sizes:?} at {offsets:?} by {strides:?} is outside of shape {shape:?}"
        )));
    }
    let steps: Vec<isize> =
        strides.iter().map(|&s| isize::try_from(s).unwrap_or(isize::MAX)).collect();
    Ok((StridedView::window(shape, &offsets, &sizes, &steps)?, sizes))
}

pub(super) fn extract_slice(
    op: OpRef<'_>,
    operands: Vec<RuntimeValue>,
    _: &mut dyn EvalEnv,
) -> EvalResult {
    let operands = all(operands)?;
    let source = first(&operands)?;
    let (view, sizes) = window(op, source.shape(), 1, &operands)?;
    let slice = source.gather(&view)?;
    // Dimensions of size 1 may be left out.
    match op.result_type(0).shape() {
        Some(declared) if declared.len() < sizes.len() => {
            let mut shape = Vec::new();
            let mut excess = sizes.len() - declared.len();
            for &size in &sizes {
                if excess > 0 && size == 1 && declared.get(shape.len()) != Some(&1) {
                    excess -= 1;
                } else {
                    shape.push(size);
                }
            }
            fits(op, slice.into_shape(shape)?)
        }
        _ => fits(op, slice),
    }
}

pub(super) fn insert_slice(
    op: OpRef<'_>,
    operands: Vec<RuntimeValue>,
    _: &mut dyn EvalEnv,
) -> EvalResult {
    let operands = all(operands)?;
    let [source, dest, ..] = &operands[..] else { return Err(invalid("an operand is missing")) };
    let (view, sizes) = window(op, dest.shape(), 2, &operands)?;
    let mut result = dest.clone();
    result.scatter(&view, &source.reshape(sizes)?)?;
    one(result)
}
