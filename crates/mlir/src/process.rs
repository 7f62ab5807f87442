//! Processes that run a program together: who they are, how they meet, and what else is outside of
//! a process.
//!
//! Source: StableHLO specification, "Execution", "Parallel execution".

use crate::eval::{EvalEnv, EvalError, EvalResult, RuntimeValue};
use crate::ir::OpRef;
use crate::types::Type;
use numerics::Tensor;
use std::collections::HashMap;
use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError};

/// At most this many processes live at the same time, in all grids of a run together.
pub const MAX_PROCESSES: usize = 4096;

/// A process of a grid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProcessId {
    /// Its row.
    pub replica: usize,
    /// Its column.
    pub partition: usize,
}

impl fmt::Display for ProcessId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {})", self.replica, self.partition)
    }
}

/// Numbers of replicas and partitions; both at least 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Grid {
    /// Number of rows.
    pub replicas: usize,
    /// Number of columns.
    pub partitions: usize,
}

impl Grid {
    /// One process.
    pub const SINGLE: Grid = Grid { replicas: 1, partitions: 1 };

    /// Number of processes, unless it is beyond counting.
    pub fn size(self) -> Option<usize> {
        self.replicas.checked_mul(self.partitions)
    }

    /// The process of that number, counted row by row: `replica * partitions + partition`.
    pub fn process(self, number: usize) -> Option<ProcessId> {
        let id = ProcessId {
            replica: number.checked_div(self.partitions)?,
            partition: number % self.partitions,
        };
        self.contains(id).then_some(id)
    }

    /// The number of a process of this grid, counted row by row.
    pub fn number(self, id: ProcessId) -> Option<usize> {
        self.contains(id).then(|| id.replica * self.partitions + id.partition)
    }

    /// Whether there is such a process.
    pub fn contains(self, id: ProcessId) -> bool {
        id.replica < self.replicas && id.partition < self.partitions
    }
}

impl fmt::Display for Grid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} x {} (replicas x partitions)", self.replicas, self.partitions)
    }
}

/// A queue of messages between processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Channel {
    /// Its number.
    pub id: i64,
    /// Sender and receiver; none if messages go through the host, from anybody to anybody.
    pub between: Option<(ProcessId, ProcessId)>,
}

/// What each process of a group gave to an exchange, in the order of the group; and what they all
/// make of it alike, so that it is made once.
#[derive(Default)]
pub struct Exchange {
    brought: Vec<Vec<RuntimeValue>>,
    shared: Mutex<HashMap<usize, RuntimeValue>>,
}

/// The same exchange for all processes.
pub type Contributions = Arc<Exchange>;

impl Exchange {
    /// An exchange of those values, one list for each process.
    pub fn new(brought: Vec<Vec<RuntimeValue>>) -> Exchange {
        Exchange { brought, shared: Mutex::default() }
    }

    /// Result `index`, which is the same for all processes: made by the first that asks.
    ///
    /// # Errors
    /// Those of `make`.
    pub fn shared(
        &self,
        index: usize,
        make: impl FnOnce() -> Result<RuntimeValue, EvalError>,
    ) -> Result<RuntimeValue, EvalError> {
        // Not held while the value is made: who makes it may wait for others.
        let lock = || self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(value) = lock().get(&index) {
            return Ok(value.clone());
        }
        let value = make()?;
        lock().insert(index, value.clone());
        Ok(value)
    }
}

impl Deref for Exchange {
    type Target = [Vec<RuntimeValue>];

    fn deref(&self) -> &[Vec<RuntimeValue>] {
        &self.brought
    }
}

/// What a process of a new grid does.
#[derive(Clone)]
pub enum Work<'m> {
    /// Calls a function of the symbol table around the op that starts the grid.
    Call {
        /// The name of the function.
        symbol: String,
        /// Its arguments.
        arguments: Vec<RuntimeValue>,
    },
    /// Evaluates an op that uses no values but its operands.
    Eval {
        /// The op.
        op: OpRef<'m>,
        /// Its operands.
        operands: Vec<RuntimeValue>,
    },
}

/// What a custom call of some target does; as the `eval` of an op.
pub type CustomCall =
    Arc<dyn Fn(OpRef<'_>, Vec<RuntimeValue>, &mut dyn EvalEnv) -> EvalResult + Send + Sync>;

/// What is outside of a process: its grid, the feeds, and whoever watches the run.
pub trait World {
    /// The process that evaluates.
    fn process(&self) -> ProcessId;

    /// The grid that it belongs to.
    fn grid(&self) -> Grid;

    /// Meets all processes of `group`, this one among them, at `op`: waits until each of them has
    /// come with the same group and channel, and gives what they brought.
    ///
    /// # Errors
    /// A group that is not one of the grid with this process in it, processes that come with
    /// another op or other types, processes that never come, or whatever stops another process.
    fn exchange(
        &mut self,
        op: OpRef<'_>,
        group: &[ProcessId],
        channel: i64,
        values: Vec<RuntimeValue>,
    ) -> Result<Contributions, EvalError>;

    /// Puts values into a channel and goes on.
    fn send(&mut self, channel: Channel, values: Vec<RuntimeValue>);

    /// Waits for the next values in a channel.
    ///
    /// # Errors
    /// If nobody ever sends, or whatever stops another process.
    fn receive(&mut self, op: OpRef<'_>, channel: Channel) -> EvalResult;

    /// The next values of the infeed of the grid.
    ///
    /// # Errors
    /// If there are no more, or whatever stops the function that makes them.
    fn infeed(&mut self) -> EvalResult;

    /// Gives values to the outfeed.
    ///
    /// # Errors
    /// If whoever reads it cannot take them.
    fn outfeed(&mut self, values: Vec<RuntimeValue>) -> Result<(), EvalError>;

    /// Runs a grid of processes, one for each piece of work, row by row, and returns what each
    /// gives. `infeed` names the functions that make the values of its infeed.
    ///
    /// # Errors
    /// Whatever stops one of the processes.
    fn run_grid(
        &mut self,
        grid: Grid,
        work: Vec<Work<'_>>,
        infeed: Vec<String>,
    ) -> Result<Vec<Vec<RuntimeValue>>, EvalError>;

    /// What the user of this run says that a target of custom calls does.
    fn custom_call(&self, target: &str) -> Option<CustomCall>;

    /// Counts a run of an op with a state of its own, from which it takes so many units: its number
    /// among the ops of that name in the order in which the program is compiled, and how many units
    /// its runs took before, in all processes.
    fn random(&mut self, op: OpRef<'_>, units: u64) -> (usize, u128);

    /// Prints the first operand of an op, which is `tensor`.
    ///
    /// # Errors
    /// If it cannot be written.
    fn print(&mut self, op: OpRef<'_>, tensor: &Tensor) -> Result<(), EvalError>;

    /// Saves a tensor under a name, which may come again.
    ///
    /// # Errors
    /// If it cannot be saved.
    fn probe(&mut self, name: &str, ty: &Type, tensor: &Tensor) -> Result<(), EvalError>;

    /// What was saved under a name the n-th time, counted from 0, and its type.
    ///
    /// # Errors
    /// If there is no such tensor.
    fn probed(&mut self, name: &str, iteration: usize) -> Result<(Type, Tensor), EvalError>;
}
