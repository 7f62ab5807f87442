//! The order of instructions.
//!
//! A processor looks some tens of instructions ahead, which is less than a function of a few
//! numbers has; so independent ones are put where it sees them.

use crate::vector::{Inst, InstKind, NONE, Value, VectorFunction};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Instructions that start in a cycle.
const WIDTH: usize = 2;
/// No instruction starts before the one this number of places ahead of it: values that wait for
/// long would leave no registers.
const WINDOW: usize = 128;

/// The number of cycles after which the result of an instruction is there, about.
fn latency(kind: &InstKind, is_load: bool) -> u32 {
    let own = match kind {
        InstKind::ConstantData(_) | InstKind::Carried(_) => return 0,
        InstKind::Vector(op) => op.latency(),
        _ => 1,
    };
    own + if is_load { 4 } else { 0 }
}

/// The operands of an instruction.
fn operands(inst: &Inst) -> impl Iterator<Item = usize> {
    inst.operands.iter().filter(|&&operand| operand != NONE).map(|operand| operand.0 as usize)
}

/// For each instruction, the instructions that use its result, in one list.
struct ResultUsers {
    ends: Vec<u32>,
    all: Vec<u32>,
}

impl ResultUsers {
    fn of(insts: &[Inst]) -> ResultUsers {
        let mut ends = vec![0u32; insts.len() + 1];
        insts.iter().flat_map(operands).for_each(|operand| ends[operand + 1] += 1);
        let mut sum = 0;
        // Where each list starts, which becomes where it ends.
        for end in &mut ends {
            sum += *end;
            *end = sum;
        }
        let mut all = vec![0; sum as usize];
        for (at, inst) in (0..).zip(insts) {
            for operand in operands(inst) {
                all[ends[operand] as usize] = at;
                ends[operand] += 1;
            }
        }
        ResultUsers { ends, all }
    }

    fn of_inst(&self, at: usize) -> &[u32] {
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.all[start as usize..self.ends[at] as usize]
    }
}

impl VectorFunction {
    /// Puts the instructions of straight-line code, whose stores and loads are of different
    /// memory, into the order in which a processor would start them that sees [`WINDOW`] of them
    /// and prefers instructions for which most others wait. It drops dead ones. Code
    /// with branches or general-purpose registers stays as it is.
    #[doc(hidden)]
    pub fn schedule(&mut self) {
        let is_plain = |kind: &InstKind| {
            matches!(kind, InstKind::Vector(_) | InstKind::ConstantData(_) | InstKind::Store(_))
        };
        if !self.insts.iter().all(|inst| is_plain(&inst.kind)) {
            return;
        }
        self.drop_unused();
        let count = self.insts.len();
        let latencies: Vec<u32> =
            self.insts.iter().map(|inst| latency(&inst.kind, inst.place.is_some())).collect();
        let users = ResultUsers::of(&self.insts);
        // The number of operands that are not there yet, and the cycles from the start of an
        // instruction to the end of all that wait for it.
        let mut waits = vec![0u32; count];
        let mut paths = vec![0u32; count];
        for at in (0..count).rev() {
            let after = users.of_inst(at).iter().map(|&user| paths[user as usize]).max();
            paths[at] = after.unwrap_or(0) + latencies[at];
            waits[at] = operands(&self.insts[at]).count() as u32;
        }
        let mut order: Vec<usize> = Vec::with_capacity(count);
        // Ready instructions, ready ones outside of the window, and the others by the cycle in
        // which they may start.
        let mut ready: BinaryHeap<(u32, Reverse<u32>)> = BinaryHeap::new();
        let mut unseen: BinaryHeap<Reverse<u32>> =
            (0..count as u32).filter(|&at| waits[at as usize] == 0).map(Reverse).collect();
        let mut later: BinaryHeap<(Reverse<u32>, u32)> = BinaryHeap::new();
        let mut times = vec![0u32; count];
        let mut is_started = vec![false; count];
        let (mut cycle, mut first) = (0, 0);
        while first < count {
            let mut started = 0;
            while started < WIDTH
                && let Some((_, Reverse(at))) = ready.pop()
            {
                let at = at as usize;
                order.push(at);
                is_started[at] = true;
                while is_started.get(first) == Some(&true) {
                    first += 1;
                }
                started += usize::from(!matches!(self.insts[at].kind, InstKind::ConstantData(_)));
                for &user in users.of_inst(at) {
                    let (time, wait) = (&mut times[user as usize], &mut waits[user as usize]);
                    *time = (*time).max(cycle + latencies[at]);
                    *wait -= 1;
                    if *wait == 0 {
                        later.push((Reverse(*time), user));
                    }
                }
            }
            while let Some(&Reverse(at)) = unseen.peek()
                && (at as usize) < first + WINDOW
            {
                unseen.pop();
                ready.push((paths[at as usize], Reverse(at)));
            }
            cycle += 1;
            if ready.is_empty()
                && let Some((Reverse(time), _)) = later.peek()
            {
                cycle = cycle.max(*time);
            }
            while let Some(&(Reverse(time), at)) = later.peek()
                && time <= cycle
            {
                later.pop();
                if (at as usize) < first + WINDOW {
                    ready.push((paths[at as usize], Reverse(at)));
                } else {
                    unseen.push(Reverse(at));
                }
            }
        }
        self.reorder(&order);
    }

    /// Removes instructions whose results nothing uses.
    fn drop_unused(&mut self) {
        let mut is_used = vec![false; self.insts.len()];
        for (at, inst) in self.insts.iter().enumerate().rev() {
            is_used[at] |= matches!(inst.kind, InstKind::Store(_));
            if is_used[at] {
                operands(inst).for_each(|operand| is_used[operand] = true);
            }
        }
        let used: Vec<usize> = (0..self.insts.len()).filter(|&at| is_used[at]).collect();
        self.reorder(&used);
    }

    /// Keeps these instructions, in this order.
    fn reorder(&mut self, order: &[usize]) {
        let mut numbers = vec![NONE; self.insts.len()];
        for (number, &at) in (0..).zip(order) {
            numbers[at] = Value(number);
        }
        let renumbered = order.iter().map(|&at| {
            let mut inst = self.insts[at].clone();
            for operand in inst.operands.iter_mut().filter(|operand| **operand != NONE) {
                *operand = numbers[operand.0 as usize];
            }
            inst
        });
        self.insts = renumbered.collect();
        self.constants.clear();
    }
}
