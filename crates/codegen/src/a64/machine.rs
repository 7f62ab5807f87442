//! Operations as instructions of NEON.
//!
//! A vector of 32 bytes is in two registers, of which the second one has the high half. Operations
//! that say nothing of the high half of their result leave it as it is.

use super::{Assembler, Lane, Neon, SP, Transfer, V, X, ZERO};
use crate::machine::Register;
use crate::machine::{Base, Condition, Constant, ConstantBytes, Label, Machine, Mem, Operand};
use crate::ops::{Op, Predicate, Rounding, Store};
use crate::vector::Width;
use rustc_hash::FxHashMap;

/// The bytes of a register.
const HALF: i32 = 16;
/// The first registers of pairs: those that functions restore are last.
const PAIRS: [u8; 14] = [0, 2, 4, 6, 16, 18, 20, 22, 24, 26, 8, 10, 12, 14];
/// Registers for the time of an operation,
const TEMPORARY: [V; 2] = [V(28), V(29)];
/// and those of an operand from memory.
const LOADED: [V; 2] = [V(30), V(31)];
/// The low halves of these are restored.
const SAVED: [[V; 2]; 4] = [[V(8), V(9)], [V(10), V(11)], [V(12), V(13)], [V(14), V(15)]];
/// Registers for addresses of loops.
const ADDRESSES: [u8; 11] = [2, 3, 4, 5, 6, 7, 10, 11, 12, 13, 14];
/// A register for the time of an operation,
const NUMBER: X = X(15);
/// the sum of a base and an index,
const INDEXED: X = X(16);
/// and a register for the time of an instruction.
const SCRATCH: X = X(17);
/// The address of the constants.
const CONSTANTS: X = X(28);
/// The frame of a function, and where it returns to.
const FRAME: [X; 2] = [X(29), X(30)];
/// The bytes of a frame: of these, of the registers of blocks, of that of constants and another one
/// and of the vectors.
const FRAME_BYTES: i32 = 16 + 16 + 16 + 64;
/// The bytes of the stack that are used before others are, so that its guard is not skipped.
const PAGE: i32 = 4096;

fn x(register: Register) -> X {
    X(match register {
        Register::First | Register::Result => 0,
        Register::Second => 1,
        Register::Number => 2,
        Register::Element => 8,
        Register::Loaded => 9,
        Register::Index => 11,
        Register::Address(number) => ADDRESSES[usize::from(number) % ADDRESSES.len()],
        Register::Memory => 19,
        Register::Context => 20,
        Register::Stack => return SP,
    })
}

fn pair(register: u8) -> [V; 2] {
    let first = PAIRS[usize::from(register) % PAIRS.len()];
    [V(first), V(first + 1)]
}

/// Code for AArch64 while it is made.
#[derive(Default)]
pub struct Emitter {
    assembler: Assembler,
    /// The constants by 16 bytes.
    pool: Vec<[u8; 16]>,
    /// Where a constant is there, and if its second half is its first one again.
    constants: Vec<(i32, bool)>,
    numbers: FxHashMap<ConstantBytes, Constant>,
    /// The base, the index and its scale of which [`INDEXED`] is the sum.
    indexed: Option<(X, X, u8)>,
    /// True if the code needs an operation for which there are no instructions.
    lacks_operation: bool,
}

impl Emitter {
    /// Sets a register to the sum of another and a number.
    fn sum(&mut self, d: X, n: X, number: i32) {
        let size = number.unsigned_abs();
        let (high, low) = (size >> 12, size & 0xFFF);
        if high > 0xFFF {
            self.assembler.set(SCRATCH, i64::from(number) as u64);
            return self.assembler.add_to_stack(d, n, SCRATCH);
        }
        let step = match number < 0 {
            true => Assembler::subtract_number,
            false => Assembler::add_number,
        };
        if high > 0 {
            step(&mut self.assembler, d, n, high, true);
        }
        if low > 0 || high == 0 {
            step(&mut self.assembler, d, if high > 0 { d } else { n }, low, false);
        }
    }

