//! `chlo.constant` and `chlo.constant_like`.

use crate::constraints::{STATIC_TENSOR, TENSOR};
use hlo::compat::with_element;
use mlir::attrs::AttrKind;
use mlir::eval::{EvalError, RuntimeValue};
use mlir::ods::{Assembly, AttrConstraint, UpstreamInfers};
use mlir::{Diagnostics, OpRef, Type, op};

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
            assembly: Assembly::Format("attr-dict $value"),
            infer: Some(|op| Ok(vec![value_type(op)])),
            eval: Some(|op, _, _| match op.property(0).and_then(|value| value.to_tensor()) {
                Some(tensor) => Ok(vec![RuntimeValue::Tensor(tensor?)]),
                None => Err(EvalError::new("constant", "the elements of this constant are not at hand")),
            }),
        }
    }
}

op! {
    /// A tensor whose elements all have one value, with the shape of the operand.
    pub ConstantLikeOp, "chlo.constant_like" {
        operands { operand: single TENSOR }
        results { result: single TENSOR }
        attributes { value: required SCALAR }
        traits [Pure, SameOperandsAndResultShape]
        hooks {
            upstream_infers: UpstreamInfers::Nothing, infer: Some(|op| Ok(vec![with_element(op.operand_type(0), value_type(op))])),
            verify: Some(verify_constant_like),
        }
    }
}

fn verify_constant_like(op: OpRef<'_>, errors: &mut Diagnostics) {
    let (value, result) = (value_type(op), op.result_type(0));
    if value != *result.element_type() {
        errors.push(op.error("attribute", format!("`value` has type {value}, but the result is {result}")));
    }
}
