//! Verification of meshes, shardings and sharding rules.

use super::attrs::{
    AXIS_REF, DIMENSION_SHARDING, MANUAL_AXES, MESH, MESH_AXIS, OP_SHARDING_RULE, SHARDING,
    SHARDING_PER_VALUE, SUB_AXIS_INFO, int, ints, list, text_of,
};
use super::ops::{ManualComputationOp, MeshOp, NamedComputationOp};
use super::prepare::{returned_types, shard_types, whole_types};
use mlir::attrs::AttrKind;
use mlir::diag::counted;
use mlir::ods::Params;
use mlir::verify::{have_compatible_shapes, nearest_symbol};
use mlir::{Attribute, OpRef, Type, Verdict};
use std::cmp::Ordering;
use std::fmt::{self, Display, Formatter};
use std::ops::Range;

/// Checks that axes have distinct names and positive sizes, and that device ids are a permutation
/// of 0, 1, 2, …, or a single id if there are no axes.
pub(super) fn mesh(params: &Params) -> Result<(), String> {
    let mut devices = 1i64;
    let mut names = Vec::new();
    for axis in list(params, 0).iter().filter_map(|a| a.as_dialect(&MESH_AXIS)) {
        let (name, size) = (text_of(axis, 0), int(axis, 1).unwrap_or(0));
        if names.contains(&name) {
            return Err(format!("the mesh has two axes named \"{name}\""));
        }
        if size <= 0 {
            return Err(format!("the axis \"{name}\" must have a positive size, found {size}"));
        }
        names.push(name);
        devices =
            devices.checked_mul(size).ok_or("the mesh has more devices than 64 bits can count")?;
    }
    if params.get(1).is_none_or(Option::is_none) {
        return Ok(());
    }
    let ids = ints(params, 1);
    if let Some(id) = ids.iter().find(|&&id| id < 0) {
        return Err(format!("the device id {id} is negative"));
    }
    if names.is_empty() {
        return match ids {
            [_] => Ok(()),
            _ => Err(format!("a mesh without axes has one device id, found {}", ids.len())),
        };
    }
    if ids.len() as i64 != devices {
        return Err(format!(
            "{} for {}",
            counted(ids.len(), "device id"),
            counted(devices, "device")
        ));
    }
    if ids.iter().copied().eq(0..devices) {
        return Err("device ids that count up are left out".into());
    }
    let mut sorted = ids.to_vec();
    sorted.sort_unstable();
    if !sorted.into_iter().eq(0..devices) {
        return Err(format!("device ids must be the numbers from 0 to {}, each once", devices - 1));
    }
    Ok(())
}

/// Checks that a part of an axis has a size above 1 and a positive size before it.
pub(super) fn sub_axis(params: &Params) -> Result<(), String> {
    match (int(params, 0), int(params, 1)) {
        (Some(pre_size), Some(size)) if pre_size >= 1 && size > 1 => Ok(()),
        _ => Err("a part of an axis needs a size before it of at least 1 and a size of at least 2"
            .into()),
    }
}

/// Checks that manual axes are names.
pub(super) fn manual_axes(params: &Params) -> Result<(), String> {
    let is_string = |axis: &Attribute| matches!(**axis, AttrKind::String { .. });
    match params.first() {
        Some(Some(axes)) if axes.as_array().is_some_and(|axes| axes.iter().all(is_string)) => {
            Ok(())
        }
        _ => Err("the axes must be a list of strings".into()),
    }
}

/// Checks that a sharding has a mesh, or the symbol of one.
pub(super) fn sharding(params: &Params) -> Result<(), String> {
    let is_mesh =
        |mesh: &Attribute| mesh.as_flat_symbol().is_some() || mesh.as_dialect(&MESH).is_some();
    match params.first() {
        Some(Some(mesh)) if is_mesh(mesh) => Ok(()),
        _ => Err("expected a mesh, or the symbol of one".into()),
    }
}

