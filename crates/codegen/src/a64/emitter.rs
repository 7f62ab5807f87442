//! Operations as instructions of NEON.
//!
//! A vector of 32 bytes is in two registers, of which the second one has the high half. Operations
//! that say nothing of the high half of their result leave it as it is.

use super::{A64Assembler, LaneSize, Neon, SP, TransferSize, V, X, ZERO};
use crate::machine::Register;
use crate::machine::{
    Condition, ConstantBytes, ConstantData, Encoder, InstOperand, Label, Mem, MemoryBase,
};
use crate::ops::{Op, Store};
use crate::vector::Width;
use rustc_hash::FxHashMap;

/// The bytes of a register.
const HALF: i32 = 16;
/// The first registers of pairs; the ones that functions restore are last.
const PAIRS: [u8; 14] = [0, 2, 4, 6, 16, 18, 20, 22, 24, 26, 8, 10, 12, 14];
/// Temporary registers of an operation.
pub(super) const TEMPORARY: [V; 2] = [V(28), V(29)];
/// The registers of an operand from memory.
pub(super) const LOADED: [V; 2] = [V(30), V(31)];
/// The low halves of these are restored.
const SAVED: [[V; 2]; 4] = [[V(8), V(9)], [V(10), V(11)], [V(12), V(13)], [V(14), V(15)]];
/// Registers for addresses of loops.
const ADDRESSES: [u8; 11] = [2, 3, 4, 5, 6, 7, 10, 11, 12, 13, 14];
/// A temporary register of an operation.
pub(super) const NUMBER: X = X(15);
/// The sum of a base and an index.
const INDEXED: X = X(16);
/// A temporary register of an instruction.
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
pub struct A64Emitter {
    pub(super) assembler: A64Assembler,
    /// The constants by 16 bytes.
    pool: Vec<[u8; 16]>,
    /// Where a constant is there, and if its second half is its first one again.
    constants: Vec<(i32, bool)>,
    numbers: FxHashMap<ConstantBytes, ConstantData>,
    /// The base, the index and its scale of which [`INDEXED`] is the sum.
    indexed: Option<(X, X, u8)>,
    /// True if the code needs an operation for which there are no instructions.
    pub(super) lacks_operation: bool,
}

impl A64Emitter {
    /// Sets a register to the sum of another and a number.
    fn sum(&mut self, d: X, n: X, number: i32) {
        let size = number.unsigned_abs();
        let (high, low) = (size >> 12, size & 0xFFF);
        if high > 0xFFF {
            self.assembler.set(SCRATCH, i64::from(number) as u64);
            return self.assembler.add_to_stack(d, n, SCRATCH);
        }
        let step = match number < 0 {
            true => A64Assembler::subtract_number,
            false => A64Assembler::add_number,
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
            MemoryBase::Register(base) => x(base),
            MemoryBase::ConstantData(constant) => {
                return (CONSTANTS, self.constants[constant.0 as usize].0);
            }
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
    fn transfer(&mut self, kind: (TransferSize, bool), register: u8, (base, distance): (X, i32)) {
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
                self.transfer((TransferSize::Q, is_load), register.0, (base, distance));
            }
            return;
        }
        self.sum(SCRATCH, base, distance);
        self.assembler.transfer_pair(is_load, registers, SCRATCH, 0);
    }

    /// True if both halves of what is at a place are the same.
    fn repeats(&self, place: Mem) -> bool {
        match place.base {
            MemoryBase::ConstantData(constant) => self.constants[constant.0 as usize].1,
            MemoryBase::Register(_) => false,
        }
    }

    fn load_whole(&mut self, registers: [V; 2], place: Mem) {
        let repeats = self.repeats(place);
        let place = self.place(place);
        if !repeats {
            return self.transfer_whole(true, registers, place);
        }
        for register in registers {
            self.transfer((TransferSize::Q, true), register.0, place);
        }
    }

