//! Row loops: loops, reductions, products and convolutions over the same rows, some at a time.
//!
//! Values of some rows are in the cache when the next kernel reads them, and stored only if they
//! are results; and threads divide the rows once. Each kernel has the bits that it has
//! alone.

use crate::LoopOutput;
use crate::fused::Registers;
use crate::kernel::{RowOperand, RowWise};
use crate::parallel::task_size;
use numerics::TensorError;
use numerics::math::AlignedBytes;
use smallvec::SmallVec;
use std::ops::Range;

/// The operands and results of the kernels of a row loop.
#[derive(Debug)]
pub struct RowLoop {
    /// Number of rows.
    pub rows: usize,
    /// A multiple of this many rows is computed at a time, or all,
    pub unit: usize,
    /// Of many rows, at least this many are computed at a time.
    pub least: usize,
    /// For each kernel, in order.
    pub parts: Vec<RowPart>,
    /// The values that they compute.
    pub values: Vec<RowValue>,
    /// The results.
    pub outputs: Vec<LoopOutput>,
    /// The bytes of a row of each place: of the results, and then of memory for other values.
    pub places: Vec<usize>,
}

/// The operands and results of a kernel.
#[derive(Debug)]
pub struct RowPart {
    /// The operands.
    pub operands: SmallVec<[RowSource; 4]>,
    /// The numbers of the values that are its results.
    pub results: SmallVec<[usize; 1]>,
}

/// An operand of a kernel.
#[derive(Clone, Copy, Debug)]
pub enum RowSource {
    /// An operand of the row loop, as a whole.
    Operand(usize),
    /// The current rows of a value that a kernel before computes.
    Value(usize),
}

/// A value of a row loop.
#[derive(Clone, Copy, Debug)]
pub struct RowValue {
    /// The bytes of a row.
    pub row_bytes: usize,
    /// The number of its place.
    pub place: usize,
}

/// A kernel of a row loop.
#[derive(Clone, Copy, Debug)]
pub struct RowKernel<'a> {
    /// The kernel.
    pub kernel: &'a dyn RowWise,
    /// Its second operand as [`Kernel::prepack`](crate::Kernel::prepack) has ordered it, if it has.
    pub prepacked: Option<&'a [u8]>,
}

impl RowLoop {
    /// Number of rows that are computed at a time, of `count`.
    fn block(&self, count: usize) -> usize {
        let bytes = self.places.iter().sum::<usize>().max(1);
        // Half of the second-level cache: with fewer rows, what it takes to begin with a kernel
        // outweighs what a nearer cache saves. Twice the cache where products need many rows.
        let near = host::machine().l2.bytes;
        let least = self.least.min(2 * near / bytes);
        let rows = (near / 2 / bytes).max(least).max(1).next_multiple_of(self.unit);
        // Parts of about the same size.
        let parts = count.div_ceil(rows).max(1);
        count.div_ceil(parts).next_multiple_of(self.unit).min(count)
    }
}

/// Runs kernels on the bytes of operands, and writes the bytes of results.
///
/// # Errors
/// If these are not the operands and results that the row loop and its kernels were made for.
pub fn run(
    rows: &RowLoop,
    kernels: &[RowKernel<'_>],
    operands: &[&[u8]],
    outputs: SmallVec<[&mut [u8]; 2]>,
    registers: &mut Registers,
) -> Result<(), TensorError> {
    let sizes = rows.places.get(..outputs.len()).ok_or(TensorError::OutOfBounds)?;
    let fits =
        |(bytes, &size): (&&mut [u8], &usize)| size.checked_mul(rows.rows) == Some(bytes.len());
    if !outputs.iter().zip(sizes).all(fits) || kernels.len() != rows.parts.len() {
        return Err(TensorError::OutOfBounds);
    }
    let mut whole = RowGroup { rows, kernels, operands, start: 0, count: rows.rows, outputs };
    let work = kernels.iter().map(|kernel| kernel.kernel.work()).fold(0, usize::saturating_add);
    let size = task_size(rows.rows, work / rows.rows, rows.unit);
    // A task for each thread if that leaves few rows to each: see `least`.
    let share = rows.rows.div_ceil(host::workers()).min(rows.least);
    let size = size.max(share.next_multiple_of(rows.unit));
    if size >= rows.rows {
        return whole.run(registers);
    }
    host::parallel(whole.split(size, sizes), |mut part| {
        Registers::of_task(|registers| part.run(registers))
    })
}

/// Neighbouring rows.
struct RowGroup<'a, 'o> {
    rows: &'a RowLoop,
    kernels: &'a [RowKernel<'a>],
    operands: &'a [&'a [u8]],
    start: usize,
    count: usize,
    /// The bytes of these rows of each result.
    outputs: SmallVec<[&'o mut [u8]; 2]>,
}

