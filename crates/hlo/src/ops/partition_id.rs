//! `stablehlo.partition_id`.

use super::prelude::*;

op! {
    /// The id of the partition that this process belongs to: one `ui32`.
    pub PartitionIdOp, "stablehlo.partition_id" {
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
    Ok(Primitive::PartitionId)
}