/// Checks that all factors of mappings have sizes.
pub(super) fn rule(params: &Params) -> Result<(), String> {
    let count = ints(params, 0).len() as i64;
    let tensors = list(params, 1).iter().chain(list(params, 2));
    let dims = tensors
        .filter_map(|t| t.as_dialect(&super::attrs::TENSOR_MAPPING))
        .flat_map(|t| list(t, 0));
    let mapped =
        dims.filter_map(|d| d.as_dialect(&super::attrs::DIM_MAPPING)).flat_map(|d| ints(d, 0));
    let mut factors = mapped.chain((3..7).flat_map(|i| ints(params, i)));
    if let Some(factor) = factors.find(|&&f| !(0..count).contains(&f)) {
        return Err(format!(
            "a dimension maps to factor number {factor}, but only {count} factors have sizes"
        ));
    }
    roles(params)
}

/// Checks that no factor has two of the roles that exclude each other.
fn roles(params: &Params) -> Result<(), String> {
    let roles = [3, 4, 5].map(|i| ints(params, i));
    let repeated = |i: usize| roles[..i].concat().iter().any(|factor| roles[i].contains(factor));
    if repeated(1) || repeated(2) {
        return Err(
            "a factor can be in only one of reduction, need_replication and permutation".into()
        );
    }
    Ok(())
}

/// The axes of a mesh with their sizes.
pub(super) fn mesh_axes(mesh: &Attribute) -> Vec<(&str, i64)> {
    let axes = mesh.as_dialect(&MESH).map_or(&[][..], |params| list(params, 0));
    axes.iter()
        .filter_map(|a| a.as_dialect(&MESH_AXIS))
        .map(|a| (text_of(a, 0), int(a, 1).unwrap_or(1)))
        .collect()
}

/// The mesh that a sharding holds or refers to.
pub(super) fn mesh_of<'a>(op: OpRef<'a>, sharding: &'a Params) -> Result<&'a Attribute, String> {
    let Some(Some(mesh)) = sharding.first() else { return Err("a sharding needs a mesh".into()) };
    let Some(name) = mesh.as_flat_symbol() else { return Ok(mesh) };
    nearest_symbol(op, name)
        .and_then(MeshOp::cast)
        .and_then(|m| m.mesh())
        .ok_or_else(|| format!("there is no mesh @{name}"))
}

/// Checks that `sharding` applies to a value of type `ty`.
pub(super) fn check_sharding(op: OpRef<'_>, sharding: &Attribute, ty: &Type) -> Result<(), String> {
    let Some(params) = sharding.as_dialect(&SHARDING) else { return Ok(()) };
    let mesh = mesh_of(op, params)?;
    let axes = mesh_axes(mesh);
    let dims = list(params, 1);
    if axes.is_empty() && mesh.as_dialect(&MESH).is_some_and(|mesh| !ints(mesh, 1).is_empty()) {
        // A mesh of a single device holds the whole value, whatever its rank.
        let empty = dims.is_empty() && list(params, 2).is_empty() && list(params, 3).is_empty();
        return if empty {
            Ok(())
        } else {
            Err("a sharding on one device has neither dimensions nor axes".into())
        };
    }
    let rank = ty.shape().map_or(0, <[i64]>::len);
    if dims.len() != rank {
        return Err(format!(
            "a sharding of {} for a value of type {ty}",
            counted(dims.len(), "dimension")
        ));
    }
    let (replicated, unreduced) = (list(params, 2), list(params, 3));
    if ty.shape().is_none() && !(replicated.is_empty() && unreduced.is_empty()) {
        return Err(format!("a sharding with axes for a value of type {ty}"));
    }
    let dims = dims.iter().filter_map(|d| d.as_dialect(&DIMENSION_SHARDING));
    let lists: Vec<_> = dims.map(|d| list(d, 0)).chain([replicated, unreduced]).collect();
    let used = used_axes(&axes, &lists)?;
    for (what, list) in ["unreduced", "replicated"].into_iter().zip(used.iter().rev()) {
        if !list.is_sorted() {
            return Err(format!("{what} axes must be in the order of the mesh"));
        }
    }
    check_free(op, used.iter().flatten())
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

/// Resolves lists of axis references in the axes of a mesh: each axis or part must exist and be
/// used once, and parts that follow one another are one part.
pub(super) fn used_axes<'a>(
    axes: &[(&str, i64)],
    lists: &[&'a [Attribute]],
) -> Result<Vec<Vec<UsedAxis<'a>>>, String> {
    let mut used: Vec<UsedAxis<'_>> = Vec::new();
    let mut ends = Vec::new();
    for list in lists {
        let start = used.len();
        for axis in *list {
            let Some(axis) = used_axis(axes, axis)? else { continue };
            if used.iter().any(|other| other.overlaps(&axis)) {
                return Err(format!("the axis \"{}\" is used twice", axis.name));
            }
            if used[start..].last().is_some_and(|last| last.is_continued_by(&axis)) {
                return Err(format!(
                    "two parts of the axis \"{}\" follow one another; they must be one",
                    axis.name
                ));
            }
            used.push(axis);
        }
        ends.push(start..used.len());
    }
    Ok(ends.into_iter().map(|range| used[range].to_vec()).collect())
}

