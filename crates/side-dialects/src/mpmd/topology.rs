//! The meshes of a function, and tensors on them.

use super::attrs::{MESH_TENSOR, NAMED_MESH, TOPOLOGY};
use crate::func::FuncOp;
use crate::sdy::{DIMENSION_SHARDING, Mesh, SHARDING, check_even_shards};
use mlir::{Attribute, OpRef, Type};

/// The attribute of functions that holds their meshes.
const ATTRIBUTE: &str = "topology";

/// A view of `!mpmd.mesh_tensor`.
#[derive(Clone, Copy)]
pub(super) struct MeshTensor<'a> {
    /// The name of its mesh.
    pub mesh: &'a str,
    /// The whole tensor.
    pub tensor: &'a Type,
    /// How it is split.
    pub sharding: Option<&'a Attribute>,
    /// The kind of memory that it is in.
    pub memory_kind: Option<&'a str>,
}

impl<'a> MeshTensor<'a> {
    /// The view of a type; `None` for other types.
    pub(crate) fn of(ty: &'a Type) -> Option<MeshTensor<'a>> {
        let [mesh, tensor, sharding, memory_kind] = ty.as_dialect(&MESH_TENSOR)? else {
            return None;
        };
        Some(MeshTensor {
            mesh: mesh.as_ref()?.as_str()?,
            tensor: tensor.as_ref()?.as_type()?,
            sharding: sharding.as_ref(),
            memory_kind: memory_kind.as_ref().and_then(|kind| kind.as_str()),
        })
    }

    /// True if each device of the mesh has the whole tensor, or a part of a sum of it.
    pub(crate) fn is_replicated(&self) -> bool {
        let params = self.sharding.and_then(|sharding| sharding.as_dialect(&SHARDING));
        let dims = params.and_then(|params| params.get(1)?.as_ref()?.as_array()).unwrap_or(&[]);
        dims.iter()
            .filter_map(|dim| dim.as_dialect(&DIMENSION_SHARDING)?.first()?.as_ref())
            .all(|axes| axes.as_array().is_none_or(<[Attribute]>::is_empty))
    }

    /// Checks that the sharding splits the tensor evenly over a mesh.
    pub(crate) fn check(&self, mesh: &Attribute) -> Result<(), String> {
        match self.sharding {
            Some(sharding) => check_even_shards(sharding, mesh, self.tensor),
            None => Ok(()),
        }
    }
}

/// The function around an op.
pub(super) fn function(op: OpRef<'_>) -> Option<FuncOp<'_>> {
    std::iter::successors(op.parent(), |op| op.parent()).find_map(FuncOp::cast)
}

/// True if a function runs on meshes.
pub(super) fn has_topology(function: FuncOp<'_>) -> bool {
    function.attr(ATTRIBUTE).is_some()
}

/// The mesh of a name in the function around an op.
pub(super) fn mesh_named<'m>(op: OpRef<'m>, name: &str) -> Result<&'m Attribute, String> {
    let function =
        function(op).ok_or("the op must be in a function, whose topology has its mesh")?;
    let topology = function.attr(ATTRIBUTE);
    let symbol = function.symbol_name().unwrap_or("");
    let Some(params) = topology.and_then(|topology| topology.as_dialect(&TOPOLOGY)) else {
        return Err(format!(
            "the function @{symbol} must have the attribute `{ATTRIBUTE}`, a #mpmd.topology; found \
             {}",
            topology.map_or("none".to_string(), |found| format!("{found:.80}"))
        ));
    };
    let meshes = params.first().and_then(|meshes| meshes.as_ref()?.as_array()).unwrap_or(&[]);
    let mut meshes = meshes.iter().filter_map(|mesh| match mesh.as_dialect(&NAMED_MESH)? {
        [Some(name), Some(mesh)] => Some((name.as_str()?, mesh)),
        _ => None,
    });
    let found = meshes.clone().find(|(found, _)| *found == name);
    found.map(|(_, mesh)| mesh).ok_or_else(|| {
        let first = meshes.next().map_or("", |(name, _)| name);
        let more = if meshes.next().is_some() { " and others" } else { "" };
        format!("the topology of @{symbol} has no mesh \"{name}\"; it has \"{first}\"{more}")
    })
}

/// The mesh on which an outlined fragment runs.
pub(super) fn mesh_of_function<'m>(function: FuncOp<'m>) -> Option<&'m Attribute> {
    function.attr("mesh_shape").filter(|mesh| Mesh::of(mesh).is_some())
}
