//! The sdy dialect (Shardy): sharding of tensors over a mesh of devices, as JAX and torch_xla write
//! it.
//!
//! Source: openxla/shardy, "'sdy' Dialect".

mod attrs;
mod bytecode;
mod collectives;
mod mesh;
mod ops;
mod prepare;
mod shards;
mod text;
mod verify;

pub use attrs::*;
pub use mesh::{AxisPart, Mesh};
pub use ops::*;
pub use prepare::shard_types;
pub use shards::Shards;

use mlir::ods::{CustomDirective, Dialect};

/// The sdy dialect.
pub static SDY: Dialect = Dialect {
    namespace: "sdy",
    ops: &[
        AllGatherOp::DEF,
        AllReduceOp::DEF,
        AllSliceOp::DEF,
        AllToAllOp::DEF,
        CollectivePermuteOp::DEF,
        ConstantOp::DEF,
        DataFlowEdgeOp::DEF,
        FuncDataFlowEdgeOp::DEF,
        ManualComputationOp::DEF,
        MeshOp::DEF,
        NamedComputationOp::DEF,
        PropagationBarrierOp::DEF,
        ReduceScatterOp::DEF,
        ReplicatedToUnreducedOp::DEF,
        ReshardOp::DEF,
        ReturnOp::DEF,
        ShardedToUnreducedOp::DEF,
        ShardingConstraintOp::DEF,
        ShardingGroupOp::DEF,
    ],
    attributes: &[
        &ALL_TO_ALL_PARAM,
        &ALL_TO_ALL_PARAM_LIST,
        &AXIS_REF,
        &AXIS_REF_LIST,
        &DIM_MAPPING,
        &DIMENSION_SHARDING,
        &LIST_OF_AXIS_REF_LISTS,
        &MANUAL_AXES,
        &MESH,
        &MESH_AXIS,
        &OP_SHARDING_RULE,
        &SHARDING,
        &SHARDING_PER_VALUE,
        &SUB_AXIS_INFO,
        &TENSOR_MAPPING,
    ],
    directives: &[
        CustomDirective { name: "Body", parse: parse_body, print: print_body },
        CustomDirective {
            name: "Shardings",
            parse: text::parse_shardings,
            print: text::print_shardings,
        },
    ],
    verify_attribute: Some(verify::verify_attribute),
    verify_value_attribute: Some(verify::verify_value_attribute),
    bytecode: Some(&bytecode::BYTECODE),
    ..Dialect::EMPTY
};