impl<'a, 'o> RowGroup<'a, 'o> {
    /// The rows in parts of `size`, but for the last one. A row of each result has these `bytes`.
    fn split(mut self, size: usize, bytes: &[usize]) -> Vec<RowGroup<'a, 'o>> {
        let mut parts = Vec::new();
        while self.count > size {
            let head = bytes.iter().zip(&mut self.outputs).map(|(bytes, rest)| {
                let (head, tail) = std::mem::take(rest).split_at_mut(size * bytes);
                *rest = tail;
                head
            });
            let outputs = head.collect();
            parts.push(RowGroup { count: size, outputs, ..self });
            self.start += size;
            self.count -= size;
        }
        parts.push(self);
        parts
    }

    /// Runs the kernels on some rows after the others.
    fn run(&mut self, registers: &mut Registers) -> Result<(), TensorError> {
        let block = self.rows.block(self.count);
        let mut results = std::mem::take(&mut self.outputs);
        let mut memory = std::mem::take(&mut registers.rows);
        let rooms = &self.rows.places[results.len()..];
        memory.resize_with(memory.len().max(rooms.len()), AlignedBytes::default);
        for (row, memory) in rooms.iter().zip(&mut memory) {
            if memory.len() < block * row {
                *memory = AlignedBytes::zeros(block * row);
            }
        }
        for start in (0..self.count).step_by(block) {
            let count = block.min(self.count - start);
            let mut places: SmallVec<[&mut [u8]; 8]> = SmallVec::new();
            for (result, bytes) in results.iter_mut().zip(&self.rows.places) {
                places.push(&mut result[start * bytes..][..count * bytes]);
            }
            places.extend(memory.iter_mut().take(rooms.len()).map(|memory| &mut memory[..]));
            for (part, kernel) in self.rows.parts.iter().zip(self.kernels) {
                let rows = self.start + start..self.start + start + count;
                self.run_kernel(*kernel, part, rows, &mut places, registers)?;
            }
        }
        registers.rows = memory;
        self.outputs = results;
        Ok(())
    }

    /// Runs a kernel on some rows of the values in `places`.
    fn run_kernel<'v>(
        &self,
        kernel: RowKernel<'_>,
        part: &RowPart,
        rows: Range<usize>,
        places: &mut [&'v mut [u8]],
        registers: &mut Registers,
    ) -> Result<(), TensorError> {
        let bytes = |value: usize| rows.len() * self.rows.values[value].row_bytes;
        // The places of results are taken while operands are read.
        let place = |value: usize| self.rows.values[value].place;
        let taken = part.results.iter().map(|&value| std::mem::take(&mut places[place(value)]));
        let mut taken: SmallVec<[&'v mut [u8]; 2]> = taken.collect();
        let results = taken.iter_mut().zip(&part.results);
        let mut results: SmallVec<[&mut [u8]; 2]> =
            results.map(|(place, &value)| &mut place[..bytes(value)]).collect();
        let part_of = |value: usize| &places[place(value)][..bytes(value)];
        let source = |source: &RowSource| match *source {
            RowSource::Operand(operand) => {
                RowOperand { bytes: self.operands[operand], is_part: false }
            }
            RowSource::Value(value) => RowOperand { bytes: part_of(value), is_part: true },
        };
        let operands: SmallVec<[RowOperand<'_>; 6]> = part.operands.iter().map(source).collect();
        let (all, RowKernel { kernel, prepacked }) = (self.rows.rows, kernel);
        kernel.run_rows(all, rows, &operands, prepacked, &mut results, registers)?;
        drop((operands, results));
        for (&value, taken) in part.results.iter().zip(taken) {
            places[place(value)] = taken;
        }
        Ok(())
    }
}
