//! Blocks: code over small values that are in one memory.
//!
//! Programs of many small tensors spend their time between kernels, not in them. A block has no
//! values, types or steps left, only positions in a memory, so that an op takes nanoseconds.

use crate::passes::emit::Native;
use kernels::Kernel;
use numerics::math::element::integer;
use numerics::math::within::{ALIGNMENT, MemoryKernel, disjoint};
use numerics::math::{SliceKernel, fill};
use numerics::{DType, TensorError};
use program::Origin;
use std::cell::Cell;
use std::ops::Range;
use std::sync::Arc;

/// Code over a memory. Positions are bytes, if nothing else is said.
#[derive(Debug)]
pub(crate) struct CompiledBlock {
    pub(crate) ops: Vec<BlockOp>,
    /// The number of the first op of each step, with the step's origin and the call around it.
    pub(crate) origins: Vec<(u32, Origin, Option<u32>)>,
    /// The ops as machine code.
    pub(crate) native: Option<Native>,
}

/// The most operands of a kernel in a block: `argmax` has its values, their places, and what it
/// begins with.
pub(crate) const MAX_OPERANDS: usize = 4;

/// An op of a block.
#[derive(Debug)]
pub(crate) enum BlockOp {
    /// Elementwise arithmetic.
    Compute {
        kernel: MemoryKernel,
        source: Arc<SliceKernel>,
        result: u32,
        operands: [u32; 3],
        count: u32,
    },
    /// Moves a value that has room for [`ALIGNMENT`] bytes, all of them.
    CopyLine { from: u32, to: u32, bytes: u32 },
    /// Moves bytes.
    Copy { from: u32, to: u32, bytes: u32 },
    /// Repeats an element of `size` bytes.
    Fill { from: u32, size: u32, to: Range<u32> },
    /// Moves elements, which have numbers, to neighbouring places.
    Collect { elements: ElementNumbers, starts: Box<[BlockOffset]>, to: u32 },
    /// Moves neighbouring elements to places, which have numbers.
    Spread { from: u32, elements: ElementNumbers, starts: Box<[BlockOffset]> },
    /// A prepared kernel of `arity` operands.
    Apply {
        kernel: Arc<dyn Kernel>,
        operands: [Range<u32>; MAX_OPERANDS],
        arity: usize,
        result: Range<u32>,
    },
    /// Counts ops of the program.
    Consume(u32),
    /// Goes on at another op.
    Jump(u32),
    /// Goes on at another op if a boolean is false.
    Unless { condition: u32, to: u32 },
    /// Goes on at the op with the number at `index`, or at the last one.
    Switch { index: Range<u32>, targets: Box<[u32]> },
}

/// Elements of the memory by number: the first one has the number 0.
#[derive(Debug)]
pub(crate) struct ElementNumbers {
    /// Their bytes.
    pub size: usize,
    pub numbers: Box<[u32]>,
}

/// A start index along a dimension, which moves elements.
#[derive(Debug)]
pub(crate) struct BlockOffset {
    pub index: Range<u32>,
    pub dtype: DType,
    /// The last index from which the elements fit.
    pub last: usize,
    /// Elements between neighbours along the dimension.
    pub stride: usize,
}

/// Evaluates an expression with a type alias bound to a plain type of some bytes.
macro_rules! with_storage {
    ($size:expr, $S:ident => $body:expr) => {
        with_storage!(@arms $size, $S, $body, 1 => u8, 2 => u16, 4 => u32, 8 => u64, 16 => [u64; 2])
    };
    (@arms $size:expr, $S:ident, $body:expr, $($bytes:literal => $ty:ty),*) => {
        match $size {
            $($bytes => {
                type $S = $ty;
                $body
            })*
            _ => Err(TensorError::OutOfBounds),
        }
    };
}

/// The ops that a run may still execute.
pub(crate) trait Fuel {
    /// The reason for the end of a run.
    type Error: From<TensorError>;

    /// Counts ops of the program that are executed next.
    ///
    /// # Errors
    /// If the run has to end.
    fn consume(&mut self, ops: u64) -> Result<(), Self::Error>;

    /// The number of ops that may run before [`Fuel::consume`] has to be called again.
    fn allowance(&self) -> u64;
}

impl CompiledBlock {
    /// Runs the code.
    ///
    /// # Errors
    /// If `fuel` fails, or there is no memory for copies. The number is that of the op.
    pub(crate) fn run<T: Fuel>(
        &self,
        memory: &mut [u8],
        fuel: &mut T,
    ) -> Result<(), (usize, T::Error)> {
        if let Some(native) = &self.native
            && let Some(done) = native.run(self, memory, fuel)
        {
            return done;
        }
        let mut next = 0;
        while let Some(op) = self.ops.get(next) {
            let number = next;
            next += 1;
            match op {
                BlockOp::Consume(ops) => {
                    fuel.consume(u64::from(*ops)).map_err(|error| (number, error))?
                }
                BlockOp::Jump(to) => next = *to as usize,
                BlockOp::Unless { condition, to } => {
                    if memory[*condition as usize] == 0 {
                        next = *to as usize;
                    }
                }
                BlockOp::Switch { index, targets } => {
                    let number = branch(&memory[range(index)]);
                    let target = number.and_then(|number| targets.get(number)).or(targets.last());
                    next = target.map_or(next, |&target| target as usize);
                }
                _ => op.apply(memory).map_err(|error| (number, error.into()))?,
            }
        }
        Ok(())
    }

