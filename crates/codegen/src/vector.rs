//! Straight-line code over vectors, before its values have registers.

use crate::elementwise::Chunk;
use crate::machine::{ConstantBytes, Label, Mem};
use crate::ops::{Op, Store};
use numerics::DType;
use numerics::simd::Isa;
use rustc_hash::FxHashMap;
use std::ops::Range;

/// A value: the result of the instruction with this number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Value(pub(crate) u32);

#[derive(Clone, Debug)]
pub(crate) enum InstKind {
    /// An operation, whose last operand may be in memory.
    Vector(Op),
    ConstantData(ConstantBytes),
    /// In a register from the start of each round of a loop on. True if its place in memory never
    /// changes.
    Carried(bool),
    /// Goes on at a label if the first lane of a mask is not set.
    Unless(Label),
    /// Calls code at a label with a number, in `Register::Number`, if a lane of four bytes of a
    /// mask is set. The code leaves all vectors as they are.
    Exception {
        number: u32,
        call: Label,
    },
    /// Writes the operand to memory.
    Store(Store),
    ScalarInst(ScalarInst),
}

/// An operation of general-purpose registers, which code over vectors does not use itself.
#[derive(Clone, Debug)]
pub enum ScalarInst {
    /// Sets `Register::Index` to an integer from memory, brought into the range up to `last`,
    /// times `stride`, or adds that to it.
    Index {
        /// The integer.
        from: Mem,
        /// Its bytes.
        bytes: usize,
        /// True if it has a sign.
        is_signed: bool,
        /// The greatest index.
        last: u32,
        /// The factor.
        stride: u32,
        /// True if nothing has been added before.
        is_first: bool,
    },
    /// Loads an address to `Register::Loaded`.
    Load {
        /// From where.
        from: Mem,
    },
    /// Copies 1, 2, 4 or 8 bytes.
    Move {
        /// From where.
        from: Mem,
        /// To where.
        to: Mem,
        /// The number of bytes.
        bytes: usize,
    },
    /// Goes on at a label if a byte is zero.
    Unless {
        /// The byte.
        at: Mem,
        /// The label.
        to: Label,
    },
    /// Subtracts from a counter; if it becomes negative, calls code that leaves all registers as
    /// they are.
    Count {
        /// The counter, of eight bytes.
        counter: Mem,
        /// The amount, which the code finds in `Register::Loaded`.
        by: u32,
        /// A number for the code to call, in `Register::Number`.
        number: u32,
        /// The code to call.
        exhausted: Label,
    },
}

/// No operand.
pub(crate) const NONE: Value = Value(u32::MAX);

/// An instruction.
#[derive(Clone, Debug)]
pub(crate) struct Inst {
    pub kind: InstKind,
    pub operands: [Value; 3],
    /// The last operand, if it is in memory, or where a value is stored.
    pub place: Option<Mem>,
    /// Parts of the memory that the code works on, if it matters when they are read and written.
    pub reads: Range<u32>,
    pub writes: Range<u32>,
    /// True for a store that is needed if the next one is.
    pub is_part: bool,
}

/// The vectors of some code: the instructions that work on them decide.
///
/// The operand of [`Op::Permute4`] that chooses lanes is different for each: see
/// [`VectorFunction::permute4`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// 32 bytes, of AVX2.
    Avx2,
    /// 64 bytes, of AVX-512.
    Avx512,
    /// 32 bytes, in two registers of NEON.
    Neon,
}

impl Default for Width {
    /// The narrowest one of this machine.
    fn default() -> Width {
        if cfg!(target_arch = "aarch64") { Width::Neon } else { Width::Avx2 }
    }
}

impl Width {
    /// The widest one whose instructions have full throughput on this machine.
    pub fn best() -> Width {
        if Isa::best().has_fast_avx512() { Width::Avx512 } else { Width::default() }
    }

    /// The bytes of a vector.
    pub fn bytes(self) -> usize {
        match self {
            Width::Avx2 | Width::Neon => 32,
            Width::Avx512 => 64,
        }
    }

    /// The elements of four bytes in a vector, and of all that are computed together.
    pub fn lanes(self) -> usize {
        self.bytes() / 4
    }

    /// The number of registers, or of pairs of registers, of which NEON has some for the time of
    /// an operation.
    pub(crate) fn registers(self) -> usize {
        match self {
            Width::Avx2 => 16,
            Width::Avx512 => MAX_REGISTERS,
            Width::Neon => 14,
        }
    }

