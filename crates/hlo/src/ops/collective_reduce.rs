//! `stablehlo.collective_reduce`.

use super::prelude::*;

op! {
    /// As `all_reduce`, but only the root process of each group gets the reduction.
    pub CollectiveReduceOp, "stablehlo.collective_reduce" {
        operands { operands: variadic TENSOR }
        results { results: variadic TENSOR }
        attributes {
            replica_groups: required AnyOf(&[&IntElements(64), &Def(&REPLICA_GROUP_MESH_AXES)]),
            channel_handle: optional Def(&CHANNEL_HANDLE),
            use_global_device_ids: optional Unit,
            has_dynamic_root: optional Unit,
        }
        regions { computation: one }
        traits [SingleBlock, ImplicitTerminator("stablehlo.return")]
    }
}
