//! Row loops: loops and reductions over the same rows, some rows at a time.
//!
//! Values of some rows are in the cache when the next kernel reads them, and stored only if they
//! are results; and threads divide the rows once. Each kernel has the bits that it has on its own.

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
/// Blocks of so many elements leave none to the last iteration of machine code.
const BLOCK_ELEMENTS: usize = codegen::MAX_STEP;

/// The operands and results of the kernels of a row loop.
#[derive(Debug)]
pub struct RowLoop {
    /// Number of rows.
    pub rows: usize,
    /// Elements of a row of reductions.
    pub row: usize,
    /// For each kernel, in order.
    pub parts: Vec<RowPart>,
    /// The values that they compute.
    pub values: Vec<RowValue>,
    /// The results.
    pub outputs: Vec<LoopOutput>,
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
#[derive(Debug)]
pub struct RowValue {
    /// The bytes of a row.
    pub row_bytes: usize,
    /// The number of the result that it is, if it is one.
    pub output: Option<usize>,
}

/// A kernel of a row loop.
#[derive(Clone, Copy, Debug)]
pub enum RowKernel<'a> {
    /// A loop over all elements of the rows, or over an element for each row.
    Loop(&'a Fused),
    /// The reduction of each row.
    Reduce(&'a Reduction),
}

impl RowKernel<'_> {
    /// Its work on all rows, in elementary operations: a rough estimate.
    pub fn work(&self) -> usize {
        match self {
            RowKernel::Loop(fused) => fused.work(),
            RowKernel::Reduce(reduction) => {
                reduction.results().saturating_mul(reduction.count()).saturating_mul(2)
            }
        }
    }
}

impl RowLoop {
    /// Number of rows that are computed at a time.
    fn block(&self) -> usize {
        let bytes: usize = self.values.iter().map(|value| value.row_bytes).sum();
        let rows = (BLOCK_BYTES / bytes.max(1)).clamp(1, self.rows);
        // The fewest rows that make whole iterations.
        let unit = BLOCK_ELEMENTS >> self.row.trailing_zeros().min(BLOCK_ELEMENTS.ilog2());
        if rows > unit { rows - rows % unit } else { rows }
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
    let mut sizes: SmallVec<[usize; 2]> = SmallVec::from_elem(usize::MAX, outputs.len());
    for value in &rows.values {
        let Some(output) = value.output else { continue };
        *sizes.get_mut(output).ok_or(TensorError::OutOfBounds)? = value.row_bytes;
    }
    let fits =
        |(bytes, &size): (&&mut [u8], &usize)| size.checked_mul(rows.rows) == Some(bytes.len());
    if !outputs.iter().zip(&sizes).all(fits) || kernels.len() != rows.parts.len() {
        return Err(TensorError::OutOfBounds);
    }
    let block = rows.block();
    let mut whole = Rows { rows, kernels, operands, start: 0, count: rows.rows, outputs };
    let work = kernels.iter().fold(0, |sum: usize, kernel| sum.saturating_add(kernel.work()));
    let size = task_size(rows.rows, work / rows.rows, 1);
    if size >= rows.rows {
        return whole.run(block, registers);
    }
    host::parallel(whole.split(size, &sizes), |mut part| part.run(block, &mut Registers::default()))
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

    /// Runs the kernels on `block` rows after the others.
    fn run(&mut self, block: usize, registers: &mut Registers) -> Result<(), TensorError> {
        let mut results = std::mem::take(&mut self.outputs);
        let mut memory = std::mem::take(&mut registers.rows);
        memory.resize_with(memory.len().max(self.rows.values.len()), AlignedBytes::default);
        for (value, memory) in self.rows.values.iter().zip(&mut memory) {
            let bytes = block * value.row_bytes;
            if value.output.is_none() && memory.len() < bytes {
                *memory = AlignedBytes::zeros(bytes);
            }
        }
        for start in (0..self.count).step_by(block) {
            let count = block.min(self.count - start);
            let mut outputs: SmallVec<[&mut [u8]; 2]> =
                results.iter_mut().map(|result| &mut **result).collect();
            let mut values: SmallVec<[&mut [u8]; 8]> = SmallVec::new();
            for (value, memory) in self.rows.values.iter().zip(&mut memory) {
                let bytes = value.row_bytes;
                values.push(match value.output {
                    Some(output) => {
                        &mut std::mem::take(&mut outputs[output])[start * bytes..][..count * bytes]
                    }
                    None => &mut memory[..count * bytes],
                });
            }
            for (part, kernel) in self.rows.parts.iter().zip(self.kernels) {
                let rows = self.start + start..self.start + start + count;
                self.run_kernel(*kernel, part, rows, &mut values, registers)?;
            }
        }
        registers.rows = memory;
        Ok(())
    }

    /// Runs a kernel on some rows, of which `values` has those that kernels compute.
    fn run_kernel<'v>(
        &self,
        kernel: RowKernel<'_>,
        part: &RowPart,
        rows: Range<usize>,
        values: &mut [&'v mut [u8]],
        registers: &mut Registers,
    ) -> Result<(), TensorError> {
        // The results are taken out of their places while operands are read.
        let results = part.results.iter();
        let mut results: SmallVec<[&'v mut [u8]; 2]> =
            results.map(|&value| std::mem::take(&mut values[value])).collect();
        match kernel {
            RowKernel::Loop(fused) => {
                let source = |load: &Load| match part.operands[load.operand] {
                    RowSource::Operand(operand) => Source::whole(load, self.operands[operand]),
                    RowSource::Value(value) => Ok(Source { bytes: &*values[value], is_part: true }),
                };
                let sources = fused.loads.iter().map(source);
                let sources: SmallVec<[Source<'_>; 6]> = sources.collect::<Result<_, _>>()?;
                let row = fused.elements / self.rows.rows;
                let (start, len) = (rows.start * row, rows.len() * row);
                let mut chunk = Chunk::new(fused, &sources, start, len, results);
                chunk.run(registers)?;
                results = chunk.outputs();
            }
            RowKernel::Reduce(reduction) => {
                let (&[operand, init], [result]) = (&part.operands[..], &mut results[..]) else {
                    return Err(TensorError::OutOfBounds);
                };
                let bytes = self.rows.row * reduction.dtype().bytes();
                let operand = match operand {
                    RowSource::Operand(operand) => {
                        let bytes = rows.start * bytes..rows.end * bytes;
                        self.operands[operand].get(bytes).ok_or(TensorError::OutOfBounds)?
                    }
                    RowSource::Value(value) => &*values[value],
                };
                let RowSource::Operand(init) = init else { return Err(TensorError::OutOfBounds) };
                reduction.run_rows(operand, self.operands[init], result)?;
            }
        }
        for (&value, result) in part.results.iter().zip(results) {
            values[value] = result;
        }
        Ok(())
    }
}