    /// True if lanes can become narrower, in registers and when they are stored.
    pub(crate) fn narrows(self) -> bool {
        self != Width::Avx2
    }
}

/// The registers of the widest vectors.
pub(crate) const MAX_REGISTERS: usize = 32;

/// Instructions in order.
#[derive(Clone, Debug, Default)]
pub struct VectorFunction {
    pub(crate) width: Width,
    /// Masks of lanes whose operands have no code, if the user of the code looks for these.
    pub(crate) exceptions: Option<Vec<Value>>,
    /// The squares, as `f64`, of absolute values: of the low lanes and the high ones.
    pub(crate) squares: FxHashMap<Value, [Value; 2]>,
    /// Quotients of integers, by type, dividend and divisor.
    pub(crate) quotients: FxHashMap<(DType, Chunk, Chunk), Chunk>,
    /// Numbers of type `f16` whose encodings are in lanes.
    pub(crate) halves: FxHashMap<Value, HalfNumbers>,
    pub(crate) insts: Vec<Inst>,
    pub(crate) constants: FxHashMap<ConstantBytes, Value>,
}

/// Numbers of type `f16`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HalfNumbers {
    /// As floats of four bytes.
    pub singles: Value,
    /// The encodings side by side, in the low half of a vector, if they are.
    pub packed: Option<Value>,
}

/// No part of the memory.
pub const NOWHERE: Range<u32> = 0..0;

impl VectorFunction {
    /// No instructions, on the narrowest vectors of this machine.
    pub fn new() -> VectorFunction {
        VectorFunction::default()
    }

    /// No instructions, on vectors of some width.
    pub fn of_width(width: Width) -> VectorFunction {
        VectorFunction { width, ..VectorFunction::default() }
    }

    /// No instructions, on vectors of some width, and no exceptions yet.
    pub(crate) fn with_exceptions(width: Width) -> VectorFunction {
        VectorFunction { exceptions: Some(Vec::new()), ..VectorFunction::of_width(width) }
    }

    /// The vectors that the instructions work on.
    pub fn width(&self) -> Width {
        self.width
    }

    /// The operands of each instruction, for tests of their order.
    #[doc(hidden)]
    pub fn operands(&self) -> Vec<Vec<usize>> {
        let numbers = |inst: &Inst| {
            let used = inst.operands.iter().filter(|&&operand| operand != NONE);
            used.map(|operand| operand.0 as usize).collect()
        };
        self.insts.iter().map(numbers).collect()
    }

    /// Number of instructions.
    pub fn len(&self) -> usize {
        self.insts.len()
    }

    /// True if it is empty.
    pub fn is_empty(&self) -> bool {
        self.insts.is_empty()
    }

    fn push(&mut self, kind: InstKind, operands: [Value; 3], place: Option<Mem>) -> Value {
        let (reads, writes) = (NOWHERE, NOWHERE);
        let inst = Inst { kind, operands, place, reads, writes, is_part: false };
        self.insts.push(inst);
        Value(self.insts.len() as u32 - 1)
    }

    /// A constant.
    pub fn constant(&mut self, bytes: ConstantBytes) -> Value {
        if let Some(&value) = self.constants.get(&bytes) {
            return value;
        }
        let value = self.push(InstKind::ConstantData(bytes), [NONE; 3], None);
        self.constants.insert(bytes, value);
        value
    }

    /// The same four bytes in each lane.
    pub fn splat4(&mut self, bits: u32) -> Value {
        let mut bytes = [0; 32];
        bytes.chunks_mut(4).for_each(|lane| lane.copy_from_slice(&bits.to_le_bytes()));
        self.constant(bytes)
    }

    /// The same eight bytes in each lane.
    pub fn splat8(&mut self, bits: u64) -> Value {
        let mut bytes = [0; 32];
        bytes.chunks_mut(8).for_each(|lane| lane.copy_from_slice(&bits.to_le_bytes()));
        self.constant(bytes)
    }

