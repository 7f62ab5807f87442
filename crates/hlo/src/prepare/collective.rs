//! Collective operations: their groups of processes from attributes.
//!
//! Source: specification, "Parallel execution" and the sections of the ops.

use super::{missing, quantization, storage_dtype};
use crate::attrs::{
    AXIS_REF, CollectiveAttrs, MESH, MESH_AXIS, REPLICA_GROUP_MESH_AXES, SUB_AXIS_INFO,
};
use mlir::ods::AttrDef;
use mlir::prepare::Prepared;
use mlir::verify::nearest_symbol;
use mlir::{Attribute, OpRef, Type};
use program::collective::{Collective, CollectiveKind, Pairs, Strategy, Zeros};
use program::{EvalError, MAX_PROCESSES, Primitive};
use side_dialects::sdy;
use std::sync::Arc;

/// The strategy of ops that gather or reduce: `all_gather`, `all_reduce`, `reduce_scatter`.
fn reduction_strategy(attrs: CollectiveAttrs<'_>) -> Strategy {
    match (attrs.channel_or_zero() > 0, attrs.use_global_device_ids) {
        (_, true) => Strategy::FlattenedIds,
        (true, false) => Strategy::CrossReplicaAndPartition,
        (false, false) => Strategy::CrossReplica,
    }
}

/// The strategy of ops that pass values on: `all_to_all`, `collective_broadcast`,
/// `collective_permute`, `send`, `recv`.
fn exchange_strategy(channel: i64) -> Strategy {
    if channel > 0 { Strategy::CrossPartition } else { Strategy::CrossReplica }
}

/// A collective op of the groups in `replica_groups`.
///
/// # Errors
/// Groups that are missing or not known.
pub fn collective(op: OpRef<'_>, kind: CollectiveKind) -> Prepared {
    let attrs = CollectiveAttrs::of(op);
    let channel = attrs.channel_or_zero();
    let strategy = match kind {
        CollectiveKind::Sum => Strategy::CrossReplica,
        CollectiveKind::AllToAll { .. } | CollectiveKind::Broadcast { .. } => {
            exchange_strategy(channel)
        }
        _ => reduction_strategy(attrs),
    };
    let zeros = op.result_types().map(zeros).collect::<Result<_, _>>()?;
    let groups = replica_groups(op)?;
    Ok(Primitive::Collective(Box::new(Collective { kind, strategy, groups, channel, zeros })))
}

/// The zeros of a type.
///
/// # Errors
/// For types without storage.
pub fn zeros(ty: &Type) -> Result<Zeros, EvalError> {
    Ok(match quantization(ty)? {
        Some(quantization) => Zeros::Quantized(quantization),
        None => Zeros::Plain(storage_dtype(ty)?),
    })
}

/// The pairs in `source_target_pairs`; empty if the attribute is absent. `channel` is 0 if there is
/// none.
///
/// # Errors
/// If the attribute is not a list of pairs of non-negative numbers.
pub fn pairs(op: OpRef<'_>, channel: i64, pairs: Option<&Attribute>) -> Result<Pairs, EvalError> {
    let strategy = exchange_strategy(channel);
    let Some(attr) = pairs else {
        return Ok(Pairs { strategy, ids: Vec::new() });
    };
    let ids = attr.as_dense().and_then(|d| d.int_values());
    let ids: Option<Vec<usize>> =
        ids.and_then(|ids| ids.into_iter().map(|id| usize::try_from(id).ok()).collect());
    let ids = ids.ok_or_else(|| missing(op, "source_target_pairs"))?;
    let ids = ids.chunks_exact(2).map(|pair| [pair[0], pair[1]]).collect();
    Ok(Pairs { strategy, ids })
}