    /// A place as a register and a distance.
    fn place(&mut self, place: Mem) -> (X, i32) {
        let base = match place.base {
            Base::Register(base) => x(base),
            Base::Constant(constant) => return (CONSTANTS, self.constants[constant.0 as usize].0),
        };
        let Some((index, scale)) = place.index else { return (base, place.offset) };
        let indexed = (base, x(index), scale);
        if self.indexed != Some(indexed) {
            self.assembler.add(INDEXED, base, indexed.1, scale);
            self.indexed = Some(indexed);
        }
        (INDEXED, place.offset)
    }

    /// A register with the address of a place.
    fn address(&mut self, place: Mem) -> X {
        match self.place(place) {
            (base, 0) => base,
            (base, distance) => {
                self.sum(SCRATCH, base, distance);
                SCRATCH
            }
        }
    }

    /// Loads or stores a register.
    fn transfer(&mut self, kind: (Transfer, bool), register: u8, (base, distance): (X, i32)) {
        if !self.assembler.transfer(kind, register, base, distance) {
            self.sum(SCRATCH, base, distance);
            self.assembler.transfer(kind, register, SCRATCH, 0);
        }
    }

    /// Loads or stores a vector.
    fn transfer_whole(&mut self, is_load: bool, registers: [V; 2], (base, distance): (X, i32)) {
        if self.assembler.transfer_pair(is_load, registers, base, distance) {
            return;
        }
        let is_multiple = distance % HALF == 0 && (0..4095 * HALF).contains(&distance);
        if is_multiple || (-256..=255 - HALF).contains(&distance) {
            for (register, distance) in registers.into_iter().zip([distance, distance + HALF]) {
                self.transfer((Transfer::Q, is_load), register.0, (base, distance));
            }
            return;
        }
        self.sum(SCRATCH, base, distance);
        self.assembler.transfer_pair(is_load, registers, SCRATCH, 0);
    }

    /// True if both halves of what is at a place are the same.
    fn repeats(&self, place: Mem) -> bool {
        match place.base {
            Base::Constant(constant) => self.constants[constant.0 as usize].1,
            Base::Register(_) => false,
        }
    }

    fn load_whole(&mut self, registers: [V; 2], place: Mem) {
        let repeats = self.repeats(place);
        let place = self.place(place);
        if !repeats {
            return self.transfer_whole(true, registers, place);
        }
        for register in registers {
            self.transfer((Transfer::Q, true), register.0, place);
        }
    }

    /// The registers with an operand, of which both may be the same one.
    fn halves(&mut self, operand: Operand) -> [V; 2] {
        match operand {
            Operand::Register(register) => pair(register),
            Operand::Memory(place) if self.repeats(place) => {
                let place = self.place(place);
                self.transfer((Transfer::Q, true), LOADED[0].0, place);
                [LOADED[0]; 2]
            }
            Operand::Memory(place) => {
                self.load_whole(LOADED, place);
                LOADED
            }
        }
    }

    /// Copies a register if it is another one.
    fn copy(&mut self, d: V, n: V) {
        if d != n {
            self.assembler.copy(d, n);
        }
    }

    /// A function of each half.
    fn of_one(&mut self, op: Neon, d: [V; 2], n: [V; 2]) {
        d.into_iter().zip(n).for_each(|(d, n)| self.assembler.vector_of_one(op, d, n));
    }

    fn of_two(&mut self, op: Neon, d: [V; 2], n: [V; 2], m: [V; 2]) {
        for half in 0..2 {
            self.assembler.vector(op, d[half], n[half], m[half]);
        }
    }

    /// Functions of the low and of the high half of a register.
    fn widen(&mut self, [low, high]: [Neon; 2], d: [V; 2], n: V) {
        // The operand may be where the low half of the result is.
        self.assembler.vector_of_one(high, d[1], n);
        self.assembler.vector_of_one(low, d[0], n);
    }

    /// The bits of one register where those of a temporary one are set, else those of another.
    fn choose(&mut self, d: V, mask: V, yes: V, no: V) {
        if d == yes {
            self.assembler.vector(Neon::BIF, d, no, mask);
        } else {
            self.copy(d, no);
            self.assembler.vector(Neon::BIT, d, yes, mask);
        }
    }

