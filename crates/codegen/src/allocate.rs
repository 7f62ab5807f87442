//! Registers for the values of straight-line code.
//!
//! A value that is needed latest makes room for others (Belady's rule): it goes to the stack, or
//! nowhere if it is in memory already. Values whose last use has passed have no register.

use crate::machine::{Condition, Encoder, InstOperand, Mem, MemoryBase, Register};
use crate::ops::{Op, Store};
use crate::vector::{
    Inst, InstKind, MAX_REGISTERS, NONE, ScalarInst, Value, VectorFunction, Width,
};

/// Constants that are needed again within this number of instructions stay in registers.
const SOON: u32 = 12;
/// A position after all.
const NEVER: u32 = u32::MAX;

/// Where a value is, besides registers.
#[derive(Clone, Copy, PartialEq)]
enum Home {
    Nowhere,
    Place(Mem),
}

/// Gives the values registers, and adds the code to that of `machine`. Values that need one are on
/// the stack, of which `slots` is the greatest number of vectors.
pub fn emit<M: Encoder>(vectors: &VectorFunction, machine: &mut M, slots: &mut u32) {
    emit_round(vectors, &[], machine, slots);
}

/// The maximum number of values that a loop carries: twice that do not need all registers.
pub const MAX_CARRIED: usize = 7;

/// Adds a loop without end. Each of `carried` is a value that has been made so by
/// [`VectorFunction::carry`], and the value that it has in the next round. At most [`MAX_CARRIED`]
/// are given.
pub fn emit_loop<M: Encoder>(
    vectors: &VectorFunction,
    carried: &[(Value, Value)],
    machine: &mut M,
    slots: &mut u32,
) {
    for (register, (value, _)) in (0..).zip(carried) {
        if let Some(place) = vectors.insts[value.0 as usize].place {
            machine.unary(vectors.width, Op::Load, register, InstOperand::Memory(place));
        }
    }
    let start = machine.label();
    machine.bind(start);
    emit_round(vectors, carried, machine, slots);
    machine.jump(start);
}

