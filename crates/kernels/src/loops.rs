//! Fused loops: several elementwise operations over one index.
//!
//! A loop has values: first those that it loads, then one for each operation. It runs on tiles, a
//! few thousand elements at a time, so that values which nothing else uses never leave the cache.

use codegen::LoopCode;
use numerics::DType;
use numerics::math::SliceKernel;
use numerics::shape::{Runs, Sizes};
use smallvec::SmallVec;
use std::sync::Arc;

/// A loop over elements, without dependencies between them.
#[derive(Debug)]
pub struct Fused {
    /// Number of iterations: the elements of each result.
    pub elements: usize,
    /// Values read from memory.
    pub loads: Vec<Load>,
    /// Operations, each after the ones whose values it uses.
    pub ops: Vec<LoopOp>,
    /// The results.
    pub outputs: Vec<LoopOutput>,
    /// The number of iterations after which periodic loads have the same elements again; of whole
    /// steps of machine code if possible.
    pub period: usize,
    /// The number of iterations in a row, in which loads of rows have the same element.
    pub row: usize,
    /// The operations in order,
    pub layout: Layout,
    /// and with machine code in place of some of them, if there is some.
    pub code: Option<Layout>,
}

/// The stages of a loop, which run on a tile in order.
#[derive(Debug, Default)]
pub struct Layout {
    /// The stages in order.
    pub stages: Vec<Stage>,
    /// The place of a tile of each value.
    pub places: Vec<TilePlace>,
    /// The bytes of an element of each register.
    pub registers: Vec<usize>,
    /// True if code reads one element of loads of rows, so that no tile is in two rows.
    pub is_by_rows: bool,
}

/// One or more operations that run together.
#[derive(Debug)]
pub enum Stage {
    /// The operation with this number.
    Op(usize),
    /// Machine code.
    Code {
        /// The code of some operations.
        code: LoopCode,
        /// The values that it reads, except the known ones,
        inputs: Vec<usize>,
        /// and those that it writes.
        results: Vec<usize>,
    },
}

impl Fused {
    /// The work of all iterations, in elementary operations: an operation counts as a rough mean of
    /// additions and of functions such as exponentials.
    pub fn work(&self) -> usize {
        self.elements.saturating_mul(self.ops.len()).saturating_mul(8)
    }

    /// The layout with which the loop runs: that with machine code, if this is ready.
    pub fn layout(&self) -> &Layout {
        let is_ready = |layout: &&Layout| {
            layout.stages.iter().all(|stage| match stage {
                Stage::Op(_) => true,
                Stage::Code { code, .. } => code.is_ready(),
            })
        };
        self.code.as_ref().filter(is_ready).unwrap_or(&self.layout)
    }
}

/// A value that a loop reads from memory.
#[derive(Debug)]
pub struct Load {
    /// The number of the operand that has the elements.
    pub operand: usize,
    /// Their type.
    pub dtype: DType,
    /// Which of them belongs to each iteration; `None` for all in order.
    pub view: Option<Runs>,
    /// True if it is the same one in each iteration.
    pub repeats: bool,
    /// True if it is the same one again after [`Fused::period`] iterations.
    pub is_periodic: bool,
    /// True if it is the same one in each row of [`Fused::row`] iterations.
    pub is_of_rows: bool,
    /// The bits of the element, if it is that of a constant.
    pub constant: Option<u64>,
    /// Number of elements of the operand.
    pub source_elements: usize,
}

/// An elementwise operation in a loop.
#[derive(Debug)]
pub struct LoopOp {
    /// Its name, for listings.
    pub name: &'static str,
    /// The loop over a tile.
    pub kernel: Arc<SliceKernel>,
    /// The values that it uses, by number.
    pub operands: SmallVec<[usize; 3]>,
}

/// The memory of a tile of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TilePlace {
    /// None: the value is within machine code.
    Inner,
    /// A part of what is loaded, which is never copied.
    Source,
    /// The element of what is loaded that all iterations share, or all of a row, for machine code.
    Element,
    /// A register: memory for one tile, which several values use in turn. An operation whose only
    /// operand is in the register of its result overwrites it.
    Register(usize),
    /// A part of a result.
    Output(usize),
}

/// A result of a loop.
#[derive(Debug)]
pub struct LoopOutput {
    /// The element type.
    pub dtype: DType,
    /// The shape.
    pub shape: Sizes,
}
