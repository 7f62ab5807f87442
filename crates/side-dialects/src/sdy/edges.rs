//! Edges of propagation: the data flow edges of a program, and the record of how shardings
//! propagated along an op.

use super::attrs::{AXIS_REF, AXIS_TO_PROPAGATION_DETAILS, EDGE_VALUE_REF, int, list, text_of};
use super::attrs::{EDGE_NODE_TYPE, PROPAGATION_EDGES, PROPAGATION_ONE_STEP};
use super::axes::mesh_axes;
use super::collectives::sharding_of;
use super::computations::common_mesh;
use super::ops::{DataFlowEdgeOp, FuncDataFlowEdgeOp, ManualComputationOp, NamedComputationOp};
use super::sharding::{shape_of, verify_sharding};
use crate::func::{CallOp, FuncOp};
use mlir::ir::ValueDef;
use mlir::ods::Params;
use mlir::types::DYNAMIC;
use mlir::{Attribute, BlockId, Module, OpRef, Value, Verdict};
use std::collections::BTreeMap;

/// The label of the checks of recorded edges.
const LABEL: &str = "propagation_edges";

/// An operand or a result of an op, as an edge refers to it.
#[derive(Clone, Copy, PartialEq, Eq)]
struct EdgePlace {
    is_result: bool,
    index: i64,
}

impl EdgePlace {
    fn of(attr: &Attribute) -> Option<EdgePlace> {
        let params = attr.as_dialect(&EDGE_VALUE_REF)?;
        let is_result = params.first()?.as_ref()?.as_enum(&EDGE_NODE_TYPE)? == 1;
        Some(EdgePlace { is_result, index: int(params, 1)? })
    }

    fn kind(self) -> &'static str {
        if self.is_result { "result" } else { "operand" }
    }

    /// The value that it refers to.
    fn value(self, op: OpRef<'_>) -> Option<Value> {
        let index = usize::try_from(self.index).ok()?;
        if self.is_result { op.results().nth(index) } else { op.operands().get(index).copied() }
    }
}

/// The source of a record for one axis, and its targets.
fn places(entry: &Params) -> impl Iterator<Item = EdgePlace> {
    let source = entry.get(1).and_then(Option::as_ref);
    source.into_iter().chain(list(entry, 2)).filter_map(EdgePlace::of)
}

/// The steps of a record.
fn steps(params: &Params) -> impl Iterator<Item = &Params> {
    list(params, 0).iter().filter_map(|s| s.as_dialect(&PROPAGATION_ONE_STEP))
}

/// The axes of a step.
fn entries(step: &Params) -> impl Iterator<Item = &Params> {
    let entries = list(step, 1).iter();
    entries.filter_map(|e| e.as_dialect(&AXIS_TO_PROPAGATION_DETAILS))
}

/// The name of the axis of an entry.
fn axis_name(entry: &Params) -> &str {
    let axis = entry.first().and_then(Option::as_ref).and_then(|axis| axis.as_dialect(&AXIS_REF));
    axis.map_or("", |axis| text_of(axis, 0))
}

/// Checks that steps have distinct numbers and that each target is another value.
pub(super) fn params(params: &Params) -> Result<(), String> {
    let mut seen = Vec::new();
    for step in steps(params) {
        let number = int(step, 0).unwrap_or(0);
        if number < 0 {
            return Err(format!("the step {number} is negative"));
        }
        if seen.contains(&number) {
            return Err(format!("there are two steps {number}"));
        }
        seen.push(number);
        for entry in entries(step) {
            let places: Vec<EdgePlace> = places(entry).collect();
            let twice = places.iter().enumerate().find(|(i, place)| places[..*i].contains(place));
            if let Some((_, place)) = twice {
                return Err(format!(
                    "step {number}, axis \"{}\": the source and the targets must differ, but \
                     {}-{} is there twice",
                    axis_name(entry),
                    place.kind(),
                    place.index
                ));
            }
        }
    }
    Ok(())
}

/// Checks `sdy.propagation_edges` on an op.
pub(super) fn verify(op: OpRef<'_>, name: &str, attr: &Attribute) -> Verdict {
    let Some(params) = attr.as_dialect(&PROPAGATION_EDGES) else {
        let message = format!("`{name}` must be a #sdy.propagation_edges, found {attr:.80}");
        return Err(op.error(LABEL, message));
    };
    check(op, params).map_err(|message| op.error(LABEL, message))
}

fn check(op: OpRef<'_>, params: &Params) -> Result<(), String> {
    let entries: Vec<&Params> = steps(params).flat_map(entries).collect();
    let values = entries.iter().flat_map(|entry| places(entry)).filter_map(|p| p.value(op));
    let shardings: Vec<_> =
        values.filter_map(|value| Some(sharding_of(op.module(), value)?.0)).collect();
    if shardings.is_empty() {
        return Err("the edges must refer to a value with a sharding; found none".into());
    }
    let mesh = common_mesh(op, &shardings)?;
    let axes = mesh_axes(mesh);
    for entry in entries {
        let axis = axis_name(entry);
        if !axes.iter().any(|(name, _)| *name == axis) {
            return Err(format!("the mesh {mesh} has no axis \"{axis}\""));
        }
        if FuncDataFlowEdgeOp::cast(op).is_some() {
            continue;
        }
        for place in places(entry) {
            if place.value(op).is_none() {
                let count = if place.is_result { op.num_results() } else { op.operands().len() };
                let (kind, index) = (place.kind(), place.index);
                return Err(format!("{kind}-{index} must be one of the {count} {kind}s of the op"));
            }
        }
    }
    Ok(())
}

