//! `stablehlo.replica_id`.

use super::prelude::*;

op! {
    /// The replica that runs this process: one `ui32`.
    pub ReplicaIdOp, "stablehlo.replica_id" {
        results { result: single UI32_TENSOR }
        traits [Pure]
        hooks {
            assembly: Assembly::Format("attr-dict `:` type(results)"),
            eval: Some(eval),
            infer: Some(infer::process_id),
        }
    }
}

fn eval(_: OpRef<'_>, _: Vec<RuntimeValue>, env: &mut dyn EvalEnv) -> EvalResult {
    // A grid has far fewer processes than 32 bits count.
    eval::one(Tensor::scalar(env.world()?.process().replica as u32))
}
