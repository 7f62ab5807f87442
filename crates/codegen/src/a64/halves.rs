//! Operations on vectors whose halves are in two registers each.

use super::emitter::{A64Emitter, LOADED, NUMBER, TEMPORARY};
use super::{LaneSize, Neon, V};
use crate::ops::{IntegerRounding, Op, Predicate};

impl A64Emitter {
    /// Copies a register if it is another one.
    pub(super) fn copy(&mut self, d: V, n: V) {
        if d != n {
            self.assembler.copy(d, n);
        }
    }

    /// A function of each half.
    pub(super) fn of_one(&mut self, op: Neon, d: [V; 2], n: [V; 2]) {
        d.into_iter().zip(n).for_each(|(d, n)| self.assembler.vector_of_one(op, d, n));
    }

    pub(super) fn of_two(&mut self, op: Neon, d: [V; 2], n: [V; 2], m: [V; 2]) {
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

    /// The bits of one register where a temporary one has them set, else of another.
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
                assembler.insert(LaneSize::D, (TEMPORARY[1], 0), (n, 0));
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
                    self.assembler.insert(LaneSize::S, (d, lane), (from, lane));
                }
            }
        }
    }

    /// Adds an operation of one operand.
    pub(super) fn unary_of_halves(&mut self, op: Op, d: [V; 2], n: [V; 2]) {
        let [low, high] = n;
        match op {
            Op::Load => {
                self.copy(d[0], low);
                self.copy(d[1], high);
            }
            Op::ShiftLeftI32By(by) | Op::ShiftLeftI64By(by) => {
                let lane = if op == Op::ShiftLeftI32By(by) { LaneSize::S } else { LaneSize::D };
                d.into_iter().zip(n).for_each(|(d, n)| self.assembler.shift_left(lane, d, n, by));
            }
            Op::ShiftRightU32By(by) | Op::ShiftRightU64By(by) => {
                let lane = if op == Op::ShiftRightU32By(by) { LaneSize::S } else { LaneSize::D };
                d.into_iter().zip(n).for_each(|(d, n)| self.assembler.shift_right(lane, d, n, by));
            }
            Op::SqrtF32 => self.of_one(Neon::FSQRT_S, d, n),
            Op::SqrtF64 => self.of_one(Neon::FSQRT_D, d, n),
            Op::RoundF32(IntegerRounding::ToEven) => self.of_one(Neon::FRINTN_S, d, n),
            Op::RoundF32(IntegerRounding::Down) => self.of_one(Neon::FRINTM_S, d, n),
            Op::RoundF32(IntegerRounding::Up) => self.of_one(Neon::FRINTP_S, d, n),
            Op::RoundF32(IntegerRounding::ToZero) => self.of_one(Neon::FRINTZ_S, d, n),
            Op::RoundF64(IntegerRounding::ToEven) => self.of_one(Neon::FRINTN_D, d, n),
            Op::RoundF64(IntegerRounding::Down) => self.of_one(Neon::FRINTM_D, d, n),
            Op::RoundF64(IntegerRounding::Up) => self.of_one(Neon::FRINTP_D, d, n),
            Op::RoundF64(IntegerRounding::ToZero) => self.of_one(Neon::FRINTZ_D, d, n),
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
                self.assembler.splat(LaneSize::S, d[1], low, 0);
                self.assembler.splat(LaneSize::S, d[0], low, 0);
            }
            Op::Permute8(lanes) => self.permute8(lanes, d, n),
            _ => self.lacks_operation = true,
        }
    }

    /// Adds an operation of two operands.
    pub(super) fn binary_of_halves(&mut self, op: Op, d: [V; 2], n: [V; 2], m: [V; 2]) {
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
            _ => return self.binary_of_several(op, d, n, m),
        };
        self.of_two(simple, d, n, m);
    }

    /// Operations of two operands that take several instructions.
    fn binary_of_several(&mut self, op: Op, d: [V; 2], n: [V; 2], m: [V; 2]) {
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