    /// The origin of the step that an op belongs to, and the call around it.
    pub(crate) fn origin(&self, op: usize) -> Option<(Origin, Option<u32>)> {
        let before = self.origins.partition_point(|&(first, ..)| first as usize <= op);
        let &(_, origin, call) = self.origins.get(before.checked_sub(1)?)?;
        Some((origin, call))
    }
}

impl BlockOp {
    /// Changes the memory; ops that choose what runs next do not.
    ///
    /// # Errors
    /// If there is no memory for copies.
    pub(crate) fn apply(&self, memory: &mut [u8]) -> Result<(), TensorError> {
        match self {
            BlockOp::Compute { kernel, result, operands, count, .. } => {
                let operands = operands.map(|operand| operand as usize);
                kernel
                    .run(memory, *result as usize, operands, *count as usize)
                    .ok_or(TensorError::OutOfBounds)
            }
            BlockOp::CopyLine { from, to, .. } => {
                let (from, to) = (*from as usize, *to as usize);
                let mut line = [0; ALIGNMENT];
                line.copy_from_slice(&memory[from..from + ALIGNMENT]);
                memory[to..to + ALIGNMENT].copy_from_slice(&line);
                Ok(())
            }
            BlockOp::Copy { from, to, bytes } => {
                let from = *from as usize;
                memory.copy_within(from..from + *bytes as usize, *to as usize);
                Ok(())
            }
            BlockOp::Fill { from, size, to } => {
                memory.copy_within(range(&(*from..from + size)), to.start as usize);
                let to = &mut memory[range(to)];
                let (element, rest) = to.split_at_mut(*size as usize);
                fill(rest, element);
                Ok(())
            }
            BlockOp::Collect { elements, starts, to } => collect(memory, elements, starts, *to),
            BlockOp::Spread { from, elements, starts } => spread(memory, *from, elements, starts),
            BlockOp::Apply { kernel, operands, arity, result } => {
                let operands = operands.each_ref().map(range);
                match disjoint(memory, range(result), operands, *arity) {
                    Some((result, operands)) => kernel.run(&operands[..*arity], &mut [result]),
                    None => Err(TensorError::OutOfBounds),
                }
            }
            BlockOp::Consume(_)
            | BlockOp::Jump(_)
            | BlockOp::Unless { .. }
            | BlockOp::Switch { .. } => Ok(()),
        }
    }
}

impl ElementNumbers {
    /// The bytes that elements may be at, if they follow start indices.
    pub(crate) fn range(&self, starts: &[BlockOffset]) -> Range<u32> {
        let (first, last) = (self.numbers.iter().min(), self.numbers.iter().max());
        let (first, last) = (first.map_or(0, |&n| n as usize), last.map_or(0, |&n| n as usize + 1));
        let moved: usize = starts.iter().map(|start| start.last * start.stride).sum();
        // Within the memory.
        (first * self.size) as u32..((last + moved) * self.size) as u32
    }
}

/// The number of the branch that a boolean or a 32-bit number chooses.
pub(crate) fn branch(index: &[u8]) -> Option<usize> {
    match index {
        [byte] => Some(usize::from(*byte == 0)),
        _ => usize::try_from(i32::from_ne_bytes(index.try_into().ok()?)).ok(),
    }
}

fn range(range: &Range<u32>) -> Range<usize> {
    range.start as usize..range.end as usize
}

fn collect(
    memory: &mut [u8],
    elements: &ElementNumbers,
    starts: &[BlockOffset],
    to: u32,
) -> Result<(), TensorError> {
    let offset = offset(memory, starts)?;
    with_storage!(elements.size, S => {
        let memory = Cell::from_mut(cast::<S>(memory)?).as_slice_of_cells();
        let from = &memory[offset..];
        let to = &memory[to as usize / elements.size..][..elements.numbers.len()];
        for (to, &number) in to.iter().zip(&elements.numbers) {
            to.set(from[number as usize].get());
        }
        Ok(())
    })
}

fn spread(
    memory: &mut [u8],
    from: u32,
    elements: &ElementNumbers,
    starts: &[BlockOffset],
) -> Result<(), TensorError> {
    let offset = offset(memory, starts)?;
    with_storage!(elements.size, S => {
        let memory = Cell::from_mut(cast::<S>(memory)?).as_slice_of_cells();
        let from = &memory[from as usize / elements.size..][..elements.numbers.len()];
        let to = &memory[offset..];
        for (from, &number) in from.iter().zip(&elements.numbers) {
            to[number as usize].set(from.get());
        }
        Ok(())
    })
}

fn cast<T: bytemuck::Pod>(memory: &mut [u8]) -> Result<&mut [T], TensorError> {
    bytemuck::try_cast_slice_mut(memory).map_err(|_| TensorError::OutOfBounds)
}

/// The elements before a part with start indices.
fn offset(memory: &[u8], starts: &[BlockOffset]) -> Result<usize, TensorError> {
    starts.iter().try_fold(0, |offset, start| {
        let index = clamped(start.dtype, &memory[range(&start.index)], start.last);
        Ok(offset + index.ok_or(TensorError::OutOfBounds)? * start.stride)
    })
}

/// The index in the bytes of an integer, moved into the range up to `last`.
pub(crate) fn clamped(dtype: DType, index: &[u8], last: usize) -> Option<usize> {
    Some(usize::try_from(integer(dtype, index)?).unwrap_or(0).min(last))
}
