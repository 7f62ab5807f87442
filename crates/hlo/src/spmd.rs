//! The custom calls by which XLA's partitioner is told where a program changes between whole tensors and the shards of one
//! device, and the text of the shardings that they carry.
//!
//! Source: XLA, "HLO sharding" (`xla/hlo/ir/hlo_sharding.h`), and the programs that JAX exports without Shardy.

use crate::eval;
use crate::ops::CustomCallOp;
use mlir::eval::{EvalEnv, EvalError, EvalResult, RuntimeValue};
use mlir::process::ProcessId;
use mlir::{Attribute, Module, OpRef};
use numerics::Tensor;
use numerics::shape::{StridedView, num_elements};

/// A call that does not change its operand.
pub const SHARDING: &str = "Sharding";
/// A call that gives the shard of each device.
pub const FULL_TO_SHARD: &str = "SPMDFullToShardShape";
/// A call that puts shards together.
pub const SHARD_TO_FULL: &str = "SPMDShardToFullShape";

/// The attribute that holds a sharding.
const ATTRIBUTE: &str = "mhlo.sharding";

/// Whether a module has code for single devices between calls of the partitioner.
pub fn has_manual_shards(module: &Module) -> bool {
    module.walk(module.top().id()).any(|op| matches!(target(op), Some(FULL_TO_SHARD | SHARD_TO_FULL)))
}

fn target(op: OpRef<'_>) -> Option<&str> {
    CustomCallOp::cast(op)?.call_target_name()?.as_str()
}

/// How a tensor is spread over devices.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Sharding {
    /// Each device has all of it, or what it has is its own business.
    Whole,
    /// Each dimension is cut into so many tiles.
    Tiled {
        /// Number of tiles of each dimension.
        tiles: Vec<usize>,
        /// How many devices share each tile.
        copies: usize,
        /// The devices of the tiles, row by row, those of a tile together.
        devices: Vec<usize>,
    },
}

/// Reads `[1,2]`, and what follows.
fn list(text: &str) -> Option<(Vec<usize>, &str)> {
    let (inside, rest) = text.strip_prefix('[')?.split_once(']')?;
    Some((inside.split(',').map(|n| n.trim().parse().ok()).collect::<Option<_>>()?, rest))
}

impl Sharding {
    /// Reads the text of a sharding of a tensor of so many dimensions.
    fn parse(text: &str, rank: usize) -> Option<Sharding> {
        let text = text.trim().strip_prefix('{')?.strip_suffix('}')?.trim();
        if text.starts_with("replicated") || text.starts_with("manual") || text.starts_with("maximal") {
            return Some(Sharding::Whole);
        }
        let (mut tiles, rest) = list(text.strip_prefix("devices=")?)?;
        let count = num_elements(&tiles).filter(|&n| n > 0 && n <= 1 << 20)?;
        let devices = match rest.strip_prefix("<=") {
            Some(iota) => {
                let (shape, rest) = list(iota)?;
                let order = match rest.strip_prefix("T(") {
                    Some(order) => {
                        let order = order.split_once(')')?.0;
                        order.split(',').map(|n| n.trim().parse().ok()).collect::<Option<Vec<usize>>>()?
                    }
                    None => (0..shape.len()).collect(),
                };
                let view = StridedView::dense(&shape).ok()?.permute(&order).ok()?;
                let ids: Vec<i64> = (0..i64::try_from(num_elements(&shape).filter(|&n| n == count)?).ok()?).collect();
                view.gather(&ids).ok()?.into_iter().map(|id| usize::try_from(id).ok()).collect::<Option<Vec<_>>>()?
            }
            None => {
                let ids = rest.split(' ').next().unwrap_or("");
                ids.split(',').map(|n| n.trim().parse().ok()).collect::<Option<Vec<_>>>()?
            }
        };
        // What is beyond the dimensions of the tensor says how the devices of a tile are grouped.
        let copies = num_elements(tiles.get(rank..)?)?;
        tiles.truncate(rank);
        (devices.len() == count).then_some(Sharding::Tiled { tiles, copies, devices })
    }

    /// The sharding that an op carries for its first result.
    fn of(op: OpRef<'_>) -> Result<Sharding, EvalError> {
        let text = op.attr(ATTRIBUTE).and_then(Attribute::as_str).unwrap_or("{replicated}");
        let rank = op.result_type(0).shape().map_or(0, <[i64]>::len);
        Sharding::parse(text, rank)
            .ok_or_else(|| EvalError::new("sharding", format!("the sharding `{text}` cannot be read")))
    }

