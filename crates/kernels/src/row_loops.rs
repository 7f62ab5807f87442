//! Row loops: loops, reductions, products and convolutions over the same rows, some at a time.
//!
//! Values of some rows are in the cache when the next kernel reads them, and stored only if they
//! are results; and threads divide the rows once. Each kernel has the bits that it has on its own.

use crate::contract::Dot;
use crate::convolution::PreparedConvolution;
use crate::fused::{Chunk, Registers, Source};
use crate::parallel::task_size;
use crate::reduce::Reduction;
use numerics::TensorError;
use numerics::math::AlignedBytes;
use program::{Fused, Load, LoopOutput};
use smallvec::SmallVec;
use std::ops::Range;

/// Bytes of the rows that are computed at a time: half of a second-level cache. With fewer, what it
/// takes to begin with a kernel outweighs what a nearer cache saves.
const BLOCK_BYTES: usize = 512 << 10;
/// The same where products need many rows.
const MAX_BLOCK_BYTES: usize = 2 << 20;

/// The operands and results of the kernels of a row loop.
#[derive(Debug)]
pub struct RowLoop {
    /// Number of rows.
    pub rows: usize,
    /// A multiple of so many rows is computed at a time, or all,
    pub unit: usize,
    /// and of many rows no fewer than these.
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
pub enum RowKernel<'a> {
    /// A loop over all elements of the rows, or over an element for each row.
    Loop(&'a Fused),
    /// Reductions of equal parts of each row.
    Reduce(&'a Reduction),
    /// Products for each row, with the right factor as [`Dot::pack`] has ordered it, if it has.
    Dot(&'a Dot, Option<&'a [u8]>),
    /// A window for each row, with the kernel as [`PreparedConvolution::pack`] has ordered it, if
    /// it has.
    Convolution(&'a PreparedConvolution, Option<&'a [u8]>),
}

impl<'a> RowKernel<'a> {
    /// Its work on all rows, in elementary operations: a rough estimate.
    pub fn work(&self) -> usize {
        match self {
            RowKernel::Loop(fused) => fused.work(),
            RowKernel::Reduce(reduction) => {
                reduction.results().saturating_mul(reduction.count()).saturating_mul(2)
            }
            RowKernel::Dot(dot, _) => dot.work(),
            RowKernel::Convolution(convolution, _) => {
                convolution.rows().saturating_mul(convolution.row_work())
            }
        }
    }

    /// The kernel with the second operand as it has ordered it.
    pub fn with_packed(self, packed: Option<&'a [u8]>) -> RowKernel<'a> {
        match self {
            RowKernel::Dot(dot, _) => RowKernel::Dot(dot, packed),
            RowKernel::Convolution(convolution, _) => RowKernel::Convolution(convolution, packed),
            RowKernel::Loop(_) | RowKernel::Reduce(_) => self,
        }
    }
}

impl RowLoop {
    /// Number of rows that are computed at a time, of `count`.
    fn block(&self, count: usize) -> usize {
        let bytes = self.places.iter().sum::<usize>().max(1);
        let least = self.least.min(MAX_BLOCK_BYTES / bytes);
        let rows = (BLOCK_BYTES / bytes).max(least).max(1).next_multiple_of(self.unit);
        // Parts of about the same size.
        let parts = count.div_ceil(rows).max(1);
        count.div_ceil(parts).next_multiple_of(self.unit).min(count)
    }
}

/// Runs kernels on the bytes of operands, and writes those of results.
///
/// # Errors
/// If these are not those that the row loop and its kernels were made for.
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
    let mut whole = Rows { rows, kernels, operands, start: 0, count: rows.rows, outputs };
    let work = kernels.iter().fold(0, |sum: usize, kernel| sum.saturating_add(kernel.work()));
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
struct Rows<'a, 'o> {
    rows: &'a RowLoop,
    kernels: &'a [RowKernel<'a>],
    operands: &'a [&'a [u8]],
    start: usize,
    count: usize,
    /// The bytes of these rows of each result.
    outputs: SmallVec<[&'o mut [u8]; 2]>,
}

impl<'a, 'o> Rows<'a, 'o> {
    /// The rows in parts of `size`, but for the last one. A row of each result has these `bytes`.
    fn split(mut self, size: usize, bytes: &[usize]) -> Vec<Rows<'a, 'o>> {
        let mut parts = Vec::new();
        while self.count > size {
            let head = bytes.iter().zip(&mut self.outputs).map(|(bytes, rest)| {
                let (head, tail) = std::mem::take(rest).split_at_mut(size * bytes);
                *rest = tail;
                head
            });
            let outputs = head.collect();
            parts.push(Rows { count: size, outputs, ..self });
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
        match kernel {
            RowKernel::Loop(fused) => {
                let source = |load: &Load| match part.operands[load.operand] {
                    RowSource::Operand(operand) => Source::whole(load, self.operands[operand]),
                    RowSource::Value(value) => Ok(Source { bytes: part_of(value), is_part: true }),
                };
                let sources = fused.loads.iter().map(source);
                let sources: SmallVec<[Source<'_>; 6]> = sources.collect::<Result<_, _>>()?;
                let row = fused.elements / self.rows.rows;
                let (start, len) = (rows.start * row, rows.len() * row);
                let results = std::mem::take(&mut results);
                Chunk::new(fused, &sources, start, len, results).run(registers)?;
            }
            RowKernel::Reduce(reduction) => {
                let (&[operand, init], [result]) = (&part.operands[..], &mut results[..]) else {
                    return Err(TensorError::OutOfBounds);
                };
                let operand = match operand {
                    RowSource::Operand(operand) => {
                        let count = reduction.results() / self.rows.rows * reduction.count();
                        let bytes = count * reduction.dtype().bytes();
                        let bytes = rows.start * bytes..rows.end * bytes;
                        self.operands[operand].get(bytes).ok_or(TensorError::OutOfBounds)?
                    }
                    RowSource::Value(value) => part_of(value),
                };
                let RowSource::Operand(init) = init else { return Err(TensorError::OutOfBounds) };
                reduction.run_rows(operand, self.operands[init], result)?;
            }
            RowKernel::Dot(dot, panels) => {
                let (&[lhs, rhs], [result]) = (&part.operands[..], &mut results[..]) else {
                    return Err(TensorError::OutOfBounds);
                };
                let operands = [lhs, rhs].map(|source| match source {
                    RowSource::Operand(operand) => (self.operands[operand], false),
                    RowSource::Value(value) => (part_of(value), true),
                });
                dot.run_rows(self.rows.rows, rows, operands, panels, result)?;
            }
            RowKernel::Convolution(convolution, panels) => {
                let (&[RowSource::Operand(input), RowSource::Operand(kernel)], [result]) =
                    (&part.operands[..], &mut results[..])
                else {
                    return Err(TensorError::OutOfBounds);
                };
                let operands = [self.operands[input], self.operands[kernel]];
                convolution.run_rows(rows, operands, panels, result)?;
            }
        }
        drop(results);
        for (&value, taken) in part.results.iter().zip(taken) {
            places[place(value)] = taken;
        }
        Ok(())
    }
}
