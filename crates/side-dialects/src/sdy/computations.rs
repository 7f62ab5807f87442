//! Verification of manual and named computations.

use super::attrs::{AXIS_REF, DIMENSION_SHARDING, SHARDING, SHARDING_PER_VALUE, list, text_of};
use super::axes::{mesh_axes, mesh_of};
use super::ops::{ManualComputationOp, NamedComputationOp};
use super::prepare::{returned_types, shard_types, whole_types};
use super::sharding::{check_per_value, manual_names};
use mlir::diag::counted;
use mlir::ods::Params;
use mlir::{Attribute, OpRef, RegionId, Type, Verdict};

/// The types of the arguments of a body.
fn argument_types(op: OpRef<'_>, body: RegionId) -> Vec<Type> {
    let module = op.module();
    let arguments = module.entry(body).map_or(&[][..], |block| module.arguments(block));
    arguments.iter().map(|&argument| module.ty(argument).clone()).collect()
}

/// Checks that the body has an argument for each operand and returns a value for each result.
fn check_counts(op: OpRef<'_>, arguments: &[Type], returned: &[Type]) -> Verdict {
    if arguments.len() != op.operands().len() {
        let found = counted(arguments.len(), "argument");
        let expected = counted(op.operands().len(), "operand");
        return Err(op.error("region", format!("the body has {found} for {expected}")));
    }
    if returned.len() != op.num_results() {
        let found = counted(returned.len(), "value");
        let expected = counted(op.num_results(), "result");
        return Err(op.error("region", format!("the body returns {found} for {expected}")));
    }
    Ok(())
}

/// Verifies that no manual axis is manual around the op, too.
pub(super) fn verify_manual_computation(op: OpRef<'_>) -> Verdict {
    let view = ManualComputationOp(op);
    let outer = std::iter::successors(op.parent(), |op| op.parent());
    for outer in outer.filter_map(ManualComputationOp::cast) {
        let mut names = manual_names(view);
        if let Some(name) = names.find(|name| manual_names(outer).any(|other| other == *name)) {
            let message = format!(
                "manual_axes: the axis \"{name}\" is manual in an enclosing sdy.manual_computation"
            );
            return Err(op.error("sharding", message));
        }
    }
    Ok(())
}

/// Verifies that the body has arguments and results of the types of the operands and results, whose
/// shardings apply to them.
pub(super) fn verify_named_computation(op: OpRef<'_>) -> Verdict {
    let view = NamedComputationOp(op);
    let arguments = argument_types(op, view.body());
    let returned = returned_types(op, view.body()).unwrap_or_default();
    check_counts(op, &arguments, &returned)?;
    check_types(op, "argument", &arguments, op.operand_types(), "operand")?;
    check_types(op, "returned value", &returned, op.result_types(), "result")?;
    check_per_value(op, "in_shardings", view.in_shardings(), op.operand_types())?;
    check_per_value(op, "out_shardings", view.out_shardings(), op.result_types())
}

fn check_types<'m>(
    op: OpRef<'_>,
    kind: &str,
    found: &[Type],
    required: impl Iterator<Item = &'m Type>,
    source: &str,
) -> Verdict {
    for (i, (found, required)) in found.iter().zip(required).enumerate() {
        if found != required {
            let message = format!(
                "{kind} {i} of the body must have the type of {source} {i}, {required}; found \
                 {found}"
            );
            return Err(op.error("region", message));
        }
    }
    Ok(())
}

/// Verifies that the arguments and results of the body are the shards of the operands and results.
pub(super) fn verify_shards(op: OpRef<'_>) -> Verdict {
    let view = ManualComputationOp(op);
    let arguments = argument_types(op, view.body());
    let returned = returned_types(op, view.body()).unwrap_or_default();
    check_per_value(op, "in_shardings", Some(view.in_shardings()), op.operand_types())?;
    check_per_value(op, "out_shardings", Some(view.out_shardings()), op.result_types())?;
    check_counts(op, &arguments, &returned)?;
    check_manual_axes(view)?;
    check_manual_first(view)?;
    if let Some(shards) = shard_types(view)? {
        check_shards(op, "argument", &arguments, &shards, "operand")?;
    }
    if let Some(whole) = whole_types(op) {
        let results: Vec<Type> = op.result_types().cloned().collect();
        check_shards(op, "result", &results, &whole, "value that the body returns")?;
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

/// The shardings of operands and results.
fn shardings(view: ManualComputationOp<'_>) -> Vec<&Attribute> {
    let shardings = [view.in_shardings(), view.out_shardings()].into_iter();
    shardings
        .filter_map(|shardings| shardings.as_dialect(&SHARDING_PER_VALUE))
        .flat_map(|params| list(params, 0))
        .collect()
}

/// The mesh of several shardings, of which there is one at least. The empty mesh goes with any.
///
/// # Errors
/// If there are two.
pub(super) fn common_mesh<'a>(
    op: OpRef<'a>,
    shardings: &[&'a Attribute],
) -> Result<&'a Attribute, String> {
    let mut common: Option<&Attribute> = None;
    for params in shardings.iter().filter_map(|sharding| sharding.as_dialect(&SHARDING)) {
        let mesh = mesh_of(op, params)?;
        match common {
            Some(found) if !is_empty_mesh(found) => {
                if mesh != found && !is_empty_mesh(mesh) {
                    return Err(format!(
                        "all shardings must have one mesh, or the empty one; found {found} and \
                         {mesh}"
                    ));
                }
            }
            _ => common = Some(mesh),
        }
    }
    common.ok_or_else(|| "there is no sharding with a mesh".into())
}

/// True for the mesh without axes and devices, which stands for any.
pub(super) fn is_empty_mesh(mesh: &Attribute) -> bool {
    mesh_axes(mesh).is_empty() && !super::sharding::is_on_one_device(mesh)
}

/// Checks that there is one mesh and that it has the manual axes.
fn check_manual_axes(view: ManualComputationOp<'_>) -> Verdict {
    let shardings = shardings(view);
    let mut names = manual_names(view);
    if shardings.is_empty() {
        // Without values there is no mesh.
        return Ok(());
    }
    let axes = match common_mesh(*view, &shardings) {
        Ok(mesh) => mesh_axes(mesh),
        // Without manual axes the meshes do not matter.
        Err(message) => match names.next() {
            Some(_) => return Err(view.error("sharding", message)),
            None => return Ok(()),
        },
    };
    match names.find(|name| !axes.iter().any(|(axis, _)| axis == name)) {
        Some(name) => {
            Err(view.error("sharding", format!("manual_axes: the mesh has no axis \"{name}\"")))
        }
        None => Ok(()),
    }
}

fn check_shards(
    op: OpRef<'_>,
    kind: &str,
    found: &[Type],
    required: &[Type],
    source: &str,
) -> Verdict {
    for (i, (found, required)) in found.iter().zip(required).enumerate() {
        if found.shape() != required.shape() || found.element_type() != required.element_type() {
            let message = format!(
                "{kind} {i} must have the type {required}, which follows from the sharding and the \
                 {source}; found {found}"
            );
            return Err(op.error("sharding", message));
        }
    }
    Ok(())
}
