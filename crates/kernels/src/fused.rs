//! Fused loops, tile by tile.
//!
//! Each operation of a loop runs over a tile before the next one does, with the loops of the
//! elementwise kernels: so the results have their bits, whatever the size of tiles. Machine code of
//! several operations has the same bits.

use crate::kernel::{RowOperand, RowWise};
use crate::parallel::task_size;
use crate::{Fused, Layout, Load, LoopOutput, Stage, TilePlace};
use codegen::{LoopCode, MAX_STEP, NotRun};
use numerics::TensorError;
use numerics::math::AlignedBytes;
use numerics::shape::Runs;
use smallvec::SmallVec;
use std::cell::Cell;
use std::ops::{ControlFlow, Range};

/// The least and greatest number of elements of a tile, whatever the cache: with fewer, calls of
/// loops take longer than their elements; more save nothing.
const TILE: [usize; 2] = [64, 4096];

/// Memory of the registers of a loop, kept from loop to loop.
#[derive(Default)]
pub struct Registers {
    tiles: Vec<AlignedBytes>,
    /// Memory of some rows of the values of a row loop.
    pub(super) rows: Vec<AlignedBytes>,
}

thread_local! {
    /// The registers of tasks, which are kept for the next one on the thread.
    static TASK: Cell<Registers> = Cell::default();
}

impl Registers {
    /// Runs a task with registers that are kept for the next one on this thread.
    pub(super) fn of_task<R>(task: impl FnOnce(&mut Registers) -> R) -> R {
        let mut registers = TASK.take();
        let result = task(&mut registers);
        TASK.set(registers);
        result
    }

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
}

