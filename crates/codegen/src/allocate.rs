//! Registers for the values of straight-line code.
//!
//! A value that is needed latest makes room for others (Belady's rule): it goes to the stack, or
//! nowhere if it is in memory already. Values whose last use has passed have no register.

use crate::vector::{Form, Inst, Kind, MAX_REGISTERS, NONE, Scalar, Value, Vectors, Width};
use crate::x64::{Assembler, Avx, Condition, Gpr, Length, Mem, Rm, Ymm};

/// The register with an index that was computed by [`Scalar::Index`].
pub const INDEX: Gpr = Gpr::Rax;
/// A register for the time of an operation.
const SCRATCH: Gpr = Scalar::LOADED;
const LIMIT: Gpr = Scalar::NUMBER;

/// For [`Avx::PTERNLOGD`]: bits of the second operand where those of the first are set, else of
/// the third.
const SELECT: u8 = 0b1100_1010;
/// Constants that are needed again within so many instructions stay in registers.
const SOON: u32 = 12;
/// A position after all.
const NEVER: u32 = u32::MAX;

/// Where a value is, besides registers.
#[derive(Clone, Copy, PartialEq)]
enum Home {
    Nowhere,
    Place(Mem),
}

/// Gives the values registers, and adds the code to `assembler`. Values that need one are on the
/// stack, of which `slots` is the greatest number of vectors so far.
pub fn emit(vectors: &Vectors, assembler: &mut Assembler, slots: &mut u32) {
    emit_round(vectors, &[], assembler, slots);
}

/// At most so many values are carried by a loop: with as many others, they do not need all
/// registers.
pub const MAX_CARRIED: usize = 7;

/// Adds a loop without end. Each of `carried` is a value that has been made so by
/// [`Vectors::carry`], and the value that it has in the next round. At most [`MAX_CARRIED`] are
/// given.
pub fn emit_loop(
    vectors: &Vectors,
    carried: &[(Value, Value)],
    assembler: &mut Assembler,
    slots: &mut u32,
) {
    for (register, (value, _)) in (0..).zip(carried) {
        if let Some(place) = vectors.insts[value.0 as usize].place {
            assembler.vex(Avx::MOVUPS_LOAD, Length::Whole, register, 0, place, None);
        }
    }
    let start = assembler.label();
    assembler.bind(start);
    emit_round(vectors, carried, assembler, slots);
    assembler.jump(start);
}

fn emit_round(
    vectors: &Vectors,
    carried: &[(Value, Value)],
    assembler: &mut Assembler,
    slots: &mut u32,
) {
    let insts = &vectors.insts;
    let (uses, first_uses) = next_uses(insts, carried);
    let mut allocation = Allocation {
        insts,
        uses: &uses,
        position: 0,
        assembler,
        width: vectors.width,
        registers: [None; MAX_REGISTERS],
        unused: u32::MAX >> (u32::BITS as usize - vectors.width.registers()),
        next: [NEVER; MAX_REGISTERS],
        register_of: vec![u8::MAX; insts.len()],
        homes: vec![Home::Nowhere; insts.len()],
        free_slots: Vec::new(),
        ending_slots: Vec::new(),
        slots: 0,
    };
    for (register, &(value, _)) in carried.iter().enumerate() {
        let index = value.0 as usize;
        if first_uses[index] != NEVER {
            allocation.registers[register] = Some(value);
            allocation.unused &= !(1 << register);
            allocation.next[register] = first_uses[index];
            allocation.register_of[index] = register as u8;
        }
        if let (Kind::Carried(true), Some(place)) = (&insts[index].kind, insts[index].place) {
            allocation.homes[index] = Home::Place(place);
        }
    }
    for position in 0..insts.len() {
        allocation.inst(position);
    }
    allocation.carry(carried);
    *slots = (*slots).max(allocation.slots);
}

/// Where the operands of an instruction are used next, and its result first.
#[derive(Clone, Copy)]
struct Uses {
    operands: [u32; 3],
    result: u32,
}

/// The uses of operands and results, and the first use of each value. Values that a loop carries to
/// the next round are used after all.
fn next_uses(insts: &[Inst], carried: &[(Value, Value)]) -> (Vec<Uses>, Vec<u32>) {
    let mut next = vec![NEVER; insts.len()];
    carried.iter().for_each(|(_, value)| next[value.0 as usize] = insts.len() as u32);
    let mut uses = vec![Uses { operands: [NEVER; 3], result: NEVER }; insts.len()];
    for (position, inst) in insts.iter().enumerate().rev() {
        let of = |operand: Value| next.get(operand.0 as usize).copied().unwrap_or(NEVER);
        uses[position] = Uses { operands: inst.operands.map(of), result: next[position] };
        if has_no_effect(inst, next[position]) {
            continue;
        }
        for operand in inst.operands.iter().filter(|&&operand| operand != NONE) {
            next[operand.0 as usize] = position as u32;
        }
    }
    (uses, next)
}

