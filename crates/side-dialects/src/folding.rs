//! Folding of ops by evaluation, which needs kernels.

#[cfg(feature = "run")]
pub(crate) use folding::evaluate;

/// Folds no op.
#[cfg(not(feature = "run"))]
pub(crate) fn evaluate(
    _: mlir::OpRef<'_>,
    _: &[Option<mlir::Attribute>],
) -> Option<Vec<mlir::rewrite::Folded>> {
    None
}
