//! Type constraints of operands and results, shared by several dialects.

use crate::quant;
use mlir::ods::{ElementSet, Ranks, TensorRule, TypeConstraint, TypeRule};
use mlir::types::Signedness;
use mlir::{Type, TypeKind};

/// Floats of any format.
pub static FLOAT: ElementSet = ElementSet { name: "float", contains: Type::is_float };

/// Complex numbers of any part type.
pub static COMPLEX: ElementSet =
    ElementSet { name: "complex", contains: |t| matches!(**t, TypeKind::Complex(_)) };

/// Integers of any width and signedness, and booleans.
pub static INTEGER: ElementSet = ElementSet { name: "integer", contains: |t| t.is_integer(None) };

/// Quantized elements with one scale for the tensor.
pub static PER_TENSOR_QUANTIZED: ElementSet = ElementSet {
    name: "per-tensor quantized",
    contains: |t| {
        quant::Uniform::of(t).is_some_and(|q| q.granularity() == quant::Granularity::PerTensor)
    },
};

/// Tensors of floats or complex numbers.
pub static FLOAT_OR_COMPLEX_TENSOR: TypeConstraint = TypeConstraint {
    summary: "a tensor of floats or complex numbers",
    rule: TypeRule::Tensor(TensorRule {
        ranks: Ranks::Any,
        ..TensorRule::ranked(&[&FLOAT, &COMPLEX])
    }),
};

/// Tensors of element types that StableHLO programs compute with.
pub static VALUE_TENSOR: TypeConstraint = TypeConstraint {
    summary: "a ranked tensor of boolean, integer, float, complex or per-tensor quantized elements",
    rule: TypeRule::Tensor(TensorRule::ranked(&[
        &FLOAT,
        &COMPLEX,
        &INTEGER,
        &PER_TENSOR_QUANTIZED,
    ])),
};

/// [`VALUE_TENSOR`], or StableHLO's token.
pub static VALUE_TENSOR_OR_TOKEN: TypeConstraint = TypeConstraint {
    summary: "a ranked tensor or a token",
    rule: TypeRule::AnyOf(&[&VALUE_TENSOR, &TOKEN]),
};

/// `!stablehlo.token`, by name, as it is declared in another crate.
pub static TOKEN: TypeConstraint = TypeConstraint {
    summary: "a token",
    rule: TypeRule::Is(
        |t| matches!(&**t, TypeKind::Dialect(d) if d.def.dialect == "stablehlo" && d.def.mnemonic == "token"),
    ),
};

/// Function types.
pub static FUNCTION: TypeConstraint = TypeConstraint {
    summary: "a function type",
    rule: TypeRule::Is(|t| t.as_function().is_some()),
};

/// True if `ty` is a signless integer type.
pub fn is_signless_integer(ty: &Type) -> bool {
    matches!(**ty, TypeKind::Integer { signedness: Signedness::Signless, .. })
}
