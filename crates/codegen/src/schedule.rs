//! The order of instructions.
//!
//! A processor looks some tens of instructions ahead, which is less than a function of a few
//! numbers has; so those that could run meanwhile are put where it sees them.

use crate::vector::{Kind, NONE, Value, Vectors};
use smallvec::SmallVec;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Instructions that start in a cycle.
const WIDTH: usize = 2;
/// No instruction starts before one that is so many places before it: values that wait for long
/// would leave no registers.
const WINDOW: usize = 128;

/// The number of cycles after which the result of an instruction is there, about.
fn latency(kind: &Kind, is_load: bool) -> u32 {
    let own = match kind {
        Kind::Constant(_) | Kind::Carried(_) => return 0,
        Kind::Vector(op) => op.latency(),
        _ => 1,
    };
    own + if is_load { 4 } else { 0 }
}

impl Vectors {
    /// Puts the instructions of straight-line code, whose stores and loads are of different
    /// memory, into the order in which a processor would start them that sees [`WINDOW`] of them
    /// and prefers those for which most others wait. Those without an effect are left out. Code
    /// with branches or general-purpose registers stays as it is.
    pub(crate) fn schedule(&mut self) {
        let is_plain =
            |kind: &Kind| matches!(kind, Kind::Vector(_) | Kind::Constant(_) | Kind::Store(_));
        if !self.insts.iter().all(|inst| is_plain(&inst.kind)) {
            return;
        }
        self.drop_unused();
        let count = self.insts.len();
        let latencies: Vec<u32> =
            self.insts.iter().map(|inst| latency(&inst.kind, inst.place.is_some())).collect();
        let mut users: Vec<SmallVec<[usize; 4]>> = vec![SmallVec::new(); count];
        // The number of operands that are not there yet, and the cycles from the start of an
        // instruction to the end of all that wait for it.
        let mut waits = vec![0usize; count];
        let mut paths = vec![0u32; count];
        for at in (0..count).rev() {
            let after = users[at].iter().map(|&user| paths[user]).max();
            paths[at] = after.unwrap_or(0) + latencies[at];
            for operand in self.insts[at].operands.iter().filter(|&&operand| operand != NONE) {
                users[operand.0 as usize].push(at);
                waits[at] += 1;
            }
        }
        let mut order: Vec<usize> = Vec::with_capacity(count);
        // Those that may start, and the others by the cycle in which they may.
        let mut ready: BinaryHeap<(u32, Reverse<usize>)> =
            (0..count).filter(|&at| waits[at] == 0).map(|at| (paths[at], Reverse(at))).collect();
        let mut later: BinaryHeap<(Reverse<u32>, usize)> = BinaryHeap::new();
        let mut too_early = Vec::new();
        let mut times = vec![0u32; count];
        let mut is_started = vec![false; count];
        let (mut cycle, mut first) = (0, 0);
        while first < count {
            let mut started = 0;
            while started < WIDTH
                && let Some((path, Reverse(at))) = ready.pop()
            {
                if at >= first + WINDOW {
                    too_early.push((path, Reverse(at)));
                    continue;
                }
                order.push(at);
                is_started[at] = true;
                while is_started.get(first) == Some(&true) {
                    first += 1;
                }
                started += usize::from(!matches!(self.insts[at].kind, Kind::Constant(_)));
                for &user in &users[at] {
                    times[user] = times[user].max(cycle + latencies[at]);
                    waits[user] -= 1;
                    if waits[user] == 0 {
                        later.push((Reverse(times[user]), user));
                    }
                }
            }
            ready.extend(too_early.drain(..));
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
                ready.push((paths[at], Reverse(at)));
            }
        }
        self.reorder(&order);
    }

    /// Removes instructions whose results nothing uses.
    fn drop_unused(&mut self) {
        let mut is_used = vec![false; self.insts.len()];
        for (at, inst) in self.insts.iter().enumerate().rev() {
            is_used[at] |= matches!(inst.kind, Kind::Store(_));
            if is_used[at] {
                let operands = inst.operands.iter().filter(|&&operand| operand != NONE);
                operands.for_each(|operand| is_used[operand.0 as usize] = true);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::{Mem, Register};
    use crate::ops::{Op, Store};
    use crate::vector::NOWHERE;

    /// Two chains, one after the other: their instructions alternate, each after its operands, and
    /// what nothing uses is gone.
    #[test]
    fn chains_run_side_by_side() {
        let mut code = Vectors::new();
        let load = |code: &mut Vectors, at| {
            code.load(Op::Load, Mem::at(Register::Address(0), at), NOWHERE)
        };
        for chain in 0..2 {
            let first = load(&mut code, 32 * chain);
            let last = (0..10).fold(first, |x, _| code.pair(Op::MultiplyF32, x, first));
            load(&mut code, 64);
            let to = Mem::at(Register::Address(1), 32 * chain);
            code.store(Store::Whole, last, to, NOWHERE);
        }
        code.schedule();
        assert_eq!(code.len(), 2 * 12);
        // The chain of each instruction.
        let mut chains: Vec<usize> = Vec::new();
        for (at, inst) in code.insts.iter().enumerate() {
            let operands = inst.operands.iter().filter(|&&operand| operand != NONE);
            assert!(operands.clone().all(|operand| (operand.0 as usize) < at));
            let known = inst.operands[0].0 as usize;
            chains.push(if inst.operands[0] == NONE { at } else { chains[known] });
        }
        let changes = chains.windows(2).filter(|pair| pair[0] != pair[1]).count();
        assert!(changes >= 20, "{chains:?}");
    }
}
