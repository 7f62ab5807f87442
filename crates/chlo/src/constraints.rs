//! Type constraints of operands and results: StableHLO's sets, on tensors of any rank, also
//! unranked.

pub(crate) use hlo::constraints::{ANY_RANK_TENSOR as TENSOR, INT_TENSOR as RANKED_INTS};
pub(crate) use hlo::constraints::{PRED_TENSOR as RANKED_BOOLEANS, STATIC_TENSOR};

use hlo::check::require;
use hlo::constraints::{COMPLEX, FLOAT, PRED, SIGNED, UNSIGNED};
use hlo::quantized;
use mlir::ods::{ElementSet, Ranks, TensorRule, TypeConstraint, TypeRule};
use mlir::{OpRef, Verdict};

const fn any_rank(elements: &'static [&'static ElementSet]) -> TypeRule {
    TypeRule::Tensor(TensorRule { ranks: Ranks::Any, ..TensorRule::ranked(elements) })
}

macro_rules! tensors {
    ($($name:ident = $summary:literal, [$($set:ident),+];)+) => {
        $(pub(crate) static $name: TypeConstraint =
            TypeConstraint { summary: $summary, rule: any_rank(&[$(&$set),+]) };)+
    };
}

tensors! {
    FLOATS = "a tensor of floats", [FLOAT];
    COMPLEXES = "a tensor of complex numbers", [COMPLEX];
    FLOATS_OR_COMPLEXES = "a tensor of floats or complex numbers", [FLOAT, COMPLEX];
    BOOLEANS = "a tensor of booleans", [PRED];
    BOOLEANS_OR_INTS = "a tensor of booleans or integers", [PRED, SIGNED, UNSIGNED];
}

/// Checks that no operand or result is quantized, for ops whose decomposition needs zeros.
pub(crate) fn refuse_quantized(op: OpRef<'_>) -> Verdict {
    let operands = op.operand_types().map(|ty| ("operand-type", ty));
    let results = op.result_types().map(|ty| ("result-type", ty));
    match operands.chain(results).find(|(_, ty)| quantized::is_quantized(ty)) {
        Some((label, ty)) => require(op, label, false, || {
            format!("{} has no meaning for quantized elements; found {ty}", op.name())
        }),
        None => Ok(()),
    }
}