    /// The bytes of a value, if they are known.
    fn known(&self, value: Value) -> Option<&ConstantBytes> {
        match &self.insts.get(value.0 as usize)?.kind {
            InstKind::ConstantData(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// The four bytes in each lane, if they are known and the same.
    pub fn known4(&self, value: Value) -> Option<u32> {
        let (lanes, _) = self.known(value)?.as_chunks();
        lanes.iter().all(|lane| *lane == lanes[0]).then(|| u32::from_le_bytes(lanes[0]))
    }

    /// The eight bytes in each lane, if they are known and the same.
    pub fn known8(&self, value: Value) -> Option<u64> {
        let (lanes, _) = self.known(value)?.as_chunks();
        lanes.iter().all(|lane| *lane == lanes[0]).then(|| u64::from_le_bytes(lanes[0]))
    }

    fn is_constant(&self, value: Value) -> bool {
        matches!(self.insts[value.0 as usize].kind, InstKind::ConstantData(_))
    }

    /// Adds an operation with its only operand in memory. `reads` is the part of the memory, if it
    /// matters.
    pub fn load(&mut self, op: Op, from: Mem, reads: Range<u32>) -> Value {
        let value = self.push(InstKind::Vector(op), [NONE; 3], Some(from));
        self.insts[value.0 as usize].reads = reads;
        value
    }

    /// Adds an operation with its last operand in memory.
    pub fn load_into(&mut self, op: Op, x: Value, from: Mem, reads: Range<u32>) -> Value {
        let value = self.push(InstKind::Vector(op), [x, NONE, NONE], Some(from));
        self.insts[value.0 as usize].reads = reads;
        value
    }

    /// A function of a value.
    pub fn unary(&mut self, op: Op, x: Value) -> Value {
        self.push(InstKind::Vector(op), [x, NONE, NONE], None)
    }

    /// A function of two values.
    pub fn pair(&mut self, op: Op, x: Value, y: Value) -> Value {
        // A constant as the last operand needs no register.
        let swaps = self.is_constant(x) && !self.is_constant(y) && op.is_commutative();
        let [x, y] = if swaps { [y, x] } else { [x, y] };
        self.push(InstKind::Vector(op), [x, y, NONE], None)
    }

    /// The bytes of `yes` in the lanes of `mask` whose bits are set, else of `no`.
    pub fn blend(&mut self, mask: Value, yes: Value, no: Value) -> Value {
        self.push(InstKind::Vector(Op::Blend), [no, yes, mask], None)
    }

    /// A sum and a product, with one rounding.
    pub fn multiply_add(&mut self, op: Op, sum: Value, x: Value, y: Value) -> Value {
        self.push(InstKind::Vector(op), [sum, x, y], None)
    }

    /// The high half of a vector, as the low one.
    pub fn extract_high(&mut self, x: Value) -> Value {
        self.unary(Op::HighHalf, x)
    }

    /// The low halves of two vectors, the second as the high half.
    pub fn join(&mut self, low: Value, high: Value) -> Value {
        self.pair(Op::Join, low, high)
    }

    /// Lanes of four bytes with some numbers.
    pub fn permute4(&mut self, x: Value, lanes: [u8; 8]) -> Value {
        let mut numbers = [0; 32];
        for (bytes, lane) in numbers.chunks_mut(4).zip(lanes) {
            match self.width {
                // The number of each byte.
                Width::Neon => (4 * lane..).zip(bytes).for_each(|(number, byte)| *byte = number),
                _ => bytes[0] = lane,
            }
        }
        let numbers = self.constant(numbers);
        self.pair(Op::Permute4, numbers, x)
    }

    /// Lanes of four bytes moved up.
    pub fn shift_left4(&mut self, x: Value, by: u8) -> Value {
        self.unary(Op::ShiftLeftI32By(by), x)
    }

    /// Lanes of four bytes moved down.
    pub fn shift_right4(&mut self, x: Value, by: u8) -> Value {
        self.unary(Op::ShiftRightU32By(by), x)
    }

    /// Lanes of eight bytes moved up.
    pub fn shift_left8(&mut self, x: Value, by: u8) -> Value {
        self.unary(Op::ShiftLeftI64By(by), x)
    }

    /// Lanes of eight bytes moved down.
    pub fn shift_right8(&mut self, x: Value, by: u8) -> Value {
        self.unary(Op::ShiftRightU64By(by), x)
    }

    /// Stores a value. `writes` is the part of the memory, if it matters.
    pub fn store(&mut self, store: Store, x: Value, to: Mem, writes: Range<u32>) {
        let at = self.push(InstKind::Store(store), [x, NONE, NONE], Some(to));
        self.insts[at.0 as usize].writes = writes;
    }

    /// As [`VectorFunction::store`]: the second half of what the store before it writes the first
    /// half of.
    pub fn store_beside(&mut self, store: Store, x: Value, to: Mem, writes: Range<u32>) {
        self.store(store, x, to, writes);
        let at = self.insts.len() - 2;
        // Going backwards, the last store decides what both write.
        self.insts[at].is_part = true;
    }

    /// Makes a whole vector that is loaded, and whose place nothing has changed before, the first
    /// vector of each round of a loop: what is loaded before the first one. `is_constant` if
    /// nothing changes its place later, either.
    pub fn carry(&mut self, loaded: Value, is_constant: bool) {
        self.insts[loaded.0 as usize].kind = InstKind::Carried(is_constant);
    }

    /// Goes on at a label if the first lane of a mask is not set.
    pub fn unless(&mut self, mask: Value, to: Label) {
        self.push(InstKind::Unless(to), [mask, NONE, NONE], None);
    }

    /// Calls code at a label with a number, in `Register::Number`, if a lane of four bytes of a
    /// mask is set. The code leaves all vectors as they are, and reads a part of the memory.
    pub fn exception(&mut self, mask: Value, (number, call): (u32, Label), reads: Range<u32>) {
        let at = self.push(InstKind::Exception { number, call }, [mask, NONE, NONE], None);
        self.insts[at.0 as usize].reads = reads;
    }

    /// A mask of the first lanes of four bytes.
    pub fn first_lanes(&mut self, count: usize) -> Value {
        let mut bytes = [0; 32];
        bytes[..4 * count].fill(u8::MAX);
        self.constant(bytes)
    }

    /// Adds an operation of general-purpose registers.
    pub fn scalar(&mut self, scalar: ScalarInst, reads: Range<u32>, writes: Range<u32>) {
        let at = self.push(InstKind::ScalarInst(scalar), [NONE; 3], None);
        let inst = &mut self.insts[at.0 as usize];
        (inst.reads, inst.writes) = (reads, writes);
    }
}

/// A set of parts of the memory, in units of eight bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NeededParts {
    words: Vec<u64>,
}

/// The bytes of a unit of [`NeededParts`].
const GRANULE: u32 = 8;

impl NeededParts {
    /// No part of a memory of `bytes` bytes.
    pub fn none(bytes: usize) -> NeededParts {
        NeededParts { words: vec![0; bytes.div_ceil(64 * GRANULE as usize)] }
    }

    fn units(range: &Range<u32>) -> Range<u32> {
        if range.is_empty() { 0..0 } else { range.start / GRANULE..range.end.div_ceil(GRANULE) }
    }

    /// Adds all units that a range touches.
    pub fn add(&mut self, range: &Range<u32>) {
        NeededParts::units(range)
            .for_each(|unit| self.words[unit as usize / 64] |= 1 << (unit % 64));
    }

    /// Removes the units that are in a range as a whole.
    pub fn remove(&mut self, range: &Range<u32>) {
        let units = range.start.div_ceil(GRANULE)..range.end / GRANULE;
        units.for_each(|unit| self.words[unit as usize / 64] &= !(1 << (unit % 64)));
    }

    /// True if a unit is touched by a range.
    fn touches(&self, range: &Range<u32>) -> bool {
        NeededParts::units(range).any(|unit| self.words[unit as usize / 64] >> (unit % 64) & 1 != 0)
    }

    /// Adds another set; true if this one has grown.
    pub fn extend(&mut self, other: &NeededParts) -> bool {
        let mut grown = false;
        for (word, other) in self.words.iter_mut().zip(&other.words) {
            grown |= *other & !*word != 0;
            *word |= other;
        }
        grown
    }
}

impl VectorFunction {
    /// Changes the parts of the memory that are needed after the code into the parts that are
    /// needed before it. `exits` has the parts needed at labels to which it branches. If `removes`,
    /// stores to what is not needed are removed.
    pub fn needed(
        &mut self,
        parts: &mut NeededParts,
        exits: impl Fn(Label) -> Option<NeededParts>,
        removes: bool,
    ) {
        let mut is_needed = false;
        for inst in self.insts.iter_mut().rev() {
            if let InstKind::Store(_) = &inst.kind
                && !inst.is_part
            {
                is_needed = parts.touches(&inst.writes);
            }
            match &inst.kind {
                InstKind::Store(_) if removes && !is_needed => {
                    // Without a result that is used it has no effect.
                    inst.kind = InstKind::ConstantData([0; 32]);
                    inst.operands = [NONE; 3];
                    inst.writes = NOWHERE;
                }
                InstKind::Store(_) => parts.remove(&inst.writes),
                InstKind::Unless(to) | InstKind::ScalarInst(ScalarInst::Unless { to, .. }) => {
                    exits(*to).iter().for_each(|needed| {
                        parts.extend(needed);
                    });
                }
                _ => {}
            }
            parts.add(&inst.reads);
        }
    }
}
