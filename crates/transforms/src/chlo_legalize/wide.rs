//! Formulas that are evaluated at least in f32 precision.

use super::expr::Expr;
use mlir::Type;

/// True if the elements are f64.
pub(super) fn is_f64(x: Expr<'_>) -> bool {
    x.element() == Type::f64()
}

/// Evaluates a formula in f32 for narrower floats, and in the operand type otherwise.
pub(super) fn in_f32<'b, const N: usize>(
    operands: [Expr<'b>; N],
    formula: impl FnOnce([Expr<'b>; N]) -> Expr<'b>,
) -> Expr<'b> {
    let element = operands[0].element();
    if !element.is_float() || element.bit_width() >= Some(32) {
        return formula(operands);
    }
    formula(operands.map(|x| x.convert(Type::f32()))).convert(element)
}