    /// The registers with an operand, of which both may be the same one.
    fn halves(&mut self, operand: InstOperand) -> [V; 2] {
        match operand {
            InstOperand::Register(register) => pair(register),
            InstOperand::Memory(place) if self.repeats(place) => {
                let place = self.place(place);
                self.transfer((TransferSize::Q, true), LOADED[0].0, place);
                [LOADED[0]; 2]
            }
            InstOperand::Memory(place) => {
                self.load_whole(LOADED, place);
                LOADED
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

impl Encoder for A64Emitter {
    const ADDRESSES: usize = ADDRESSES.len();
    // Conditional jumps reach a megabyte.
    const MAX_OPERATIONS: usize = 1 << 16;

    fn position(&self) -> usize {
        self.assembler.position()
    }

    fn constant(&mut self, bytes: ConstantBytes) -> ConstantData {
        if let Some(&constant) = self.numbers.get(&bytes) {
            return constant;
        }
        let (halves, _) = bytes.as_chunks();
        let repeats = halves[0] == halves[1];
        let constant = ConstantData(self.constants.len() as u32);
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
            (1, false) => TransferSize::Byte,
            (1, true) => TransferSize::SignedByte,
            (2, false) => TransferSize::Half,
            (2, true) => TransferSize::SignedHalf,
            (4, false) => TransferSize::Word,
            (4, true) => TransferSize::SignedWord,
            _ => TransferSize::Double,
        };
        let from = self.place(from);
        self.transfer((kind, true), x(to).0, from);
        self.indexed = None;
    }

    fn store(&mut self, to: Mem, from: Register, bytes: usize) {
        let kind = match bytes {
            1 => TransferSize::Byte,
            2 => TransferSize::Half,
            4 => TransferSize::Word,
            _ => TransferSize::Double,
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
        self.assembler.transfer((TransferSize::Double, true), NUMBER.0, INDEXED, 0);
        self.assembler.set(SCRATCH, i64::from(value) as u64);
        self.assembler.subtract(NUMBER, NUMBER, SCRATCH);
        self.assembler.transfer((TransferSize::Double, false), NUMBER.0, INDEXED, 0);
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
        self.transfer((TransferSize::Byte, true), SCRATCH.0, place);
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
        self.transfer((TransferSize::Double, true), SCRATCH.0, place);
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
            self.assembler.transfer((TransferSize::Double, false), ZERO.0, SP, 0);
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
            Store::Low8 => self.transfer((TransferSize::D, false), low.0, place),
            Store::LowBytes => {
                let [bytes, _] = TEMPORARY;
                self.assembler.vector(Neon::UZP1_H, bytes, low, high);
                self.assembler.vector_of_one(Neon::XTN_B, bytes, bytes);
                self.transfer((TransferSize::D, false), bytes.0, place);
            }
            Store::Low16 | Store::LowHalves => self.lacks_operation = true,
        }
    }

    fn unary(&mut self, _: Width, op: Op, to: u8, x: InstOperand) {
        let d = pair(to);
        // Of what is in memory, some read only the first bytes.
        if let InstOperand::Memory(place) = x {
            match op {
                Op::Load => return self.load_whole(d, place),
                Op::Load4 | Op::Load8 | Op::U8ToU32 => {
                    let kind = if op == Op::Load4 { TransferSize::S } else { TransferSize::D };
                    let place = self.place(place);
                    self.transfer((kind, true), d[0].0, place);
                    if op == Op::U8ToU32 {
                        self.unary(Width::Neon, op, to, InstOperand::Register(to));
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
        self.unary_of_halves(op, d, n);
    }

    fn reads_memory(_: Op) -> bool {
        true
    }

    fn binary(&mut self, _: Width, op: Op, to: u8, x: u8, y: InstOperand) {
        let (d, n) = (pair(to), pair(x));
        if let (Op::Insert4(_) | Op::Insert8, InstOperand::Memory(place)) = (op, y) {
            self.copy(d[0], n[0]);
            let address = self.address(place);
            match op {
                Op::Insert4(lane) => self.assembler.load_lane(LaneSize::S, d[0], lane, address),
                _ => self.assembler.load_lane(LaneSize::D, d[0], 1, address),
            }
            return;
        }
        let m = self.halves(y);
        self.binary_of_halves(op, d, n, m);
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
        (second, last): (u8, InstOperand),
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

    fn ternary(&mut self, _: Width, _: Op, _: u8, _: u8, _: InstOperand, _: u8) {
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
