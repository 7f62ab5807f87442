//! Movement of elements: whole lines, and lanes of lines.

use super::lowering::OpLowering;
use super::region::Available;
use super::{LINE, MAX_LINES};
use crate::block::{BlockOffset, ElementNumbers};
use codegen::{LANES, Mem, NOWHERE, Op, Register, ScalarInst, Value, VectorFunction};
use smallvec::SmallVec;
use std::ops::Range;

/// The maximum number of single elements that the code of an op moves.
const MAX_MOVES: usize = 64;

impl OpLowering<'_> {
    /// Moves bytes. Values start at lines and have room for whole ones.
    pub(super) fn copy(&mut self, from: u32, to: u32, bytes: u32) -> Option<()> {
        if bytes > MAX_LINES as u32 * LINE {
            return None;
        }
        if let Some(&Available::Mask(_)) = self.region.known.get(&from)
            && to.is_multiple_of(LINE)
        {
            for at in (0..bytes).step_by(LANES) {
                let mask = self.mask(from + at, bytes - at)?;
                self.store_mask(to + at, mask)?;
            }
            return Some(());
        }
        if !to.is_multiple_of(LINE) {
            return None;
        }
        if !from.is_multiple_of(LINE) {
            let fits = |&size: &u32| from.is_multiple_of(size) && bytes.is_multiple_of(size);
            let size = [8, 4].into_iter().find(fits)?;
            let numbers: SmallVec<[u32; 8]> = (from / size..(from + bytes) / size).collect();
            return self.collect(size, &numbers, to);
        }
        for at in (0..bytes).step_by(LINE as usize) {
            let line = self.line(from + at)?;
            self.store_line(to + at, line)?;
        }
        Some(())
    }

    /// Moves elements with some numbers to a position, which is that of a value.
    pub(super) fn collect(&mut self, size: u32, numbers: &[u32], to: u32) -> Option<()> {
        if !to.is_multiple_of(LINE) {
            return None;
        }
        if numbers.len() * size as usize > MAX_LINES * LINE as usize {
            return None;
        }
        let lanes = match size {
            1 => return self.collect_booleans(numbers, to),
            4 | 8 => (LINE / size) as usize,
            _ => return None,
        };
        let mut lines = SmallVec::<[Value; 4]>::new();
        for numbers in numbers.chunks(lanes) {
            lines.push(self.gathered(size, numbers)?);
        }
        for (at, line) in (to..).step_by(LINE as usize).zip(lines) {
            self.store_line(at, line)?;
        }
        Some(())
    }

    /// A line of elements with some numbers.
    pub(super) fn gathered(&mut self, size: u32, numbers: &[u32]) -> Option<Value> {
        let lanes = LINE / size;
        let mut sources: SmallVec<[u32; 4]> = numbers.iter().map(|number| number / lanes).collect();
        sources.sort_unstable();
        sources.dedup();
        let is_known =
            |line: &u32| matches!(self.region.known.get(&(line * LINE)), Some(Available::Line(_)));
        let in_order = numbers.windows(2).all(|pair| pair[0] + 1 == pair[1]);
        let is_whole = numbers.len() == lanes as usize;
        if sources.len() > 1 && in_order && is_whole && !sources.iter().all(is_known) {
            let at = numbers[0] * size;
            let place = self.place(at, LINE)?;
            let code = &mut self.region.code;
            return Some(code.load(Op::Load, place, at..at + LINE));
        }
        if sources.len() > 3 {
            return self.inserted(size, numbers, |lowering, number| {
                let at = number * size;
                Some((lowering.place(at, size)?, at..at + size))
            });
        }
        let mut result = None;
        for &source in &sources {
            let line = self.line(source * LINE)?;
            result = Some(self.placed(size, numbers, source, line, result));
        }
        result
    }

    /// A line of elements that are read one by one.
    pub(super) fn inserted(
        &mut self,
        size: u32,
        numbers: &[u32],
        place: impl Fn(&OpLowering<'_>, u32) -> Option<(Mem, Range<u32>)>,
    ) -> Option<Value> {
        let half = (LINE / 2 / size) as usize;
        let mut halves = [None; 2];
        for (result, numbers) in halves.iter_mut().zip(numbers.chunks(half)) {
            let mut elements = numbers.iter().enumerate();
            let (_, &first) = elements.next()?;
            let (from, reads) = place(self, first)?;
            let load = if size == 4 { Op::Load4 } else { Op::Load8 };
            let mut line = self.region.code.load(load, from, reads);
            for (lane, &number) in elements {
                let (from, reads) = place(self, number)?;
                let code = &mut self.region.code;
                line = if size == 4 {
                    code.load_into(Op::Insert4(lane as u8), line, from, reads)
                } else {
                    code.load_into(Op::Insert8, line, from, reads)
                };
            }
            *result = Some(line);
        }
        let [low, high] = halves;
        let Some(high) = high else { return low };
        let code = &mut self.region.code;
        Some(code.join(low?, high))
    }

    /// Booleans with some numbers, if all are in registers or may be loaded, as what they are is
    /// known.
    pub(super) fn gathered_booleans(&mut self, numbers: &[u32], loads: bool) -> Option<Value> {
        let lanes = LANES as u32;
        let mut sources: SmallVec<[u32; 4]> = numbers.iter().map(|n| n / lanes).collect();
        sources.sort_unstable();
        sources.dedup();
        let mut result = None;
        for &source in &sources {
            let mask = match self.region.known.get(&(source * lanes)) {
                Some(&Available::Mask(mask)) => mask,
                _ if loads => self.mask(source * lanes, lanes)?,
                _ => return None,
            };
            result = Some(self.placed(4, numbers, source, mask, result));
        }
        result
    }

    /// The elements of a source with some numbers, beside `others`.
    pub(super) fn placed(
        &mut self,
        size: u32,
        numbers: &[u32],
        source: u32,
        line: Value,
        others: Option<Value>,
    ) -> Value {
        let lanes = LINE / size;
        let moved = numbers.iter().map(|&n| (n / lanes == source).then_some(n % lanes));
        let moved: SmallVec<[Option<u32>; 8]> = moved.collect();
        let code = &mut self.region.code;
        let placed = permuted(code, size, line, &moved);
        let Some(others) = others else { return placed };
        let own = moved.iter().enumerate().filter(|(_, from)| from.is_some());
        let mask = own
            .fold(0, |mask, (lane, _)| mask | if size == 4 { 1 << lane } else { 3 << (2 * lane) });
        code.pair(Op::Blend4(mask), others, placed)
    }

    /// Moves bytes: booleans in registers, or one by one.
    pub(super) fn collect_booleans(&mut self, numbers: &[u32], to: u32) -> Option<()> {
        let mut masks = SmallVec::<[Value; 4]>::new();
        for numbers in numbers.chunks(LANES) {
            let Some(mask) = self.gathered_booleans(numbers, false) else { break };
            masks.push(mask);
        }
        if masks.len() == numbers.len().div_ceil(LANES) {
            for (at, mask) in (to..).step_by(LANES).zip(masks) {
                self.store_mask(at, mask)?;
            }
            return Some(());
        }
        if numbers.len() > MAX_MOVES {
            return None;
        }
        let range = to..to + numbers.len() as u32;
        for (to, &from) in range.clone().zip(numbers) {
            let scalar =
                ScalarInst::Move { from: self.place(from, 1)?, to: self.place(to, 1)?, bytes: 1 };
            self.region.code.scalar(scalar, from..from + 1, to..to + 1);
        }
        self.region.overwrite(range);
        Some(())
    }

    /// Sets [`Register::Index`] to the bytes before a part with start indices.
    pub(super) fn index(&mut self, size: usize, starts: &[BlockOffset]) -> Option<()> {
        for (position, start) in starts.iter().enumerate() {
            let bytes = start.index.len();
            if !start.dtype.is_integer() || bytes != start.dtype.bytes() {
                return None;
            }
            // All bits of the narrower types are not those of the number.
            if start.dtype.bits() as usize != 8 * bytes {
                return None;
            }
            let index = ScalarInst::Index {
                from: self.place(start.index.start, bytes as u32)?,
                bytes,
                is_signed: start.dtype.is_signed(),
                last: u32::try_from(start.last).ok()?,
                stride: i32::try_from(start.stride.checked_mul(size)?).ok()? as u32,
                is_first: position == 0,
            };
            self.region.code.scalar(index, start.index.clone(), NOWHERE);
        }
        Some(())
    }

    /// Moves elements that follow start indices.
    pub(super) fn collect_from(
        &mut self,
        elements: &ElementNumbers,
        starts: &[BlockOffset],
        to: u32,
    ) -> Option<()> {
        let size = match elements.size {
            4 => 4,
            8 => 8,
            _ => return None,
        };
        let reads = elements.range(starts);
        self.place(reads.start, reads.end.checked_sub(reads.start)?)?;
        let bytes = elements.numbers.len() * elements.size;
        if !to.is_multiple_of(LINE) || bytes == 0 || bytes > MAX_LINES * LINE as usize {
            return None;
        }
        self.index(elements.size, starts)?;
        let lanes = (LINE / size) as usize;
        let mut lines = SmallVec::<[Value; 4]>::new();
        let at = |number: u32| {
            Mem::at(Register::Memory, (number * size) as i32).indexed(Register::Index, 0)
        };
        for numbers in elements.numbers.chunks(lanes) {
            let in_order = numbers.windows(2).all(|pair| pair[0] + 1 == pair[1]);
            lines.push(if in_order && numbers.len() == lanes {
                let from = at(numbers[0]);
                let code = &mut self.region.code;
                code.load(Op::Load, from, reads.clone())
            } else {
                self.inserted(size, numbers, |_, number| Some((at(number), reads.clone())))?
            });
        }
        for (at, line) in (to..).step_by(LINE as usize).zip(lines) {
            self.store_line(at, line)?;
        }
        Some(())
    }

    /// Moves elements to places that follow start indices.
    pub(super) fn spread(
        &mut self,
        from: u32,
        elements: &ElementNumbers,
        starts: &[BlockOffset],
    ) -> Option<()> {
        let size = match elements.size {
            size @ (1 | 2 | 4 | 8) => size as u32,
            _ => return None,
        };
        if elements.numbers.len() > MAX_MOVES {
            return None;
        }
        let writes = elements.range(starts);
        self.place(writes.start, writes.end.checked_sub(writes.start)?)?;
        self.index(elements.size, starts)?;
        for (from, &number) in (from..).step_by(elements.size).zip(&elements.numbers) {
            let to = Mem::at(Register::Memory, (number * size) as i32).indexed(Register::Index, 0);
            let moved =
                ScalarInst::Move { from: self.place(from, size)?, to, bytes: elements.size };
            self.region.code.scalar(moved, from..from + size, NOWHERE);
        }
        self.region.overwrite(writes);
        Some(())
    }
}

/// The lanes of a line, of 4 or 8 bytes, moved to others; others are arbitrary.
fn permuted(code: &mut VectorFunction, size: u32, line: Value, moved: &[Option<u32>]) -> Value {
    let is_in_place = |(lane, from): (usize, &Option<u32>)| from.is_none_or(|f| f == lane as u32);
    if moved.iter().enumerate().all(is_in_place) {
        return line;
    }
    if size == 4 {
        if moved.iter().flatten().all(|&from| from == 0) {
            return code.unary(Op::Splat4, line);
        }
        let mut lanes = [0; LANES];
        for (lane, from) in lanes.iter_mut().zip(moved) {
            *lane = from.unwrap_or(0) as u8;
        }
        code.permute4(line, lanes)
    } else {
        let lanes = moved.iter().enumerate();
        let immediate = lanes
            .fold(0, |immediate, (lane, from)| immediate | (from.unwrap_or(0) as u8) << (2 * lane));
        code.unary(Op::Permute8(immediate), line)
    }
}
