//! Elementwise functions of one operand.

use crate::constraints::{BOOLEANS, COMPLEXES, FLOATS, FLOATS_OR_COMPLEXES};
use hlo::compat::with_element;
use hlo::prepare;
use mlir::prepare::{Prepared, Preparer, native};
use mlir::{Diagnostic, OpRef, Type, op};
use numerics::math::{self, BinaryOp, UnaryOp};
use program::operands;

/// The type of the operand.
fn same_type(op: OpRef<'_>) -> Result<Vec<Type>, Diagnostic> {
    Ok(vec![op.operand_type(0).clone()])
}

/// Booleans of the shape of the operand.
fn booleans(op: OpRef<'_>) -> Result<Vec<Type>, Diagnostic> {
    Ok(vec![with_element(op.operand_type(0), Type::i1())])
}

macro_rules! unary {
    ($($(#[doc = $doc:literal])+ $view:ident, $name:literal, $from:ident, $to:ident, $infer:expr $(, $prepare:expr)?;)*) => {
        $(op! {
            $(#[doc = $doc])+
            pub $view, $name {
                operands { operand: single $from }
                results { result: single $to }
                traits [Pure, Elementwise, SameOperandsAndResultShape]
                hooks {
                    format: "$operand attr-dict `:` type($operand) `->` type($result)",
                    infer: $infer,
                    $(prepare: $prepare,)?
                }
            }
        })*
    };
}

unary! {
    /// The kernel shared by complex `asin` and `acos`.
    AsinAcosKernelOp, "chlo._asin_acos_kernel", COMPLEXES, COMPLEXES, same_type;
    /// Inverse cosine.
    AcosOp, "chlo.acos", FLOATS_OR_COMPLEXES, FLOATS_OR_COMPLEXES, same_type, prepare::unary;
    /// Inverse hyperbolic cosine.
    AcoshOp, "chlo.acosh", FLOATS_OR_COMPLEXES, FLOATS_OR_COMPLEXES, same_type, prepare::unary;
    /// Inverse sine.
    AsinOp, "chlo.asin", FLOATS_OR_COMPLEXES, FLOATS_OR_COMPLEXES, same_type, prepare::unary;
    /// Inverse hyperbolic sine.
    AsinhOp, "chlo.asinh", FLOATS_OR_COMPLEXES, FLOATS_OR_COMPLEXES, same_type, prepare::unary;
    /// Inverse tangent.
    AtanOp, "chlo.atan", FLOATS_OR_COMPLEXES, FLOATS_OR_COMPLEXES, same_type, prepare::unary;
    /// Inverse hyperbolic tangent.
    AtanhOp, "chlo.atanh", FLOATS_OR_COMPLEXES, FLOATS_OR_COMPLEXES, same_type, prepare::unary;
    /// Modified Bessel function of the first kind and order 1, times `exp(-|x|)`.
    BesselI1eOp, "chlo.bessel_i1e", FLOATS_OR_COMPLEXES, FLOATS_OR_COMPLEXES, same_type, prepare::unary;
    /// Complex conjugate.
    ConjOp, "chlo.conj", FLOATS_OR_COMPLEXES, FLOATS_OR_COMPLEXES, same_type, conj;
    /// Hyperbolic cosine.
    CoshOp, "chlo.cosh", FLOATS_OR_COMPLEXES, FLOATS_OR_COMPLEXES, same_type, prepare::unary;
    /// Derivative of the logarithm of the gamma function.
    DigammaOp, "chlo.digamma", FLOATS, FLOATS, same_type, prepare::unary;
    /// Error function.
    ErfOp, "chlo.erf", FLOATS, FLOATS, same_type, prepare::unary;
    /// Inverse of the error function.
    ErfInvOp, "chlo.erf_inv", FLOATS, FLOATS, same_type, prepare::unary;
    /// One minus the error function.
    ErfcOp, "chlo.erfc", FLOATS, FLOATS, same_type, prepare::unary;
    /// True where the number is infinite.
    IsInfOp, "chlo.is_inf", FLOATS, BOOLEANS, booleans, prepare::unary;
    /// True where the number is negative infinity.
    IsNegInfOp, "chlo.is_neg_inf", FLOATS, BOOLEANS, booleans, prepare::unary;
    /// True where the number is positive infinity.
    IsPosInfOp, "chlo.is_pos_inf", FLOATS, BOOLEANS, booleans, prepare::unary;
    /// Logarithm of the absolute value of the gamma function.
    LgammaOp, "chlo.lgamma", FLOATS, FLOATS, same_type, prepare::unary;
    /// Hyperbolic sine.
    SinhOp, "chlo.sinh", FLOATS_OR_COMPLEXES, FLOATS_OR_COMPLEXES, same_type, prepare::unary;
    /// The number times itself.
    SquareOp, "chlo.square", FLOATS_OR_COMPLEXES, FLOATS_OR_COMPLEXES, same_type, prepare::unary;
    /// Tangent.
    TanOp, "chlo.tan", FLOATS_OR_COMPLEXES, FLOATS_OR_COMPLEXES, same_type, prepare::unary;
}

fn conj(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    native(op, |operands| {
        let [operand] = operands::tensors(operands)?;
        if !operand.dtype().is_complex() {
            return Ok(vec![operand.into()]);
        }
        let real = math::unary(UnaryOp::Real, operand.clone())?;
        let imaginary = math::unary(UnaryOp::Negate, math::unary(UnaryOp::Imag, operand)?)?;
        Ok(vec![math::binary(BinaryOp::Complex, real, imaginary)?.into()])
    })
}
