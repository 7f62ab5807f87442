//! `stablehlo.cross-replica-sum`.

use super::prelude::*;

op! {
    /// The elementwise sum of the operands of all replicas of the group; deprecated in favour of
    /// `all_reduce`.
    pub CrossReplicaSumOp, "stablehlo.cross-replica-sum" {
        operands { operand: single TENSOR }
        results { result: single TENSOR }
        attributes { replica_groups: required IntElements(64) }
        traits [Pure]
        hooks { eval: Some(eval), infer: Some(infer::first_operand) }
    }
}

fn eval(op: OpRef<'_>, operands: Vec<RuntimeValue>, env: &mut dyn EvalEnv) -> EvalResult {
    let meeting = collective::meet(op, Strategy::CrossReplica, operands, env)?;
    let mut tensors = meeting.tensors(0)?.into_iter().cloned();
    let first =
        tensors.next().ok_or_else(|| EvalError::new("process_group", "a sum of no processes"))?;
    eval::one(tensors.try_fold(first, |sum, next| math::binary(BinaryOp::Add, sum, next))?)
}
