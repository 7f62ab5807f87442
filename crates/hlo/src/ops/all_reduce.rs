//! `stablehlo.all_reduce`.

use super::prelude::*;

op! {
    /// Each result is the elementwise reduction with `computation` of the operands of all processes of the group;
    /// shapes stay.
    pub AllReduceOp, "stablehlo.all_reduce" {
        operands { operands: variadic TENSOR }
        results { results: variadic TENSOR }
        attributes {
            replica_groups: required AnyOf(&[&IntElements(64), &Def(&REPLICA_GROUP_MESH_AXES)]),
            channel_handle: optional Def(&CHANNEL_HANDLE),
            use_global_device_ids: optional Unit,
        }
        regions { computation: one }
        traits [SingleBlock, ImplicitTerminator("stablehlo.return")]
    }
}
