//! The interfaces between primitives and the executor that runs them.

use crate::{
    BlockId, Channel, Contributions, EvalError, EvalResult, FunctionId, Grid, Origin, ProcessId,
    RuntimeValue,
};
use numerics::Tensor;

/// Runs the blocks and functions of primitives.
pub trait Evaluator {
    /// Runs a block on `args` and returns its results. The block sees the values around it.
    ///
    /// # Errors
    /// Errors of the instructions of the block.
    fn block(&mut self, block: BlockId, args: Vec<RuntimeValue>) -> EvalResult;

    /// Runs a block whose arguments are scalars once for each of `n` positions, on vectors of shape
    /// `[n]` (or scalars, the same at each position); the results have shape `[n]`. One pass if the
    /// block is vectorizable, else `n` runs.
    ///
    /// # Errors
    /// Errors of the instructions of the block.
    fn scalar_block(
        &mut self,
        block: BlockId,
        n: usize,
        args: Vec<Tensor>,
    ) -> Result<Vec<Tensor>, EvalError>;

    /// Calls a function.
    ///
    /// # Errors
    /// Errors of the instructions of the function.
    fn call(&mut self, function: FunctionId, args: Vec<RuntimeValue>) -> EvalResult;

    /// The semantics of ops where compilers differ from the specification.
    fn conventions(&self) -> Conventions {
        Conventions::Specification
    }

    /// The environment of the process that evaluates.
    ///
    /// # Errors
    /// If it has none, as when ops are folded.
    fn process_context(&mut self) -> Result<&mut dyn ProcessContext, EvalError> {
        Err(EvalError::new(
            "process",
            "this op acts on its surroundings, which only a run of the program has",
        ))
    }
}

/// Semantics where the specification and a compiler differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Conventions {
    /// The semantics of the specification.
    #[default]
    Specification,
    /// The semantics of XLA on CPUs, as far as it is known to differ: `reduce_window` leaves
    /// padding out instead of combining initial values for it; `scatter` skips windows that are
    /// partly outside as a whole; arithmetic on `f32` and `f64` takes and gives subnormal numbers
    /// as zeros of their sign.
    Xla,
}

/// An environment without blocks, functions and surroundings, for folding.
pub struct NoEvaluator;

impl NoEvaluator {
    fn refuse<T>() -> Result<T, EvalError> {
        Err(EvalError::new("evaluate", "ops with regions or calls are not evaluated"))
    }
}

impl Evaluator for NoEvaluator {
    fn block(&mut self, _: BlockId, _: Vec<RuntimeValue>) -> EvalResult {
        NoEvaluator::refuse()
    }

    fn scalar_block(
        &mut self,
        _: BlockId,
        _: usize,
        _: Vec<Tensor>,
    ) -> Result<Vec<Tensor>, EvalError> {
        NoEvaluator::refuse()
    }

    fn call(&mut self, _: FunctionId, _: Vec<RuntimeValue>) -> EvalResult {
        NoEvaluator::refuse()
    }
}

/// The task of one process of a new grid.
#[derive(Clone, Debug)]
pub enum Task {
    /// Calls a function.
    Call {
        /// The function.
        function: FunctionId,
        /// Its arguments.
        arguments: Vec<RuntimeValue>,
    },
    /// Evaluates the instruction that was prepared from an op and that uses no values but its
    /// operands.
    Instruction {
        /// The op.
        origin: Origin,
        /// The operands.
        operands: Vec<RuntimeValue>,
    },
}

/// The environment of a process: its grid, the feeds, and the observer of the run. `origin` is the
/// requesting op.
pub trait ProcessContext {
    /// The process that evaluates.
    fn process(&self) -> ProcessId;

    /// The grid that it belongs to.
    fn grid(&self) -> Grid;

    /// Rendezvous with all processes of `group`, including this one: waits until each has arrived
    /// with the same op, group and channel, and returns the contributions of all.
    ///
    /// # Errors
    /// If the group is not part of the grid or lacks this process, if processes arrive with another
    /// op or other types or never arrive, or if another process fails.
    fn exchange(
        &mut self,
        origin: Origin,
        group: &[ProcessId],
        channel: i64,
        values: Vec<RuntimeValue>,
    ) -> Result<Contributions, EvalError>;

    /// Puts values into a channel, without waiting.
    fn send(&mut self, channel: Channel, values: Vec<RuntimeValue>);

    /// Waits for the next values in a channel.
    ///
    /// # Errors
    /// On deadlock, or if another process fails.
    fn receive(&mut self, origin: Origin, channel: Channel) -> EvalResult;

    /// The next values of the grid's infeed.
    ///
    /// # Errors
    /// If it is empty, or the function that produces them fails.
    fn infeed(&mut self) -> EvalResult;

    /// Writes values to the outfeed.
    ///
    /// # Errors
    /// If the observer cannot take them.
    fn outfeed(&mut self, values: Vec<RuntimeValue>) -> Result<(), EvalError>;

    /// Runs a grid of processes, one for each task, row by row, and returns the results of
    /// each. `infeed` has the functions that make the values of its infeed.
    ///
    /// # Errors
    /// Errors of the processes.
    fn run_grid(
        &mut self,
        grid: Grid,
        tasks: Vec<Task>,
        infeed: Vec<FunctionId>,
    ) -> Result<Vec<Vec<RuntimeValue>>, EvalError>;

    /// Advances the counter of random numbers of an op by `units`, and returns its value before.
    /// The runs of the op in all processes share the counter.
    fn advance_random(&mut self, origin: Origin, units: u64) -> u128;

    /// Prints a tensor, the first operand of the op.
    ///
    /// # Errors
    /// If it cannot be written.
    fn print(&mut self, origin: Origin, tensor: &Tensor) -> Result<(), EvalError>;

    /// Saves a tensor, the first operand of the op, under a name that may be used repeatedly.
    ///
    /// # Errors
    /// If it cannot be saved.
    fn probe(&mut self, origin: Origin, name: &str, tensor: &Tensor) -> Result<(), EvalError>;

    /// The tensor saved under a name in the given iteration, counted from 0, and its type as text.
    ///
    /// # Errors
    /// If there is no such tensor.
    fn probed(&mut self, name: &str, iteration: usize) -> Result<(String, Tensor), EvalError>;

    /// Compares a tensor, the first operand of the op, with bounds that are derived from the
    /// program and its inputs.
    ///
    /// # Errors
    /// If an element is outside, it cannot be decided, or bounds are not derived in this run.
    fn within(&mut self, origin: Origin, tensor: &Tensor) -> Result<(), EvalError>;
}
