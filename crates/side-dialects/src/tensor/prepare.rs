//! The meaning of the ops of the dialect. Scalars are tensors of rank 0, indices `i64`.

use super::{ConcatOp, GenerateOp, PadOp};
use mlir::prepare::{Prepared, Preparer, native, native_with_env};
use mlir::types::DYNAMIC;
use mlir::{Attribute, OpRef, Type};
use numerics::shape::{Indices, StridedView};
use numerics::{DType, Tensor};
use program::operands;
use program::primitives;
use program::{BlockId, EvalError, EvalResult, Evaluator, Primitive, RuntimeValue};
use std::ops::Range;

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

/// A list of constants, in which `DYNAMIC` is replaced by the next of `values`.
fn mixed(list: &[i64], values: &[Tensor]) -> Result<Vec<usize>, EvalError> {
    let mut values = values.iter();
    let entry = |&entry: &i64| match entry {
        DYNAMIC => index(values.next().ok_or_else(|| invalid("a value is missing"))?),
        size => usize::try_from(size).map_err(|_| invalid(format!("{size} is negative"))),
    };
    list.iter().map(entry).collect()
}

/// The sizes of the result type.
fn declared_shape(op: OpRef<'_>) -> Vec<i64> {
    op.result_type(0).shape().unwrap_or(&[]).to_vec()
}

