//! `stablehlo.replica_id`.

use super::prelude::*;

op! {
    /// The replica that runs this process: one `ui32`.
    pub ReplicaIdOp, "stablehlo.replica_id" {
        results { result: single UI32_TENSOR }
        traits [Pure]
        hooks {
            assembly: Assembly::Format("attr-dict `:` type(results)"),
            prepare: Some(prepare),
            infer: Some(infer::process_id),
        }
    }
}

fn prepare(_: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    Ok(Primitive::ReplicaId)
}
