//! The order of instructions.
//!
//! A processor looks some tens of instructions ahead, which is less than a function of a few
//! numbers has; so those that could run meanwhile are put where it sees them.

use crate::vector::{Kind, NONE, Value, Vectors};
use crate::x64::Vex;
use std::collections::BinaryHeap;

/// Instructions that start in a cycle.
const WIDTH: usize = 2;

/// The number of cycles after which the result of an instruction is there, about.
fn latency(kind: &Kind, is_load: bool) -> u32 {
    let own = match kind {
        Kind::Constant(_) | Kind::Carried(_) => return 0,
        Kind::Vector { op, .. } if [Vex::SQRTPD, Vex::SQRTPS].contains(op) => 20,
        Kind::Vector { op, .. } if [Vex::DIVPD, Vex::DIVPS].contains(op) => 12,
        Kind::Vector { op, .. } if is_arithmetic(*op) => 4,
        _ => 1,
    };
    own + if is_load { 4 } else { 0 }
}

fn is_arithmetic(op: Vex) -> bool {
    [
        Vex::ADDPD,
        Vex::ADDPS,
        Vex::MULPD,
        Vex::MULPS,
        Vex::SUBPD,
        Vex::SUBPS,
        Vex::PMULLD,
        Vex::PMULUDQ,
    ]
    .contains(&op)
}

impl Vectors {
    /// Puts the instructions of straight-line code, whose stores and loads are of different
    /// memory, into the order in which a processor would start them that sees all of them and
    /// prefers those for which most others wait. Those without an effect are left out. Code with
    /// branches or general-purpose registers stays as it is.
    pub(crate) fn schedule(&mut self) {
        let is_plain = |kind: &Kind| {
            matches!(kind, Kind::Vector { .. } | Kind::Constant(_) | Kind::Store { .. })
        };
        if !self.insts.iter().all(|inst| is_plain(&inst.kind)) {
            return;
        }
        // The cycles from the start of each instruction to the end of all that wait for it.
        let count = self.insts.len();
        let mut paths: Vec<Option<u32>> = vec![None; count];
        let mut users: Vec<Vec<u32>> = vec![Vec::new(); count];
        let mut waits = vec![0u32; count];
        for at in (0..count).rev() {
            let inst = &self.insts[at];
            let after = users[at].iter().filter_map(|&user| paths[user as usize]).max();
            if after.is_none() && !matches!(inst.kind, Kind::Store { .. }) {
                continue;
            }
            let is_load = inst.place.is_some();
            paths[at] = Some(after.unwrap_or(0) + latency(&inst.kind, is_load));
            for operand in inst.operands.into_iter().filter(|&operand| operand != NONE) {
                users[operand.0 as usize].push(at as u32);
                waits[at] += 1;
            }
        }
        let mut order: Vec<usize> = Vec::with_capacity(count);
        // Instructions by the cycle in which their operands are there, and those that may start.
        let mut later: BinaryHeap<(std::cmp::Reverse<u32>, std::cmp::Reverse<usize>)> =
            BinaryHeap::new();
        let mut ready: BinaryHeap<(u32, std::cmp::Reverse<usize>)> = BinaryHeap::new();
        let mut times = vec![0u32; count];
        for at in (0..count).filter(|&at| waits[at] == 0) {
            if let Some(path) = paths[at] {
                ready.push((path, std::cmp::Reverse(at)));
            }
        }
        let mut cycle = 0;
        while !(ready.is_empty() && later.is_empty()) {
            let mut started = 0;
            while started < WIDTH {
                let Some((_, std::cmp::Reverse(at))) = ready.pop() else { break };
                order.push(at);
                let inst = &self.insts[at];
                started += usize::from(!matches!(inst.kind, Kind::Constant(_)));
                let end = cycle + latency(&inst.kind, inst.place.is_some());
                for &user in &users[at] {
                    let user = user as usize;
                    times[user] = times[user].max(end);
                    waits[user] -= 1;
                    if waits[user] == 0 {
                        later.push((std::cmp::Reverse(times[user]), std::cmp::Reverse(user)));
                    }
                }
            }
            cycle += 1;
            if ready.is_empty()
                && let Some((std::cmp::Reverse(time), _)) = later.peek()
            {
                cycle = cycle.max(*time);
            }
            while let Some(&(std::cmp::Reverse(time), std::cmp::Reverse(at))) = later.peek()
                && time <= cycle
            {
                later.pop();
                ready.push((paths[at].unwrap_or(0), std::cmp::Reverse(at)));
            }
        }
        self.reorder(&order);
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