/// The ids in `replica_groups`, group by group.
fn replica_groups(op: OpRef<'_>) -> Result<Vec<Vec<usize>>, EvalError> {
    let invalid = || missing(op, "replica_groups");
    let attr = CollectiveAttrs::of(op).replica_groups.ok_or_else(invalid)?;
    if attr.as_dialect(&REPLICA_GROUP_MESH_AXES).is_some() {
        return mesh_axes_groups(op).ok_or_else(invalid);
    }
    let columns = attr.ty().shape().and_then(|s| usize::try_from(*s.get(1)?).ok()).unwrap_or(0);
    let ids = attr.as_dense().and_then(|d| d.int_values()).ok_or_else(invalid)?;
    // -1 fills up groups that are smaller than others.
    let group = |ids: &[i64]| ids.iter().filter_map(|&id| usize::try_from(id).ok()).collect();
    Ok(ids.chunks(columns.max(1)).map(group).collect())
}

/// The groups of processes of an op whose `replica_groups` are axes of a mesh. None if they are
/// not, or the mesh is not known.
pub fn mesh_axes_groups(op: OpRef<'_>) -> Option<Vec<Vec<usize>>> {
    match CollectiveAttrs::of(op).replica_groups?.as_dialect(&REPLICA_GROUP_MESH_AXES)? {
        [Some(mesh), Some(axes)] => mesh_groups(op, mesh, axes.as_array().unwrap_or(&[])),
        _ => None,
    }
}

/// The groups that axes of a mesh make: devices that differ only along these.
fn mesh_groups(op: OpRef<'_>, mesh: &Attribute, axes: &[Attribute]) -> Option<Vec<Vec<usize>>> {
    let named = |name: &Arc<str>| {
        let symbol = nearest_symbol(op, name)?;
        sdy::MeshOp::cast(symbol)?.mesh().or_else(|| symbol.attr("stablehlo.mesh"))
    };
    let mesh = mesh.as_flat_symbol().map_or(Some(mesh), named)?;
    let mesh = sdy::Mesh::of(mesh).or_else(|| stablehlo_mesh(mesh))?;
    let size =
        |sub: &[Option<Attribute>], i: usize| usize::try_from(sub.get(i)?.as_ref()?.as_i64()?).ok();
    let part = |axis: &Attribute| -> Option<sdy::AxisPart> {
        if let Some(part) = mesh.axis_ref(axis) {
            return Some(part);
        }
        let params = axis.as_dialect(&AXIS_REF)?;
        let sub = match params.get(1)?.as_ref().and_then(|sub| sub.as_dialect(&SUB_AXIS_INFO)) {
            Some(sub) => Some((size(sub, 0)?, size(sub, 1)?)),
            None => None,
        };
        mesh.part(params.first()?.as_ref()?.as_str()?, sub)
    };
    let parts: Vec<sdy::AxisPart> = axes.iter().map(part).collect::<Option<_>>()?;
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut grouped = vec![false; Some(mesh.num_devices()).filter(|&n| n <= MAX_PROCESSES)?];
    for device in 0..grouped.len() {
        if !grouped[device] {
            let group = mesh.group(&mesh.place(device)?, &parts);
            for &member in &group {
                *grouped.get_mut(member)? = true;
            }
            groups.push(group);
        }
    }
    Some(groups)
}

/// A field of an attribute of that declaration, or of a dictionary with the same names.
fn field<'a>(attr: &'a Attribute, def: &'static AttrDef, name: &str) -> Option<&'a Attribute> {
    match attr.as_dictionary() {
        Some(dictionary) => dictionary.get(name),
        None => {
            attr.as_dialect(def)?.get(def.params.iter().position(|p| p.name == name)?)?.as_ref()
        }
    }
}

/// The mesh in a `#stablehlo.mesh`, or in a dictionary with its fields.
fn stablehlo_mesh(attr: &Attribute) -> Option<sdy::Mesh> {
    let axis = |axis: &Attribute| {
        let size = usize::try_from(field(axis, &MESH_AXIS, "size")?.as_i64()?).ok()?;
        Some((field(axis, &MESH_AXIS, "name")?.as_str()?.to_string(), size))
    };
    let axes = field(attr, &MESH, "axes")?.as_array()?.iter().map(axis).collect::<Option<_>>()?;
    let ids = match field(attr, &MESH, "device_ids") {
        Some(ids) => Some(
            ids.as_dense()?
                .int_values()?
                .into_iter()
                .map(|id| usize::try_from(id).ok())
                .collect::<Option<_>>()?,
        ),
        None => None,
    };
    sdy::Mesh::new(axes, ids)
}