/// An axis of a mesh that a sharding uses, or a part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct UsedAxis<'a> {
    pub name: &'a str,
    index: usize,
    /// The size of the whole axis.
    whole: i64,
    /// From the size before the part to that including it.
    parts: Range<i64>,
}

impl Display for UsedAxis<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.name)?;
        match self.whole == self.parts.end && self.parts.start == 1 {
            true => Ok(()),
            false => write!(f, ":({}){}", self.parts.start, self.size()),
        }
    }
}

impl PartialOrd for UsedAxis<'_> {
    /// The order of the mesh.
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        (self.index, self.parts.start).partial_cmp(&(other.index, other.parts.start))
    }
}

impl UsedAxis<'_> {
    /// The number of shards along it.
    pub fn size(&self) -> i64 {
        self.parts.end / self.parts.start
    }

    /// True if `next` is the part of the same axis after this one.
    fn is_continued_by(&self, next: &UsedAxis<'_>) -> bool {
        self.index == next.index && self.parts.end == next.parts.start
    }

    /// Appends an axis to those that shard a dimension.
    pub fn append(self, axes: &mut Vec<Self>) {
        match axes.last_mut() {
            Some(last) if last.is_continued_by(&self) => last.parts.end = self.parts.end,
            _ => axes.push(self),
        }
    }

    /// Removes the axis, which must be the innermost one, from those that shard a dimension.
    /// Returns false if it is not.
    pub fn remove_last(&self, axes: &mut Vec<Self>) -> bool {
        match axes.last_mut() {
            Some(last) if last == self => axes.pop().is_some(),
            Some(last)
                if last.index == self.index
                    && last.parts.end == self.parts.end
                    && last.parts.start < self.parts.start =>
            {
                last.parts.end = self.parts.start;
                true
            }
            _ => false,
        }
    }

    pub fn overlaps(&self, other: &UsedAxis<'_>) -> bool {
        let is_apart = self.parts.end <= other.parts.start || other.parts.end <= self.parts.start;
        self.index == other.index && (!is_apart || self.parts == other.parts)
    }
}

