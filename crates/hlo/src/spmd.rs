//! The custom calls that mark, for XLA's partitioner, the transitions between whole tensors and the
//! shards of one device.
//!
//! Source: XLA, "HLO sharding" (`xla/hlo/ir/hlo_sharding.h`), and the programs that JAX exports
//! without Shardy.

use crate::custom_calls::shardy;
use crate::ops::CustomCallOp;
use crate::sharding::Sharding;
use mlir::attrs::{AttrKind, Attribute};
use mlir::ir::ValueDef;
use mlir::prepare::{Prepared, Preparer, native, native_with_env};
use mlir::types::DYNAMIC;
use mlir::{Module, OpRef, Type, Value};
use numerics::Tensor;
use numerics::shape::StridedView;
use program::{EvalError, Primitive, ProcessId, operands};
use side_dialects::func::FuncOp;

/// A call that returns its operand.
pub const SHARDING: &str = "Sharding";
/// A call that returns the shard of this device.
pub const FULL_TO_SHARD: &str = "SPMDFullToShardShape";
/// A call that assembles the shards.
pub const SHARD_TO_FULL: &str = "SPMDShardToFullShape";

/// The attribute with a sharding.
const ATTRIBUTE: &str = "mhlo.sharding";

/// The number of devices that a module needs from the start: it has code for single devices between
/// calls of the partitioner. `None` if it has none, or their number is unknown.
pub fn num_partitions(module: &Module) -> Option<usize> {
    use shardy::{GLOBAL_TO_LOCAL, LOCAL_TO_GLOBAL};
    let op = module.walk(module.top().id()).find(|op| {
        let switches = [FULL_TO_SHARD, SHARD_TO_FULL, GLOBAL_TO_LOCAL, LOCAL_TO_GLOBAL];
        target(*op).is_some_and(|target| switches.contains(&target))
    })?;
    let stated = module.top().attr("mhlo.num_partitions").and_then(Attribute::as_i64);
    let of_meshes = || {
        let meshes = shardy::meshes(op).unwrap_or_default();
        meshes.iter().map(|(_, mesh)| mesh.num_devices()).max()
    };
    stated.and_then(|n| usize::try_from(n).ok()).or_else(of_meshes)
}

fn target(op: OpRef<'_>) -> Option<&str> {
    Some(CustomCallOp::cast(op)?.call_target_name())
}

/// The sharding that an attribute states for value `index` of several, of type `ty`.
fn read(attribute: &Attribute, index: usize, ty: &Type) -> Result<Sharding, EvalError> {
    let sharding = match &**attribute {
        AttrKind::String { value, .. } => {
            Sharding::read(value, index, ty.shape().map_or(0, <[i64]>::len))
        }
        _ => None,
    };
    sharding.ok_or_else(|| {
        EvalError::new("sharding", format!("the sharding {attribute} cannot be read"))
    })
}

/// The sharding of a value, from the op or the function's argument that defines it.
fn sharding_of(module: &Module, value: Value) -> Result<Option<Sharding>, EvalError> {
    let (attribute, index) = match module.definition(value) {
        ValueDef::Result { op, index } => (module.op(op).attr(ATTRIBUTE), index),
        ValueDef::Argument { block, index } => {
            let region = module.block_parent(block);
            let parent = region.and_then(|region| module.region_parent(region));
            let parent = parent.map(|op| module.op(op));
            match parent.and_then(FuncOp::cast) {
                Some(function) => {
                    let own = function.arg_attrs().and_then(|all| all.get(index as usize));
                    (own.and_then(|own| own.as_dictionary()?.get(ATTRIBUTE)), 0)
                }
                // The values that a loop carries are its results.
                None => (parent.and_then(|op| op.attr(ATTRIBUTE)), index),
            }
        }
    };
    attribute.map(|attribute| read(attribute, index as usize, module.ty(value))).transpose()
}

/// A sharding between a whole tensor and its shards, with the number of shards of each dimension:
/// the number of tiles, unless several adjacent tiles make a shard as they are only split in code
/// for all devices.
struct Split {
    sharding: Sharding,
    tiles: Vec<usize>,
    counts: Vec<usize>,
}

impl Split {
    /// The split that a sharding means between values of these types. `None` if there is nothing
    /// to split.
    fn new(sharding: Sharding, whole: &Type, shard: &Type) -> Result<Option<Split>, EvalError> {
        let Sharding::Tiled { tiles, .. } = &sharding else { return Ok(None) };
        let (Some(from), Some(to)) = (whole.shape(), shard.shape()) else { return Ok(None) };
        let count = |((&from, &to), &tiles): ((&i64, &i64), &usize)| {
            if from == DYNAMIC || to == DYNAMIC || (from == 0 && to == 0) {
                return Some(tiles);
            }
            let count = usize::try_from(from.checked_div(to)?).ok()?;
            let is_even = from.checked_rem(to) == Some(0) && tiles.checked_rem(count) == Some(0);
            is_even.then_some(count)
        };
        let counts: Option<Vec<usize>> = from.iter().zip(to).zip(tiles).map(count).collect();
        let counts = counts.filter(|_| from.len() == to.len()).ok_or_else(|| {
            let message =
                format!("{tiles:?} tiles of {whole} cannot be equal shards of type {shard}");
            EvalError::new("sharding", message)
        })?;
        Ok(Some(Split { tiles: tiles.clone(), counts, sharding }))
    }