    /// A comparison of half a vector.
    fn compare(
        &mut self,
        way: Predicate,
        [equal, greater, at_least]: [Neon; 3],
        [d, n, m]: [V; 3],
    ) {
        let assembler = &mut self.assembler;
        match way {
            Predicate::Equal | Predicate::NotEqual => assembler.vector(equal, d, n, m),
            Predicate::Greater => assembler.vector(greater, d, n, m),
            Predicate::GreaterOrEqual => assembler.vector(at_least, d, n, m),
            Predicate::Less => assembler.vector(greater, d, m, n),
            Predicate::LessOrEqual => assembler.vector(at_least, d, m, n),
            Predicate::Ordered | Predicate::Unordered if n == m => {
                assembler.vector(equal, d, n, n);
            }
            Predicate::Ordered | Predicate::Unordered => {
                let [one, other] = TEMPORARY;
                assembler.vector(at_least, one, n, m);
                assembler.vector(greater, other, m, n);
                assembler.vector(Neon::ORR, d, one, other);
            }
        }
        if matches!(way, Predicate::NotEqual | Predicate::Unordered) {
            assembler.vector_of_one(Neon::NOT, d, d);
        }
    }

    /// Shifts half a vector by what is in another one.
    fn shift(&mut self, op: Op, [d, n, m]: [V; 3]) {
        let [by, is_less] = TEMPORARY;
        let assembler = &mut self.assembler;
        // The instructions shift by one byte with a sign, down if it is negative.
        let is_wide = matches!(op, Op::ShiftLeftI64 | Op::ShiftRightU64);
        if is_wide {
            assembler.set(NUMBER, 64);
            assembler.splat_general(by, NUMBER);
            assembler.vector(Neon::CMHI_D, is_less, by, m);
        } else {
            assembler.splat_number(by, 32);
            assembler.vector(Neon::UMIN_S, by, by, m);
        }
        match op {
            Op::ShiftLeftI32 => assembler.vector(Neon::USHL_S, d, n, by),
            Op::ShiftLeftI64 => assembler.vector(Neon::USHL_D, d, n, m),
            Op::ShiftRightU64 => {
                assembler.vector_of_one(Neon::NEG_D, by, m);
                assembler.vector(Neon::USHL_D, d, n, by);
            }
            _ => {
                assembler.vector_of_one(Neon::NEG_S, by, by);
                let signed = op == Op::ShiftRightI32;
                assembler.vector(if signed { Neon::SSHL_S } else { Neon::USHL_S }, d, n, by);
            }
        }
        if is_wide {
            assembler.vector(Neon::AND, d, d, is_less);
        }
    }

    /// Two lanes of eight bytes, by register and number.
    fn two_lanes(&mut self, d: V, [(n, first), (m, second)]: [(V, u8); 2]) {
        let assembler = &mut self.assembler;
        match (first, second) {
            (0, 0) => assembler.vector(Neon::ZIP1_D, d, n, m),
            (1, 1) => assembler.vector(Neon::ZIP2_D, d, n, m),
            (1, _) => assembler.halves_between(d, n, m),
            _ if n == m => self.copy(d, n),
            _ => {
                assembler.copy(TEMPORARY[1], m);
                assembler.insert(Lane::D, (TEMPORARY[1], 0), (n, 0));
                assembler.copy(d, TEMPORARY[1]);
            }
        }
    }

    /// Lanes of eight bytes with numbers of two bits each.
    fn permute8(&mut self, lanes: u8, d: [V; 2], n: [V; 2]) {
        let lane = |number: u8| {
            let lane = lanes >> (2 * number) & 3;
            (n[usize::from(lane >> 1)], lane & 1)
        };
        let low = TEMPORARY[0];
        self.two_lanes(low, [lane(0), lane(1)]);
        self.two_lanes(d[1], [lane(2), lane(3)]);
        self.copy(d[0], low);
    }

    /// Lanes of four bytes of `m` where a bit is set, else of `n`.
    fn blend4(&mut self, lanes: u8, d: V, n: V, m: V) {
        // Lanes are inserted into the one that is in place.
        let (into, from, inserted) = if d == m { (m, n, !lanes) } else { (n, m, lanes) };
        self.copy(d, into);
        match inserted & 15 {
            15 => self.copy(d, from),
            inserted => {
                for lane in (0..4).filter(|lane| inserted >> lane & 1 != 0) {
                    self.assembler.insert(Lane::S, (d, lane), (from, lane));
                }
            }
        }
    }

