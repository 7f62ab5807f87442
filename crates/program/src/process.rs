//! Processes that run a program together: their grid, and what they exchange.
//!
//! Source: StableHLO specification, "Execution", "Parallel execution".

use crate::{EvalError, RuntimeValue};
use std::collections::HashMap;
use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError};

/// Maximum number of live processes, in all grids of a run together.
pub const MAX_PROCESSES: usize = 4096;

/// A process of a grid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProcessId {
    /// The row in the grid.
    pub replica: usize,
    /// The column in the grid.
    pub partition: usize,
}

impl fmt::Display for ProcessId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {})", self.replica, self.partition)
    }
}

/// The size of a grid: numbers of replicas and partitions, both at least 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Grid {
    /// Number of replicas.
    pub replicas: usize,
    /// Number of partitions.
    pub partitions: usize,
}

impl Grid {
    /// A single process.
    pub const SINGLE: Grid = Grid { replicas: 1, partitions: 1 };

    /// Number of processes; `None` if it overflows.
    pub fn size(self) -> Option<usize> {
        self.replicas.checked_mul(self.partitions)
    }

    /// The process with the given number in row-major order: `replica * partitions + partition`.
    pub fn process(self, number: usize) -> Option<ProcessId> {
        let id = ProcessId {
            replica: number.checked_div(self.partitions)?,
            partition: number % self.partitions,
        };
        self.contains(id).then_some(id)
    }

    /// The number of a process of this grid in row-major order.
    pub fn number(self, id: ProcessId) -> Option<usize> {
        self.contains(id).then(|| id.replica * self.partitions + id.partition)
    }

    /// True if the process is in the grid.
    pub fn contains(self, id: ProcessId) -> bool {
        id.replica < self.replicas && id.partition < self.partitions
    }
}

impl fmt::Display for Grid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} x {} (replicas x partitions)", self.replicas, self.partitions)
    }
}

/// A message queue between processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Channel {
    /// Channel id.
    pub id: i64,
    /// Sender and receiver; `None` if messages go through the host, from any process to any.
    pub between: Option<(ProcessId, ProcessId)>,
}

/// The contributions of each process of a group to a rendezvous, in the order of the group, and the
/// results that are the same for all of them, computed once.
#[derive(Default)]
pub struct Exchange {
    contributions: Vec<Vec<RuntimeValue>>,
    shared: Mutex<HashMap<usize, RuntimeValue>>,
}

/// An exchange, shared by the processes of its group.
pub type Contributions = Arc<Exchange>;

impl Exchange {
    /// A rendezvous with one list of values per process.
    pub fn new(contributions: Vec<Vec<RuntimeValue>>) -> Exchange {
        Exchange { contributions, shared: Mutex::default() }
    }

    /// Result `index`, which is the same for all processes: computed by the first that requests it.
    ///
    /// # Errors
    /// Errors of `make`.
    pub fn shared(
        &self,
        index: usize,
        make: impl FnOnce() -> Result<RuntimeValue, EvalError>,
    ) -> Result<RuntimeValue, EvalError> {
        // Not held while the value is made: `make` may wait for other processes.
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
        &self.contributions
    }
}
