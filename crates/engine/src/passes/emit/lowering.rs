//! Code of the ops of a block.

use super::region::{Available, CodeRegion, End};
use super::{CONTEXT_COUNTER, LINE, Labels, max_unrolled};
use crate::block;
use codegen::{Chunk, LANES, Mem, NOWHERE, Op, Register, ScalarInst, Store, Value};
use kernels::Form;
use numerics::math::SliceKernel;
use numerics::{DType, Family};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Adds the code of ops to a region.
pub(super) struct OpLowering<'a> {
    pub region: &'a mut CodeRegion,
    pub labels: &'a Labels,
    pub memory: usize,
    /// The bytes of constants, by position.
    pub constants: &'a FxHashMap<u32, &'a [u8]>,
}

impl OpLowering<'_> {
    /// Adds the code of an op, and what follows if the region ends with it; `None` if it has none.
    pub(super) fn op(&mut self, number: u32, op: &block::BlockOp) -> Option<Option<End>> {
        match op {
            block::BlockOp::Compute { source, result, operands, count, .. } => {
                self.compute(number, source, *result, operands, *count)?;
            }
            block::BlockOp::CopyLine { from, to, bytes }
            | block::BlockOp::Copy { from, to, bytes } => {
                self.copy(*from, *to, *bytes)?;
            }
            block::BlockOp::Fill { from, size, to } => {
                let count = to.len() / *size as usize;
                let numbers = vec![from / size; count];
                self.collect(*size, &numbers, to.start)?;
            }
            block::BlockOp::Collect { elements, starts, to } if starts.is_empty() => {
                self.collect(elements.size as u32, &elements.numbers, *to)?;
            }
            block::BlockOp::Collect { elements, starts, to } => {
                self.collect_from(elements, starts, *to)?
            }
            block::BlockOp::Spread { from, elements, starts } => {
                self.spread(*from, elements, starts)?
            }
            block::BlockOp::Apply { kernel, operands, result, .. } => match kernel.form() {
                Form::Dot(dot) => self.dot(dot, operands, result.start)?,
                Form::Reduction(reduction) if !reduction.is_converted() => {
                    self.reduce(reduction, operands, result.start)?;
                }
                Form::Reduction(_) | Form::Gather(_) | Form::Scatter(_) | Form::Opaque => {
                    return None;
                }
            },
            block::BlockOp::Consume(ops) => {
                let counter = Mem::at(Register::Context, CONTEXT_COUNTER);
                let by = *ops;
                i32::try_from(by).ok()?;
                let count =
                    ScalarInst::Count { counter, by, number, exhausted: self.labels.exhausted };
                self.region.code.scalar(count, NOWHERE, NOWHERE);
            }
            block::BlockOp::Jump(to) => return Some(Some(self.region.jump(*to))),
            block::BlockOp::Unless { condition, to } => {
                let to = *self.labels.ops.get(to)?;
                match self.region.known.get(condition) {
                    Some(&Available::Mask(mask)) => self.region.code.unless(mask, to),
                    _ => {
                        let at = self.place(*condition, 1)?;
                        let unless = ScalarInst::Unless { at, to };
                        self.region.code.scalar(unless, *condition..condition + 1, NOWHERE);
                    }
                }
            }
            block::BlockOp::Switch { index, targets } => {
                let (index, targets) = (index.clone(), targets.clone());
                return Some(Some(End::Switch { index, targets }));
            }
        }
        Some(None)
    }

    /// A place in the memory with room for some bytes.
    pub(super) fn place(&self, at: u32, bytes: u32) -> Option<Mem> {
        let end = at.checked_add(bytes)?;
        (end as usize <= self.memory).then(|| Mem::at(Register::Memory, at as i32))
    }

    /// The line at a position.
    pub(super) fn line(&mut self, at: u32) -> Option<Value> {
        if let Some(&Available::Line(line)) = self.region.known.get(&at) {
            return Some(line);
        }
        let place = self.place(at, LINE)?;
        // Also for later uses of other parts of it.
        let (load, reads) = (Op::Load, at..at + LINE);
        let line = self.region.code.load(load, place, reads);
        self.region.note_load(at, line);
        // Booleans that are known as such stay so.
        self.region.known.entry(at).or_insert(Available::Line(line));
        Some(line)
    }

    /// Booleans at a position, of which the first `count` are a value's.
    pub(super) fn mask(&mut self, at: u32, count: u32) -> Option<Value> {
        if let Some(&Available::Mask(mask)) = self.region.known.get(&at) {
            return Some(mask);
        }
        let place = self.place(at, LANES as u32)?;
        let reads = at..at + count.min(LANES as u32);
        let code = &mut self.region.code;
        let bytes = code.load(Op::U8ToU32, place, reads);
        let mask = codegen::mask_of_bytes(code, bytes);
        self.region.known.insert(at, Available::Mask(mask));
        Some(mask)
    }

    pub(super) fn store_line(&mut self, at: u32, line: Value) -> Option<()> {
        let place = self.place(at, LINE)?;
        self.region.overwrite(at..at + LINE);
        let code = &mut self.region.code;
        code.store(Store::Whole, line, place, at..at + LINE);
        self.region.known.insert(at, Available::Line(line));
        Some(())
    }

    /// Elements of a type of one or two bytes at a position, of which the first `count` are a
    /// value's.
    fn small(&mut self, at: u32, dtype: DType, count: u32) -> Option<Value> {
        let size = dtype.bytes() as u32;
        let place = self.place(at, LANES as u32 * size)?;
        let code = &mut self.region.code;
        let loaded = code.load(codegen::small_load(dtype), place, at..at + count * size);
        Some(codegen::lanes_of_small(code, dtype, loaded))
    }

    fn store_small(&mut self, at: u32, dtype: DType, lanes: Value) -> Option<()> {
        let bytes = LANES as u32 * dtype.bytes() as u32;
        let place = self.place(at, bytes)?;
        self.region.overwrite(at..at + bytes);
        let code = &mut self.region.code;
        let (elements, part) = codegen::small_store(code, dtype, lanes);
        code.store(part, elements, place, at..at + bytes);
        Some(())
    }

    pub(super) fn store_mask(&mut self, at: u32, mask: Value) -> Option<()> {
        let place = self.place(at, LANES as u32)?;
        self.region.overwrite(at..at + LANES as u32);
        let code = &mut self.region.code;
        let bytes = codegen::bytes_of_mask(code, mask);
        code.store(Store::Low8, bytes, place, at..at + LANES as u32);
        self.region.known.insert(at, Available::Mask(mask));
        Some(())
    }

    pub(super) fn compute(
        &mut self,
        number: u32,
        source: &SliceKernel,
        result: u32,
        operands: &[u32; 3],
        count: u32,
    ) -> Option<()> {
        let function = source.function()?;
        let dtypes = source.operands();
        let all_have_lanes =
            dtypes.iter().chain([&source.result()]).all(|&t| self.region.code.has_lanes(t));
        if !all_have_lanes || count > max_unrolled(source) {
            return None;
        }
        let lanes = LANES as u32;
        // Lines of results, some of whose lanes have operands for which there is no code.
        let mut incomplete = SmallVec::<[(u32, Value, Value); 4]>::new();
        for start in (0..count).step_by(LANES) {
            let count = (count - start).min(lanes);
            let is_half = count <= lanes / 2;
            let mut chunks = SmallVec::<[Chunk; 3]>::new();
            for (&at, dtype) in operands.iter().zip(dtypes) {
                let size = dtype.bytes() as u32;
                let at = at + start * size;
                chunks.push(match (dtype, size) {
                    (DType::I1, _) => Chunk::Mask(self.mask(at, count)?),
                    (_, 1 | 2) => Chunk::Four(self.small(at, *dtype, count)?),
                    (_, 4) => Chunk::Four(self.line(at)?),
                    _ => {
                        let low = self.line(at)?;
                        let high = match is_half {
                            true => low,
                            false => self.line(at + LINE)?,
                        };
                        Chunk::Eight([low, high])
                    }
                });
            }
            let code = &mut self.region.code;
            let (chunk, mask) =
                codegen::compute_with_exceptions(code, function, dtypes, &chunks, is_half)?;
            let at = result + start * source.result().bytes() as u32;
            match (chunk, mask) {
                (Chunk::Four(lanes), None) if source.result().bytes() < 4 => {
                    self.store_small(at, source.result(), lanes)?;
                }
                (Chunk::Four(line), Some(mask)) => {
                    let used = code.first_lanes(count as usize);
                    incomplete.push((at, line, code.pair(Op::And, mask, used)));
                }
                (Chunk::Four(line), None) => self.store_line(at, line)?,
                (Chunk::Mask(mask), _) => self.store_mask(at, mask)?,
                (Chunk::Eight([low, high]), _) => {
                    self.store_line(at, low)?;
                    if !is_half {
                        self.store_line(at + LINE, high)?;
                    }
                }
            }
        }
        let masks = incomplete.iter().map(|&(_, _, mask)| mask);
        let Some(any) = masks.reduce(|x, y| self.region.code.pair(Op::Or, x, y)) else {
            return Some(());
        };
        // The op is applied to all elements, maybe over its operand.
        let reads = operands[0]..operands[0] + count * dtypes[0].bytes() as u32;
        self.region.code.exception(any, (number, self.labels.exceptional), reads);
        for (at, line, mask) in incomplete {
            let (place, code) = (self.place(at, LINE)?, &mut self.region.code);
            let applied = code.load(Op::Load, place, at..at + LINE);
            let line = code.blend(mask, applied, line);
            self.store_line(at, line)?;
        }
        Some(())
    }

    /// Adds the code of an elementwise op for the elements from [`Register::Element`] on, as many
    /// as a vector of the code has lanes.
    pub(super) fn repeat(&mut self, op: &block::BlockOp) -> Option<()> {
        let block::BlockOp::Compute { source, result, operands, count, .. } = op else {
            return None;
        };
        let dtypes = source.operands();
        let width = self.region.code.width();
        let mut chunks = SmallVec::<[Chunk; 3]>::new();
        for (&at, &dtype) in operands.iter().zip(dtypes) {
            chunks.push(self.element(at, dtype, *count)?);
        }
        let size = source.result().bytes() as u32;
        self.place(*result, count.next_multiple_of(LANES as u32) * size)?;
        let code = &mut self.region.code;
        let chunk = codegen::compute(code, source.function()?, dtypes, &chunks, false)?;
        let writes = *result..*result + count * size;
        let place = |offset| {
            Mem::at(Register::Memory, *result as i32 + offset)
                .indexed(Register::Element, size.trailing_zeros() as u8)
        };
        let store = Store::Whole;
        match chunk {
            Chunk::Four(lanes) if size < 4 => {
                let (elements, part) = codegen::small_store(code, source.result(), lanes);
                code.store(part, elements, place(0), writes);
            }
            Chunk::Four(line) => code.store(store, line, place(0), writes),
            Chunk::Eight([low, high]) => {
                // Both are stored, or none.
                code.store(store, low, place(0), writes.clone());
                code.store_beside(store, high, place(width.bytes() as i32), writes);
            }
            Chunk::Mask(mask) => {
                let (bytes, part) = codegen::mask_store(code, mask);
                code.store(part, bytes, place(0), writes);
            }
        }
        self.region.chunks.insert(*result, (source.result(), chunk));
        Some(())
    }

    /// The elements of a constant that has one element `count` times.
    fn repeated(&mut self, at: u32, dtype: DType, count: u32) -> Option<Chunk> {
        let size = dtype.bytes();
        let bytes = self.constants.get(&at)?.get(..count as usize * size)?;
        let element = bytes.get(..size)?;
        if dtype == DType::I1 || !bytes.chunks_exact(size).all(|other| other == element) {
            return None;
        }
        let code = &mut self.region.code;
        let is_signed = dtype.family() == Family::Signed;
        Some(match *element {
            [x] if is_signed => Chunk::Four(code.splat4(i32::from(x as i8) as u32)),
            [x] => Chunk::Four(code.splat4(x.into())),
            [x, y] => {
                let bits = u16::from_ne_bytes([x, y]);
                let extended = i32::from(bits as i16) as u32;
                Chunk::Four(code.splat4(if is_signed { extended } else { bits.into() }))
            }
            [w, x, y, z] => Chunk::Four(code.splat4(u32::from_ne_bytes([w, x, y, z]))),
            _ if dtype.is_complex() => return None,
            _ => {
                let bits = u64::from_ne_bytes(element.try_into().ok()?);
                Chunk::Eight([code.splat8(bits); 2])
            }
        })
    }

    /// The elements from [`Register::Element`] on of the value at a position, as many as a vector
    /// of the code has lanes.
    pub(super) fn element(&mut self, at: u32, dtype: DType, count: u32) -> Option<Chunk> {
        // Equal bytes of constants of different types may be in one place.
        let is_same = |other: DType| other == dtype || other.bytes() >= 4 && dtype.bytes() >= 4;
        if let Some(&(other, chunk)) = self.region.chunks.get(&at)
            && is_same(other)
        {
            return Some(chunk);
        }
        if let Some(chunk) = self.repeated(at, dtype, count) {
            self.region.chunks.insert(at, (dtype, chunk));
            return Some(chunk);
        }
        let size = dtype.bytes() as u32;
        let width = self.region.code.width();
        self.place(at, count.next_multiple_of(LANES as u32) * size)?;
        let reads = at..at + count * size;
        let place = |offset| {
            Mem::at(Register::Memory, at as i32 + offset)
                .indexed(Register::Element, size.trailing_zeros() as u8)
        };
        let code = &mut self.region.code;
        let mut load = |op, offset| code.load(op, place(offset), reads.clone());
        let chunk = match (dtype, size) {
            (DType::I1, _) => {
                let bytes = load(Op::U8ToU32, 0);
                Chunk::Mask(codegen::mask_of_bytes(code, bytes))
            }
            (_, 1 | 2) => {
                let loaded = load(codegen::small_load(dtype), 0);
                Chunk::Four(codegen::lanes_of_small(code, dtype, loaded))
            }
            (_, 4) => Chunk::Four(load(Op::Load, 0)),
            _ => {
                let low = load(Op::Load, 0);
                Chunk::Eight([low, load(Op::Load, width.bytes() as i32)])
            }
        };
        self.region.chunks.insert(at, (dtype, chunk));
        Some(chunk)
    }
}
