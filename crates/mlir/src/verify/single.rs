//! Checks of one op on its own, for builders.

use super::{Verifier, VerifyOptions};
use crate::diag::Diagnostic;
use crate::ir::OpRef;

/// Checks the attributes, operands and regions of an op, which may stand in no block, against the
/// slots of its declaration. This is what [`OpDef::infer`](crate::ods::OpDef::infer) relies on;
/// results are not looked at. An op without a declaration passes.
///
/// # Errors
/// The first slot that is not satisfied.
pub fn verify_inputs(op: OpRef<'_>) -> Result<(), Diagnostic> {
    let Some(def) = op.def() else { return Ok(()) };
    let mut verifier = Verifier::new(op.module(), &VerifyOptions::default(), None);
    verifier.check_inputs(op, def);
    match verifier.errors.into_iter().next() {
        Some(error) => Err(error),
        None => Ok(()),
    }
}
