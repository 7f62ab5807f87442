//! Fused loops, tile by tile.
//!
//! Each operation of a loop runs over a tile before the next one does, with the loops of the
//! elementwise kernels: so the results have their bits, whatever the size of tiles.

use crate::parallel::task_size;
use numerics::TensorError;
use numerics::math::AlignedBytes;
use program::{Fused, Load, LoopOutput, TilePlace};
use smallvec::SmallVec;

/// Bytes of all registers together: about what the first-level cache holds besides the sources.
const REGISTER_BYTES: usize = 24 << 10;
/// The least and greatest number of elements of a tile.
const TILE: [usize; 2] = [64, 1024];

/// Memory of the registers of a loop, kept from loop to loop.
#[derive(Default)]
pub struct Registers {
    tiles: Vec<AlignedBytes>,
}

impl Registers {
    /// Makes room for a tile of elements of each of these sizes.
    fn reserve(&mut self, sizes: &[usize], tile: usize) {
        if self.tiles.len() < sizes.len() {
            self.tiles.resize_with(sizes.len(), AlignedBytes::default);
        }
        for (register, size) in self.tiles.iter_mut().zip(sizes) {
            if register.len() < size * tile {
                *register = AlignedBytes::zeros(size * tile);
            }
        }
    }

    /// Memory for so many bytes.
    pub fn scratch(&mut self, bytes: usize) -> &mut [u8] {
        self.reserve(&[1], bytes);
        &mut self.tiles[0][..bytes]
    }
}

/// Runs a loop on the bytes of its operands, and writes those of its results.
///
/// # Errors
/// If these are not as many as the loop was made for, or not aligned for their types.
pub fn run(
    fused: &Fused,
    operands: &[&[u8]],
    outputs: SmallVec<[&mut [u8]; 2]>,
    registers: &mut Registers,
) -> Result<(), TensorError> {
    let source = |load: &Load| {
        let bytes = operands.get(load.operand).copied();
        let fits = |bytes: &&[u8]| bytes.len() == load.source_elements * load.dtype.bytes();
        bytes.filter(fits).ok_or(TensorError::OutOfBounds)
    };
    let sources: SmallVec<[&[u8]; 6]> = fused.loads.iter().map(source).collect::<Result<_, _>>()?;
    let fits = |(output, bytes): (&LoopOutput, &&mut [u8])| {
        bytes.len() == fused.elements * output.dtype.bytes()
    };
    if outputs.len() != fused.outputs.len() || !fused.outputs.iter().zip(&outputs).all(fits) {
        return Err(TensorError::OutOfBounds);
    }
    let whole = Chunk { fused, sources: &sources, start: 0, len: fused.elements, outputs };
    // A rough mean of additions and of functions such as exponentials.
    let work = 8 * fused.ops.len();
    let size = task_size(fused.elements, work, TILE[1]);
    if size >= fused.elements {
        return whole.run(registers);
    }
    host::parallel(whole.split(size), |chunk| chunk.run(&mut Registers::default()))
}

/// Consecutive iterations of a loop.
struct Chunk<'a, 'o> {
    fused: &'a Fused,
    sources: &'a [&'a [u8]],
    start: usize,
    len: usize,
    /// The bytes of these iterations of each result.
    outputs: SmallVec<[&'o mut [u8]; 2]>,
}

impl<'a, 'o> Chunk<'a, 'o> {
    /// The chunk in parts of `size` iterations, but for the last one.
    fn split(mut self, size: usize) -> Vec<Chunk<'a, 'o>> {
        let mut parts = Vec::new();
        while self.len > size {
            let head = self.fused.outputs.iter().zip(&mut self.outputs).map(|(output, rest)| {
                let (head, tail) = std::mem::take(rest).split_at_mut(size * output.dtype.bytes());
                *rest = tail;
                head
            });
            let outputs = head.collect();
            parts.push(Chunk { len: size, outputs, ..self });
            self.start += size;
            self.len -= size;
        }
        parts.push(self);
        parts
    }

    fn run(mut self, registers: &mut Registers) -> Result<(), TensorError> {
        let sizes = &self.fused.registers;
        let [least, most] = TILE;
        let tile = (REGISTER_BYTES / sizes.iter().sum::<usize>().max(1)).clamp(least, most);
        let tile = tile.min(self.len).max(1);
        registers.reserve(sizes, tile);
        let registers = &mut registers.tiles[..];
        for start in (0..self.len).step_by(tile) {
            let len = tile.min(self.len - start);
            self.load(registers, start, len)?;
            self.compute(registers, start, len)?;
        }
        Ok(())
    }

    /// Reads what is not in the memory of a source as it is needed.
    fn load(
        &self,
        registers: &mut [AlignedBytes],
        start: usize,
        len: usize,
    ) -> Result<(), TensorError> {
        let loads = self.fused.loads.iter().zip(self.sources).zip(&self.fused.places);
        for ((load, source), place) in loads {
            let (Some(view), TilePlace::Register(register)) = (&load.view, place) else { continue };
            // A register of repetitions of one element is filled once.
            if load.repeats && start > 0 {
                continue;
            }
            let tile = &mut registers[*register][..len * load.dtype.bytes()];
            view.read_bytes(load.dtype, source, self.start + start, tile)?;
        }
        Ok(())
    }

    fn compute(
        &mut self,
        registers: &mut [AlignedBytes],
        start: usize,
        len: usize,
    ) -> Result<(), TensorError> {
        let loads = self.fused.loads.len();
        for (op, &place) in self.fused.ops.iter().zip(&self.fused.places[loads..]) {
            let bytes = op.kernel.result().bytes();
            let overwrites =
                |&value: &usize| op.kernel.overwrites() && self.fused.places[value] == place;
            if let (TilePlace::Register(register), [operand]) = (place, &op.operands[..])
                && overwrites(operand)
            {
                op.kernel.overwrite(&mut registers[register][..len * bytes])?;
                continue;
            }
            // The result is taken out of its place while operands are read.
            match place {
                TilePlace::Source => return Err(TensorError::OutOfBounds),
                TilePlace::Register(register) => {
                    let mut tile = std::mem::take(&mut registers[register]);
                    self.apply(op, registers, start, &mut tile[..len * bytes])?;
                    registers[register] = tile;
                }
                TilePlace::Output(output) => {
                    let result = std::mem::take(&mut self.outputs[output]);
                    let tile = &mut result[start * bytes..][..len * bytes];
                    self.apply(op, registers, start, tile)?;
                    self.outputs[output] = result;
                }
            }
        }
        Ok(())
    }

    /// Writes a tile of results of an operation.
    fn apply(
        &self,
        op: &program::LoopOp,
        registers: &[AlignedBytes],
        start: usize,
        results: &mut [u8],
    ) -> Result<(), TensorError> {
        let len = results.len() / op.kernel.result().bytes();
        let mut operands: [&[u8]; 3] = [&[]; 3];
        let slots = operands.iter_mut().zip(&op.operands).zip(op.kernel.operands());
        for ((operand, &value), dtype) in slots {
            let size = dtype.bytes();
            *operand = match self.fused.places[value] {
                TilePlace::Source => {
                    &self.sources[value][(self.start + start) * size..][..len * size]
                }
                TilePlace::Register(register) => &registers[register][..len * size],
                TilePlace::Output(output) => &self.outputs[output][start * size..][..len * size],
            };
        }
        op.kernel.apply(results, &operands[..op.operands.len()])
    }
}
