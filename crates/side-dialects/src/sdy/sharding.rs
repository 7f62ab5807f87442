//! Verification of the shardings of values.

use super::attrs::{
    DIMENSION_SHARDING, MANUAL_AXES, MESH, SHARDING, SHARDING_PER_VALUE, int, ints, list,
};
use super::axes::{UsedAxis, mesh_axes, mesh_of, used_axes};
use super::ops::ManualComputationOp;
use super::{edges, rules};
use crate::mpmd::MESH_TENSOR;
use mlir::diag::counted;
use mlir::ods::Params;
use mlir::types::DYNAMIC;
use mlir::{Attribute, OpRef, Type, Verdict};

/// The type that a sharding of a value of type `ty` is for: the only element of a tuple, the whole
/// tensor of one on a mesh, or the type itself.
fn sharded_type(ty: &Type) -> &Type {
    let ty = match ty.as_tuple() {
        Some([element]) => element,
        _ => ty,
    };
    let tensor = ty.as_dialect(&MESH_TENSOR).and_then(|params| params.get(1)?.as_ref()?.as_type());
    tensor.unwrap_or(ty)
}

/// The shape of a type that a sharding can split. `None` for unranked and other types.
pub(super) fn shape_of(ty: &Type) -> Option<&[i64]> {
    sharded_type(ty).shape()
}

/// Checks that `sharding` applies to a value of type `ty`.
pub(super) fn check_sharding(op: OpRef<'_>, sharding: &Attribute, ty: &Type) -> Result<(), String> {
    let Some(params) = sharding.as_dialect(&SHARDING) else { return Ok(()) };
    let axes = check_in_mesh(params, mesh_of(op, params)?, ty)?;
    check_free(op, axes.iter().flatten())
}

/// Checks that a sharding over a mesh applies to a value of type `ty`, and returns the axes of its
/// dimensions, then the replicated and the unreduced ones; no lists if they split nothing.
pub(super) fn check_in_mesh<'a>(
    params: &'a Params,
    mesh: &Attribute,
    ty: &Type,
) -> Result<Vec<Vec<UsedAxis<'a>>>, String> {
    let dims = list(params, 1);
    let (replicated, unreduced) = (list(params, 2), list(params, 3));
    let is_empty = dims.is_empty() && replicated.is_empty() && unreduced.is_empty();
    if is_on_one_device(mesh) {
        // A mesh of a single device holds the whole value, whatever its rank.
        return match is_empty {
            true => Ok(Vec::new()),
            false => Err("a sharding on one device has neither dimensions nor axes".into()),
        };
    }
    if ty.as_tuple().is_some_and(|types| types.len() != 1) {
        return Err(format!("only a tuple with one element can have a sharding, found {ty}"));
    }
    let Some(shape) = shape_of(ty) else {
        if sharded_type(ty).is_shaped() {
            return Err(format!("a value without rank can have no sharding, found {ty}"));
        }
        return match is_empty {
            true => Ok(Vec::new()),
            false => Err(format!("a sharding with dimensions or axes for a value of type {ty}")),
        };
    };
    if dims.len() != shape.len() {
        let dims = counted(dims.len(), "dimension");
        return Err(format!("a sharding of {dims} for a value of type {ty}"));
    }
    let dims: Vec<_> = dims.iter().filter_map(|d| d.as_dialect(&DIMENSION_SHARDING)).collect();
    for (number, dim) in dims.iter().enumerate() {
        check_priority(dim).map_err(|message| format!("dimension {number} {message}"))?;
    }
    let lists: Vec<_> = dims.iter().map(|d| list(d, 0)).chain([replicated, unreduced]).collect();
    let used = used_axes(&mesh_axes(mesh), &lists)?;
    for (what, list) in ["unreduced", "replicated"].into_iter().zip(used.iter().rev()) {
        if !list.is_sorted() {
            return Err(format!("{what} axes must be in the order of the mesh"));
        }
    }
    Ok(used)
}

/// Checks that a sharding over a mesh splits a tensor into equal shards.
pub(crate) fn check_even_shards(
    sharding: &Attribute,
    mesh: &Attribute,
    ty: &Type,
) -> Result<(), String> {
    let Some(params) = sharding.as_dialect(&SHARDING) else { return Ok(()) };
    let axes = check_in_mesh(params, mesh, ty)?;
    for (dim, (&size, axes)) in shape_of(ty).unwrap_or(&[]).iter().zip(&axes).enumerate() {
        let shards = axes.iter().fold(1i64, |n, axis| n.saturating_mul(axis.size()));
        if size != DYNAMIC && size % shards != 0 {
            return Err(format!(
                "dimension {dim} of size {size} cannot be split into {shards} equal shards"
            ));
        }
    }
    Ok(())
}

/// True for a mesh that stands for a single device, by its number.
pub(super) fn is_on_one_device(mesh: &Attribute) -> bool {
    let mesh = mesh.as_dialect(&MESH);
    mesh.is_some_and(|mesh| list(mesh, 0).is_empty() && !ints(mesh, 1).is_empty())
}

