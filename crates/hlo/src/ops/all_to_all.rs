//! `stablehlo.all_to_all`.

use super::prelude::*;

op! {
    /// Splits the operands along `split_dimension`, sends the parts to the processes of the group and concatenates what
    /// arrives along `concat_dimension`.
    pub AllToAllOp, "stablehlo.all_to_all" {
        operands { operands: variadic TENSOR }
        results { results: variadic TENSOR }
        attributes {
            split_dimension: required Int(64),
            concat_dimension: required Int(64),
            split_count: required Int(64),
            replica_groups: required AnyOf(&[&IntElements(64), &Def(&REPLICA_GROUP_MESH_AXES)]),
            channel_handle: optional Def(&CHANNEL_HANDLE),
        }
    }
}
