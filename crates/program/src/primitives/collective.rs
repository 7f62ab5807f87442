//! Collective operations as plain data: groups of processes, and the operation on their
//! contributions.
//!
//! Source: specification, "Parallel execution" and the sections of the ops.

use super::{Blocks, Effects, Kind, Operation};
use crate::work::{BodyWork, Shapes, Work};
use crate::{Body, EvalError, Grid, ProcessId, UniformQuantization};
use numerics::DType;
use numerics::shape::StridedView;
use std::sync::Arc;

/// The interpretation of lists of ids as groups of processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// Ids of replicas; within one partition.
    CrossReplica,
    /// Ids of partitions; within one replica.
    CrossPartition,
    /// Ids of replicas, each with all its partitions.
    CrossReplicaAndPartition,
    /// Numbers of processes, counted row by row.
    FlattenedIds,
}

impl Strategy {
    /// The id of a process.
    pub fn id(self, me: ProcessId, grid: Grid) -> usize {
        match self {
            Strategy::CrossReplica | Strategy::CrossReplicaAndPartition => me.replica,
            Strategy::CrossPartition => me.partition,
            Strategy::FlattenedIds => grid.number(me).unwrap_or_default(),
        }
    }

    /// Number of ids.
    pub fn count(self, grid: Grid) -> usize {
        match self {
            Strategy::CrossReplica | Strategy::CrossReplicaAndPartition => grid.replicas,
            Strategy::CrossPartition => grid.partitions,
            Strategy::FlattenedIds => grid.size().unwrap_or_default(),
        }
    }

    /// The processes that a list of ids means to the process `me`.
    ///
    /// # Errors
    /// An id that is out of range.
    pub fn processes(
        self,
        ids: &[usize],
        me: ProcessId,
        grid: Grid,
    ) -> Result<Vec<ProcessId>, EvalError> {
        if let Some(id) = ids.iter().find(|&&id| id >= self.count(grid)) {
            let what = match self {
                Strategy::CrossReplica | Strategy::CrossReplicaAndPartition => "replica",
                Strategy::CrossPartition => "partition",
                Strategy::FlattenedIds => "process",
            };
            let message = format!("there is no {what} {id}: the program runs on a grid of {grid}");
            return Err(EvalError::new("process_group", message));
        }
        let one = |&id: &usize| match self {
            Strategy::CrossPartition => ProcessId { partition: id, ..me },
            Strategy::FlattenedIds => grid.process(id).unwrap_or_default(),
            _ => ProcessId { replica: id, ..me },
        };
        Ok(match self {
            Strategy::CrossReplicaAndPartition => (0..grid.partitions)
                .flat_map(|partition| {
                    ids.iter().map(move |&replica| ProcessId { replica, partition })
                })
                .collect(),
            _ => ids.iter().map(one).collect(),
        })
    }
}

/// Sources and targets of messages: pairs of ids.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pairs {
    /// The interpretation of ids.
    pub strategy: Strategy,
    /// Each source with its target.
    pub ids: Vec<[usize; 2]>,
}

impl Pairs {
    /// The pairs of processes, as the process `me` sees them.
    ///
    /// # Errors
    /// A process that does not exist.
    pub fn processes(
        &self,
        me: ProcessId,
        grid: Grid,
    ) -> Result<Vec<(ProcessId, ProcessId)>, EvalError> {
        let processes = self.strategy.processes(self.ids.as_flattened(), me, grid)?;
        Ok(processes.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect())
    }
}

/// The zeros of a result type, for processes that receive nothing.
#[derive(Clone, Debug, PartialEq)]
pub enum Zeros {
    /// Zeros of an element type.
    Plain(DType),
    /// The storage values that express zero.
    Quantized(Arc<UniformQuantization>),
}

/// A collective op of groups of processes.
#[derive(Clone, Debug, PartialEq)]
pub struct Collective {
    /// The operation on the contributions.
    pub kind: CollectiveKind,
    /// The interpretation of ids.
    pub strategy: Strategy,
    /// The groups of ids; if all are empty, one group of all ids.
    pub groups: Vec<Vec<usize>>,
    /// The channel id; 0 for none.
    pub channel: i64,
    /// Zeros of the result types.
    pub zeros: Vec<Zeros>,
}

/// The operation on the contributions of a group.
#[derive(Clone, Debug, PartialEq)]
pub enum CollectiveKind {
    /// All contributions, concatenated along a dimension.
    Gather {
        /// The dimension.
        dimension: usize,
    },
    /// The elementwise reduction of all contributions.
    Reduce(Body),
    /// The elementwise sum of all contributions.
    Sum,
    /// The part of each contribution that belongs to this process, concatenated.
    AllToAll {
        /// The dimension that is split.
        split: usize,
        /// The dimension along which parts are concatenated.
        concat: usize,
        /// Number of parts.
        count: usize,
    },
    /// The part of the elementwise reduction that belongs to this process.
    ReduceScatter {
        /// The dimension that is split.
        dimension: usize,
        /// The reduction.
        computation: Body,
    },
    /// The contribution of the root.
    Broadcast {
        /// True if the last operand names the root of each result, else it is the first process.
        dynamic_root: bool,
    },
    /// The elementwise reduction, for the root only; zeros for the others.
    ReduceToRoot {
        /// As of a broadcast.
        dynamic_root: bool,
        /// The reduction.
        computation: Body,
    },
}

impl Operation for Collective {
    fn kind(&self) -> Kind {
        Kind::Kernel
    }

    fn effects(&self) -> Effects {
        Effects::External
    }

    fn blocks(&self) -> Blocks {
        use CollectiveKind::{Reduce, ReduceScatter, ReduceToRoot};
        match &self.kind {
            Reduce(body)
            | ReduceScatter { computation: body, .. }
            | ReduceToRoot { computation: body, .. } => Blocks::from_slice(&[body.callee]),
            CollectiveKind::Gather { .. }
            | CollectiveKind::Sum
            | CollectiveKind::AllToAll { .. }
            | CollectiveKind::Broadcast { .. } => Blocks::new(),
        }
    }

    fn is_arithmetic(&self) -> bool {
        false
    }

    fn is_by_element(&self) -> bool {
        false
    }

    fn as_view(&self, _: &StridedView) -> Option<StridedView> {
        None
    }

    fn arithmetic(&self, shapes: &Shapes<'_>, body: BodyWork<'_>) -> Option<Work> {
        let each = match &self.kind {
            CollectiveKind::Reduce(own)
            | CollectiveKind::ReduceScatter { computation: own, .. }
            | CollectiveKind::ReduceToRoot { computation: own, .. } => own.once(body),
            CollectiveKind::Sum => Work::operations(1),
            CollectiveKind::Gather { .. }
            | CollectiveKind::AllToAll { .. }
            | CollectiveKind::Broadcast { .. } => Work::NONE,
        };
        Some(each.times(shapes.operand(0)))
    }

    fn bytes(&self, shapes: &Shapes<'_>) -> u64 {
        shapes.all_bytes()
    }
}
