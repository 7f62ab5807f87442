//! `stablehlo.all_gather`.

use super::prelude::*;

op! {
    /// Each result is the concatenation along `all_gather_dim` of the operands of all processes of the group.
    pub AllGatherOp, "stablehlo.all_gather" {
        operands { operands: variadic TENSOR }
        results { results: variadic TENSOR }
        attributes {
            all_gather_dim: required Int(64),
            replica_groups: required AnyOf(&[&IntElements(64), &Def(&REPLICA_GROUP_MESH_AXES)]),
            channel_handle: optional Def(&CHANNEL_HANDLE),
            use_global_device_ids: optional Unit,
        }
    }
}