    /// Restores what a function has saved, and returns.
    fn leave(&mut self) {
        self.assembler.add_number(SP, FRAME[0], 0, false);
        self.saved(true);
        self.assembler.pop(FRAME, FRAME_BYTES);
        self.assembler.ret();
    }

    fn enter(&mut self) {
        self.indexed = None;
        self.assembler.push(FRAME, FRAME_BYTES);
        self.assembler.add_number(FRAME[0], SP, 0, false);
        self.saved(false);
        self.assembler.address_of_constants(CONSTANTS);
    }

    /// Saves or loads the registers that belong to the caller.
    fn saved(&mut self, is_load: bool) {
        let own = [x(Register::Memory), x(Register::Context)];
        self.assembler.transfer_general(is_load, own, 16);
        self.assembler.transfer_general(is_load, [X(27), CONSTANTS], 32);
        for (number, registers) in (0..).zip(SAVED) {
            self.assembler.transfer_low_halves(is_load, registers, 48 + 16 * number);
        }
    }

    fn jump_if_zero(&mut self, register: X, to: Label) {
        self.assembler.test(register);
        self.assembler.jump_if(Condition::Equal, to);
    }
}

impl Machine for Emitter {
    const ADDRESSES: usize = ADDRESSES.len();
    // Conditional jumps reach a megabyte.
    const MAX_OPERATIONS: usize = 1 << 16;

    fn position(&self) -> usize {
        self.assembler.position()
    }

    fn constant(&mut self, bytes: ConstantBytes) -> Constant {
        if let Some(&constant) = self.numbers.get(&bytes) {
            return constant;
        }
        let (halves, _) = bytes.as_chunks();
        let repeats = halves[0] == halves[1];
        let constant = Constant(self.constants.len() as u32);
        self.constants.push((HALF * self.pool.len() as i32, repeats));
        self.pool.extend(&halves[..if repeats { 1 } else { 2 }]);
        self.numbers.insert(bytes, constant);
        constant
    }

    fn label(&mut self) -> Label {
        self.assembler.label()
    }

    fn bind(&mut self, label: Label) {
        self.indexed = None;
        self.assembler.bind(label);
    }

    fn finish(self) -> Option<Vec<u8>> {
        if self.lacks_operation {
            return None;
        }
        self.assembler.finish(self.pool.as_flattened())
    }

    fn mov(&mut self, to: Register, from: Register) {
        self.indexed = None;
        self.assembler.mov(x(to), x(from));
    }

    fn load(&mut self, to: Register, from: Mem, bytes: usize, signed: bool) {
        let kind = match (bytes, signed) {
            (1, false) => Transfer::Byte,
            (1, true) => Transfer::SignedByte,
            (2, false) => Transfer::Half,
            (2, true) => Transfer::SignedHalf,
            (4, false) => Transfer::Word,
            (4, true) => Transfer::SignedWord,
            _ => Transfer::Double,
        };
        let from = self.place(from);
        self.transfer((kind, true), x(to).0, from);
        self.indexed = None;
    }

    fn store(&mut self, to: Mem, from: Register, bytes: usize) {
        let kind = match bytes {
            1 => Transfer::Byte,
            2 => Transfer::Half,
            4 => Transfer::Word,
            _ => Transfer::Double,
        };
        let to = self.place(to);
        self.transfer((kind, false), x(from).0, to);
    }

    fn set(&mut self, to: Register, value: u32) {
        self.indexed = None;
        self.assembler.set(x(to), value.into());
    }

    fn add(&mut self, to: Register, from: Register) {
        self.indexed = None;
        self.assembler.add(x(to), x(to), x(from), 0);
    }

    fn add_number(&mut self, to: Register, value: i32) {
        self.indexed = None;
        self.sum(x(to), x(to), value);
    }