/// Checks that an attribute is a list of records.
pub(super) fn verify_list(op: OpRef<'_>, name: &str, attr: &Attribute) -> Verdict {
    let is_list = attr
        .as_array()
        .is_some_and(|edges| edges.iter().all(|e| e.as_dialect(&PROPAGATION_EDGES).is_some()));
    if is_list {
        return Ok(());
    }
    let message = format!("`{name}` must be a list of #sdy.propagation_edges, found {attr:.80}");
    Err(op.error(LABEL, message))
}

/// Verifies that the operand is a value with a static shape that has no other use.
fn verify_edge(op: OpRef<'_>) -> Verdict {
    let ty = op.result_type(0);
    if shape_of(ty).is_none_or(|shape| shape.contains(&DYNAMIC)) {
        return Err(
            op.error("sharding", format!("the result must have a static shape, found {ty}"))
        );
    }
    // One pass over the block for all of its edges, by the last one.
    let mut later = std::iter::successors(op.next_in_block(), |op| op.next_in_block());
    match op.block() {
        Some(block) if !later.any(is_edge) => check_single_uses(op.module(), block),
        _ => Ok(()),
    }
}

fn is_edge(op: OpRef<'_>) -> bool {
    DataFlowEdgeOp::cast(op).is_some() || FuncDataFlowEdgeOp::cast(op).is_some()
}

/// Checks that the operands of the edges of a block have no other uses.
fn check_single_uses(module: &Module, block: BlockId) -> Verdict {
    let edges: Vec<OpRef<'_>> = module.ops(block).filter(|op| is_edge(*op)).collect();
    // All uses are within the block of the definition, which is nearly always that of the edges.
    let mut scopes: BTreeMap<BlockId, BTreeMap<Value, usize>> = BTreeMap::new();
    for edge in &edges {
        let scope = match module.definition(edge.operand(0)) {
            ValueDef::Result { op, .. } => module.op(op).block(),
            ValueDef::Argument { block, .. } => Some(block),
        };
        if let Some(scope) = scope {
            scopes.entry(scope).or_default().insert(edge.operand(0), 0);
        }
    }
    for (scope, uses) in &mut scopes {
        for user in module.ops(*scope).flat_map(|op| module.walk(op.id())) {
            for operand in user.operands() {
                uses.entry(*operand).and_modify(|count| *count += 1);
            }
        }
    }
    let is_shared = |edge: &&OpRef<'_>| {
        scopes.values().any(|uses| uses.get(&edge.operand(0)).is_some_and(|&count| count > 1))
    };
    match edges.iter().find(is_shared) {
        Some(edge) => Err(edge.error("sharding", "the operand must have no other use")),
        None => Ok(()),
    }
}

/// Verifies that an op of this dialect, whose sharding the edge would hide, does not define the
/// operand.
pub(super) fn data_flow_edge(op: OpRef<'_>) -> Verdict {
    verify_edge(op)?;
    if let ValueDef::Result { op: source, .. } = op.module().definition(op.operand(0)) {
        let source = op.module().op(source);
        let has_edges = NamedComputationOp::cast(source).is_some()
            || ManualComputationOp::cast(source).is_some();
        if !has_edges && source.def().is_some_and(|def| def.dialect() == "sdy") {
            let message = format!(
                "the operand must be no result of an op of sdy other than named_computation and \
                 manual_computation; found {}",
                source.name()
            );
            return Err(op.error("sharding", message));
        }
    }
    verify_sharding(op)
}

/// Verifies that the operand is an argument of a function or a result of a call.
pub(super) fn func_data_flow_edge(op: OpRef<'_>) -> Verdict {
    verify_edge(op)?;
    let module = op.module();
    let (owner, is_allowed) = match module.definition(op.operand(0)) {
        ValueDef::Result { op, .. } => {
            let owner = module.op(op);
            (Some(owner), CallOp::cast(owner).is_some())
        }
        ValueDef::Argument { block, .. } => {
            let owner = module.block_parent(block).and_then(|region| module.region_parent(region));
            let owner = owner.map(|owner| module.op(owner));
            (owner, owner.and_then(FuncOp::cast).is_some())
        }
    };
    if is_allowed {
        return Ok(());
    }
    let found = owner.map_or("a block without op".to_string(), |owner| owner.name().to_string());
    Err(op.error(
        "sharding",
        format!(
            "the operand must be an argument of a function or a result of a call; it belongs to \
             {found}"
        ),
    ))
}
