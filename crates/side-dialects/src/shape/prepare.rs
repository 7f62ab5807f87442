//! The meaning of the ops of the dialect. A shape is the vector of its sizes as `i64`, a size or
//! index a scalar, a witness a boolean; unknown or invalid shapes do not occur at run time.

use super::{AssumingOp, ConstShapeOp, ConstSizeOp, ConstWitnessOp, CstrRequireOp, ReduceOp};
use mlir::OpRef;
use mlir::prepare::{Prepared, Preparer, native, native_with_env};
use numerics::{I1, Tensor};
use program::primitives;
use program::{EvalError, EvalResult, Primitive, RuntimeValue};

fn invalid(what: impl Into<String>) -> EvalError {
    EvalError::new("shape", what)
}

fn sizes(value: &RuntimeValue) -> Result<Vec<i64>, EvalError> {
    Ok(value.tensor()?.to_i64s()?)
}

/// The first operand as a shape, and the operand at `index` as a size.
fn size(operands: &[RuntimeValue], index: usize) -> Result<i64, EvalError> {
    let value = operands.get(index).ok_or_else(|| invalid("an operand is missing"))?;
    sizes(value)?.first().copied().ok_or_else(|| invalid("a size is empty"))
}

fn shape(operands: &[RuntimeValue], index: usize) -> Result<Vec<i64>, EvalError> {
    sizes(operands.get(index).ok_or_else(|| invalid("an operand is missing"))?)
}

fn shape_value(sizes: Vec<i64>) -> EvalResult {
    Ok(vec![Tensor::from_vec([sizes.len()], sizes)?.into()])
}

fn size_value(size: i64) -> EvalResult {
    Ok(vec![Tensor::scalar(size).into()])
}

fn boolean(value: bool) -> EvalResult {
    Ok(vec![Tensor::scalar(I1::new(value)).into()])
}

/// The first operand, which is the result in another guise.
pub(super) fn same(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    native(op, |operands| Ok(operands.into_iter().take(1).collect()))
}

/// The shape to which shapes broadcast together, or why they do not.
pub(super) fn broadcast(shapes: &[Vec<i64>]) -> Result<Vec<i64>, String> {
    let rank = shapes.iter().map(Vec::len).max().unwrap_or(0);
    let mut result = vec![1; rank];
    for shape in shapes {
        for (size, &other) in result[rank - shape.len()..].iter_mut().zip(shape) {
            match (*size, other) {
                (_, 1) => {}
                (1, other) => *size = other,
                (size, other) if size == other => {}
                (size, other) => {
                    return Err(format!(
                        "{shapes:?} cannot be broadcast together: sizes {size} and {other} differ"
                    ));
                }
            }
        }
    }
    Ok(result)
}

fn all_shapes(operands: &[RuntimeValue]) -> Result<Vec<Vec<i64>>, EvalError> {
    operands.iter().map(sizes).collect()
}

pub(super) fn broadcast_shapes(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    native(op, |operands| shape_value(broadcast(&all_shapes(&operands)?).map_err(invalid)?))
}

pub(super) fn is_broadcastable(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    native(op, |operands| boolean(broadcast(&all_shapes(&operands)?).is_ok()))
}

pub(super) fn shape_eq(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    native(op, |operands| boolean(all_shapes(&operands)?.windows(2).all(|pair| pair[0] == pair[1])))
}

/// A constraint that does not hold ends the run here, where it is stated.
fn witness(holds: bool, message: impl FnOnce() -> String) -> EvalResult {
    if holds { boolean(true) } else { Err(EvalError::new("shape_constraint", message())) }
}

pub(super) fn cstr_broadcastable(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    native(op, |operands| {
        broadcast(&all_shapes(&operands)?)
            .map_err(|message| EvalError::new("shape_constraint", message))?;
        boolean(true)
    })
}

pub(super) fn cstr_eq(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    native(op, |operands| {
        let shapes = all_shapes(&operands)?;
        witness(shapes.windows(2).all(|pair| pair[0] == pair[1]), || {
            format!("{shapes:?} are not equal")
        })
    })
}

pub(super) fn cstr_require(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    let message = CstrRequireOp(op).msg().to_string();
    native(op, move |operands| witness(size(&operands, 0)? != 0, || message.clone()))
}

pub(super) fn const_witness(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    let passing = ConstWitnessOp(op).passing();
    Ok(Primitive::Constant(primitives::Constant { tensor: Tensor::scalar(I1::new(passing)) }))
}

pub(super) fn assuming_all(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    native(op, |operands| {
        let mut all = true;
        for index in 0..operands.len() {
            all &= size(&operands, index)? != 0;
        }
        boolean(all)
    })
}

pub(super) fn assuming(op: OpRef<'_>, cx: &mut Preparer<'_>) -> Prepared {
    let block = cx.block(AssumingOp(op).do_region())?;
    native_with_env(op, move |_, operands, env| {
        if size(&operands, 0)? == 0 {
            let message = "the assumptions of this region do not hold";
            return Err(EvalError::new("shape_constraint", message));
        }
        env.block(block, Vec::new())
    })
}