    fn subtract_number(&mut self, from: Mem, value: i32) {
        let address = self.address(from);
        // This may need the scratch register.
        self.assembler.add_number(INDEXED, address, 0, false);
        self.indexed = None;
        self.assembler.transfer((Transfer::Double, true), NUMBER.0, INDEXED, 0);
        self.assembler.set(SCRATCH, i64::from(value) as u64);
        self.assembler.subtract(NUMBER, NUMBER, SCRATCH);
        self.assembler.transfer((Transfer::Double, false), NUMBER.0, INDEXED, 0);
    }

    fn multiply(&mut self, to: Register, from: Register, value: i32) {
        self.indexed = None;
        self.assembler.set(SCRATCH, i64::from(value) as u64);
        self.assembler.multiply(x(to), x(from), SCRATCH);
    }

    fn compare(&mut self, lhs: Register, rhs: Register) {
        self.assembler.subtract(ZERO, x(lhs), x(rhs));
    }

    fn compare_number(&mut self, lhs: Register, rhs: i32) {
        self.assembler.set(SCRATCH, i64::from(rhs) as u64);
        self.assembler.subtract(ZERO, x(lhs), SCRATCH);
    }

    fn test_byte(&mut self, place: Mem) {
        let place = self.place(place);
        self.transfer((Transfer::Byte, true), SCRATCH.0, place);
        self.assembler.test(SCRATCH);
    }

    fn test(&mut self, register: Register) {
        self.assembler.test(x(register));
    }

    fn move_if(&mut self, condition: Condition, to: Register, from: Register) {
        self.indexed = None;
        self.assembler.choose(condition, x(to), x(from), x(to));
    }

    fn jump(&mut self, to: Label) {
        self.assembler.jump(to);
    }

    fn jump_if(&mut self, condition: Condition, to: Label) {
        self.assembler.jump_if(condition, to);
    }

    fn call(&mut self, function: Mem) {
        let place = self.place(function);
        self.transfer((Transfer::Double, true), SCRATCH.0, place);
        self.assembler.call(SCRATCH);
        self.indexed = None;
    }

    fn call_label(&mut self, to: Label) {
        self.indexed = None;
        self.assembler.call_label(to);
    }

    fn enter_loop(&mut self) -> usize {
        self.enter();
        let entered = self.position();
        self.assembler.subtract_number(SP, SP, 0, false);
        entered
    }

    fn leave_loop(&mut self, entered: usize, stack: i32) {
        self.assembler.patch(entered, stack.unsigned_abs());
        self.leave();
    }

    fn enter_block(&mut self, stack: i32) {
        self.enter();
        let mut bytes = stack;
        while bytes > PAGE {
            self.sum(SP, SP, -PAGE);
            self.assembler.transfer((Transfer::Double, false), ZERO.0, SP, 0);
            bytes -= PAGE;
        }
        self.sum(SP, SP, -bytes);
        self.mov(Register::Memory, Register::First);
        self.mov(Register::Context, Register::Second);
    }

    fn leave_block(&mut self) {
        self.leave();
    }

    fn end_vectors(&mut self) {}

    fn callback(&mut self, label: Label, function: Mem, second: Register, failed: Label) {
        let kept = [FRAME[1], x(Register::Index)];
        let room = 2 * HALF * PAIRS.len() as i32;
        let places = (0..PAIRS.len() as u8).map(|number| (number, 2 * HALF * i32::from(number)));
        self.bind(label);
        self.assembler.push(kept, 16);
        self.sum(SP, SP, -room);
        for (number, place) in places.clone() {
            self.transfer_whole(false, pair(number), (SP, place));
        }
        self.mov(Register::First, Register::Context);
        self.mov(Register::Second, second);
        self.call(function);
        self.test(Register::Result);
        self.jump_if(Condition::NotEqual, failed);
        for (number, place) in places {
            self.transfer_whole(true, pair(number), (SP, place));
        }
        self.sum(SP, SP, room);
        self.assembler.pop(kept, 16);
        self.assembler.ret();
    }

