//! The attributes and the type of the dialect: topologies, origins, tensors on a mesh.

use super::{text, verify};
use crate::sdy::{MESH, SHARDING};
use mlir::ods::{
    AttrDef, EnumDef, EnumStyle, ParamAssembly, ParamDef, ParamKind, ParamsCheck, TypeDef,
};

macro_rules! attributes {
    ($($(#[doc = $doc:literal])+ $name:ident, $mnemonic:literal, $module:ident, [$($param:expr),* $(,)?], $verify:expr;)*) => {
        $($(#[doc = $doc])+
        pub static $name: AttrDef = AttrDef {
            dialect: "mpmd",
            mnemonic: $mnemonic,
            doc: concat!($($doc, "\n"),+),
            params: &[$($param),*],
            assembly: ParamAssembly::Custom { parse: text::$module::parse, print: text::$module::print },
            verify: $verify,
            bounds: None,
            verify_encoding: None,
            becomes: None,
        };)*
    };
}

/// For attributes whose parameters have no constraints between them.
const UNCONSTRAINED: Option<ParamsCheck> = None;

attributes! {
    /// A mesh of a topology, with its name.
    NAMED_MESH, "named_mesh", named_mesh,
        [ParamDef::required("name", ParamKind::String), ParamDef::required("mesh", ParamKind::Def(&MESH))], UNCONSTRAINED;
    /// The meshes that the fragments of a function run on: its attribute `topology`.
    TOPOLOGY, "topology", topology,
        [ParamDef::required("meshes", ParamKind::Defs(&NAMED_MESH))], Some(verify::topology);
    /// The name of a computation in the user's program, and how often it was transposed by
    /// differentiation.
    USER_ORIGIN, "user_origin", user_origin,
        [ParamDef::required("user_name", ParamKind::String), ParamDef::required("transpose_count", ParamKind::I64)], UNCONSTRAINED;
    /// A label that says, for debugging, why a value is on a mesh.
    ORIGIN, "origin", origin, [ParamDef::required("origin_label", ParamKind::String)], UNCONSTRAINED;
    /// The name of a mesh, with the reasons why a value is on it.
    MESH_WITH_ORIGINS, "mesh_with_origins", mesh_with_origins,
        [ParamDef::required("mesh_name", ParamKind::String), ParamDef::required("origins", ParamKind::Defs(&ORIGIN))], UNCONSTRAINED;
    /// Meshes that a value is or may be on.
    MESHES_WITH_ORIGINS, "meshes_with_origins", meshes_with_origins,
        [ParamDef::required("meshes", ParamKind::Defs(&MESH_WITH_ORIGINS))], UNCONSTRAINED;
    /// How values of several meshes are combined to one.
    REDUCTION, "reduction", reduction, [ParamDef::required("reduction_type", ParamKind::Enum(&REDUCTION_TYPE))], UNCONSTRAINED;
}

/// Combinations of the values of several meshes; `none` is for a single value.
pub static REDUCTION_TYPE: EnumDef = EnumDef {
    dialect: "mpmd",
    mnemonic: "reduction_type",
    cases: &[(0, "none"), (1, "add"), (2, "max"), (3, "min"), (4, "mul"), (5, "or"), (6, "and")],
    style: EnumStyle::Spaced,
};

/// `!mpmd.mesh_tensor<…>`: a tensor on a mesh.
pub static MESH_TENSOR: TypeDef = TypeDef {
    dialect: "mpmd",
    mnemonic: "mesh_tensor",
    doc: "A tensor on a mesh of the topology, split over its devices as the sharding says, or \
          whole on each without one. The memory kind is `device` or `pinned_host`.",
    params: &[
        ParamDef::required("mesh_name", ParamKind::String),
        ParamDef::required("tensor", ParamKind::Type),
        ParamDef::optional("sharding", ParamKind::Def(&SHARDING)),
        ParamDef::optional("memory_kind", ParamKind::String),
    ],
    assembly: ParamAssembly::Custom {
        parse: text::mesh_tensor::parse,
        print: text::mesh_tensor::print,
    },
    verify: Some(verify::mesh_tensor),
    compatible: None,
    storage: None,
    misfit: None,
};
