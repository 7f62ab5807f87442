//! Formulas that need the precision of f32.

use super::expr::Expr;
use mlir::Type;

/// Whether the elements are f64.
pub(super) fn is_f64(x: Expr<'_>) -> bool {
    x.element() == Type::f64()
}

/// A formula over narrow floats, computed in f32; over others, in their own type.
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
