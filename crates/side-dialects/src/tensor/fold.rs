//! Folds of the dialect's ops over constants and static types.

pub(super) use crate::folding::evaluate;

use super::{DimOp, FromElementsOp};
use crate::shape::ShapeOfOp;
use mlir::rewrite::{Folded, Rewriter};
use mlir::types::DYNAMIC;
use mlir::{Attribute, OpId, OpRef, Type};

fn index(value: usize) -> Option<Vec<Folded>> {
    Some(vec![Folded::Constant(Attribute::integer(i128::try_from(value).ok()?, Type::index()))])
}

fn position(constant: Option<&Attribute>) -> Option<usize> {
    usize::try_from(constant?.as_i64()?).ok()
}

/// The size of a static dimension.
pub(crate) fn dim(op: OpRef<'_>, constants: &[Option<Attribute>]) -> Option<Vec<Folded>> {
    let position = position(constants.get(1)?.as_ref())?;
    let size = *op.operand_type(0).shape()?.get(position).filter(|&&size| size != DYNAMIC)?;
    index(usize::try_from(size).ok()?)
}

/// The number of dimensions of a ranked tensor.
pub(super) fn rank(op: OpRef<'_>, _: &[Option<Attribute>]) -> Option<Vec<Folded>> {
    index(op.operand_type(0).shape()?.len())
}

/// A cast to the same type is a no-op.
pub(super) fn cast(op: OpRef<'_>, constants: &[Option<Attribute>]) -> Option<Vec<Folded>> {
    if op.operand_type(0) == op.result_type(0) {
        return Some(vec![Folded::Value(op.operands()[0])]);
    }
    evaluate(op, constants)
}

/// An element of a constant or of `tensor.from_elements`.
pub(super) fn extract(op: OpRef<'_>, constants: &[Option<Attribute>]) -> Option<Vec<Folded>> {
    let Some(made) =
        op.module().defining_op(op.operands()[0]).filter(|made| made.is(FromElementsOp::DEF))
    else {
        return evaluate(op, constants);
    };
    let mut at = 0;
    for (&size, constant) in made.result_type(0).shape()?.iter().zip(&constants[1..]) {
        let (size, position) = (usize::try_from(size).ok()?, position(constant.as_ref())?);
        at = (position < size).then(|| at * size + position)?;
    }
    Some(vec![Folded::Value(*made.operands().get(at)?)])
}

/// `extract(shape_of(x), [i])` is `dim(x, i)`.
pub(super) fn extract_of_shape(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let &[shape, position] = rw.op(op).operands() else { return None };
    let shape = rw.defining_op(shape).filter(|made| made.is(ShapeOfOp::DEF))?;
    let value = *shape
        .operands()
        .first()
        .filter(|&&v| rw.ty(v).as_tensor().is_some_and(|t| t.rank() > 0))?;
    let size = rw.make(DimOp::DEF, [value, position]).result(Type::index());
    rw.replace(op, &[size]);
    Some(())
}
