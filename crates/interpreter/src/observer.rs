//! Observers of a run: they receive its progress, and what the program prints, probes and outfeeds.

use mlir::{OpRef, Type};
use numerics::Tensor;
use program::{ProcessId, RuntimeValue};
use std::ops::ControlFlow;

/// Progress of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Number of ops run by all processes, counting repetitions.
    pub ops: u64,
    /// Number of executed ops of the entry function.
    pub position: usize,
    /// Number of ops of the entry function.
    pub length: usize,
}

/// Observes a run. The processes of a run take turns, so that what an observer sees comes in the
/// same order each time.
///
/// The errors of its methods are messages, and end the run.
pub trait Observer: Send {
    /// Called from time to time; `Break` ends the run.
    fn progress(&mut self, progress: Progress) -> ControlFlow<()> {
        let _ = progress;
        ControlFlow::Continue(())
    }

    /// True if [`Observer::value`] should be called.
    fn traces(&self) -> bool {
        false
    }

    /// Called with each value as soon as it is computed: result `index` of `op` in `process`.
    ///
    /// # Errors
    /// If it cannot be taken.
    fn value(
        &mut self,
        process: ProcessId,
        op: OpRef<'_>,
        index: usize,
        value: &RuntimeValue,
    ) -> Result<(), String> {
        let _ = (process, op, index, value);
        Ok(())
    }

    /// Called with the operand of an `interpreter.print`, which is `op`.
    ///
    /// # Errors
    /// If it cannot be written.
    fn print(&mut self, op: OpRef<'_>, tensor: &Tensor) -> Result<(), String> {
        let _ = (op, tensor);
        Ok(())
    }

    /// Called with each value that an `interpreter.probe` saves.
    ///
    /// # Errors
    /// If it cannot be saved.
    fn probe(&mut self, name: &str, ty: &Type, tensor: &Tensor) -> Result<(), String> {
        let _ = (name, ty, tensor);
        Ok(())
    }

    /// The type, as text, and value of the tensor saved under a name in the given iteration,
    /// counted from 0.
    ///
    /// # Errors
    /// If there is no such tensor.
    fn probed(&mut self, name: &str, iteration: usize) -> Result<(String, Tensor), String> {
        Err(format!(
            "probes are not saved in this run, so there is no iteration {iteration} of `{name}`"
        ))
    }

    /// Called with the operand of a `check.expect_within`, which is `op`.
    ///
    /// # Errors
    /// If it is not within the bounds of the op, or these are not known.
    fn within(&mut self, process: ProcessId, op: OpRef<'_>, tensor: &Tensor) -> Result<(), String> {
        let _ = (process, op, tensor);
        Err("bounds are not derived in this run".to_string())
    }

    /// Called with the values that a process writes to the outfeed.
    ///
    /// # Errors
    /// If it cannot be taken.
    fn outfeed(&mut self, process: ProcessId, values: &[RuntimeValue]) -> Result<(), String> {
        let _ = (process, values);
        Ok(())
    }
}

/// The observer that ignores everything.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unobserved;

impl Observer for Unobserved {}