    fn store_vector(&mut self, _: Width, store: Store, to: Mem, from: u8) {
        let ([low, high], place) = (pair(from), self.place(to));
        match store {
            Store::Whole => self.transfer_whole(false, [low, high], place),
            Store::Low8 => self.transfer((Transfer::D, false), low.0, place),
            Store::LowBytes => {
                let [bytes, _] = TEMPORARY;
                self.assembler.vector(Neon::UZP1_H, bytes, low, high);
                self.assembler.vector_of_one(Neon::XTN_B, bytes, bytes);
                self.transfer((Transfer::D, false), bytes.0, place);
            }
        }
    }

    fn unary(&mut self, _: Width, op: Op, to: u8, x: Operand) {
        let d = pair(to);
        // Of what is in memory, some read only the first bytes.
        if let Operand::Memory(place) = x {
            match op {
                Op::Load => return self.load_whole(d, place),
                Op::Load4 | Op::Load8 | Op::U8ToU32 => {
                    let kind = if op == Op::Load4 { Transfer::S } else { Transfer::D };
                    let place = self.place(place);
                    self.transfer((kind, true), d[0].0, place);
                    if op == Op::U8ToU32 {
                        self.unary(Width::Neon, op, to, Operand::Register(to));
                    }
                    return;
                }
                Op::Splat1 | Op::Splat4 | Op::Splat8 => {
                    let load = match op {
                        Op::Splat1 => Neon::LD1R_B,
                        Op::Splat4 => Neon::LD1R_S,
                        _ => Neon::LD1R_D,
                    };
                    let address = self.address(place);
                    self.assembler.load_splat(load, d[0], address);
                    return self.assembler.copy(d[1], d[0]);
                }
                _ => {}
            }
        }
        let n = self.halves(x);
        let [low, high] = n;
        match op {
            Op::Load => {
                self.copy(d[0], low);
                self.copy(d[1], high);
            }
            Op::ShiftLeftI32By(by) | Op::ShiftLeftI64By(by) => {
                let lane = if op == Op::ShiftLeftI32By(by) { Lane::S } else { Lane::D };
                d.into_iter().zip(n).for_each(|(d, n)| self.assembler.shift_left(lane, d, n, by));
            }
            Op::ShiftRightU32By(by) | Op::ShiftRightU64By(by) => {
                let lane = if op == Op::ShiftRightU32By(by) { Lane::S } else { Lane::D };
                d.into_iter().zip(n).for_each(|(d, n)| self.assembler.shift_right(lane, d, n, by));
            }
            Op::SqrtF32 => self.of_one(Neon::FSQRT_S, d, n),
            Op::SqrtF64 => self.of_one(Neon::FSQRT_D, d, n),
            Op::RoundF32(Rounding::ToEven) => self.of_one(Neon::FRINTN_S, d, n),
            Op::RoundF32(Rounding::Down) => self.of_one(Neon::FRINTM_S, d, n),
            Op::RoundF32(Rounding::Up) => self.of_one(Neon::FRINTP_S, d, n),
            Op::RoundF64(Rounding::ToEven) => self.of_one(Neon::FRINTN_D, d, n),
            Op::RoundF64(Rounding::Down) => self.of_one(Neon::FRINTM_D, d, n),
            Op::RoundF64(Rounding::Up) => self.of_one(Neon::FRINTP_D, d, n),
            Op::AbsI32 => self.of_one(Neon::ABS_S, d, n),
            Op::I32ToF32 => self.of_one(Neon::SCVTF_S, d, n),
            Op::SaturateF32ToI32 => self.of_one(Neon::FCVTZS_S, d, n),
            Op::I32ToF64 => {
                self.widen([Neon::SSHLL_S, Neon::SSHLL2_S], d, low);
                self.of_one(Neon::SCVTF_D, d, d);
            }
            Op::F32ToF64 => self.widen([Neon::FCVTL, Neon::FCVTL2], d, low),
            Op::I32ToI64 => self.widen([Neon::SSHLL_S, Neon::SSHLL2_S], d, low),
            Op::U32ToU64 => self.widen([Neon::USHLL_S, Neon::USHLL2_S], d, low),
            Op::U8ToU32 => {
                let [halves, _] = TEMPORARY;
                self.assembler.vector_of_one(Neon::USHLL_B, halves, low);
                self.widen([Neon::USHLL_H, Neon::USHLL2_H], d, halves);
            }
            Op::F64ToF32 => {
                let [narrow, _] = TEMPORARY;
                self.assembler.vector_of_one(Neon::FCVTN, narrow, low);
                self.assembler.vector_of_one(Neon::FCVTN2, narrow, high);
                self.copy(d[0], narrow);
            }
            Op::I64ToI32 => self.assembler.vector(Neon::UZP1_S, d[0], low, high),
            Op::HighHalf => self.copy(d[0], high),
            Op::Splat4 => {
                self.assembler.splat(Lane::S, d[1], low, 0);
                self.assembler.splat(Lane::S, d[0], low, 0);
            }
            Op::Permute8(lanes) => self.permute8(lanes, d, n),
            _ => self.lacks_operation = true,
        }
    }

