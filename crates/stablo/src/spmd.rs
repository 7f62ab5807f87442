//! The number of processes that programs for several devices need.

use interpreter::Grid;
use mlir::Module;

/// The grid for a program with global inputs and outputs. A program that switches within a function
/// from whole tensors to the shards of one device, by custom calls, needs a process for each device
/// from the start. All others start with one process; an `sdy.manual_computation` starts more when
/// it is reached.
pub(crate) fn grid(module: &Module) -> Grid {
    match hlo::spmd::num_partitions(module) {
        Some(partitions) if partitions > 1 => Grid { replicas: 1, partitions },
        _ => Grid::SINGLE,
    }
}