fn emit_round<M: Encoder>(
    vectors: &VectorFunction,
    carried: &[(Value, Value)],
    machine: &mut M,
    slots: &mut u32,
) {
    let insts = &vectors.insts;
    let (uses, first_uses) = next_uses(insts, carried);
    let mut allocation = Allocation {
        insts,
        uses: &uses,
        position: 0,
        machine,
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
        if let (InstKind::Carried(true), Some(place)) = (&insts[index].kind, insts[index].place) {
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
struct NextUses {
    operands: [u32; 3],
    result: u32,
}

/// The uses of operands and results, and the first use of each value. Values that a loop carries to
/// the next round are used after all.
fn next_uses(insts: &[Inst], carried: &[(Value, Value)]) -> (Vec<NextUses>, Vec<u32>) {
    let mut next = vec![NEVER; insts.len()];
    carried.iter().for_each(|(_, value)| next[value.0 as usize] = insts.len() as u32);
    let mut uses = vec![NextUses { operands: [NEVER; 3], result: NEVER }; insts.len()];
    for (position, inst) in insts.iter().enumerate().rev() {
        let of = |operand: Value| next.get(operand.0 as usize).copied().unwrap_or(NEVER);
        uses[position] = NextUses { operands: inst.operands.map(of), result: next[position] };
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
    next == NEVER && matches!(inst.kind, InstKind::Vector(_) | InstKind::ConstantData(_))
}

struct Allocation<'a, M> {
    insts: &'a [Inst],
    uses: &'a [NextUses],
    /// The current instruction.
    position: u32,
    machine: &'a mut M,
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

impl<M: Encoder> Allocation<'_, M> {
    fn inst(&mut self, position: usize) {
        self.position = position as u32;
        let inst = &self.insts[position];
        let uses = self.uses[position];
        if has_no_effect(inst, uses.result) {
            return;
        }
        self.free_slots.append(&mut self.ending_slots);
        match &inst.kind {
            InstKind::ConstantData(bytes) => {
                let constant = self.machine.constant(*bytes);
                self.homes[position] = Home::Place(Mem::constant(constant));
            }
            InstKind::Carried(_) => {}
            InstKind::ScalarInst(scalar) => self.scalar(scalar),
            &InstKind::Unless(to) => {
                let mask = self.operand(inst.operands[0], &[]);
                self.end(inst.operands, uses);
                self.machine.jump_unless_first(mask, to);
            }
            &InstKind::Exception { number, call } => {
                let mask = self.operand(inst.operands[0], &[]);
                self.end(inst.operands, uses);
                let after = self.machine.label();
                self.machine.jump_unless_any(mask, after);
                self.machine.set(Register::Number, number);
                self.machine.call_label(call);
                self.machine.bind(after);
            }
            &InstKind::Store(store) => {
                let x = self.operand(inst.operands[0], &[]);
                self.end(inst.operands, uses);
                if let Some(place) = inst.place {
                    self.machine.store_vector(self.width, store, place, x);
                }
            }
            &InstKind::Vector(op) => self.vector(position, op),
        }
    }

    /// Adds an operation on vectors, and gives its result a register.
    fn vector(&mut self, position: usize, op: Op) {
        let (inst, uses) = (&self.insts[position], self.uses[position]);
        let result = Value(position as u32);
        match (inst.operands, inst.place) {
            ([x, y, z], None) if z != NONE => self.ternary(position, op, [x, y, z]),
            ([x, NONE, _], None) => {
                let x = match M::reads_memory(op) {
                    true => self.last(x, uses.operands[0], &[]),
                    false => InstOperand::Register(self.operand(x, &[])),
                };
                self.end(inst.operands, uses);
                let to = self.define(result, uses.result, &[]);
                self.machine.unary(self.width, op, to, x);
            }
            ([NONE, ..], Some(place)) => {
                let to = self.define(result, uses.result, &[]);
                self.machine.unary(self.width, op, to, InstOperand::Memory(place));
            }
            ([x, y, _], place) => {
                let first = self.operand(x, &[y]);
                let last = match place {
                    Some(place) => InstOperand::Memory(place),
                    None => self.last(y, uses.operands[1], &[x]),
                };
                self.end(inst.operands, uses);
                let to = self.define(result, uses.result, &[]);
                self.machine.binary(self.width, op, to, first, last);
            }
        }
    }

    /// Adds an operation of three operands. If the machine has the result over one of
    /// them, it takes the register of one that ends.
    fn ternary(&mut self, position: usize, op: Op, [x, y, z]: [Value; 3]) {
        let (operands, uses) = (self.insts[position].operands, self.uses[position]);
        let orders = M::orders(self.width, op);
        let ends = |order: &&[usize; 3]| {
            let [first, others @ ..] = **order;
            let register = self.register_of[operands[first].0 as usize];
            let is_other = others.iter().any(|&other| operands[other] == operands[first]);
            uses.operands[first] == NEVER && register != u8::MAX && !is_other
        };
        match orders.iter().find(ends).or(orders.first()) {
            Some(&order) => self.overwriting(op, position, order),
            None => {
                let first = self.operand(x, &[y, z]);
                let last = self.operand(z, &[x, y]);
                let middle = self.last(y, uses.operands[1], &[x, z]);
                self.end(operands, uses);
                let to = self.define(Value(position as u32), uses.result, &[]);
                self.machine.ternary(self.width, op, to, first, middle, last);
            }
        }
    }

    /// Adds an operation that has its result in the register of its first operand. `order` has
    /// the operands by number.
    fn overwriting(&mut self, op: Op, position: usize, order: [usize; 3]) {
        let (operands, uses) = (self.insts[position].operands, self.uses[position]);
        let result = Value(position as u32);
        let [x, y, z] = order.map(|number| operands[number]);
        let [next, _, next_of_last] = order.map(|number| uses.operands[number]);
        let first = self.last(x, next, &[y, z]);
        let second = self.operand(y, &[x, z]);
        let last = self.last(z, next_of_last, &[x, y]);
        // If the operand stays, its copy is overwritten.
        if let InstOperand::Register(first) = first
            && next == NEVER
            && x != y
            && x != z
        {
            self.end(operands, uses);
            self.hold(first, result);
            self.next[first as usize] = uses.result;
            self.machine.overwriting(self.width, op, order, first, (second, last));
        } else {
            let to = self.define(result, uses.result, &[x, y, z]);
            self.machine.unary(self.width, Op::Load, to, first);
            self.machine.overwriting(self.width, op, order, to, (second, last));
            self.end(operands, uses);
        }
    }

    /// The register of an operand, which `others` keep theirs beside.
    fn operand(&mut self, value: Value, others: &[Value]) -> u8 {
        let register = self.register_of[value.0 as usize];
        if register != u8::MAX {
            return register;
        }
        let register = self.free(others);
        if let Home::Place(home) = self.homes[value.0 as usize] {
            self.machine.unary(self.width, Op::Load, register, InstOperand::Memory(home));
        }
        self.hold(register, value);
        register
    }

    /// The last operand of an instruction: in memory if it is there and not needed again, soon if
    /// it is a constant.
    fn last(&mut self, value: Value, next: u32, others: &[Value]) -> InstOperand {
        let is_soon = next <= self.position + SOON && self.unused != 0;
        let is_held = self.register_of[value.0 as usize] != u8::MAX || is_soon;
        let is_constant =
            matches!(self.insts[value.0 as usize].kind, InstKind::ConstantData(_)) || next == NEVER;
        match self.homes[value.0 as usize] {
            Home::Place(home) if !is_held && is_constant => InstOperand::Memory(home),
            _ => InstOperand::Register(self.operand(value, others)),
        }
    }

    /// Moves values to the registers in which the next round expects them.
    fn carry(&mut self, carried: &[(Value, Value)]) {
        let mut moves: Vec<(u8, InstOperand)> = Vec::new();
        for (register, &(_, value)) in (0..).zip(carried) {
            let index = value.0 as usize;
            match (self.register_of[index], self.homes[index]) {
                (from, _) if from == register => {}
                (u8::MAX, Home::Place(home)) => moves.push((register, InstOperand::Memory(home))),
                (from, _) => moves.push((register, InstOperand::Register(from))),
            }
        }
        let is_source = |moves: &[(u8, InstOperand)], register: u8| {
            moves.iter().any(|(_, from)| matches!(from, InstOperand::Register(r) if *r == register))
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
                    (free, std::mem::replace(&mut moves[0].1, InstOperand::Register(free)))
                }
            };
            self.machine.unary(self.width, Op::Load, to, from);
        }
    }

    fn hold(&mut self, register: u8, value: Value) {
        self.registers[register as usize] = Some(value);
        self.unused &= !(1 << register);
        self.register_of[value.0 as usize] = register;
        // Until the instruction has ended, it is needed at once.
        self.next[register as usize] = 0;
    }

    /// Notes where operands are used next; values that are not used again lose their registers.
    fn end(&mut self, operands: [Value; 3], uses: NextUses) {
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
                    base: MemoryBase::Register(Register::Stack),
                    offset,
                    ..
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
    fn define(&mut self, value: Value, next: u32, others: &[Value]) -> u8 {
        let register = self.free(others);
        self.hold(register, value);
        self.next[register as usize] = next;
        register
    }

    /// A register without a value, which may be one that is needed late.
    fn free(&mut self, others: &[Value]) -> u8 {
        let count = self.width.registers();
        if self.unused != 0 {
            return self.unused.trailing_zeros() as u8;
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
        let register = latest as u8;
        if let Some(value) = self.registers[latest].take() {
            self.unused |= 1 << latest;
            self.register_of[value.0 as usize] = u8::MAX;
            if self.homes[value.0 as usize] == Home::Nowhere {
                let offset = self.free_slots.pop().unwrap_or_else(|| {
                    self.slots += 1;
                    (self.slots as i32 - 1) * self.width.bytes() as i32
                });
                let slot = Mem::at(Register::Stack, offset);
                self.machine.store_vector(self.width, Store::Whole, slot, register);
                self.homes[value.0 as usize] = Home::Place(slot);
            }
        }
        register
    }

    fn scalar(&mut self, scalar: &ScalarInst) {
        let machine = &mut *self.machine;
        match *scalar {
            ScalarInst::Index { from, bytes, is_signed, last, stride, is_first } => {
                machine.load(Register::Loaded, from, bytes, is_signed);
                // Negative ones become 0, greater ones the last.
                machine.set(Register::Number, last);
                machine.compare(Register::Loaded, Register::Number);
                let greater = if is_signed { Condition::Greater } else { Condition::Above };
                machine.move_if(greater, Register::Loaded, Register::Number);
                if is_signed {
                    machine.set(Register::Number, 0);
                    machine.compare(Register::Loaded, Register::Number);
                    machine.move_if(Condition::Less, Register::Loaded, Register::Number);
                }
                if is_first {
                    machine.multiply(Register::Index, Register::Loaded, stride as i32);
                } else {
                    machine.multiply(Register::Loaded, Register::Loaded, stride as i32);
                    machine.add(Register::Index, Register::Loaded);
                }
            }
            ScalarInst::Load { from } => machine.load(Register::Loaded, from, 8, false),
            ScalarInst::Move { from, to, bytes } => {
                machine.load(Register::Loaded, from, bytes, false);
                machine.store(to, Register::Loaded, bytes);
            }
            ScalarInst::Unless { at, to } => {
                machine.test_byte(at);
                machine.jump_if(Condition::Equal, to);
            }
            ScalarInst::Count { counter, by, number, exhausted } => {
                machine.subtract_number(counter, by as i32);
                let after = machine.label();
                machine.jump_if(Condition::AboveOrEqual, after);
                machine.set(Register::Loaded, by);
                machine.set(Register::Number, number);
                machine.call_label(exhausted);
                machine.bind(after);
            }
        }
    }
}