    fn reads_memory(_: Op) -> bool {
        true
    }

    fn binary(&mut self, _: Width, op: Op, to: u8, x: u8, y: Operand) {
        let (d, n) = (pair(to), pair(x));
        if let (Op::Insert4(_) | Op::Insert8, Operand::Memory(place)) = (op, y) {
            self.copy(d[0], n[0]);
            let address = self.address(place);
            match op {
                Op::Insert4(lane) => self.assembler.load_lane(Lane::S, d[0], lane, address),
                _ => self.assembler.load_lane(Lane::D, d[0], 1, address),
            }
            return;
        }
        let m = self.halves(y);
        let simple = match op {
            Op::AddF32 => Neon::FADD_S,
            Op::AddF64 => Neon::FADD_D,
            Op::AddI32 => Neon::ADD_S,
            Op::AddI64 => Neon::ADD_D,
            Op::SubtractF32 => Neon::FSUB_S,
            Op::SubtractF64 => Neon::FSUB_D,
            Op::SubtractI32 => Neon::SUB_S,
            Op::SubtractI64 => Neon::SUB_D,
            Op::MultiplyF32 => Neon::FMUL_S,
            Op::MultiplyF64 => Neon::FMUL_D,
            Op::MultiplyI32 => Neon::MUL_S,
            Op::DivideF32 => Neon::FDIV_S,
            Op::DivideF64 => Neon::FDIV_D,
            Op::And => Neon::AND,
            Op::Or => Neon::ORR,
            Op::Xor => Neon::EOR,
            Op::MaximumF32 => Neon::FMAX_S,
            Op::MaximumF64 => Neon::FMAX_D,
            Op::MinimumF32 => Neon::FMIN_S,
            Op::MinimumF64 => Neon::FMIN_D,
            Op::MaximumI32 => Neon::SMAX_S,
            Op::MaximumU32 => Neon::UMAX_S,
            Op::MinimumI32 => Neon::SMIN_S,
            Op::MinimumU32 => Neon::UMIN_S,
            Op::EqualI32 => Neon::CMEQ_S,
            Op::EqualI64 => Neon::CMEQ_D,
            Op::GreaterI32 => Neon::CMGT_S,
            Op::GreaterI64 => Neon::CMGT_D,
            Op::GreaterU32 => Neon::CMHI_S,
            Op::GreaterU64 => Neon::CMHI_D,
            Op::EvenLanes => Neon::UZP1_S,
            Op::FirstOfPairs => Neon::TRN1_S,
            Op::SecondOfPairs => Neon::TRN2_S,
            _ => return self.binary_of_halves(op, d, n, m),
        };
        self.of_two(simple, d, n, m);
    }

