//! Elementwise functions of one operand.

use crate::constraints::{BOOLEANS, COMPLEXES, FLOATS, FLOATS_OR_COMPLEXES};
use hlo::compat::with_element;
use hlo::eval;
use mlir::eval::{EvalEnv, EvalResult, RuntimeValue};
use mlir::ods::Assembly;
use mlir::{Diagnostic, OpRef, Type, op};
use numerics::math::{self, BinaryOp, UnaryOp};

/// The type of the operand.
fn same_type(op: OpRef<'_>) -> Result<Vec<Type>, Diagnostic> {
    Ok(vec![op.operand_type(0).clone()])
}

/// Booleans of the shape of the operand.
fn booleans(op: OpRef<'_>) -> Result<Vec<Type>, Diagnostic> {
    Ok(vec![with_element(op.operand_type(0), Type::i1())])
}

macro_rules! unary {
    ($($(#[doc = $doc:literal])+ $view:ident, $name:literal, $from:ident, $to:ident, $infer:expr $(, $eval:expr)?;)*) => {
        $(op! {
            $(#[doc = $doc])+
            pub $view, $name {
                operands { operand: single $from }
                results { result: single $to }
                traits [Pure, Elementwise, SameOperandsAndResultShape]
                hooks {
                    assembly: Assembly::Format("$operand attr-dict `:` type($operand) `->` type($result)"),
                    infer: Some($infer)
                    $(, eval: Some($eval))?
                }
            }
        })*
    };
}

unary! {
    /// The kernel shared by complex `asin` and `acos`.
    AsinAcosKernelOp, "chlo._asin_acos_kernel", COMPLEXES, COMPLEXES, same_type;
    /// Inverse cosine.
    AcosOp, "chlo.acos", FLOATS_OR_COMPLEXES, FLOATS_OR_COMPLEXES, same_type, eval::unary;
    /// Inverse hyperbolic cosine.
    AcoshOp, "chlo.acosh", FLOATS_OR_COMPLEXES, FLOATS_OR_COMPLEXES, same_type, eval::unary;
    /// Inverse sine.
    AsinOp, "chlo.asin", FLOATS_OR_COMPLEXES, FLOATS_OR_COMPLEXES, same_type, eval::unary;
    /// Inverse hyperbolic sine.
    AsinhOp, "chlo.asinh", FLOATS_OR_COMPLEXES, FLOATS_OR_COMPLEXES, same_type, eval::unary;
    /// Inverse tangent.
    AtanOp, "chlo.atan", FLOATS_OR_COMPLEXES, FLOATS_OR_COMPLEXES, same_type, eval::unary;
    /// Inverse hyperbolic tangent.
    AtanhOp, "chlo.atanh", FLOATS_OR_COMPLEXES, FLOATS_OR_COMPLEXES, same_type, eval::unary;
    /// Modified Bessel function of the first kind and order 1, times `exp(-|x|)`.
    BesselI1eOp, "chlo.bessel_i1e", FLOATS_OR_COMPLEXES, FLOATS_OR_COMPLEXES, same_type;
    /// Complex conjugate.
    ConjOp, "chlo.conj", FLOATS_OR_COMPLEXES, FLOATS_OR_COMPLEXES, same_type, conj;
    /// Hyperbolic cosine.
    CoshOp, "chlo.cosh", FLOATS_OR_COMPLEXES, FLOATS_OR_COMPLEXES, same_type, eval::unary;
    /// Derivative of the logarithm of the gamma function.
    DigammaOp, "chlo.digamma", FLOATS, FLOATS, same_type, eval::unary;
    /// Error function.
    ErfOp, "chlo.erf", FLOATS, FLOATS, same_type, eval::unary;
    /// Inverse of the error function.
    ErfInvOp, "chlo.erf_inv", FLOATS, FLOATS, same_type, eval::unary;
    /// One minus the error function.
    ErfcOp, "chlo.erfc", FLOATS, FLOATS, same_type, eval::unary;
    /// True where the number is infinite.
    IsInfOp, "chlo.is_inf", FLOATS, BOOLEANS, booleans, eval::unary;
    /// True where the number is negative infinity.
    IsNegInfOp, "chlo.is_neg_inf", FLOATS, BOOLEANS, booleans, eval::unary;
    /// True where the number is positive infinity.
    IsPosInfOp, "chlo.is_pos_inf", FLOATS, BOOLEANS, booleans, eval::unary;
    /// Logarithm of the absolute value of the gamma function.
    LgammaOp, "chlo.lgamma", FLOATS, FLOATS, same_type, eval::unary;
    /// Hyperbolic sine.
    SinhOp, "chlo.sinh", FLOATS_OR_COMPLEXES, FLOATS_OR_COMPLEXES, same_type, eval::unary;
    /// The number times itself.
    SquareOp, "chlo.square", FLOATS_OR_COMPLEXES, FLOATS_OR_COMPLEXES, same_type, square;
    /// Tangent.
    TanOp, "chlo.tan", FLOATS_OR_COMPLEXES, FLOATS_OR_COMPLEXES, same_type, eval::unary;
}

fn square(_: OpRef<'_>, operands: Vec<RuntimeValue>, _: &mut dyn EvalEnv) -> EvalResult {
    let [operand] = eval::tensors(operands)?;
    eval::one(math::binary(BinaryOp::Multiply, operand.clone(), operand)?)
}

fn conj(_: OpRef<'_>, operands: Vec<RuntimeValue>, _: &mut dyn EvalEnv) -> EvalResult {
    let [operand] = eval::tensors(operands)?;
    if !operand.dtype().is_complex() {
        return eval::one(operand);
    }
    let real = math::unary(UnaryOp::Real, operand.clone())?;
    let imaginary = math::unary(UnaryOp::Negate, math::unary(UnaryOp::Imag, operand)?)?;
    eval::one(math::binary(BinaryOp::Complex, real, imaginary)?)
}