    /// The coordinates of the tile of a device.
    fn tile(&self, device: usize) -> Option<Vec<usize>> {
        let Sharding::Tiled { tiles, copies, devices } = self else { return None };
        let mut number = devices.iter().position(|&d| d == device)? / copies;
        let mut tile = vec![0; tiles.len()];
        for (coordinate, count) in tile.iter_mut().zip(tiles).rev() {
            *coordinate = number % count;
            number /= count;
        }
        Some(tile)
    }
}

fn no_tile(process: ProcessId) -> EvalError {
    EvalError::new("sharding", format!("the sharding has no tile for process {process}"))
}

/// The shard of this process, of an operand whose sharding the call that made it says.
///
/// # Errors
/// A sharding that cannot be read, or that does not fit the grid or the operand.
pub fn full_to_shard(op: OpRef<'_>, operands: Vec<RuntimeValue>, env: &mut dyn EvalEnv) -> EvalResult {
    let [operand] = eval::tensors(operands)?;
    let made_by = op.operands().first().and_then(|&value| op.module().defining_op(value));
    let sharding = match made_by.filter(|made_by| target(*made_by) == Some(SHARDING)) {
        Some(made_by) => Sharding::of(made_by)?,
        None => Sharding::Whole,
    };
    let Sharding::Tiled { tiles, .. } = &sharding else { return eval::one(operand) };
    let me = env.world()?.process();
    let tile = sharding.tile(me.partition).ok_or_else(|| no_tile(me))?;
    let mut shard = operand;
    for (dimension, (&index, &count)) in tile.iter().zip(tiles).enumerate() {
        shard = eval::collective::part(&shard, dimension, index, count)?;
    }
    eval::fits_result(op, shard.shape())?;
    eval::one(shard)
}

/// The whole tensor of the shards of all partitions, whose sharding the call says.
///
/// # Errors
/// As [`full_to_shard`].
pub fn shard_to_full(op: OpRef<'_>, operands: Vec<RuntimeValue>, env: &mut dyn EvalEnv) -> EvalResult {
    let sharding = Sharding::of(op)?;
    let Sharding::Tiled { tiles, .. } = &sharding else { return Ok(operands) };
    let world = env.world()?;
    let (me, grid) = (world.process(), world.grid());
    let group: Vec<ProcessId> = (0..grid.partitions).map(|partition| ProcessId { partition, ..me }).collect();
    let all = world.exchange(op, &group, 0, operands)?;
    let mut whole: Option<Tensor> = None;
    for (process, values) in group.iter().zip(all.iter()) {
        let shard = values.first().ok_or_else(|| no_tile(*process))?.tensor()?;
        let tile = sharding.tile(process.partition).ok_or_else(|| no_tile(*process))?;
        let shape: Option<Vec<usize>> =
            shard.shape().iter().zip(tiles).map(|(n, count)| n.checked_mul(*count)).collect();
        let shape = shape.ok_or_else(|| EvalError::new("sharding", "the result is too large"))?;
        let start: Vec<usize> = tile.iter().zip(shard.shape()).map(|(index, size)| index * size).collect();
        let view = StridedView::window(&shape, &start, shard.shape(), &vec![1; shape.len()])?;
        let mut result = match whole.take() {
            Some(whole) => whole,
            None => Tensor::zeros(shard.dtype(), &shape)?,
        };
        result.scatter(&view, shard)?;
        whole = Some(result);
    }
    let whole = whole.ok_or_else(|| no_tile(me))?;
    eval::fits_result(op, whole.shape())?;
    eval::one(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shardings_are_read() {
        let tiled = |tiles: &[usize], copies, devices: &[usize]| {
            Some(Sharding::Tiled { tiles: tiles.to_vec(), copies, devices: devices.to_vec() })
        };
        assert_eq!(Sharding::parse("{replicated}", 2), Some(Sharding::Whole));
        assert_eq!(Sharding::parse("{devices=[4,1]<=[4]}", 2), tiled(&[4, 1], 1, &[0, 1, 2, 3]));
        assert_eq!(Sharding::parse("{devices=[2,2]<=[2,2]T(1,0)}", 2), tiled(&[2, 2], 1, &[0, 2, 1, 3]));
        let replicated = Sharding::parse("{devices=[2,1,2]0,2,1,3 last_tile_dim_replicate}", 2);
        assert_eq!(replicated, tiled(&[2, 1], 2, &[0, 2, 1, 3]));
        assert_eq!(replicated.and_then(|sharding| sharding.tile(3)), Some(vec![1, 0]));
        assert_eq!(Sharding::parse("{devices=[3]<=[4]}", 1), None);
        assert_eq!(Sharding::parse("devices", 1), None);
    }
}