/// True for an instruction whose result is used first at `next`, if it is in vain.
fn has_no_effect(inst: &Inst, next: u32) -> bool {
    next == NEVER && matches!(inst.kind, Kind::Vector { .. } | Kind::Constant(_))
}

struct Allocation<'a> {
    insts: &'a [Inst],
    uses: &'a [Uses],
    /// The current instruction.
    position: u32,
    assembler: &'a mut Assembler,
    width: Width,
    /// The value in each register.
    registers: [Option<Value>; MAX_REGISTERS],
    /// A bit for each register without one.
    unused: u32,
    /// Where that is used next.
    next: [u32; MAX_REGISTERS],
    register_of: Vec<u8>,
    homes: Vec<Home>,
    free_slots: Vec<i32>,
    /// Slots that are free after the current instruction.
    ending_slots: Vec<i32>,
    slots: u32,
}

impl Allocation<'_> {
    fn inst(&mut self, position: usize) {
        self.position = position as u32;
        let inst = &self.insts[position];
        let uses = self.uses[position];
        if has_no_effect(inst, uses.result) {
            return;
        }
        self.free_slots.append(&mut self.ending_slots);
        match &inst.kind {
            Kind::Constant(bytes) => {
                let constant = self.assembler.constant(*bytes);
                self.homes[position] = Home::Place(Mem::constant(constant));
            }
            Kind::Carried(_) => {}
            Kind::Scalar(scalar) => self.scalar(scalar),
            &Kind::Unless(to) => {
                let mask = self.operand(inst.operands[0], &[]);
                self.end(inst.operands, uses);
                self.assembler.move_mask(SCRATCH, mask);
                self.assembler.test_bit(SCRATCH);
                self.assembler.jump_if(Condition::Equal, to);
            }
            &Kind::Exception { number, call } => {
                let mask = self.operand(inst.operands[0], &[]);
                self.end(inst.operands, uses);
                self.assembler.move_mask(SCRATCH, mask);
                self.assembler.test(SCRATCH);
                let after = self.assembler.label();
                self.assembler.jump_if(Condition::Equal, after);
                self.assembler.set(Scalar::NUMBER, number);
                self.assembler.call_label(call);
                self.assembler.bind(after);
            }
            &Kind::Store { op, length, immediate } => {
                let x = self.operand(inst.operands[0], &[]);
                self.end(inst.operands, uses);
                if let Some(place) = inst.place {
                    self.encode(op, length, x.0, 0, place, immediate);
                }
            }
            &Kind::Vector { op, length, form, immediate } => {
                self.vector(position, (op, length, form), immediate);
            }
        }
    }

    /// Adds an instruction on vectors, and gives its result a register.
    fn vector(
        &mut self,
        position: usize,
        (op, length, form): (Avx, Length, Form),
        immediate: Option<u8>,
    ) {
        let (inst, uses) = (&self.insts[position], self.uses[position]);
        let result = Value(position as u32);
        let [x, y, z] = inst.operands;
        match form {
            Form::Unary => {
                let rm = match inst.place {
                    Some(place) => Rm::Memory(place),
                    None => self.last(x, uses.operands[0], &[]),
                };
                self.end(inst.operands, uses);
                let to = self.define(result, uses.result, &[]);
                self.encode(op, length, to.0, 0, rm, immediate);
            }
            Form::Binary => {
                let first = self.operand(x, &[y]);
                let rm = match inst.place {
                    Some(place) => Rm::Memory(place),
                    None => self.last(y, uses.operands[1], &[x]),
                };
                self.end(inst.operands, uses);
                let to = self.define(result, uses.result, &[]);
                self.encode(op, length, to.0, first.0, rm, immediate);
            }
            // The instruction has the mask in the place of the result.
            Form::Blend if self.width == Width::Avx512 => {
                self.overwriting(Avx::PTERNLOGD, position, [2, 1, 0], Some(SELECT));
            }
            Form::Blend => {
                let no = self.operand(x, &[y, z]);
                let mask = self.operand(z, &[x, y]);
                let yes = self.last(y, uses.operands[1], &[x, z]);
                self.end(inst.operands, uses);
                let to = self.define(result, uses.result, &[]);
                self.encode(op, length, to.0, no.0, yes, Some(mask.0 << 4));
            }
            Form::Sum => {
                let ends = |number: usize| {
                    let register = self.register_of[inst.operands[number].0 as usize];
                    uses.operands[number] == NEVER && register != u8::MAX && y != z
                };
                // The result takes the register of a sum that ends, or that of a factor.
                let (op, order) = match op.over_factor() {
                    Some(over_factor) if !ends(0) && ends(1) => (over_factor, [1, 2, 0]),
                    Some(over_factor) if !ends(0) && ends(2) => (over_factor, [2, 1, 0]),
                    _ => (op, [0, 1, 2]),
                };
                self.overwriting(op, position, order, None);
            }
            Form::Reversed => {
                let x = self.operand(x, &[]);
                self.end(inst.operands, uses);
                let to = self.define(result, uses.result, &[]);
                self.encode(op, length, x.0, 0, to, immediate);
            }
            Form::Shift(digit) => {
                let x = self.operand(x, &[]);
                self.end(inst.operands, uses);
                let to = self.define(result, uses.result, &[]);
                self.encode(op, length, digit, to.0, x, immediate);
            }
        }
    }

    /// Adds an instruction that has its result in the register of its first operand. `order` has
    /// the operands by number.
    fn overwriting(&mut self, op: Avx, position: usize, order: [usize; 3], immediate: Option<u8>) {
        let (operands, uses) = (self.insts[position].operands, self.uses[position]);
        let result = Value(position as u32);
        let [x, y, z] = order.map(|number| operands[number]);
        let [next, _, next_of_last] = order.map(|number| uses.operands[number]);
        let first = self.last(x, next, &[y, z]);
        let second = self.operand(y, &[x, z]);
        let last = self.last(z, next_of_last, &[x, y]);
        let whole = Length::Whole;
        // If the operand stays, its copy is overwritten.
        if let Rm::Register(first) = first
            && next == NEVER
            && x != y
            && x != z
        {
            self.end(operands, uses);
            self.hold(Ymm(first), result);
            self.next[first as usize] = uses.result;
            self.encode(op, whole, first, second.0, last, immediate);
        } else {
            let to = self.define(result, uses.result, &[x, y, z]);
            self.encode(Avx::MOVUPS_LOAD, whole, to.0, 0, first, None);
            self.encode(op, whole, to.0, second.0, last, immediate);
            self.end(operands, uses);
        }
    }

    /// Adds an instruction to the code.
    fn encode(
        &mut self,
        op: Avx,
        length: Length,
        reg: u8,
        other: u8,
        rm: impl Into<Rm>,
        immediate: Option<u8>,
    ) {
        match self.width {
            Width::Avx2 => self.assembler.vex(op, length, reg, other, rm, immediate),
            Width::Avx512 => self.assembler.evex(op, reg, other, rm, immediate),
        }
    }

    /// The register of an operand, which `others` keep theirs beside.
    fn operand(&mut self, value: Value, others: &[Value]) -> Ymm {
        let register = self.register_of[value.0 as usize];
        if register != u8::MAX {
            return Ymm(register);
        }
        let register = self.free(others);
        if let Home::Place(home) = self.homes[value.0 as usize] {
            self.encode(Avx::MOVUPS_LOAD, Length::Whole, register.0, 0, home, None);
        }
        self.hold(register, value);
        register
    }

    /// The last operand of an instruction: in memory if it is there and not needed again, soon if
    /// it is a constant.
    fn last(&mut self, value: Value, next: u32, others: &[Value]) -> Rm {
        let is_soon = next <= self.position + SOON && self.unused != 0;
        let is_held = self.register_of[value.0 as usize] != u8::MAX || is_soon;
        let is_constant =
            matches!(self.insts[value.0 as usize].kind, Kind::Constant(_)) || next == NEVER;
        match self.homes[value.0 as usize] {
            Home::Place(home) if !is_held && is_constant => Rm::Memory(home),
            _ => self.operand(value, others).into(),
        }
    }

    /// Moves values to the registers in which the next round expects them.
    fn carry(&mut self, carried: &[(Value, Value)]) {
        let mut moves: Vec<(u8, Rm)> = Vec::new();
        for (register, &(_, value)) in (0..).zip(carried) {
            let index = value.0 as usize;
            match (self.register_of[index], self.homes[index]) {
                (from, _) if from == register => {}
                (u8::MAX, Home::Place(home)) => moves.push((register, Rm::Memory(home))),
                (from, _) => moves.push((register, Rm::Register(from))),
            }
        }
        let is_source = |moves: &[(u8, Rm)], register: u8| {
            moves.iter().any(|(_, from)| matches!(from, Rm::Register(r) if *r == register))
        };
        // A register is overwritten when it is no source any more.
        while !moves.is_empty() {
            let ready = moves.iter().position(|&(to, _)| !is_source(&moves, to));
            let (to, from) = match ready {
                Some(at) => moves.swap_remove(at),
                None => {
                    // A cycle: one of its values goes elsewhere first.
                    let is_used = |register: u8| {
                        is_source(&moves, register) || usize::from(register) < carried.len()
                    };
                    let free =
                        (0..self.width.registers() as u8).find(|&register| !is_used(register));
                    let free = free.unwrap_or_default();
                    (free, std::mem::replace(&mut moves[0].1, Rm::Register(free)))
                }
            };
            self.encode(Avx::MOVUPS_LOAD, Length::Whole, to, 0, from, None);
        }
    }

    fn hold(&mut self, register: Ymm, value: Value) {
        self.registers[register.0 as usize] = Some(value);
        self.unused &= !(1 << register.0);
        self.register_of[value.0 as usize] = register.0;
        // Until the instruction has ended, it is needed at once.
        self.next[register.0 as usize] = 0;
    }

    /// Notes where operands are used next; those that are not used again lose their registers.
    fn end(&mut self, operands: [Value; 3], uses: Uses) {
        for (value, next) in operands.into_iter().zip(uses.operands) {
            if value == NONE {
                continue;
            }
            let register = self.register_of[value.0 as usize];
            if next == NEVER {
                if register != u8::MAX {
                    self.registers[register as usize] = None;
                    self.unused |= 1 << register;
                    self.register_of[value.0 as usize] = u8::MAX;
                }
                if let Home::Place(Mem {
                    base: crate::x64::Base::Register(Gpr::Rsp), offset, ..
                }) = self.homes[value.0 as usize]
                {
                    self.ending_slots.push(offset);
                    self.homes[value.0 as usize] = Home::Nowhere;
                }
            } else if register != u8::MAX {
                self.next[register as usize] = next;
            }
        }
    }

    /// A register for the result.
    fn define(&mut self, value: Value, next: u32, others: &[Value]) -> Ymm {
        let register = self.free(others);
        self.hold(register, value);
        self.next[register.0 as usize] = next;
        register
    }

    /// A register without a value, which may be one that is needed late.
    fn free(&mut self, others: &[Value]) -> Ymm {
        let count = self.width.registers();
        if self.unused != 0 {
            return Ymm(self.unused.trailing_zeros() as u8);
        }
        let is_other =
            |register: usize| self.registers[register].is_some_and(|value| others.contains(&value));
        let mut latest = None;
        for register in 0..count {
            let is_later =
                latest.is_none_or(|known: usize| self.next[register] >= self.next[known]);
            if is_later && !is_other(register) {
                latest = Some(register);
            }
        }
        let latest = latest.unwrap_or(0);
        let register = Ymm(latest as u8);
        if let Some(value) = self.registers[latest].take() {
            self.unused |= 1 << latest;
            self.register_of[value.0 as usize] = u8::MAX;
            if self.homes[value.0 as usize] == Home::Nowhere {
                let offset = self.free_slots.pop().unwrap_or_else(|| {
                    self.slots += 1;
                    (self.slots as i32 - 1) * self.width.bytes() as i32
                });
                let slot = Mem::at(Gpr::Rsp, offset);
                self.encode(Avx::MOVUPS_STORE, Length::Whole, register.0, 0, slot, None);
                self.homes[value.0 as usize] = Home::Place(slot);
            }
        }
        register
    }

    fn scalar(&mut self, scalar: &Scalar) {
        let assembler = &mut *self.assembler;
        match *scalar {
            Scalar::Index { from, bytes, is_signed, last, stride, is_first } => {
                assembler.load(SCRATCH, from, bytes, is_signed);
                // Negative ones become 0, greater ones the last.
                assembler.set(LIMIT, last);
                assembler.compare(SCRATCH, LIMIT);
                let greater = if is_signed { Condition::Greater } else { Condition::Above };
                assembler.move_if(greater, SCRATCH, LIMIT);
                if is_signed {
                    assembler.set(LIMIT, 0);
                    assembler.compare(SCRATCH, LIMIT);
                    assembler.move_if(Condition::Less, SCRATCH, LIMIT);
                }
                if is_first {
                    assembler.multiply(INDEX, SCRATCH, stride as i32);
                } else {
                    assembler.multiply(SCRATCH, SCRATCH, stride as i32);
                    assembler.add(INDEX, SCRATCH);
                }
            }
            Scalar::Load { from } => assembler.load(Scalar::LOADED, from, 8, false),
            Scalar::Move { from, to, bytes } => {
                assembler.load(SCRATCH, from, bytes, false);
                assembler.store(to, SCRATCH, bytes);
            }
            Scalar::Unless { at, to } => {
                assembler.test_byte(at);
                assembler.jump_if(Condition::Equal, to);
            }
            Scalar::Count { counter, by, number, exhausted } => {
                assembler.subtract_number(counter, by as i32);
                let after = assembler.label();
                assembler.jump_if(Condition::AboveOrEqual, after);
                assembler.set(Scalar::LOADED, by);
                assembler.set(Scalar::NUMBER, number);
                assembler.call_label(exhausted);
                assembler.bind(after);
            }
        }
    }
}
