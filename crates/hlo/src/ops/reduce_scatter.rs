//! `stablehlo.reduce_scatter`.

use super::prelude::*;

op! {
    /// The part of this process of the elementwise reduction with `computation` over the group, which is split along
    /// `scatter_dimension`.
    pub ReduceScatterOp, "stablehlo.reduce_scatter" {
        operands { operand: single TENSOR }
        results { result: single TENSOR }
        attributes {
            scatter_dimension: required Int(64),
            replica_groups: required AnyOf(&[&IntElements(64), &Def(&REPLICA_GROUP_MESH_AXES)]),
            channel_handle: optional Def(&CHANNEL_HANDLE),
            use_global_device_ids: optional Unit,
        }
        regions { computation: one }
    }
}