/// Resolves an axis reference in the axes of a mesh. `None` if it is no axis reference.
fn used_axis<'a>(
    axes: &[(&str, i64)],
    axis: &'a Attribute,
) -> Result<Option<UsedAxis<'a>>, String> {
    let Some(part) = axis.as_dialect(&AXIS_REF) else { return Ok(None) };
    let name = text_of(part, 0);
    let Some(index) = axes.iter().position(|(n, _)| *n == name) else {
        return Err(format!("the mesh has no axis \"{name}\""));
    };
    let size = axes[index].1;
    let info = part.get(1).and_then(Option::as_ref).and_then(|a| a.as_dialect(&SUB_AXIS_INFO));
    let used = |parts| Some(UsedAxis { name, index, whole: size, parts });
    let Some(info) = info else { return Ok(used(1..size)) };
    let parts = int(info, 0)
        .zip(int(info, 1))
        .and_then(|(before, own)| Some((own, before..before.checked_mul(own)?)))
        .filter(|(own, parts)| parts.end > 0 && size % parts.end == 0 && *own < size);
    match parts {
        Some((_, parts)) => Ok(used(parts)),
        None => Err(format!("the axis \"{name}\" of size {size} has no part {axis}")),
    }
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
fn check_per_value<'m>(
    op: OpRef<'m>,
    what: &str,
    shardings: Option<&Attribute>,
    types: impl ExactSizeIterator<Item = &'m Type>,
) -> Verdict {
    let Some(params) = shardings.and_then(|s| s.as_dialect(&SHARDING_PER_VALUE)) else {
        return Ok(());
    };
    let shardings = list(params, 0);
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

/// Checks that the body's arguments correspond to the operands.
fn check_arguments(op: OpRef<'_>) -> Verdict {
    let arguments = op
        .regions()
        .first()
        .and_then(|&r| op.module().entry(r))
        .map_or(&[][..], |b| op.module().arguments(b));
    if arguments.len() != op.operands().len() {
        let (found, expected) = (arguments.len(), op.operands().len());
        return Err(op.error(
            "region",
            format!(
                "the body has {} for {}",
                counted(found, "argument"),
                counted(expected, "operand")
            ),
        ));
    }
    Ok(())
}

pub(super) fn verify_manual_computation(op: OpRef<'_>) -> Verdict {
    let view = ManualComputationOp(op);
    check_arguments(op)?;
    check_per_value(op, "in_shardings", Some(view.in_shardings()), op.operand_types())?;
    check_per_value(op, "out_shardings", Some(view.out_shardings()), op.result_types())?;
    Ok(())
}

pub(super) fn verify_named_computation(op: OpRef<'_>) -> Verdict {
    let view = NamedComputationOp(op);
    check_arguments(op)?;
    check_per_value(op, "in_shardings", view.in_shardings(), op.operand_types())?;
    check_per_value(op, "out_shardings", view.out_shardings(), op.result_types())?;
    let returned = returned_types(op, view.body()).unwrap_or_default();
    check_shards(op, "result", op.result_types(), &returned, "value that the body returns")
}

/// Checks that the arguments and results of the body are the shards of the operands and results.
pub(super) fn verify_shards(op: OpRef<'_>) -> Verdict {
    let view = ManualComputationOp(op);
    let module = op.module();
    let Some(body) = module.entry(view.body()) else { return Ok(()) };
    let arguments = module.arguments(body).iter().map(|&value| module.ty(value));
    check_manual_axes(view)?;
    check_manual_first(view)?;
    // Sizes that cannot be split are an error of the run.
    if let Ok(Some(shards)) = shard_types(view) {
        check_shards(op, "argument", arguments, &shards, "operand")?;
    }
    if let Some(whole) = whole_types(op) {
        check_shards(op, "result", op.result_types(), &whole, "value that the body returns")?;
    }
    Ok(())
}

/// Checks that manual axes shard a dimension before others do, so that shards stay whole.
fn check_manual_first(view: ManualComputationOp<'_>) -> Verdict {
    for (name, shardings) in
        [("in_shardings", view.in_shardings()), ("out_shardings", view.out_shardings())]
    {
        let shardings = shardings.as_dialect(&SHARDING_PER_VALUE).map_or(&[][..], |p| list(p, 0));
        for (number, sharding) in shardings.iter().enumerate() {
            let dims = sharding.as_dialect(&SHARDING).map_or(&[][..], |params| list(params, 1));
            for dim in dims.iter().filter_map(|dim| dim.as_dialect(&DIMENSION_SHARDING)) {
                let axes = list(dim, 0).iter().filter_map(|axis| axis.as_dialect(&AXIS_REF));
                let is_manual = |axis: &Params| manual_names(view).any(|n| n == text_of(axis, 0));
                let mut free = axes.skip_while(|axis| is_manual(axis));
                if let Some(axis) = free.find(|axis| is_manual(axis)) {
                    let message = format!(
                        "`{name}`, value {number}: the manual axis \"{}\" must come before the free \
                         axes of its dimension",
                        text_of(axis, 0)
                    );
                    return Err(view.error("sharding", message));
                }
            }
        }
    }
    Ok(())
}

/// Checks that the mesh has the manual axes.
fn check_manual_axes(view: ManualComputationOp<'_>) -> Verdict {
    let shardings = [view.in_shardings(), view.out_shardings()];
    let mut shardings = shardings
        .into_iter()
        .filter_map(|s| s.as_dialect(&SHARDING_PER_VALUE))
        .flat_map(|params| list(params, 0))
        .filter_map(|sharding| sharding.as_dialect(&SHARDING));
    let Some(Ok(mesh)) = shardings.next().map(|sharding| mesh_of(*view, sharding)) else {
        return Ok(());
    };
    let axes = mesh_axes(mesh);
    let mut names = manual_names(view);
    match names.find(|name| !axes.iter().any(|(axis, _)| axis == name)) {
        Some(name) => {
            Err(view.error("sharding", format!("manual_axes: the mesh has no axis \"{name}\"")))
        }
        None => Ok(()),
    }
}

fn check_shards<'m>(
    op: OpRef<'_>,
    kind: &str,
    found: impl Iterator<Item = &'m Type>,
    required: &[Type],
    source: &str,
) -> Verdict {
    for (i, (found, required)) in found.zip(required).enumerate() {
        if !have_compatible_shapes(found, required) {
            let message = format!(
                "{kind} {i} must have the shape of {required}, which follows from the sharding \
                 and the {source}; found {found}"
            );
            return Err(op.error("sharding", message));
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

/// Checks `sdy.sharding` and `sdy.sharding_rule` on any op.
pub(super) fn verify_attribute(op: OpRef<'_>, name: &str, attr: &Attribute) -> Verdict {
    match name {
        "sdy.sharding" => {
            if attr.as_dialect(&SHARDING_PER_VALUE).is_none() {
                let message = format!("`{name}` must be a #sdy.sharding_per_value, found {attr}");
                return Err(op.error("sharding", message));
            }
            match op.num_results() {
                // An op without results has one sharding, too.
                0 => check_per_value(op, name, Some(attr), [&Type::none()].into_iter())?,
                _ => check_per_value(op, name, Some(attr), op.result_types())?,
            }
        }
        "sdy.sharding_rule" => {
            let Some(rule) = attr.as_dialect(&OP_SHARDING_RULE) else {
                return Err(op.error(
                    "sharding",
                    format!("`{name}` must be a #sdy.op_sharding_rule, found {attr}"),
                ));
            };
            for (what, mappings, types) in [
                ("operand", list(rule, 1), op.operand_types().collect::<Vec<_>>()),
                ("result", list(rule, 2), op.result_types().collect()),
            ] {
                if mappings.len() != types.len() {
                    let message = format!(
                        "the rule maps {} {what}s, but there are {}",
                        mappings.len(),
                        types.len()
                    );
                    return Err(op.error("sharding", message));
                }
                let rank = |mapping: &Attribute| {
                    mapping
                        .as_dialect(&super::attrs::TENSOR_MAPPING)
                        .map_or(0, |params| list(params, 0).len())
                };
                // Types other than tensors, such as those of VHLO, have no known rank.
                let differs = |(mapping, ty): &(&Attribute, &Type)| {
                    ty.shape().is_some_and(|shape| shape.len() != rank(mapping))
                };
                if let Some(i) = mappings.iter().zip(types).position(|pair| differs(&pair)) {
                    return Err(op.error(
                        "sharding",
                        format!("the rule gives {what} {i} another number of dimensions"),
                    ));
                }
            }
        }
        _ => {}
    }
    Ok(())
}