pub(super) fn reduce(op: OpRef<'_>, cx: &mut Preparer<'_>) -> Prepared {
    let block = cx.block(ReduceOp(op).region())?;
    native_with_env(op, move |_, operands, env| {
        let sizes = shape(&operands, 0)?;
        let mut values: Vec<RuntimeValue> = operands.into_iter().skip(1).collect();
        for (index, size) in (0i64..).zip(sizes) {
            let mut arguments = vec![Tensor::scalar(index).into(), Tensor::scalar(size).into()];
            arguments.append(&mut values);
            values = env.block(block, arguments)?;
        }
        Ok(values)
    })
}

pub(super) fn concat(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    native(op, |operands| shape_value([shape(&operands, 0)?, shape(&operands, 1)?].concat()))
}

pub(super) fn const_shape(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    let sizes = ConstShapeOp(op).shape().as_dense().and_then(|d| d.int_values());
    let sizes = sizes.ok_or_else(|| invalid("the constant has no sizes"))?;
    Ok(Primitive::Constant(primitives::Constant {
        tensor: Tensor::from_vec([sizes.len()], sizes)?,
    }))
}

pub(super) fn const_size(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    Ok(Primitive::Constant(primitives::Constant {
        tensor: Tensor::scalar(ConstSizeOp(op).value()),
    }))
}

pub(super) fn from_extents(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    native(op, |operands| {
        shape_value((0..operands.len()).map(|i| size(&operands, i)).collect::<Result<_, _>>()?)
    })
}

/// The entry of a shape at a position.
fn extent(sizes: &[i64], index: i64) -> EvalResult {
    let size = usize::try_from(index).ok().and_then(|i| sizes.get(i));
    size_value(*size.ok_or_else(|| invalid(format!("there is no dimension {index} in {sizes:?}")))?)
}

pub(super) fn get_extent(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    native(op, |operands| extent(&shape(&operands, 0)?, size(&operands, 1)?))
}

fn shape_of_tensor(operands: &[RuntimeValue]) -> Result<Vec<i64>, EvalError> {
    let tensor = operands.first().ok_or_else(|| invalid("an operand is missing"))?.tensor()?;
    let size = |&size: &usize| i64::try_from(size).map_err(|_| invalid("a size is too large"));
    tensor.shape().iter().map(size).collect()
}

pub(super) fn dim(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    native(op, |operands| extent(&shape_of_tensor(&operands)?, size(&operands, 1)?))
}

pub(super) fn shape_of(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    native(op, |operands| shape_value(shape_of_tensor(&operands)?))
}

pub(super) fn rank(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    native(op, |operands| size_value(shape(&operands, 0)?.len() as i64))
}

pub(super) fn num_elements(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    native(op, |operands| {
        let product = shape(&operands, 0)?.into_iter().try_fold(1i64, i64::checked_mul);
        size_value(product.ok_or_else(|| invalid("the number of elements is too large"))?)
    })
}

pub(super) fn split_at(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    native(op, |operands| {
        let (sizes, index) = (shape(&operands, 0)?, size(&operands, 1)?);
        // A negative index counts from the end.
        let at = if index < 0 { index + sizes.len() as i64 } else { index };
        let parts = usize::try_from(at).ok().and_then(|at| sizes.split_at_checked(at));
        let (head, tail) =
            parts.ok_or_else(|| invalid(format!("{sizes:?} cannot be split at {index}")))?;
        Ok([shape_value(head.to_vec())?, shape_value(tail.to_vec())?].concat())
    })
}

/// An operation on sizes, or on those of two shapes of one rank.
fn pairwise(operands: &[RuntimeValue], f: fn(i64, i64) -> Option<i64>) -> EvalResult {
    let (lhs, rhs) = (shape(operands, 0)?, shape(operands, 1)?);
    if lhs.len() != rhs.len() {
        return Err(invalid(format!("{lhs:?} and {rhs:?} have different ranks")));
    }
    let results: Option<Vec<i64>> = lhs.iter().zip(&rhs).map(|(&a, &b)| f(a, b)).collect();
    let results = results
        .ok_or_else(|| invalid(format!("there is no such result for {lhs:?} and {rhs:?}")))?;
    let scalar = operands[0].tensor()?.rank() == 0;
    if scalar { size_value(results[0]) } else { shape_value(results) }
}

macro_rules! pairwise {
    ($($name:ident = $f:expr;)*) => {
        $(pub(super) fn $name(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
            native(op, |operands| pairwise(&operands, $f))
        })*
    };
}

pairwise! {
    add = i64::checked_add;
    div = |a, b| a.checked_div_euclid(b);
    max = |a, b| Some(a.max(b));
    min = |a, b| Some(a.min(b));
    mul = i64::checked_mul;
    meet = |a, b| (a == b).then_some(a);
}