/// Checks the priority of a dimension, if it has one.
fn check_priority(dim: &Params) -> Result<(), String> {
    let Some(priority) = int(dim, 2) else { return Ok(()) };
    if priority < 0 {
        return Err(format!("has the priority {priority}, which must not be negative"));
    }
    let is_closed = dim.get(1).and_then(Option::as_ref).and_then(|a| a.as_bool()).unwrap_or(true);
    match is_closed && list(dim, 0).is_empty() {
        true => Err(format!(
            "has the priority {priority}, but no axes and is closed, so there is nothing to \
             propagate"
        )),
        false => Ok(()),
    }
}

/// Checks that no manual computation around `op` is written for one device along one of the axes.
fn check_free<'a>(
    op: OpRef<'_>,
    axes: impl Iterator<Item = &'a UsedAxis<'a>> + Clone,
) -> Result<(), String> {
    for view in std::iter::successors(op.parent(), |op| op.parent()) {
        let Some(view) = ManualComputationOp::cast(view) else { continue };
        if let Some(axis) = axes.clone().find(|axis| manual_names(view).any(|n| n == axis.name)) {
            return Err(format!(
                "the axis \"{}\" is manual in an enclosing sdy.manual_computation",
                axis.name
            ));
        }
    }
    Ok(())
}

/// The names of the manual axes.
pub(super) fn manual_names<'m>(view: ManualComputationOp<'m>) -> impl Iterator<Item = &'m str> {
    let names = view.manual_axes().as_dialect(&MANUAL_AXES).map_or(&[][..], |p| list(p, 0));
    names.iter().filter_map(Attribute::as_str)
}

/// The sharding that an op of this dialect gives its result.
pub(super) fn result_sharding(op: OpRef<'_>) -> Option<&Attribute> {
    op.attr("sharding").or_else(|| op.attr("out_sharding"))
}

/// Checks the sharding that an op of this dialect gives its result.
pub(super) fn verify_sharding(op: OpRef<'_>) -> Verdict {
    let Some(sharding) = result_sharding(op) else { return Ok(()) };
    if let Err(message) = check_sharding(op, sharding, op.result_type(0)) {
        return Err(op.error("sharding", message));
    }
    Ok(())
}

/// Checks one sharding for each of several values.
pub(super) fn check_per_value<'m>(
    op: OpRef<'m>,
    what: &str,
    shardings: Option<&Attribute>,
    types: impl ExactSizeIterator<Item = &'m Type>,
) -> Verdict {
    let Some(params) = shardings.and_then(|s| s.as_dialect(&SHARDING_PER_VALUE)) else {
        return Ok(());
    };
    let shardings = list(params, 0);
    if let (0, [sharding]) = (types.len(), shardings) {
        // An op without results has one sharding, too, that splits nothing.
        return match check_sharding(op, sharding, &Type::none()) {
            Ok(()) => Ok(()),
            Err(message) => Err(op.error("sharding", format!("`{what}`: {message}"))),
        };
    }
    if shardings.len() != types.len() {
        let message = format!(
            "`{what}` has {} for {}",
            counted(shardings.len(), "sharding"),
            counted(types.len(), "value")
        );
        return Err(op.error("sharding", message));
    }
    for (i, (sharding, ty)) in shardings.iter().zip(types).enumerate() {
        if let Err(message) = check_sharding(op, sharding, ty) {
            return Err(op.error("sharding", format!("`{what}`, value {i}: {message}")));
        }
    }
    Ok(())
}

/// Checks `sdy.sharding` on an argument or result of a function.
pub(super) fn verify_value_attribute(
    function: OpRef<'_>,
    ty: &Type,
    name: &str,
    attr: &Attribute,
) -> Result<(), String> {
    match (name, attr.as_dialect(&SHARDING)) {
        ("sdy.sharding", Some(_)) => check_sharding(function, attr, ty),
        ("sdy.sharding", None) => Err(format!("must be a #sdy.sharding, found {attr}")),
        _ => Ok(()),
    }
}

/// Checks `sdy.sharding`, `sdy.sharding_rule` and the records of propagation on any op.
pub(super) fn verify_attribute(op: OpRef<'_>, name: &str, attr: &Attribute) -> Verdict {
    match name {
        "sdy.sharding" if attr.as_dialect(&SHARDING_PER_VALUE).is_none() => {
            let message = format!("`{name}` must be a #sdy.sharding_per_value, found {attr:.80}");
            Err(op.error("sharding", message))
        }
        "sdy.sharding" => check_per_value(op, name, Some(attr), op.result_types()),
        "sdy.sharding_rule" => rules::verify(op, attr),
        "sdy.propagation_edges" => edges::verify(op, name, attr),
        "sdy.result_propagation_edges" | "sdy.block_arg_propagation_edges" => {
            edges::verify_list(op, name, attr)
        }
        _ => Ok(()),
    }
}
