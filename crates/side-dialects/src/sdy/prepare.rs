//! The meaning of the ops of the dialect. Values outside of manual computations are global tensors,
//! on which pure sharding annotations have no effect.

use super::attrs::{mesh_or_ref, shardings};
use super::mesh::Mesh;
use super::ops::{ConstantOp, ManualComputationOp, NamedComputationOp};
use super::shards::{ShardCut, Shards, invalid};
use mlir::prepare::{Prepared, Preparer, native, native_with_env};
use mlir::{Diagnostic, OpRef, RegionId, Type};
use program::primitives;
use program::{
    BlockId, EvalError, EvalResult, Evaluator, Grid, MAX_PROCESSES, Origin, Primitive,
    RuntimeValue, Task,
};

/// The values themselves.
pub(super) fn identity(_: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    Ok(Primitive::Identity)
}

/// Nothing: there are no results.
pub(super) fn nothing(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    native(op, |_| Ok(Vec::new()))
}

pub(super) fn constant(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    let tensor = ConstantOp(op).value().to_tensor().transpose()?;
    let tensor = tensor.ok_or_else(|| EvalError::new("attribute", "the constant has no value"))?;
    Ok(Primitive::Constant(primitives::Constant { tensor }))
}

/// As if it were inlined.
pub(super) fn named_computation(op: OpRef<'_>, cx: &mut Preparer<'_>) -> Prepared {
    Ok(Primitive::Block(primitives::Block { block: cx.block(NamedComputationOp(op).body())? }))
}

/// The values that a manual computation takes and gives.
struct Manual {
    inputs: Shards,
    outputs: Shards,
    /// True if it fails where devices would have other values of one result.
    checks_copies: bool,
}

/// The attribute of a manual computation that fails, with [`COPIES_DIFFER`] as the label, where it
/// runs for all devices and these would not have the same values: one process cannot go on with
/// the values of each.
#[doc(hidden)]
pub const CHECK_COPIES: &str = "stablo.check_copies";
/// The label of errors of manual computations that have [`CHECK_COPIES`].
#[doc(hidden)]
pub const COPIES_DIFFER: &str = "copies_differ";

impl Manual {
    /// Resolves the mesh and the shardings of an op. `None` if it has no values to cut.
    fn of(view: ManualComputationOp<'_>) -> Result<Option<Manual>, EvalError> {
        let (inputs, outputs) = (shardings(view.in_shardings()), shardings(view.out_shardings()));
        let Some(mesh_or_ref) = inputs.iter().chain(outputs).find_map(mesh_or_ref) else {
            return Ok(None);
        };
        let mesh = Mesh::resolve(*view, mesh_or_ref).ok_or_else(|| invalid("mesh"))?;
        let shards = |shardings| Shards::new(mesh.clone(), view.manual_axes(), shardings);
        let checks_copies = view.attr(CHECK_COPIES).is_some();
        Ok(Some(Manual { inputs: shards(inputs)?, outputs: shards(outputs)?, checks_copies }))
    }
}

/// The types of the body's arguments for the operands of a manual computation. `None` if the mesh
/// or a sharding cannot be resolved.
///
/// # Errors
/// If a dimension cannot be split into equal shards.
pub fn shard_types(view: ManualComputationOp<'_>) -> Result<Option<Vec<Type>>, Diagnostic> {
    let Ok(Some(manual)) = Manual::of(view) else { return Ok(None) };
    let shard = |(operand, (ty, cut)): (usize, (&Type, &ShardCut))| {
        cut.resized(ty, |axis, size, count| match size % count {
            0 => Ok(size / count),
            _ => Err(view.error(
                "manual_computation",
                format!(
                    "dimension {axis} of operand {operand}, of size {size}, cannot be split into \
                     {count} equal shards"
                ),
            )),
        })
    };
    view.operand_types()
        .zip(&manual.inputs.cuts)
        .enumerate()
        .map(shard)
        .collect::<Result<_, _>>()
        .map(Some)
}

/// The types of the results of a manual computation for what its body returns.
pub(super) fn whole_types(op: OpRef<'_>) -> Option<Vec<Type>> {
    let view = ManualComputationOp(op);
    let manual = Manual::of(view).ok()??;
    let returned = returned_types(op, view.body())?;
    let whole = |(ty, cut): (&Type, &ShardCut)| {
        cut.resized(ty, |_, size, count| size.checked_mul(count).ok_or(())).ok()
    };
    returned.iter().zip(&manual.outputs.cuts).map(whole).collect()
}

/// The types that the body of an op returns.
pub(super) fn returned_types(op: OpRef<'_>, body: RegionId) -> Option<Vec<Type>> {
    let module = op.module();
    let terminator = module.terminator(module.entry(body)?)?;
    Some(terminator.operand_types().cloned().collect())
}

/// Cuts the operands into shards, runs the body on those of this process, and puts the shards of
/// the results together. Where there is one process only, this starts one for each device of the
/// mesh.
pub(super) fn manual_computation(op: OpRef<'_>, cx: &mut Preparer<'_>) -> Prepared {
    let view = ManualComputationOp(op);
    let body = cx.block(view.body())?;
    let Some(manual) = Manual::of(view)? else {
        // Without values there is nothing to cut.
        return Ok(Primitive::Block(primitives::Block { block: body }));
    };
    native_with_env(op, move |origin, operands, env| manual.run(body, origin, operands, env))
}

impl Manual {
    fn run(
        &self,
        body: BlockId,
        origin: Origin,
        operands: Vec<RuntimeValue>,
        env: &mut dyn Evaluator,
    ) -> EvalResult {
        let devices = self.inputs.num_devices();
        let world = env.process_context()?;
        if devices > MAX_PROCESSES {
            let message = format!(
                "the mesh has {devices} devices, but at most {MAX_PROCESSES} processes can run"
            );
            return Err(EvalError::new("manual_computation", message));
        }
        if world.grid() == Grid::SINGLE && devices > 1 {
            let grid = Grid { replicas: 1, partitions: devices };
            let work = vec![Task::Instruction { origin, operands }; devices];
            let mut results = world.run_grid(grid, work, Vec::new())?.into_iter();
            // All processes have the whole results.
            let first = results.next().unwrap_or_default();
            if self.checks_copies && !results.all(|other| other == first) {
                let message = "the devices have different values of a result that is stated to be \
                               the same on all of them";
                return Err(EvalError::new(COPIES_DIFFER, message));
            }
            return Ok(first);
        }
        let shards = self.inputs.split(operands, env)?;
        let results = env.block(body, shards)?;
        self.outputs.join(origin, results, env)
    }
}
