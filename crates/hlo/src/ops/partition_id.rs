//! `stablehlo.partition_id`.

use super::prelude::*;

op! {
    /// The partition that this process runs: one `ui32`.
    pub PartitionIdOp, "stablehlo.partition_id" {
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
    eval::one(Tensor::scalar(env.world()?.process().partition as u32))
}
