//! The attributes of the dialect: meshes, shardings, rules.

use super::{edges, params, rules, text};
use mlir::Attribute;
use mlir::ods::{AttrDef, EnumDef, EnumStyle, ParamAssembly, ParamDef, ParamKind, Params};

macro_rules! attributes {
    ($($(#[doc = $doc:literal])+ $name:ident, $mnemonic:literal, $module:ident, [$($param:expr),* $(,)?] $(, $verify:expr)?;)*) => {
        $($(#[doc = $doc])+
        pub static $name: AttrDef = AttrDef {
            dialect: "sdy",
            mnemonic: $mnemonic,
            doc: concat!($($doc, "\n"),+),
            params: &[$($param),*],
            assembly: ParamAssembly::Custom { parse: text::$module::parse, print: text::$module::print },
            $(verify: Some($verify),)?
            ..EMPTY
        };)*
    };
}

/// Default fields of a declaration, for struct update syntax.
const EMPTY: AttrDef = AttrDef {
    dialect: "sdy",
    mnemonic: "",
    doc: "",
    params: &[],
    assembly: ParamAssembly::None,
    verify: None,
    bounds: None,
    verify_encoding: None,
    becomes: None,
};

attributes! {
    /// An axis of a mesh: its name and size.
    MESH_AXIS, "mesh_axis", mesh_axis, [ParamDef::required("name", ParamKind::String), ParamDef::required("size", ParamKind::I64)];
    /// A mesh of devices: its axes and, the device ids unless they are 0, 1, 2, ….
    MESH, "mesh", mesh, [ParamDef::required("axes", ParamKind::Defs(&MESH_AXIS)), ParamDef::optional("device_ids", ParamKind::I64s)],
        params::mesh;
    /// A part of a mesh axis: the size of the parts before it and its own.
    SUB_AXIS_INFO, "sub_axis_info", sub_axis_info,
        [ParamDef::required("pre_size", ParamKind::I64), ParamDef::required("size", ParamKind::I64)];
    /// A mesh axis, or a part of one.
    AXIS_REF, "axis_ref", axis_ref,
        [ParamDef::required("name", ParamKind::String), ParamDef::optional("sub_axis_info", ParamKind::Def(&SUB_AXIS_INFO))];
    /// Mesh axes.
    AXIS_REF_LIST, "axis_ref_list", axis_ref_list, [ParamDef::required("axes", ParamKind::Defs(&AXIS_REF))];
    /// Mesh axes for each dimension.
    LIST_OF_AXIS_REF_LISTS, "list_of_axis_ref_lists", list_of_axis_ref_lists,
        [ParamDef::required("lists", ParamKind::Defs(&AXIS_REF_LIST))];
    /// The axes along which a computation is written for one device.
    MANUAL_AXES, "manual_axes", manual_axes, [ParamDef::required("axes", ParamKind::Attribute)],
        params::manual_axes;
    /// Sharding of a dimension: its axes, whether more may be added, and the priority for
    /// propagation.
    DIMENSION_SHARDING, "dimension_sharding", dimension_sharding, [
        ParamDef::required("axes", ParamKind::Defs(&AXIS_REF)),
        ParamDef::required("is_closed", ParamKind::Bool),
        ParamDef::optional("priority", ParamKind::I64),
    ];
    /// The sharding of a tensor over a mesh.
    SHARDING, "sharding", sharding, [
        ParamDef::required("mesh_or_ref", ParamKind::Attribute),
        ParamDef::required("dim_shardings", ParamKind::Defs(&DIMENSION_SHARDING)),
        ParamDef::required("replicated_axes", ParamKind::Defs(&AXIS_REF)),
        ParamDef::required("unreduced_axes", ParamKind::Defs(&AXIS_REF)),
        ParamDef::optional("reduction_op", ParamKind::I64),
    ], params::sharding;
    /// One sharding for each of several values.
    SHARDING_PER_VALUE, "sharding_per_value", sharding_per_value, [ParamDef::required("shardings", ParamKind::Defs(&SHARDING))];
    /// The factors of a sharding rule that make up a dimension.
    DIM_MAPPING, "dim_mapping", dim_mapping, [ParamDef::required("factor_indices", ParamKind::I64s)];
    /// The factors of each dimension of a tensor.
    TENSOR_MAPPING, "tensor_mapping", tensor_mapping, [ParamDef::required("dim_mappings", ParamKind::Defs(&DIM_MAPPING))];
    /// The correspondence between the dimensions of an op's operands and results, with the
    /// communication that splitting them needs.
    OP_SHARDING_RULE, "op_sharding_rule", op_sharding_rule, [
        ParamDef::required("factor_sizes", ParamKind::I64s),
        ParamDef::required("operand_mappings", ParamKind::Defs(&TENSOR_MAPPING)),
        ParamDef::required("result_mappings", ParamKind::Defs(&TENSOR_MAPPING)),
        ParamDef::required("reduction_factors", ParamKind::I64s),
        ParamDef::required("need_replication_factors", ParamKind::I64s),
        ParamDef::required("permutation_factors", ParamKind::I64s),
        ParamDef::required("blocked_propagation_factors", ParamKind::I64s),
        ParamDef::required("is_custom_rule", ParamKind::Bool),
    ], rules::params;
    /// Axes that move from one dimension to another.
    ALL_TO_ALL_PARAM, "all_to_all_param", all_to_all_param, [
        ParamDef::required("axes", ParamKind::Defs(&AXIS_REF)),
        ParamDef::required("src_dim", ParamKind::I64),
        ParamDef::required("tgt_dim", ParamKind::I64),
    ];
    /// A list of such moves.
    ALL_TO_ALL_PARAM_LIST, "all_to_all_param_list", all_to_all_param_list,
        [ParamDef::required("params", ParamKind::Defs(&ALL_TO_ALL_PARAM))];
    /// An operand or a result of an op, by its index.
    EDGE_VALUE_REF, "edge_value_ref", edge_value_ref,
        [ParamDef::required("type", ParamKind::Enum(&EDGE_NODE_TYPE)), ParamDef::required("index", ParamKind::I64)];
    /// The propagation of an axis from one operand or result to others.
    AXIS_TO_PROPAGATION_DETAILS, "axis_to_propagation_details", axis_to_propagation_details, [
        ParamDef::required("axis_name", ParamKind::Def(&AXIS_REF)),
        ParamDef::required("source", ParamKind::Def(&EDGE_VALUE_REF)),
        ParamDef::required("targets", ParamKind::Defs(&EDGE_VALUE_REF)),
    ];
    /// All that was propagated along an op in one step.
    PROPAGATION_ONE_STEP, "propagation_one_step", propagation_one_step, [
        ParamDef::required("step_index", ParamKind::I64),
        ParamDef::required("axis_entries", ParamKind::Defs(&AXIS_TO_PROPAGATION_DETAILS)),
    ];
    /// A record of how shardings propagated along an op, step by step, for debugging.
    PROPAGATION_EDGES, "propagation_edges", propagation_edges,
        [ParamDef::required("steps", ParamKind::Defs(&PROPAGATION_ONE_STEP))], edges::params;
}

/// The reductions that complete a value along unreduced axes; an `i32`.
pub static REDUCTION_OP: EnumDef = EnumDef {
    dialect: "sdy",
    mnemonic: "reduction_op",
    cases: &[(0, "sum"), (1, "max"), (2, "min")],
    style: EnumStyle::Spaced,
};

/// The number of a sum in [`REDUCTION_OP`].
pub(super) const SUM: i64 = 0;

/// The reduction that completes a value of this sharding, by its number in [`REDUCTION_OP`].
pub(super) fn reduction_of(sharding: &Params) -> i64 {
    int(sharding, 4).unwrap_or(SUM)
}

/// The name of a reduction.
pub(super) fn reduction_name(number: i64) -> &'static str {
    u64::try_from(number).ok().and_then(|n| REDUCTION_OP.case(n)).unwrap_or("unknown")
}

/// Ends of an edge of propagation.
pub static EDGE_NODE_TYPE: EnumDef = EnumDef {
    dialect: "sdy",
    mnemonic: "edge_node_type",
    cases: &[(0, "operand"), (1, "result")],
    style: EnumStyle::Spaced,
};

/// Directions of sharding propagation through an op; an `i32`.
pub static PROPAGATION_DIRECTION: EnumDef = EnumDef {
    dialect: "sdy",
    mnemonic: "propagation_direction",
    cases: &[(0, "NONE"), (1, "FORWARD"), (2, "BACKWARD"), (3, "BOTH")],
    style: EnumStyle::Spaced,
};

/// Parameter `index` as a list; empty if it is not one.
pub(super) fn list(params: &[Option<Attribute>], index: usize) -> &[Attribute] {
    params.get(index).and_then(Option::as_ref).and_then(|a| a.as_array()).unwrap_or(&[])
}

/// Parameter `index` as a list of integers; empty if it is not one.
pub(super) fn ints(params: &[Option<Attribute>], index: usize) -> &[i64] {
    params.get(index).and_then(Option::as_ref).and_then(|a| a.as_int_array()).unwrap_or(&[])
}

/// Parameter `index` as an integer.
pub(super) fn int(params: &[Option<Attribute>], index: usize) -> Option<i64> {
    params.get(index)?.as_ref()?.as_i64()
}

/// Parameter `index` as a string; empty if it is not one.
pub(super) fn text_of(params: &[Option<Attribute>], index: usize) -> &str {
    params.get(index).and_then(Option::as_ref).and_then(|a| a.as_str()).unwrap_or("")
}

/// The shardings in an `#sdy.sharding_per_value`; empty for other attributes.
pub fn shardings(per_value: &Attribute) -> &[Attribute] {
    per_value.as_dialect(&SHARDING_PER_VALUE).map_or(&[], |params| list(params, 0))
}

/// The mesh of an `#sdy.sharding`, or the symbol that refers to it.
pub fn mesh_or_ref(sharding: &Attribute) -> Option<&Attribute> {
    sharding.as_dialect(&SHARDING)?.first()?.as_ref()
}