/// Runs a loop on the bytes of its operands, and writes the bytes of its results.
///
/// # Errors
/// If their number differs from what the loop was made for, or not aligned for their types.
pub fn run(
    fused: &Fused,
    operands: &[&[u8]],
    outputs: SmallVec<[&mut [u8]; 2]>,
    registers: &mut Registers,
) -> Result<(), TensorError> {
    let source = |load: &Load| {
        LoadSource::whole(load, operands.get(load.operand).copied().unwrap_or_default())
    };
    let sources: SmallVec<[LoadSource<'_>; 6]> =
        fused.loads.iter().map(source).collect::<Result<_, _>>()?;
    let fits = |(output, bytes): (&LoopOutput, &&mut [u8])| {
        bytes.len() == fused.elements * output.dtype.bytes()
    };
    if outputs.len() != fused.outputs.len() || !fused.outputs.iter().zip(&outputs).all(fits) {
        return Err(TensorError::OutOfBounds);
    }
    let mut whole = LoopChunk::new(fused, &sources, 0, fused.elements, outputs);
    let mut size = task_size(fused.elements, fused.work() / fused.elements.max(1), TILE[1]);
    if fused.layout().is_by_rows && size > fused.row {
        size = size.next_multiple_of(fused.row);
    }
    if size >= fused.elements {
        return whole.run(registers);
    }
    host::parallel(whole.split(size), |mut chunk| {
        Registers::of_task(|registers| chunk.run(registers))
    })
}

impl RowWise for Fused {
    fn rows(&self) -> Option<usize> {
        None
    }

    fn row_results(&self, rows: usize) -> Option<usize> {
        self.elements.is_multiple_of(rows).then(|| self.elements / rows)
    }

    fn reads_rows(&self, rows: usize, operand: usize, elements: usize) -> bool {
        let row = self.elements / rows;
        let mut loads = self.loads.iter().filter(|load| load.operand == operand);
        loads.all(|load| match &load.view {
            None => elements == row,
            Some(view) => {
                row.is_multiple_of(elements) && view.repeats_each(rows * elements, row / elements)
            }
        })
    }

    fn work(&self) -> usize {
        self.work()
    }

    fn run_rows(
        &self,
        rows: usize,
        range: Range<usize>,
        operands: &[RowOperand<'_>],
        _: Option<&[u8]>,
        results: &mut [&mut [u8]],
        registers: &mut Registers,
    ) -> Result<(), TensorError> {
        let source = |load: &Load| match operands.get(load.operand) {
            Some(&RowOperand { bytes, is_part: true }) => Ok(LoadSource { bytes, is_part: true }),
            Some(operand) => LoadSource::whole(load, operand.bytes),
            None => Err(TensorError::OutOfBounds),
        };
        let sources = self.loads.iter().map(source);
        let sources: SmallVec<[LoadSource<'_>; 6]> = sources.collect::<Result<_, _>>()?;
        let row = self.elements / rows;
        let results = results.iter_mut().map(|result| &mut **result).collect();
        LoopChunk::new(self, &sources, range.start * row, range.len() * row, results).run(registers)
    }
}

/// The elements that a load of a loop reads.
#[derive(Clone, Copy)]
struct LoadSource<'a> {
    pub bytes: &'a [u8],
    /// True if these are only what the iterations of the chunk read.
    pub is_part: bool,
}

impl<'a> LoadSource<'a> {
    /// All elements of an operand, if that is what the load reads from.
    pub(crate) fn whole(load: &Load, bytes: &'a [u8]) -> Result<LoadSource<'a>, TensorError> {
        if bytes.len() != load.source_elements * load.dtype.bytes() {
            return Err(TensorError::OutOfBounds);
        }
        Ok(LoadSource { bytes, is_part: false })
    }
}

/// Consecutive iterations of a loop.
struct LoopChunk<'a, 'o> {
    fused: &'a Fused,
    layout: &'a Layout,
    sources: &'a [LoadSource<'a>],
    start: usize,
    len: usize,
    /// The bytes of these iterations of each result.
    outputs: SmallVec<[&'o mut [u8]; 2]>,
}

impl<'a, 'o> LoopChunk<'a, 'o> {
    /// `len` iterations from `start` on, with the bytes of these of each result.
    pub(crate) fn new(
        fused: &'a Fused,
        sources: &'a [LoadSource<'a>],
        start: usize,
        len: usize,
        outputs: SmallVec<[&'o mut [u8]; 2]>,
    ) -> LoopChunk<'a, 'o> {
        LoopChunk { fused, layout: fused.layout(), sources, start, len, outputs }
    }

    /// Where iteration `start` of the chunk is in a source.
    fn position(&self, source: LoadSource<'_>, start: usize) -> usize {
        if source.is_part { start } else { self.start + start }
    }

    /// The chunk in parts of `size` iterations, but for the last one.
    fn split(mut self, size: usize) -> Vec<LoopChunk<'a, 'o>> {
        let mut parts = Vec::new();
        while self.len > size {
            let head = self.fused.outputs.iter().zip(&mut self.outputs).map(|(output, rest)| {
                let (head, tail) = std::mem::take(rest).split_at_mut(size * output.dtype.bytes());
                *rest = tail;
                head
            });
            let outputs = head.collect();
            parts.push(LoopChunk { len: size, outputs, ..self });
            self.start += size;
            self.len -= size;
        }
        parts.push(self);
        parts
    }

    pub(crate) fn run(&mut self, registers: &mut Registers) -> Result<(), TensorError> {
        if self.run_tiles(registers)?.is_break() {
            // There are elements for which there is no code.
            self.layout = &self.fused.layout;
            let _ = self.run_tiles(registers)?;
        }
        Ok(())
    }

    /// Runs the loop tile by tile. Breaks off where machine code has an exception.
    fn run_tiles(&mut self, registers: &mut Registers) -> Result<ControlFlow<()>, TensorError> {
        let sizes = &self.layout.registers;
        let [least, most] = TILE;
        let period = self.fused.period;
        let (tile, are_whole) = match sizes.iter().sum::<usize>() {
            // Without registers, one tile is enough.
            0 => (self.len, false),
            // About what the first-level cache holds besides the sources.
            bytes => match (host::machine().l1.bytes / 2 / bytes).clamp(least, most) {
                tile if tile >= period => (tile / period * period, true),
                tile => (tile / MAX_STEP * MAX_STEP, false),
            },
        };
        let tile = tile.min(self.len).max(1);
        if self.layout.is_by_rows {
            return self.run_tiles_of_rows(tile, registers);
        }
        registers.reserve(sizes, tile);
        let registers = &mut registers.tiles[..];
        if are_whole && let Some((code, inputs, results)) = self.only_code() {
            self.load(registers, 0, tile, true)?;
            return self.code(code, inputs, results, registers, 0..self.len, tile);
        }
        for start in (0..self.len).step_by(tile) {
            let len = tile.min(self.len - start);
            self.load(registers, start, len, are_whole)?;
            if self.compute(registers, start, len)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// As [`LoopChunk::run_tiles`], in tiles of at most `most` elements, none of them in two rows.
    fn run_tiles_of_rows(
        &mut self,
        most: usize,
        registers: &mut Registers,
    ) -> Result<ControlFlow<()>, TensorError> {
        let row = self.fused.row;
        let tile = row.min(most);
        registers.reserve(&self.layout.registers, tile.min(self.len));
        let registers = &mut registers.tiles[..];
        // Periodic loads are the same in whole rows.
        let are_alike = |load: &Load| match (&load.view, load.is_periodic) {
            (Some(view), true) => view.period().is_some_and(|period| row.is_multiple_of(period)),
            _ => true,
        };
        let is_aligned = tile == row && self.start.is_multiple_of(row) && self.len >= row;
        let are_whole = is_aligned && self.fused.loads.iter().all(are_alike);
        if are_whole && let Some((code, inputs, results)) = self.only_code() {
            self.load(registers, 0, tile, true)?;
            return self.code(code, inputs, results, registers, 0..self.len, tile);
        }
        let mut start = 0;
        while start < self.len {
            let rest = row - (self.start + start) % row;
            let len = tile.min(rest).min(self.len - start);
            self.load(registers, start, len, are_whole)?;
            if self.compute(registers, start, len)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
            start += len;
        }
        Ok(ControlFlow::Continue(()))
    }

    /// The machine code, its inputs and its results, if the loop is nothing else, and all of its
    /// tiles have the same elements in registers.
    fn only_code(&self) -> Option<(&'a LoopCode, &'a [usize], &'a [usize])> {
        let [Stage::Code { code, inputs, results }] = &self.layout.stages[..] else { return None };
        let mut loads = self.fused.loads.iter().zip(&self.layout.places);
        let are_alike = loads.all(|(load, place)| {
            load.repeats || load.is_periodic || !matches!(place, TilePlace::Register(_))
        });
        let mut places = results.iter().map(|&value| self.layout.places[value]);
        let are_results = places.all(|place| matches!(place, TilePlace::Output(_)));
        (are_alike && are_results).then_some((code, inputs, results))
    }

    /// Reads what is not in the memory of a source as it is needed; what is periodic, once if
    /// tiles are of whole periods.
    fn load(
        &self,
        registers: &mut [AlignedBytes],
        start: usize,
        len: usize,
        are_whole: bool,
    ) -> Result<(), TensorError> {
        let loads = self.fused.loads.iter().zip(self.sources).zip(&self.layout.places);
        for ((load, source), place) in loads {
            let (Some(view), TilePlace::Register(register)) = (&load.view, place) else { continue };
            if start > 0 && (load.repeats || (load.is_periodic && are_whole)) {
                continue;
            }
            let tile = &mut registers[*register][..len * load.dtype.bytes()];
            view.read_bytes(load.dtype, source.bytes, self.position(*source, start), tile)?;
        }
        Ok(())
    }

    fn compute(
        &mut self,
        registers: &mut [AlignedBytes],
        start: usize,
        len: usize,
    ) -> Result<ControlFlow<()>, TensorError> {
        for stage in &self.layout.stages {
            match stage {
                &Stage::Op(number) => self.op(number, registers, start, len)?,
                Stage::Code { code, inputs, results } => {
                    let range = start..start + len;
                    if self.code(code, inputs, results, registers, range, len)?.is_break() {
                        return Ok(ControlFlow::Break(()));
                    }
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Runs an operation.
    fn op(
        &mut self,
        number: usize,
        registers: &mut [AlignedBytes],
        start: usize,
        len: usize,
    ) -> Result<(), TensorError> {
        let op = &self.fused.ops[number];
        let places = &self.layout.places;
        let place = places[self.fused.loads.len() + number];
        let bytes = op.kernel.result().bytes();
        if let (TilePlace::Register(register), &[operand]) = (place, &op.operands[..])
            && op.kernel.overwrites()
            && places[operand] == place
        {
            return op.kernel.overwrite(&mut registers[register][..len * bytes]);
        }
        // The result is taken out of its place while operands are read.
        let mut taken = self.take(place, registers)?;
        let results = taken.tile(start, len, bytes);
        let mut operands: [&[u8]; 3] = [&[]; 3];
        for (operand, &value) in operands.iter_mut().zip(&op.operands) {
            *operand = self.tile(value, registers, start, len)?;
        }
        op.kernel.apply(results, &operands[..op.operands.len()])?;
        self.put(place, taken, registers);
        Ok(())
    }

    /// Runs machine code for some iterations, of which each `tile` has the same elements in
    /// registers.
    fn code(
        &mut self,
        code: &LoopCode,
        inputs: &[usize],
        results: &[usize],
        registers: &mut [AlignedBytes],
        range: Range<usize>,
        tile: usize,
    ) -> Result<ControlFlow<()>, TensorError> {
        let (start, len) = (range.start, range.len());
        let places = &self.layout.places;
        let mut taken: SmallVec<[Taken<'o>; 4]> = SmallVec::new();
        for &value in results {
            taken.push(self.take(places[value], registers)?);
        }
        let mut tiles: SmallVec<[&mut [u8]; 4]> = SmallVec::new();
        for (&value, taken) in results.iter().zip(&mut taken) {
            tiles.push(taken.tile(start, len, self.element_bytes(value)));
        }
        let mut read: SmallVec<[&[u8]; 8]> = SmallVec::new();
        for (number, &value) in inputs.iter().enumerate() {
            let is_of_rows = self.fused.loads.get(value).is_some_and(|load| load.is_of_rows);
            let len = match places[value] {
                // One element, or one for each row.
                _ if code.repeats(number) && !is_of_rows => 1,
                _ if code.repeats(number) => len.div_ceil(tile),
                TilePlace::Register(_) => tile,
                _ => len,
            };
            read.push(self.tile(value, registers, start, len)?);
        }
        let done = code.run(&read, &mut tiles, tile);
        drop((read, tiles));
        for (&value, taken) in results.iter().zip(taken) {
            self.put(places[value], taken, registers);
        }
        match done {
            Ok(()) => Ok(ControlFlow::Continue(())),
            Err(NotRun::Exception) => Ok(ControlFlow::Break(())),
            Err(NotRun::Misfit) => Err(TensorError::OutOfBounds),
        }
    }

    fn element_bytes(&self, value: usize) -> usize {
        let loads = &self.fused.loads;
        match value.checked_sub(loads.len()) {
            Some(op) => self.fused.ops[op].kernel.result().bytes(),
            None => loads[value].dtype.bytes(),
        }
    }

    /// The memory of a place, which has none until it is put back.
    fn take(
        &mut self,
        place: TilePlace,
        registers: &mut [AlignedBytes],
    ) -> Result<Taken<'o>, TensorError> {
        match place {
            TilePlace::Source | TilePlace::Element | TilePlace::Inner => {
                Err(TensorError::OutOfBounds)
            }
            TilePlace::Register(register) => {
                Ok(Taken::Register(std::mem::take(&mut registers[register])))
            }
            TilePlace::Output(output) => {
                Ok(Taken::Output(std::mem::take(&mut self.outputs[output])))
            }
        }
    }

    fn put(&mut self, place: TilePlace, taken: Taken<'o>, registers: &mut [AlignedBytes]) {
        match (place, taken) {
            (TilePlace::Register(register), Taken::Register(tile)) => registers[register] = tile,
            (TilePlace::Output(output), Taken::Output(result)) => self.outputs[output] = result,
            _ => {}
        }
    }

    /// A tile of a value, or the element that all iterations share.
    fn tile<'r>(
        &'r self,
        value: usize,
        registers: &'r [AlignedBytes],
        start: usize,
        len: usize,
    ) -> Result<&'r [u8], TensorError> {
        let size = self.element_bytes(value);
        Ok(match self.layout.places[value] {
            TilePlace::Source => {
                let source = self.sources[value];
                &source.bytes[self.position(source, start) * size..][..len * size]
            }
            TilePlace::Element => {
                let (load, source) = (&self.fused.loads[value], self.sources[value]);
                let view = load.view.as_ref();
                let (mut place, mut span) = (view.map_or(0, Runs::first), 1);
                if let Some([distance, times]) = view.and_then(Runs::times) {
                    place += self.position(source, start) / times * distance;
                    span += (len - 1) * distance;
                }
                &source.bytes[place * size..][..span * size]
            }
            TilePlace::Register(register) => &registers[register][..len * size],
            TilePlace::Output(output) => &self.outputs[output][start * size..][..len * size],
            TilePlace::Inner => return Err(TensorError::OutOfBounds),
        })
    }
}

/// The memory of a result while it is written.
enum Taken<'o> {
    Register(AlignedBytes),
    Output(&'o mut [u8]),
}

impl Taken<'_> {
    /// A tile of elements of some bytes.
    fn tile(&mut self, start: usize, len: usize, bytes: usize) -> &mut [u8] {
        match self {
            Taken::Register(tile) => &mut tile[..len * bytes],
            Taken::Output(result) => &mut result[start * bytes..][..len * bytes],
        }
    }
}
