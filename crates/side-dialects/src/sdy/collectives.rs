//! Verification of collectives: the sharding of the result follows from that of the operand.

use super::attrs::{
    ALL_TO_ALL_PARAM, ALL_TO_ALL_PARAM_LIST, AXIS_REF_LIST, DIMENSION_SHARDING,
    LIST_OF_AXIS_REF_LISTS, MESH, SHARDING, SHARDING_PER_VALUE, SUM, int, ints, list, mesh_or_ref,
    reduction_name, reduction_of,
};
use super::axes::{UsedAxis, difference, mesh_axes, mesh_of, names, used_axes};
use super::ops::{
    AllReduceOp, AllToAllOp, ManualComputationOp, PropagationBarrierOp, ReduceScatterOp,
};
use super::sharding::{manual_names, result_sharding, verify_sharding};
use crate::func::FuncOp;
use mlir::diag::counted;
use mlir::ir::ValueDef;
use mlir::{Attribute, Module, OpRef, Value, Verdict};
use std::cmp::Ordering;

/// A sharding with its axes resolved.
struct CollectiveSharding<'a> {
    mesh: &'a Attribute,
    axes: Vec<(&'a str, i64)>,
    dims: Vec<Vec<UsedAxis<'a>>>,
    replicated: Vec<UsedAxis<'a>>,
    unreduced: Vec<UsedAxis<'a>>,
    /// The reduction that completes the value, by its number.
    reduction: i64,
}

impl<'a> CollectiveSharding<'a> {
    /// Resolves the axes of a sharding, except those of `manual`, which shard no value.
    fn of(
        op: OpRef<'a>,
        sharding: &'a Attribute,
        manual: &[&str],
    ) -> Result<CollectiveSharding<'a>, String> {
        let params = sharding.as_dialect(&SHARDING).map_or(&[][..], |params| params);
        let mesh = mesh_of(op, params)?;
        let axes = mesh_axes(mesh);
        let dims = list(params, 1).iter().filter_map(|d| d.as_dialect(&DIMENSION_SHARDING));
        let lists = dims.map(|d| list(d, 0)).chain([list(params, 2), list(params, 3)]);
        let mut dims = used_axes(&axes, &lists.collect::<Vec<_>>())?;
        for list in &mut dims {
            list.retain(|axis| !manual.contains(&axis.name));
        }
        let unreduced = dims.pop().unwrap_or_default();
        let replicated = dims.pop().unwrap_or_default();
        Ok(CollectiveSharding {
            mesh,
            axes,
            dims,
            replicated,
            unreduced,
            reduction: reduction_of(params),
        })
    }

    /// True if the axis is among those that shard a dimension.
    fn has_sharded(&self, axis: &UsedAxis<'_>) -> bool {
        self.dims.iter().flatten().any(|other| other.overlaps(axis))
    }
}

/// The sharding of one of several values.
fn each(shardings: &Attribute, index: u32) -> Option<&Attribute> {
    list(shardings.as_dialect(&SHARDING_PER_VALUE)?, 0).get(index as usize)
}

/// The sharding of a value and the names of the axes that do not shard it, if it has one.
pub(super) fn sharding_of(module: &Module, value: Value) -> Option<(&Attribute, Vec<&str>)> {
    match module.definition(value) {
        ValueDef::Result { op, index } => {
            let op = module.op(op);
            if let Some(own) = result_sharding(op).filter(|own| own.as_dialect(&SHARDING).is_some())
            {
                return Some((own, Vec::new()));
            }
            let shardings = op.attr("out_shardings").or_else(|| op.attr("sdy.sharding"))?;
            Some((each(shardings, index)?, Vec::new()))
        }
        ValueDef::Argument { block, index } => {
            let op = module.op(module.region_parent(module.block_parent(block)?)?);
            if let Some(function) = FuncOp::cast(op) {
                let attributes = function.arg_attrs()?.get(index as usize)?.as_dictionary()?;
                return Some((attributes.get("sdy.sharding")?, Vec::new()));
            }
            let manual = ManualComputationOp::cast(op);
            let manual = manual.map_or(Vec::new(), |view| manual_names(view).collect());
            let shardings = op.attr("in_shardings").or_else(|| op.attr("sdy.sharding"))?;
            Some((each(shardings, index)?, manual))
        }
    }
}

