//! `stablehlo.collective_broadcast`.

use super::prelude::*;

op! {
    /// Each result is the operand of the first process of the group; shapes stay.
    pub CollectiveBroadcastOp, "stablehlo.collective_broadcast" {
        operands { operands: variadic TENSOR }
        results { results: variadic TENSOR }
        attributes {
            replica_groups: required AnyOf(&[&IntElements(64), &Def(&REPLICA_GROUP_MESH_AXES)]),
            channel_handle: optional Def(&CHANNEL_HANDLE),
            has_dynamic_root: optional Unit,
        }
    }
}
