//! The sdy dialect (Shardy): sharding of tensors over a mesh of devices, as JAX and torch_xla write
//! it.
//!
//! Source: openxla/shardy, "'sdy' Dialect".

mod attrs;
mod axes;
mod bytecode;
mod collectives;
mod computations;
mod edges;
mod mesh;
mod ops;
mod params;
mod prepare;
mod rules;
mod sharding;
mod shards;
mod text;
mod tiling;

pub use attrs::*;
pub use mesh::{AxisPart, Mesh};
pub use ops::*;
pub use prepare::{CHECK_COPIES, COPIES_DIFFER, shard_types};
pub(crate) use sharding::check_even_shards;
pub use shards::Shards;
pub(crate) use text::{parse_shardings_list, print_shardings_list};
pub use tiling::Tiling;

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
        &AXIS_TO_PROPAGATION_DETAILS,
        &DIM_MAPPING,
        &DIMENSION_SHARDING,
        &EDGE_VALUE_REF,
        &LIST_OF_AXIS_REF_LISTS,
        &MANUAL_AXES,
        &MESH,
        &MESH_AXIS,
        &OP_SHARDING_RULE,
        &PROPAGATION_EDGES,
        &PROPAGATION_ONE_STEP,
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
    verify_attribute: Some(sharding::verify_attribute),
    verify_value_attribute: Some(sharding::verify_value_attribute),
    bytecode: Some(&bytecode::BYTECODE),
    ..Dialect::EMPTY
};