    /// The coordinates of the shard of a process.
    fn place(&self, process: ProcessId) -> Result<Vec<usize>, EvalError> {
        let tile = self.sharding.tile(process.partition).ok_or_else(|| no_tile(process))?;
        // Counts divide the numbers of tiles.
        let sizes = self.tiles.iter().zip(&self.counts).map(|(tiles, count)| tiles / count);
        Ok(tile.iter().zip(sizes).map(|(index, size)| index / size).collect())
    }
}

fn no_tile(process: ProcessId) -> EvalError {
    EvalError::new("sharding", format!("the sharding has no tile for process {process}"))
}

/// The operands; the call only annotates them. Their shapes may follow as further operands.
pub fn annotation(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    let count = op.num_results();
    if op.operands().len() == count {
        return Ok(Primitive::Identity);
    }
    native(op, move |mut operands| {
        operands.truncate(count);
        Ok(operands)
    })
}

/// This process's shard of an operand, which has a sharding.
///
/// # Errors
/// A sharding that is missing, cannot be read, or does not fit the grid or the operand.
pub fn full_to_shard(op: OpRef<'_>, cx: &mut Preparer<'_>) -> Prepared {
    let (whole, shard) = types(op)?;
    let sharding = match op.operands().first() {
        Some(&value) => sharding_of(op.module(), value)?,
        None => None,
    };
    let Some(sharding) = sharding else {
        if whole == shard || is_dynamic(whole) || is_dynamic(shard) {
            return annotation(op, cx);
        }
        let message = format!(
            "the operand of {FULL_TO_SHARD} must have a sharding: the result of type {shard} is a \
             part of it, which has type {whole}"
        );
        return Err(EvalError::new("sharding", message));
    };
    let Some(split) = Split::new(sharding, whole, shard)? else { return annotation(op, cx) };
    native_with_env(op, move |_, operands, env| {
        // The shape of the shard may follow as an operand.
        let mut operands = operands::tensor_list(operands)?.into_iter();
        let operand = operands.next().ok_or_else(|| EvalError::new("sharding", "no operand"))?;
        let place = split.place(env.process_context()?.process())?;
        let mut shard = operand;
        for (dimension, (&index, &count)) in place.iter().zip(&split.counts).enumerate() {
            shard = operands::part(&shard, dimension, index, count)?;
        }
        Ok(vec![shard.into()])
    })
}

/// True if a size is not known.
fn is_dynamic(ty: &Type) -> bool {
    ty.shape().is_none_or(|shape| shape.contains(&DYNAMIC))
}

/// The types of the first operand and of the result.
fn types(op: OpRef<'_>) -> Result<(&Type, &Type), EvalError> {
    match (op.operand_types().next(), op.result_types().next()) {
        (Some(operand), Some(result)) => Ok((operand, result)),
        _ => Err(EvalError::new("sharding", "the call must have an operand and a result")),
    }
}

/// The whole tensor assembled from the shards of all partitions; the call has its sharding.
///
/// # Errors
/// As [`full_to_shard`].
pub fn shard_to_full(op: OpRef<'_>, cx: &mut Preparer<'_>) -> Prepared {
    let (shard, whole) = types(op)?;
    let Some(sharding) = sharding_of(op.module(), op.result(0))? else { return annotation(op, cx) };
    let Some(split) = Split::new(sharding, whole, shard)? else { return annotation(op, cx) };
    native_with_env(op, move |origin, operands, env| {
        let world = env.process_context()?;
        let (me, grid) = (world.process(), world.grid());
        let group: Vec<ProcessId> =
            (0..grid.partitions).map(|partition| ProcessId { partition, ..me }).collect();
        let all = world.exchange(origin, &group, 0, operands)?;
        let mut whole: Option<Tensor> = None;
        for (process, values) in group.iter().zip(all.iter()) {
            let shard = values.first().ok_or_else(|| no_tile(*process))?.tensor()?;
            let place = split.place(*process)?;
            let counts = &split.counts;
            let shape: Option<Vec<usize>> =
                shard.shape().iter().zip(counts).map(|(n, count)| n.checked_mul(*count)).collect();
            let shape =
                shape.ok_or_else(|| EvalError::new("sharding", "the result is too large"))?;
            let start: Vec<usize> =
                place.iter().zip(shard.shape()).map(|(index, size)| index * size).collect();
            let view = StridedView::window(&shape, &start, shard.shape(), &vec![1; shape.len()])?;
            let mut result = match whole.take() {
                Some(whole) => whole,
                None => Tensor::zeros(shard.dtype(), &shape)?,
            };
            result.scatter(&view, shard)?;
            whole = Some(result);
        }
        Ok(vec![whole.ok_or_else(|| no_tile(me))?.into()])
    })
}
