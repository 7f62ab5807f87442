//! The number of processes that programs for several devices need.

use interpreter::Grid;
use mlir::{Attribute, Module};

/// The grid for a program with global inputs and outputs. A program that switches within a function
/// from whole tensors to the shards of one device, by the custom calls of XLA's partitioner, needs
/// a process for each device from the start. All others start with one process; an
/// `sdy.manual_computation` starts more when it is reached.
pub fn grid(module: &Module) -> Grid {
    let count = |name: &str| {
        let count = module.top().attr(name).and_then(Attribute::as_i64);
        count.and_then(|n| usize::try_from(n).ok()).unwrap_or(1).max(1)
    };
    match hlo::spmd::has_manual_shards(module) {
        true => Grid { replicas: 1, partitions: count("mhlo.num_partitions") },
        false => Grid::SINGLE,
    }
}