/// A tensor whose shape fits a declared type.
fn fits(declared: &Type, tensor: Tensor) -> EvalResult {
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

pub(super) fn cast(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    let declared = op.result_type(0).clone();
    native(op, move |operands| fits(&declared, first(&all(operands)?)?.clone()))
}

pub(super) fn bitcast(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    Ok(Primitive::Bitcast(primitives::Bitcast { dtype: element_dtype(op.result_type(0))? }))
}

pub(super) fn dim(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    native(op, |operands| {
        let operands = all(operands)?;
        let (shape, axis) = (first(&operands)?.shape(), indices(&operands[1..])?);
        let size = axis.first().and_then(|&axis| shape.get(axis));
        let size =
            size.ok_or_else(|| invalid(format!("there is no dimension {axis:?} in {shape:?}")))?;
        one(Tensor::scalar(*size as i64))
    })
}

pub(super) fn rank(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    native(op, |operands| one(Tensor::scalar(first(&all(operands)?)?.rank() as i64)))
}

/// Zeros: the elements are not specified.
pub(super) fn empty(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    let (declared, dtype) = (declared_shape(op), element_dtype(op.result_type(0))?);
    native(op, move |operands| one(Tensor::zeros(dtype, mixed(&declared, &all(operands)?)?)?))
}

pub(super) fn splat(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    let declared = declared_shape(op);
    native(op, move |operands| {
        let operands = all(operands)?;
        one(first(&operands)?.broadcast_scalar(mixed(&declared, &operands[1..])?)?)
    })
}

/// The part of a tensor at an element.
fn element(shape: &[usize], at: &[usize]) -> Result<StridedView, EvalError> {
    if at.len() != shape.len() || at.iter().zip(shape).any(|(i, n)| i >= n) {
        return Err(invalid(format!("there is no element {at:?} in a tensor of shape {shape:?}")));
    }
    Ok(StridedView::window(shape, at, &vec![1; at.len()], &vec![1; at.len()])?)
}

pub(super) fn extract(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    native(op, |operands| {
        let operands = all(operands)?;
        let tensor = first(&operands)?;
        one(tensor.gather(&element(tensor.shape(), &indices(&operands[1..])?)?)?.into_shape([])?)
    })
}

pub(super) fn insert(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    native(op, |operands| {
        let mut operands = all(operands)?;
        if operands.len() < 2 {
            return Err(invalid("an operand is missing"));
        }
        let at = indices(&operands[2..])?;
        let mut tensor = operands.swap_remove(1);
        let view = element(tensor.shape(), &at)?;
        tensor.scatter(&view, &operands[0].reshape(vec![1; at.len()])?)?;
        one(tensor)
    })
}

pub(super) fn from_elements(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    let (shape, dtype) = (mixed(&declared_shape(op), &[])?, element_dtype(op.result_type(0))?);
    native(op, move |operands| {
        let mut bytes = Vec::new();
        all(operands)?.iter().for_each(|element| bytes.extend_from_slice(element.bytes()));
        one(Tensor::from_bytes(dtype, &shape, bytes.into())?)
    })
}

/// A tensor of elements that a block computes from their indices.
fn generated(
    dtype: DType,
    shape: &[usize],
    block: BlockId,
    env: &mut dyn Evaluator,
) -> Result<Tensor, EvalError> {
    let mut result = Tensor::zeros(dtype, shape)?;
    let mut positions = Indices::new(shape);
    while let Some(position) = positions.next_index() {
        let arguments = position.iter().map(|&i| Tensor::scalar(i as i64).into()).collect();
        let view = element(shape, position)?;
        let value = env
            .block(block, arguments)?
            .into_iter()
            .next()
            .ok_or_else(|| invalid("no element is yielded"))?;
        result.scatter(&view, &value.tensor()?.reshape(vec![1; shape.len()])?)?;
    }
    Ok(result)
}

pub(super) fn generate(op: OpRef<'_>, cx: &mut Preparer<'_>) -> Prepared {
    let (declared, dtype) = (declared_shape(op), element_dtype(op.result_type(0))?);
    let block = cx.block(GenerateOp(op).body())?;
    native_with_env(op, move |_, operands, env| {
        one(generated(dtype, &mixed(&declared, &all(operands)?)?, block, env)?)
    })
}

pub(super) fn pad(op: OpRef<'_>, cx: &mut Preparer<'_>) -> Prepared {
    let lows = 1 + op.operand_slot(1).len();
    let list = |name| op.int_array(name).unwrap_or(&[]).to_vec();
    let (static_low, static_high) = (list("static_low"), list("static_high"));
    let declared = op.result_type(0).clone();
    let block = cx.block(PadOp(op).region())?;
    native_with_env(op, move |_, operands, env| {
        let operands = all(operands)?;
        let source = first(&operands)?;
        let low = mixed(&static_low, operands.get(1..lows).unwrap_or(&[]))?;
        let high = mixed(&static_high, operands.get(lows..).unwrap_or(&[]))?;
        if [low.len(), high.len()] != [source.rank(); 2] {
            return Err(invalid("the padding does not fit the rank"));
        }
        let sizes = source.shape().iter().zip(low.iter().zip(&high));
        let shape: Option<Vec<usize>> =
            sizes.map(|(n, (low, high))| n.checked_add(*low)?.checked_add(*high)).collect();
        let shape = shape.ok_or_else(|| invalid("the result is too large"))?;
        let mut result = generated(source.dtype(), &shape, block, env)?;
        let view = StridedView::window(&shape, &low, source.shape(), &vec![1; low.len()])?;
        result.scatter(&view, source)?;
        fits(&declared, result)
    })
}

/// The same elements in the shape of the result, of whose sizes at most one of each group is not
/// known.
pub(super) fn regroup(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    let dims = |group: &Attribute| -> Vec<usize> {
        let dims = group.as_array().unwrap_or(&[]).iter();
        dims.filter_map(|d| usize::try_from(d.as_i64()?).ok()).collect()
    };
    let groups = op.attr("reassociation").and_then(|r| r.as_array()).unwrap_or(&[]);
    let groups: Vec<Vec<usize>> = groups.iter().map(dims).collect();
    let declared = op.result_type(0).clone();
    let sizes = declared_shape(op);
    let output = op.int_array("static_output_shape").unwrap_or(&sizes).to_vec();
    native(op, move |operands| {
        let operands = all(operands)?;
        let source = first(&operands)?;
        let shape = if sizes.len() <= source.rank() {
            let product =
                |group: &Vec<usize>| group.iter().filter_map(|&d| source.shape().get(d)).product();
            groups.iter().map(product).collect::<Vec<usize>>()
        } else {
            mixed(&output, &operands[1..])?
        };
        fits(&declared, source.reshape(shape)?)
    })
}

pub(super) fn reshape(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    let declared = op.result_type(0).clone();
    native(op, move |operands| {
        let operands = all(operands)?;
        let shape = operands.get(1).ok_or_else(|| invalid("an operand is missing"))?;
        fits(&declared, first(&operands)?.reshape(operands::sizes(shape)?)?)
    })
}

pub(super) fn concat(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    let dimension = usize::try_from(ConcatOp(op).dim());
    let dimension = dimension.map_err(|_| invalid("the dimension is negative"))?;
    Ok(Primitive::Concatenate(primitives::Concatenate { dimension }))
}

/// The window of a slice: constants, with operands for those that are dynamic.
struct TensorWindow {
    /// Offsets, sizes and strides, each with the positions of its operands.
    lists: [(Vec<i64>, Range<usize>); 3],
}

impl TensorWindow {
    /// The window of an op whose operand slots from `first` on are offsets, sizes and strides.
    fn of(op: OpRef<'_>, first: usize) -> TensorWindow {
        let mut start = first;
        let names = ["static_offsets", "static_sizes", "static_strides"];
        let lists = [0, 1, 2].map(|i| {
            let end = start + op.operand_slot(first + i).len();
            let range = start..end;
            start = end;
            (op.int_array(names[i]).unwrap_or(&[]).to_vec(), range)
        });
        TensorWindow { lists }
    }

    /// The view on a tensor of `shape`, and its sizes.
    fn view(
        &self,
        shape: &[usize],
        operands: &[Tensor],
    ) -> Result<(StridedView, Vec<usize>), EvalError> {
        let list = |i: usize| {
            let (list, range) = &self.lists[i];
            mixed(list, operands.get(range.clone()).unwrap_or(&[]))
        };
        let (offsets, sizes, strides) = (list(0)?, list(1)?, list(2)?);
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
}

pub(super) fn extract_slice(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    let window = TensorWindow::of(op, 1);
    let declared = op.result_type(0).clone();
    native(op, move |operands| {
        let operands = all(operands)?;
        let source = first(&operands)?;
        let (view, sizes) = window.view(source.shape(), &operands)?;
        let slice = source.gather(&view)?;
        // Dimensions of size 1 may be left out.
        match declared.shape() {
            Some(kept) if kept.len() < sizes.len() => {
                let mut shape = Vec::new();
                let mut excess = sizes.len() - kept.len();
                for &size in &sizes {
                    if excess > 0 && size == 1 && kept.get(shape.len()) != Some(&1) {
                        excess -= 1;
                    } else {
                        shape.push(size);
                    }
                }
                fits(&declared, slice.into_shape(shape)?)
            }
            _ => fits(&declared, slice),
        }
    })
}

pub(super) fn insert_slice(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    let window = TensorWindow::of(op, 2);
    native(op, move |operands| {
        let operands = all(operands)?;
        let [source, dest, ..] = &operands[..] else {
            return Err(invalid("an operand is missing"));
        };
        let (view, sizes) = window.view(dest.shape(), &operands)?;
        let mut result = dest.clone();
        result.scatter(&view, &source.reshape(sizes)?)?;
        one(result)
    })
}
