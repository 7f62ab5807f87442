//! Plans: steps over values that have storage.

use kernels::row_loops::RowLoop;
use kernels::{Fused, Kernel, LoopOutput, RowWise};
use numerics::shape::Runs;
use numerics::{DType, Tensor};
use program::{FunctionId, Origin, Primitive, Slot, ValueType};
use smallvec::SmallVec;
use std::sync::Arc;

use crate::block::CompiledBlock;
pub(crate) use crate::graph::Value;

/// A function as steps, calls inlined.
#[derive(Debug)]
pub(crate) struct Plan {
    /// The arguments.
    pub arguments: Vec<Value>,
    /// The steps and results.
    pub body: Sequence,
    /// The storage of each value.
    pub storage: Vec<Storage>,
    /// The type of each value.
    pub types: Vec<Arc<ValueType>>,
    /// Values that are always the same.
    pub constants: Vec<Tensor>,
    /// The bytes of the arena, which holds small values.
    pub arena_bytes: usize,
    /// The initial contents of the arena: positions and bytes of constants.
    pub initial: Vec<(usize, Vec<u8>)>,
    /// Number of slots.
    pub slots: usize,
    /// Number of operands that may be prepacked.
    pub prepacked: usize,
    /// True if machine code is made.
    pub makes_code: bool,
    /// True if no step calls a function, waits for another process or runs code of others, so that
    /// a run nests no deeper than its steps and fits the stack of its caller.
    pub is_flat: bool,
    /// The calls around inlined steps: the op of each, and the call around it.
    pub calls: Vec<(Origin, Option<u32>)>,
}

/// The memory of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Storage {
    /// The value is not stored.
    Unstored,
    /// A constant.
    Constant(u32),
    /// A part of the arena, which lasts from run to run.
    Arena {
        /// Where it starts.
        at: u32,
        /// Its bytes.
        bytes: u32,
    },
    /// A slot: any value, with separate memory.
    Slot(u32),
}

/// Steps in order, with results.
#[derive(Debug)]
pub(crate) struct Sequence {
    /// The steps.
    pub steps: Vec<Step>,
    /// Transfers of the results; the results of a plan stay where they are.
    pub results: Vec<Transfer>,
    /// Slots to empty after that; before storage is assigned, the values that end there.
    pub dead: Vec<u32>,
}

/// A value that becomes another one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transfer {
    /// The value.
    pub from: Value,
    /// The value that it becomes.
    pub to: Value,
    /// How.
    pub mode: TransferMode,
    /// True if the types differ, so that the value has to be checked.
    pub is_checked: bool,
}

/// How a value becomes another one. All that are staged or copied are so before any is moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TransferMode {
    /// It is the same value.
    Stay,
    /// It is needed nowhere else.
    Move,
    /// It stays.
    Copy,
    /// It stays, and another transfer may overwrite it before.
    Stage,
}

/// One step.
#[derive(Debug)]
pub(crate) struct Step {
    /// The operation.
    pub op: StepOp,
    /// Slots to empty after that; before storage is assigned, the values that end there.
    pub dead: SmallVec<[u32; 2]>,
    /// Number of ops that it stands for.
    pub op_count: u32,
    /// The instructions that it computes; a block has them in its steps.
    pub instructions: SmallVec<[u32; 1]>,
    /// The op at which errors are reported.
    pub origin: Origin,
    /// The innermost inlined call around it.
    pub call: Option<u32>,
}

impl StepOp {
    /// The operation as a kernel of rows, if it is one.
    pub(crate) fn row_wise(&self) -> Option<&dyn RowWise> {
        match self {
            StepOp::Loop { fused, .. } => Some(&**fused),
            StepOp::Apply { kernel, .. } => kernel.row_wise(),
            StepOp::Rows { .. }
            | StepOp::Move { .. }
            | StepOp::Kernel { .. }
            | StepOp::While { .. }
            | StepOp::Block { .. }
            | StepOp::Branch { .. } => None,
        }
    }
}

/// Elements that are moved.
#[derive(Debug)]
pub(crate) struct CopyRegion {
    /// The memory that they are in.
    pub operand: Value,
    /// How many they are.
    pub elements: usize,
    /// Which they are; `None` for all in order.
    pub read: Option<Runs>,
    /// Where they go; `None` for all places in order.
    pub write: Option<Runs>,
    /// By how much the first element that is read is moved.
    pub read_from: Vec<DynamicOffset>,
    /// By how much the first place is moved.
    pub write_to: Vec<DynamicOffset>,
}

/// A start index along a dimension, known at run time.
#[derive(Debug)]
pub(crate) struct DynamicOffset {
    /// The index.
    pub index: Value,
    /// Its type.
    pub dtype: DType,
    /// The last index from which the part fits.
    pub last: usize,
    /// Elements between neighbours along the dimension.
    pub stride: usize,
}

/// Values that blocks use from around them.
#[derive(Debug)]
pub(crate) struct Captures {
    /// The function whose frame the blocks use.
    pub function: FunctionId,
    /// Slots of the frame and the values in them.
    pub values: Vec<(Slot, Value)>,
}

/// The operation of a step.
#[derive(Debug)]
pub(crate) enum StepOp {
    /// A fused loop.
    Loop {
        /// The loop.
        fused: Box<Fused>,
        /// Its operands.
        operands: Vec<Value>,
        /// Its results.
        outputs: SmallVec<[Value; 1]>,
    },
    /// Loops and reductions over the same rows, some rows at a time.
    Rows {
        /// The loops and reductions.
        steps: Vec<Step>,
        /// Their operands and results.
        rows: Box<RowLoop>,
        /// The operands.
        operands: Vec<Value>,
        /// The results; other values of the steps are nowhere.
        outputs: SmallVec<[Value; 1]>,
    },
    /// Movement of elements.
    Move {
        /// The operands, each with where its elements go.
        parts: Vec<CopyRegion>,
        /// The element around them.
        fill: Option<Value>,
        /// The result.
        output: Value,
        /// Its type.
        ty: LoopOutput,
    },
    /// A prepared kernel.
    Apply {
        /// The kernel.
        kernel: Arc<dyn Kernel>,
        /// The operands.
        operands: SmallVec<[Value; 3]>,
        /// The result.
        output: Value,
        /// Its type.
        ty: LoopOutput,
        /// If the second operand is mostly the same one in all runs, and worth prepacking: its
        /// number among these operands.
        prepacked: Option<u32>,
    },
    /// The kernel of a primitive.
    Kernel {
        /// The primitive.
        primitive: Arc<Primitive>,
        /// Its operands; true for the last use of a value.
        operands: SmallVec<[(Value, bool); 2]>,
        /// Its results.
        results: SmallVec<[Value; 1]>,
        /// Types of the results.
        types: SmallVec<[Arc<ValueType>; 1]>,
        /// A lower bound of the bytes by which the results exceed the operands.
        growth: usize,
        /// If it may run blocks: the values that these use from around them.
        captures: Option<Captures>,
    },
    /// A loop with a condition.
    While {
        /// The initial values.
        initial: Vec<Transfer>,
        /// The steps of the condition.
        cond: Sequence,
        /// The condition.
        condition: Value,
        /// The steps of the body; its results are the next values.
        body: Sequence,
    },
    /// Steps over small values, as one.
    Block {
        /// The steps.
        steps: Vec<Step>,
        /// The code that runs instead of them.
        block: CompiledBlock,
    },
    /// One of several branches.
    Branch {
        /// A boolean, or the number of the branch; others choose the last one.
        index: Value,
        /// The branches; of two for a boolean, the first is that for `true`.
        branches: Vec<Sequence>,
    },
}