/// The shardings of a collective's operand and result.
struct ShardedCollective<'a> {
    operand: CollectiveSharding<'a>,
    result: CollectiveSharding<'a>,
}

impl<'a> ShardedCollective<'a> {
    /// Resolves the shardings. An operand without one is whole on each device if it `may_lack` it.
    fn of(op: OpRef<'a>, may_lack: bool) -> Result<ShardedCollective<'a>, String> {
        let out = op.attr("out_sharding").ok_or("the sharding of the result is missing")?;
        let result = CollectiveSharding::of(op, out, &[])?;
        let operand = match sharding_of(op.module(), op.operand(0)) {
            Some((sharding, manual)) => CollectiveSharding::of(op, sharding, &manual)?,
            None if may_lack => CollectiveSharding {
                mesh: result.mesh,
                axes: result.axes.clone(),
                dims: vec![Vec::new(); result.dims.len()],
                replicated: Vec::new(),
                unreduced: Vec::new(),
                reduction: SUM,
            },
            None => return Err("the operand must have a sharding; found none".into()),
        };
        Ok(ShardedCollective { operand, result })
    }

    fn require_same_mesh(&self) -> Result<(), String> {
        if self.operand.mesh == self.result.mesh {
            return Ok(());
        }
        let (found, required) = (self.result.mesh, self.operand.mesh);
        Err(format!("the result must have the mesh of the operand, {required}; found {found}"))
    }

    /// The axes of the attribute `name`.
    fn axes(&self, op: OpRef<'a>, name: &str) -> Result<Vec<UsedAxis<'a>>, String> {
        let axes = op.attr(name).and_then(|axes| axes.as_dialect(&AXIS_REF_LIST));
        let axes = axes.map_or(&[][..], |params| list(params, 0));
        let axes = used_axes(&self.result.axes, &[axes])?.concat();
        if axes.is_sorted() { Ok(axes) } else { Err(format!("{name}: {ORDER}")) }
    }

    /// The axes of the attribute `name` for each dimension.
    fn axes_by_dimension(
        &self,
        op: OpRef<'a>,
        name: &str,
    ) -> Result<Vec<Vec<UsedAxis<'a>>>, String> {
        let lists = op.attr(name).and_then(|lists| lists.as_dialect(&LIST_OF_AXIS_REF_LISTS));
        let lists = lists.map_or(&[][..], |params| list(params, 0));
        let lists = lists.iter().filter_map(|l| l.as_dialect(&AXIS_REF_LIST)).map(|l| list(l, 0));
        let lists: Vec<_> = lists.collect();
        let rank = self.result.dims.len();
        if lists.len() != rank {
            return Err(format!(
                "{name} must have a list for each of {}; found {}",
                counted(rank, "dimension"),
                lists.len()
            ));
        }
        used_axes(&self.result.axes, &lists)
    }

    /// The dimensions of the operand without the axes of each, which must be the innermost ones.
    fn without(
        &self,
        name: &str,
        axes: &[Vec<UsedAxis<'a>>],
    ) -> Result<Vec<Vec<UsedAxis<'a>>>, String> {
        let mut dims = self.operand.dims.clone();
        for (number, (dim, axes)) in dims.iter_mut().zip(axes).enumerate() {
            for axis in axes.iter().rev() {
                if !axis.remove_last(dim) {
                    return Err(format!(
                        "{name}: dimension {number} of the operand is not sharded along the axis \
                         \"{}\" innermost",
                        axis.name
                    ));
                }
            }
        }
        Ok(dims)
    }

    /// Checks the dimensions of the result's sharding.
    fn require_dims(&self, required: &[Vec<UsedAxis<'_>>]) -> Result<(), String> {
        let differs = self.result.dims.iter().zip(required).position(|(a, b)| a != b);
        match differs {
            Some(number) => Err(format!(
                "dimension {number} of the result must be sharded along {}; found {}",
                names(&required[number]),
                names(&self.result.dims[number])
            )),
            None => Ok(()),
        }
    }

    /// Checks that the axes along which a value is unreduced change as a reshard may change them:
    /// new ones belong to the reduction `introduced`, completed ones to `completed`.
    fn require_transition(
        &self,
        introduced: Option<i64>,
        completed: Option<i64>,
    ) -> Result<(), String> {
        let ShardedCollective { operand, result } = self;
        if operand.mesh != result.mesh {
            return Ok(());
        }
        let (before, after) = (operand.reduction, result.reduction);
        if let Some(axis) = difference(&result.unreduced, &operand.unreduced).first() {
            match introduced {
                None => {
                    return Err(format!(
                        "the result must not be unreduced along {axis}, along which the operand is not"
                    ));
                }
                Some(required) if after != required => {
                    return Err(format!(
                        "the result becomes unreduced along {axis}, which must be by {}; found {}",
                        reduction_name(required),
                        reduction_name(after)
                    ));
                }
                Some(_) => {}
            }
        }
        if let Some(axis) = difference(&operand.unreduced, &result.unreduced).first()
            && let Some(required) = completed.filter(|&required| before != required)
        {
            return Err(format!(
                "the operand is unreduced along {axis} by {}; it cannot be reduced by {}",
                reduction_name(before),
                reduction_name(required)
            ));
        }
        let stays = |axis: &&UsedAxis<'_>| operand.unreduced.iter().any(|o| o.overlaps(axis));
        match result.unreduced.iter().find(stays) {
            Some(axis) if before != after => Err(format!(
                "the value stays unreduced along {axis}, so it must stay so by {}; found {}",
                reduction_name(before),
                reduction_name(after)
            )),
            _ => Ok(()),
        }
    }

    /// Checks that the result is unreduced by sums.
    fn require_sum(&self) -> Result<(), String> {
        match self.result.reduction {
            SUM => Ok(()),
            other => Err(format!(
                "out_sharding must be unreduced by sum; found {}",
                reduction_name(other)
            )),
        }
    }

    /// Checks that the result is unreduced along the axes of the operand and `more`.
    fn require_unreduced(&self, more: Vec<UsedAxis<'a>>) -> Result<(), String> {
        let mut all = [self.operand.unreduced.clone(), more].concat();
        all.sort_by(|a, b| a.partial_cmp(b).unwrap_or(Ordering::Equal));
        let mut required = Vec::new();
        all.into_iter().for_each(|axis| axis.append(&mut required));
        if self.result.unreduced == required {
            return Ok(());
        }
        Err(format!(
            "the result must be unreduced along {}; found {}",
            names(&required),
            names(&self.result.unreduced)
        ))
    }
}

/// The message for axes that are not sorted.
const ORDER: &str = "axes must be in the order of the mesh";

/// Verifies the sharding of the result on its own, then what follows from that of the operand.
fn verify(op: OpRef<'_>, check: impl FnOnce() -> Result<(), String>) -> Verdict {
    verify_sharding(op)?;
    check().map_err(|message| op.error("sharding", message))
}

pub(super) fn all_gather(op: OpRef<'_>) -> Verdict {
    verify(op, || {
        let collective = ShardedCollective::of(op, false)?;
        collective.require_same_mesh()?;
        let axes = collective.axes_by_dimension(op, "gathering_axes")?;
        collective.require_dims(&collective.without("gathering_axes", &axes)?)
    })
}

/// Verifies that the axes of the attribute `name` follow the operand's, which is reduced by
/// `reduction`.
fn splits(op: OpRef<'_>, name: &str, reduction: Option<i64>) -> Verdict {
    verify(op, || {
        let collective = ShardedCollective::of(op, true)?;
        collective.require_same_mesh()?;
        if let Some(reduction) = reduction {
            collective.require_transition(None, Some(reduction))?;
        }
        let mut dims = collective.operand.dims.clone();
        for (dim, axes) in dims.iter_mut().zip(collective.axes_by_dimension(op, name)?) {
            axes.into_iter().for_each(|axis| axis.append(dim));
        }
        collective.require_dims(&dims)
    })
}

pub(super) fn all_slice(op: OpRef<'_>) -> Verdict {
    splits(op, "slicing_axes", None)
}

pub(super) fn reduce_scatter(op: OpRef<'_>) -> Verdict {
    splits(op, "reduce_scatter_axes", Some(ReduceScatterOp(op).reduction_op()))
}

pub(super) fn all_to_all(op: OpRef<'_>) -> Verdict {
    verify(op, || {
        let collective = ShardedCollective::of(op, false)?;
        collective.require_same_mesh()?;
        let params = AllToAllOp(op).params().as_dialect(&ALL_TO_ALL_PARAM_LIST);
        let moves = params.map_or(&[][..], |params| list(params, 0)).iter();
        let moves: Vec<_> = moves.filter_map(|m| m.as_dialect(&ALL_TO_ALL_PARAM)).collect();
        if moves.is_empty() {
            return Err("params must hold at least one move of axes; found none".into());
        }
        let lists: Vec<_> = moves.iter().map(|params| list(params, 0)).collect();
        let axes = used_axes(&collective.result.axes, &lists)?;
        if axes.iter().any(Vec::is_empty) {
            return Err("each move of params must have an axis; found none".into());
        }
        let rank = collective.result.dims.len();
        let sources: Vec<_> = moves.iter().filter_map(|params| int(params, 1)).collect();
        if let Some(pair) = sources.windows(2).find(|pair| pair[0] > pair[1]) {
            return Err(format!(
                "the moves of params must be in the order of the dimensions that they are from; \
                 found {} after {}",
                pair[1], pair[0]
            ));
        }
        let (mut removed, mut appended) = (vec![Vec::new(); rank], vec![Vec::new(); rank]);
        let mut seen = Vec::new();
        for (params, axes) in moves.iter().zip(axes) {
            let mut dimension = |index| {
                let found = int(params, index).unwrap_or(-1);
                let number = usize::try_from(found).ok().filter(|&number| number < rank);
                let Some(number) = number else {
                    return Err(format!(
                        "params has the dimension {found}; it must be from 0 to {}",
                        rank.saturating_sub(1)
                    ));
                };
                if seen.contains(&number) {
                    return Err(format!("params has the dimension {number} twice"));
                }
                seen.push(number);
                Ok(number)
            };
            let (source, target) = (dimension(1)?, dimension(2)?);
            removed[source].clone_from(&axes);
            appended[target] = axes;
        }
        let mut dims = collective.without("params", &removed)?;
        for (dim, axes) in dims.iter_mut().zip(appended) {
            axes.into_iter().for_each(|axis| axis.append(dim));
        }
        collective.require_dims(&dims)
    })
}

pub(super) fn all_reduce(op: OpRef<'_>) -> Verdict {
    verify(op, || {
        let collective = ShardedCollective::of(op, true)?;
        collective.require_same_mesh()?;
        let ShardedCollective { operand, result } = &collective;
        for axis in collective.axes(op, "reduction_axes")? {
            let overlaps = |axes: &[UsedAxis<'_>]| axes.iter().any(|other| other.overlaps(&axis));
            if operand.has_sharded(&axis) || overlaps(&operand.replicated) {
                return Err(format!(
                    "reduction_axes: the operand is sharded or replicated along the axis {axis}"
                ));
            }
            if overlaps(&result.unreduced) {
                return Err(format!("reduction_axes: the result is unreduced along {axis}"));
            }
        }
        collective.require_dims(&operand.dims)?;
        collective.require_transition(None, Some(AllReduceOp(op).reduction_op()))
    })
}

pub(super) fn replicated_to_unreduced(op: OpRef<'_>) -> Verdict {
    verify(op, || {
        let collective = ShardedCollective::of(op, false)?;
        collective.require_same_mesh()?;
        collective.require_sum()?;
        let axes = collective.axes(op, "axes")?;
        if axes.is_empty() {
            return Err("axes must not be empty".into());
        }
        let operand = &collective.operand;
        let overlaps = |axis: &&UsedAxis<'_>| {
            operand.has_sharded(axis) || operand.unreduced.iter().any(|other| other.overlaps(axis))
        };
        if let Some(axis) = axes.iter().find(overlaps) {
            return Err(format!("axes: the operand is sharded or unreduced along the axis {axis}"));
        }
        collective.require_dims(&operand.dims)?;
        collective.require_unreduced(axes)
    })
}

pub(super) fn sharded_to_unreduced(op: OpRef<'_>) -> Verdict {
    verify(op, || {
        let collective = ShardedCollective::of(op, false)?;
        collective.require_same_mesh()?;
        collective.require_sum()?;
        let axes = collective.axes_by_dimension(op, "axes")?;
        collective.require_dims(&collective.without("axes", &axes)?)?;
        collective.require_unreduced(axes.concat())
    })
}

/// Verifies that the shards keep their shape, on a mesh with the same axes.
pub(super) fn collective_permute(op: OpRef<'_>) -> Verdict {
    verify(op, || {
        let ShardedCollective { operand, result } = ShardedCollective::of(op, false)?;
        if operand.axes != result.axes {
            return Err("the meshes of operand and result must have the same axes".into());
        }
        if mesh_of_op(op) != sharding_of(op.module(), op.operand(0)).and_then(|s| mesh_or_ref(s.0))
            && device_ids(operand.mesh) == device_ids(result.mesh)
        {
            return Err(
                "operand and result have different meshes, which must have different device ids"
                    .into(),
            );
        }
        let count = |dim: &Vec<UsedAxis<'_>>| dim.iter().map(UsedAxis::size).product::<i64>();
        let counts = operand.dims.iter().map(count).zip(result.dims.iter().map(count));
        match counts.enumerate().find(|(_, (operand, result))| operand != result) {
            Some((number, (operand, result))) => Err(format!(
                "dimension {number} must have as many shards as that of the operand, {operand}; \
                 found {result}"
            )),
            None => Ok(()),
        }
    })
}

/// The mesh of the result's sharding, or its symbol.
fn mesh_of_op(op: OpRef<'_>) -> Option<&Attribute> {
    mesh_or_ref(op.attr("out_sharding")?)
}

fn device_ids(mesh: &Attribute) -> &[i64] {
    mesh.as_dialect(&MESH).map_or(&[], |params| ints(params, 1))
}

/// Verifies the sharding that an op gives a value, and how it changes the reductions that the value
/// still needs.
pub(super) fn annotation(op: OpRef<'_>) -> Verdict {
    verify_sharding(op)?;
    let module = op.module();
    let mut source = op.operand(0);
    while let ValueDef::Result { op, .. } = module.definition(source) {
        let Some(barrier) = PropagationBarrierOp::cast(module.op(op)) else { break };
        source = barrier.input();
    }
    let check = || {
        let Some((operand, manual)) = sharding_of(module, source) else { return Ok(()) };
        let Some(result) = result_sharding(op) else { return Ok(()) };
        // A sharding without its mesh is an error where it is given.
        let Ok(operand) = CollectiveSharding::of(op, operand, &manual) else { return Ok(()) };
        let result = CollectiveSharding::of(op, result, &[])?;
        let completed = Some(operand.reduction);
        ShardedCollective { operand, result }.require_transition(Some(SUM), completed)
    };
    check().map_err(|message| op.error("sharding", message))
}

/// Verifies that the op blocks something.
pub(super) fn propagation_barrier(op: OpRef<'_>) -> Verdict {
    const BOTH: i64 = 3;
    if PropagationBarrierOp(op).allowed_direction() == BOTH {
        let message = "allowed_direction must be NONE, FORWARD or BACKWARD; BOTH blocks nothing";
        return Err(op.error("sharding", message));
    }
    Ok(())
}