    fn orders(_: Width, op: Op) -> &'static [[usize; 3]] {
        match op {
            Op::Blend => &[[0, 1, 2], [1, 0, 2], [2, 1, 0]],
            _ => &[[0, 1, 2]],
        }
    }

    fn overwriting(
        &mut self,
        _: Width,
        op: Op,
        order: [usize; 3],
        to: u8,
        (second, last): (u8, Operand),
    ) {
        let op = match (op, order[0]) {
            (Op::MultiplyAddF32, _) => Neon::FMLA_S,
            (Op::MultiplyAddF64, _) => Neon::FMLA_D,
            (Op::Blend, 0) => Neon::BIT,
            (Op::Blend, 1) => Neon::BIF,
            (Op::Blend, _) => Neon::BSL,
            _ => return self.lacks_operation = true,
        };
        let last = self.halves(last);
        self.of_two(op, pair(to), pair(second), last);
    }

    fn ternary(&mut self, _: Width, _: Op, _: u8, _: u8, _: Operand, _: u8) {
        self.lacks_operation = true;
    }

    fn jump_unless_first(&mut self, mask: u8, to: Label) {
        self.assembler.first_lane(SCRATCH, pair(mask)[0]);
        self.jump_if_zero(SCRATCH, to);
    }

    fn jump_unless_any(&mut self, mask: u8, to: Label) {
        let ([low, high], [any, _]) = (pair(mask), TEMPORARY);
        self.assembler.vector(Neon::ORR, any, low, high);
        self.assembler.vector_of_one(Neon::UMAXV_S, any, any);
        self.assembler.first_lane(SCRATCH, any);
        self.jump_if_zero(SCRATCH, to);
    }
}

impl Emitter {
    /// Operations of two operands that take several instructions.
    fn binary_of_halves(&mut self, op: Op, d: [V; 2], n: [V; 2], m: [V; 2]) {
        const SINGLE: [Neon; 3] = [Neon::FCMEQ_S, Neon::FCMGT_S, Neon::FCMGE_S];
        const DOUBLE: [Neon; 3] = [Neon::FCMEQ_D, Neon::FCMGT_D, Neon::FCMGE_D];
        let halves = (0..2).map(|half| [d[half], n[half], m[half]]);
        let [first, second] = TEMPORARY;
        match op {
            Op::CompareF32(way) => halves.for_each(|half| self.compare(way, SINGLE, half)),
            Op::CompareF64(way) => halves.for_each(|half| self.compare(way, DOUBLE, half)),
            Op::GreatestF32 | Op::GreatestF64 | Op::LeastF32 | Op::LeastF64 => {
                let is_greatest = matches!(op, Op::GreatestF32 | Op::GreatestF64);
                let is_single = matches!(op, Op::GreatestF32 | Op::LeastF32);
                let greater = if is_single { Neon::FCMGT_S } else { Neon::FCMGT_D };
                for [d, n, m] in halves {
                    let [greatest, least] = if is_greatest { [n, m] } else { [m, n] };
                    self.assembler.vector(greater, first, greatest, least);
                    self.choose(d, first, n, m);
                }
            }
            Op::MultiplyWideU32 => {
                for [d, n, m] in halves {
                    self.assembler.vector_of_one(Neon::XTN_S, first, n);
                    self.assembler.vector_of_one(Neon::XTN_S, second, m);
                    self.assembler.vector(Neon::UMULL_S, d, first, second);
                }
            }
            Op::ShiftLeftI32
            | Op::ShiftLeftI64
            | Op::ShiftRightU32
            | Op::ShiftRightU64
            | Op::ShiftRightI32 => halves.for_each(|half| self.shift(op, half)),
            Op::SwappedPairs => self.of_one(Neon::REV64_S, d, n),
            Op::PackI32 | Op::PackI16 => {
                let [low, high] = match op {
                    Op::PackI32 => [Neon::SQXTN_H, Neon::SQXTN2_H],
                    _ => [Neon::SQXTN_B, Neon::SQXTN2_B],
                };
                self.assembler.vector_of_one(low, first, n[0]);
                self.assembler.vector_of_one(high, first, m[0]);
                self.copy(d[0], first);
            }
            Op::Join => {
                self.copy(d[1], m[0]);
                self.copy(d[0], n[0]);
            }
            Op::Permute4 => {
                // One register after the other: both are the same only if they are loaded.
                if m[0] == m[1] {
                    self.copy(LOADED[1], m[0]);
                }
                self.assembler.table(first, m[0], n[0]);
                self.assembler.table(d[1], m[0], n[1]);
                self.copy(d[0], first);
            }
            Op::Blend4(lanes) => {
                for ([d, n, m], lanes) in halves.zip([lanes, lanes >> 4]) {
                    self.blend4(lanes, d, n, m);
                }
            }
            _ => self.lacks_operation = true,
        }
    }
}
