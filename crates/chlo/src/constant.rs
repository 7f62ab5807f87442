//! `chlo.constant` and `chlo.constant_like`.

use crate::constraints::{STATIC_TENSOR, TENSOR};
use hlo::compat::with_element;
use mlir::attrs::{AttrKind, DenseElements};
use mlir::ir::{Loc, OpName, OpParts};
use mlir::ods::AttrConstraint;
use mlir::prepare::{Prepared, Preparer};
use mlir::rewrite::Folded;
use mlir::{Attribute, Diagnostic, OpRef, Type, Verdict, op};
use numerics::Bytes;
use program::EvalError;

static SCALAR: AttrConstraint = AttrConstraint::Is("a number or elements", |a| {
    a.is_elements() || matches!(**a, AttrKind::Integer { .. } | AttrKind::Float { .. })
});

fn value_type(op: OpRef<'_>) -> Type {
    op.property(0).map_or_else(Type::none, |value| value.ty())
}

op! {
    /// A constant.
    pub ConstantOp, "chlo.constant" {
        results { output: single STATIC_TENSOR }
        attributes { value: required Elements }
        traits [Pure, ConstantLike]
        hooks {
            format: "attr-dict $value",
            infer: infer_constant,
            prepare: prepare_constant,
        }
    }
}

fn prepare_constant(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    let message = "the elements of this constant are not at hand";
    let unknown = || Err(EvalError::new("constant", message));
    op.property(0).and_then(mlir::prepare::constant).unwrap_or_else(unknown)
}

fn infer_constant(op: OpRef<'_>) -> Result<Vec<Type>, Diagnostic> {
    Ok(vec![value_type(op)])
}

/// Parts of a `chlo.constant` op with the given value, for constant materialization.
pub(crate) fn constant_parts(value: &Attribute, ty: &Type) -> Option<OpParts> {
    let mut parts = OpParts::new(OpName::Registered(ConstantOp::DEF), Loc::Unknown);
    parts.properties.push(Some(value.clone()));
    parts.result_types.push(ty.clone());
    (value.is_elements() && value.ty() == *ty).then_some(parts)
}

op! {
    /// A tensor whose elements all have one value, with the shape of the operand.
    pub ConstantLikeOp, "chlo.constant_like" {
        operands { operand: single TENSOR }
        results { result: single TENSOR }
        attributes { value: required SCALAR }
        traits [Pure, SameOperandsAndResultShape]
        hooks {
            verify: verify_constant_like,
            infer: infer_constant_like,
            reify: hlo::reify::shape_of_first,
            fold: fold_constant_like,
        }
    }
}

fn infer_constant_like(op: OpRef<'_>) -> Result<Vec<Type>, Diagnostic> {
    Ok(vec![with_element(op.operand_type(0), value_type(op))])
}

fn verify_constant_like(op: OpRef<'_>) -> Verdict {
    let (value, result) = (value_type(op), op.result_type(0));
    if value != *result.element_type() {
        return Err(
            op.error("attribute", format!("`value` has type {value}, but the result is {result}"))
        );
    }
    Ok(())
}

/// The bits of a numeric attribute, as one element of its type.
fn element_bits(value: &Attribute) -> Option<Vec<u8>> {
    let bits = match &**value {
        AttrKind::Integer { value, .. } => *value as u128,
        AttrKind::Float { bits, .. } => *bits,
        _ => return None,
    };
    Some(bits.to_le_bytes()[..value.ty().dtype()?.bytes()].to_vec())
}

impl ConstantLikeOp<'_> {
    /// A dense splat of this element in the given shape.
    pub fn splat(&self, shape: impl Into<Vec<i64>>) -> Option<DenseElements> {
        let value = self.value();
        DenseElements::new(
            Type::tensor(shape.into(), value.ty()),
            Bytes::from_vec(element_bits(value)?),
        )
    }
}

/// Folds to a splat constant if the shape is static.
fn fold_constant_like(op: OpRef<'_>, _: &[Option<Attribute>]) -> Option<Vec<Folded>> {
    let ty = op.operand_type(0).as_tensor().filter(|ty| ty.has_static_shape())?;
    let splat = ConstantLikeOp(op).splat(&ty.shape[..])?;
    (splat.ty() == op.result_type(0)).then(|| vec![Folded::Constant(splat.into())])
}
