//! Operations as instructions of AVX2 and AVX-512.

use super::{Avx, Gpr, Length, Mem, Rm, X64Assembler, Ymm};
use crate::machine::{
    self, Condition, ConstantBytes, ConstantData, Encoder, InstOperand, Label, Register,
};
use crate::ops::{IntegerRounding, Op, Predicate, Store};
use crate::vector::Width;

/// For [`Avx::PTERNLOGD`]: bits of the second operand where the first has them set, else of
/// the third.
const SELECT: u8 = 0b1100_1010;
/// The registers that functions restore.
const SAVED: [Gpr; 6] = [Gpr::Rbx, Gpr::Rbp, Gpr::R12, Gpr::R13, Gpr::R14, Gpr::R15];
/// Registers for addresses.
const ADDRESSES: [Gpr; 11] = [
    Gpr::Rax,
    Gpr::Rdx,
    Gpr::R9,
    Gpr::R10,
    Gpr::R11,
    Gpr::Rbx,
    Gpr::Rbp,
    Gpr::R12,
    Gpr::R13,
    Gpr::R14,
    Gpr::R15,
];
/// The bytes of the stack that are used before others are, so that its guard is not skipped.
const PAGE: i32 = 4096;
/// The bytes of a vector of blocks.
const LINE: i32 = 32;

fn gpr(register: Register) -> Gpr {
    match register {
        Register::First => Gpr::Rdi,
        Register::Second => Gpr::Rsi,
        Register::Result | Register::Index => Gpr::Rax,
        Register::Stack => Gpr::Rsp,
        Register::Element => Gpr::R8,
        Register::Address(number) => ADDRESSES[usize::from(number) % ADDRESSES.len()],
        Register::Memory => Gpr::Rbx,
        Register::Context => Gpr::R12,
        Register::Loaded => Gpr::Rcx,
        Register::Number => Gpr::Rdx,
    }
}

fn rm(operand: InstOperand) -> Rm {
    match operand {
        InstOperand::Register(register) => Rm::Register(register),
        InstOperand::Memory(place) => Rm::Memory(place.map(gpr)),
    }
}

/// How an instruction has its operands.
#[derive(Clone, Copy, PartialEq)]
enum EncodingForm {
    /// The result and a prefix, and then the last operand.
    Plain,
    /// Swaps the last operand and the result.
    Reversed,
    /// The result in the prefix; the number chooses the instruction.
    Digit(u8),
}

/// An instruction: its form, how much of registers it works on and its immediate operand.
struct InstEncoding {
    op: Avx,
    form: EncodingForm,
    length: Length,
    immediate: Option<u8>,
}

impl From<Avx> for InstEncoding {
    fn from(op: Avx) -> InstEncoding {
        InstEncoding { op, form: EncodingForm::Plain, length: Length::Whole, immediate: None }
    }
}

impl Avx {
    fn with(self, immediate: u8) -> InstEncoding {
        InstEncoding { immediate: Some(immediate), ..InstEncoding::from(self) }
    }

    fn half(self) -> InstEncoding {
        InstEncoding { length: Length::Half, ..InstEncoding::from(self) }
    }
}

fn predicate(predicate: Predicate) -> u8 {
    match predicate {
        Predicate::Equal => 0x00,
        Predicate::Unordered => 0x03,
        Predicate::NotEqual => 0x04,
        Predicate::Ordered => 0x07,
        Predicate::Less => 0x11,
        Predicate::LessOrEqual => 0x12,
        Predicate::GreaterOrEqual => 0x1D,
        Predicate::Greater => 0x1E,
    }
}

/// The ways of rounding, without signals.
fn rounding(rounding: IntegerRounding) -> u8 {
    match rounding {
        IntegerRounding::ToEven => 8,
        IntegerRounding::Down => 9,
        IntegerRounding::Up => 10,
        IntegerRounding::ToZero => 11,
    }
}

/// The instruction of an operation, if it has one.
fn encoding(width: Width, op: Op) -> Option<InstEncoding> {
    let is_wide = width == Width::Avx512;
    let shift =
        |op, digit, by| InstEncoding { form: EncodingForm::Digit(digit), ..Avx::with(op, by) };
    let reversed = |encoding| InstEncoding { form: EncodingForm::Reversed, ..encoding };
    Some(match op {
        Op::AddF32 => Avx::ADDPS.into(),
        Op::AddF64 => Avx::ADDPD.into(),
        Op::AddI32 => Avx::PADDD.into(),
        Op::AddI64 => Avx::PADDQ.into(),
        Op::SubtractF32 => Avx::SUBPS.into(),
        Op::SubtractF64 => Avx::SUBPD.into(),
        Op::SubtractI32 => Avx::PSUBD.into(),
        Op::SubtractI64 => Avx::PSUBQ.into(),
        Op::MultiplyF32 => Avx::MULPS.into(),
        Op::MultiplyF64 => Avx::MULPD.into(),
        Op::MultiplyI32 => Avx::PMULLD.into(),
        Op::MultiplyWideU32 => Avx::PMULUDQ.into(),
        Op::DivideF32 => Avx::DIVPS.into(),
        Op::DivideF64 => Avx::DIVPD.into(),
        Op::And => Avx::ANDPS.into(),
        Op::Or => Avx::ORPS.into(),
        Op::Xor => Avx::XORPS.into(),
        Op::GreatestF32 => Avx::MAXPS.into(),
        Op::GreatestF64 => Avx::MAXPD.into(),
        Op::LeastF32 => Avx::MINPS.into(),
        Op::LeastF64 => Avx::MINPD.into(),
        Op::MaximumI32 => Avx::PMAXSD.into(),
        Op::MaximumU32 => Avx::PMAXUD.into(),
        Op::MinimumI32 => Avx::PMINSD.into(),
        Op::MinimumU32 => Avx::PMINUD.into(),
        Op::CompareF32(way) => Avx::CMPPS.with(predicate(way)),
        Op::CompareF64(way) => Avx::CMPPD.with(predicate(way)),
        Op::EqualI32 => Avx::PCMPEQD.into(),
        Op::EqualI64 => Avx::PCMPEQQ.into(),
        Op::GreaterI32 => Avx::PCMPGTD.into(),
        Op::GreaterI64 => Avx::PCMPGTQ.into(),
        Op::ShiftLeftI32 => Avx::PSLLVD.into(),
        Op::ShiftLeftI64 => Avx::PSLLVQ.into(),
        Op::ShiftRightU32 => Avx::PSRLVD.into(),
        Op::ShiftRightU64 => Avx::PSRLVQ.into(),
        Op::ShiftRightI32 => Avx::PSRAVD.into(),
        Op::ShiftLeftI32By(by) => shift(Avx::PSHIFTD_IMMEDIATE, 6, by),
        Op::ShiftLeftI64By(by) => shift(Avx::PSHIFTQ_IMMEDIATE, 6, by),
        Op::ShiftRightU32By(by) => shift(Avx::PSHIFTD_IMMEDIATE, 2, by),
        Op::ShiftRightU64By(by) => shift(Avx::PSHIFTQ_IMMEDIATE, 2, by),
        Op::SqrtF32 => Avx::SQRTPS.into(),
        Op::SqrtF64 => Avx::SQRTPD.into(),
        Op::RoundF32(way) => Avx::ROUNDPS.with(rounding(way)),
        Op::RoundF64(way) => Avx::ROUNDPD.with(rounding(way)),
        Op::AbsI32 => Avx::PABSD.into(),
        Op::I32ToF32 => Avx::CVTDQ2PS.into(),
        Op::I32ToF64 => Avx::CVTDQ2PD.into(),
        Op::F32ToI32 => Avx::CVTTPS2DQ.into(),
        Op::F32ToF64 => Avx::CVTPS2PD.into(),
        Op::F64ToF32 => Avx::CVTPD2PS.into(),
        Op::I32ToI64 => Avx::PMOVSXDQ.into(),
        Op::U32ToU64 => Avx::PMOVZXDQ.into(),
        Op::U8ToU32 => Avx::PMOVZXBD.into(),
        Op::U16ToU32 => Avx::PMOVZXWD.into(),
        Op::F16ToF32 => Avx::CVTPH2PS.into(),
        // To the nearest ones, ties to even.
        Op::F32ToF16 => reversed(Avx::CVTPS2PH.with(0)),
        Op::I64ToI32 => reversed(Avx::PMOVQD.into()),
        Op::PackI32 => Avx::PACKSSDW.half(),
        Op::PackI16 => Avx::PACKSSWB.half(),
        Op::EvenLanes => Avx::SHUFPS.with(0x88),
        Op::FirstOfPairs => Avx::SHUFPS.with(0xA0),
        Op::SecondOfPairs => Avx::SHUFPS.with(0xF5),
        Op::SwappedPairs => Avx::SHUFPS.with(0xB1),
        Op::Join if is_wide => Avx::INSERTI64X4.with(1),
        Op::Join => Avx::INSERTI128.with(1),
        Op::HighHalf if is_wide => reversed(Avx::EXTRACTI64X4.with(1)),
        Op::HighHalf => reversed(Avx::EXTRACTI128.with(1)),
        Op::Permute4 => Avx::PERMPS.into(),
        Op::Permute8(lanes) => Avx::PERMPD.with(lanes),
        Op::Blend4(lanes) => Avx::BLENDPS.with(lanes),
        Op::Splat1 => Avx::PBROADCASTB.into(),
        Op::Splat2 => Avx::PBROADCASTW.into(),
        Op::Splat4 => Avx::BROADCASTSS.into(),
        Op::Splat8 => Avx::BROADCASTSD.into(),
        Op::Load => Avx::MOVUPS_LOAD.into(),
        Op::Load4 => Avx::MOVD_LOAD.half(),
        Op::Load8 => Avx::MOVQ_LOAD.half(),
        Op::Insert4(lane) => InstEncoding { immediate: Some(lane << 4), ..Avx::INSERTPS.half() },
        Op::Insert8 => Avx::MOVHPS_LOAD.half(),
        Op::Blend if is_wide => Avx::PTERNLOGD.with(SELECT),
        Op::Blend => Avx::BLENDVPS.into(),
        Op::MultiplyAddF32 => Avx::FMADD231PS.into(),
        Op::MultiplyAddF64 => Avx::FMADD231PD.into(),
        Op::MaximumF32
        | Op::MaximumF64
        | Op::MinimumF32
        | Op::MinimumF64
        | Op::GreaterU32
        | Op::GreaterU64
        | Op::SaturateF32ToI32 => return None,
    })
}

/// Code for x86-64 while it is made.
#[derive(Default)]
pub struct X64Emitter {
    assembler: X64Assembler,
    /// True if the code needs an operation for which there is no instruction.
    lacks_operation: bool,
}

impl X64Emitter {
    fn vector(&mut self, width: Width, encoding: &InstEncoding, reg: u8, other: u8, rm: Rm) {
        let &InstEncoding { op, length, immediate, .. } = encoding;
        match width {
            Width::Avx512 => self.assembler.evex(op, reg, other, rm, immediate),
            _ => self.assembler.vex(op, length, reg, other, rm, immediate),
        }
    }

    /// The instruction of an operation; without one, the code is never finished.
    fn encoded(&mut self, width: Width, op: Op, encode: impl FnOnce(&mut Self, &InstEncoding)) {
        match encoding(width, op) {
            Some(encoding) => encode(self, &encoding),
            None => self.lacks_operation = true,
        }
    }

    fn sign_bits(&mut self, mask: u8) {
        self.assembler.move_mask(gpr(Register::Loaded), Ymm(mask));
    }
}

impl Encoder for X64Emitter {
    const ADDRESSES: usize = ADDRESSES.len();
    const MAX_OPERATIONS: usize = 1 << 18;

    fn position(&self) -> usize {
        self.assembler.position()
    }

    fn constant(&mut self, bytes: ConstantBytes) -> ConstantData {
        self.assembler.constant(bytes)
    }

    fn label(&mut self) -> Label {
        self.assembler.label()
    }

    fn bind(&mut self, label: Label) {
        self.assembler.bind(label);
    }

    fn finish(self) -> Option<Vec<u8>> {
        if self.lacks_operation {
            return None;
        }
        self.assembler.finish()
    }

    fn mov(&mut self, to: Register, from: Register) {
        self.assembler.mov(gpr(to), gpr(from));
    }

    fn load(&mut self, to: Register, from: machine::Mem, bytes: usize, signed: bool) {
        self.assembler.load(gpr(to), from.map(gpr), bytes, signed);
    }

    fn store(&mut self, to: machine::Mem, from: Register, bytes: usize) {
        self.assembler.store(to.map(gpr), gpr(from), bytes);
    }

    fn set(&mut self, to: Register, value: u32) {
        self.assembler.set(gpr(to), value);
    }

    fn add(&mut self, to: Register, from: Register) {
        self.assembler.add(gpr(to), gpr(from));
    }

    fn add_number(&mut self, to: Register, value: i32) {
        self.assembler.add_number(gpr(to), value);
    }

    fn subtract_number(&mut self, from: machine::Mem, value: i32) {
        self.assembler.subtract_number(from.map(gpr), value);
    }

    fn multiply(&mut self, to: Register, from: Register, value: i32) {
        self.assembler.multiply(gpr(to), gpr(from), value);
    }

    fn compare(&mut self, lhs: Register, rhs: Register) {
        self.assembler.compare(gpr(lhs), gpr(rhs));
    }

    fn compare_number(&mut self, lhs: Register, rhs: i32) {
        self.assembler.compare_number(gpr(lhs), rhs);
    }

    fn test_byte(&mut self, place: machine::Mem) {
        self.assembler.test_byte(place.map(gpr));
    }

    fn test(&mut self, register: Register) {
        self.assembler.test(gpr(register));
    }

    fn move_if(&mut self, condition: Condition, to: Register, from: Register) {
        self.assembler.move_if(condition, gpr(to), gpr(from));
    }

    fn jump(&mut self, to: Label) {
        self.assembler.jump(to);
    }

    fn jump_if(&mut self, condition: Condition, to: Label) {
        self.assembler.jump_if(condition, to);
    }

    fn call(&mut self, function: machine::Mem) {
        self.assembler.call(function.map(gpr));
    }

    fn call_label(&mut self, to: Label) {
        self.assembler.call_label(to);
    }

    fn enter_loop(&mut self) -> usize {
        SAVED.iter().for_each(|&register| self.assembler.push(register));
        self.assembler.add_number(Gpr::Rsp, 0);
        self.assembler.position()
    }

    fn leave_loop(&mut self, entered: usize, stack: i32) {
        self.assembler.patch(entered, -stack);
        self.assembler.add_number(Gpr::Rsp, stack);
        SAVED.iter().rev().for_each(|&register| self.assembler.pop(register));
        self.assembler.vzeroupper();
        self.assembler.ret();
    }

    fn enter_block(&mut self, stack: i32) {
        self.assembler.push(Gpr::Rbp);
        self.assembler.mov(Gpr::Rbp, Gpr::Rsp);
        self.assembler.push(gpr(Register::Memory));
        self.assembler.push(gpr(Register::Context));
        let mut bytes = stack;
        while bytes > PAGE {
            self.assembler.add_number(Gpr::Rsp, -PAGE);
            self.assembler.store(Mem::at(Gpr::Rsp, 0), Gpr::Rdi, 8);
            bytes -= PAGE;
        }
        self.assembler.add_number(Gpr::Rsp, -bytes);
        self.mov(Register::Memory, Register::First);
        self.mov(Register::Context, Register::Second);
    }

    fn leave_block(&mut self) {
        self.assembler.vzeroupper();
        self.assembler.address(Gpr::Rsp, Mem::at(Gpr::Rbp, -16));
        self.assembler.pop(gpr(Register::Context));
        self.assembler.pop(gpr(Register::Memory));
        self.assembler.pop(Gpr::Rbp);
        self.assembler.ret();
    }

    fn end_vectors(&mut self) {
        self.assembler.vzeroupper();
    }

    fn callback(&mut self, label: Label, function: machine::Mem, second: Register, failed: Label) {
        let registers = 0..16u8;
        let slot = |register: u8| Mem::at(Gpr::Rsp, i32::from(register) * LINE);
        self.assembler.bind(label);
        self.assembler.push(gpr(Register::Index));
        self.assembler.add_number(Gpr::Rsp, -16 * LINE);
        for register in registers.clone() {
            self.assembler.vex(Avx::MOVUPS_STORE, Length::Whole, register, 0, slot(register), None);
        }
        self.assembler.vzeroupper();
        self.mov(Register::First, Register::Context);
        self.mov(Register::Second, second);
        self.call(function);
        self.test(Register::Result);
        self.assembler.jump_if(Condition::NotEqual, failed);
        for register in registers {
            self.assembler.vex(Avx::MOVUPS_LOAD, Length::Whole, register, 0, slot(register), None);
        }
        self.assembler.add_number(Gpr::Rsp, 16 * LINE);
        self.assembler.pop(gpr(Register::Index));
        self.assembler.ret();
    }

    fn store_vector(&mut self, width: Width, store: Store, to: machine::Mem, from: u8) {
        let encoding = match store {
            Store::Whole => Avx::MOVUPS_STORE.into(),
            Store::Low8 => Avx::MOVQ_STORE.half(),
            Store::Low16 => Avx::MOVUPS_STORE.half(),
            Store::LowBytes => Avx::PMOVDB.into(),
            Store::LowHalves => Avx::PMOVDW.into(),
        };
        self.vector(width, &encoding, from, 0, to.map(gpr).into());
    }

    fn unary(&mut self, width: Width, op: Op, to: u8, x: InstOperand) {
        self.encoded(width, op, |emitter, encoding| match (encoding.form, rm(x)) {
            (EncodingForm::Reversed, Rm::Register(x)) => {
                emitter.vector(width, encoding, x, 0, Rm::Register(to));
            }
            (EncodingForm::Digit(digit), x) => emitter.vector(width, encoding, digit, to, x),
            (_, x) => emitter.vector(width, encoding, to, 0, x),
        });
    }

    fn reads_memory(op: Op) -> bool {
        !matches!(
            op,
            Op::HighHalf
                | Op::F32ToF16
                | Op::I64ToI32
                | Op::ShiftLeftI32By(_)
                | Op::ShiftLeftI64By(_)
                | Op::ShiftRightU32By(_)
                | Op::ShiftRightU64By(_)
        )
    }

    fn binary(&mut self, width: Width, op: Op, to: u8, x: u8, y: InstOperand) {
        self.encoded(width, op, |emitter, encoding| {
            emitter.vector(width, encoding, to, x, rm(y));
        });
    }

    fn orders(width: Width, op: Op) -> &'static [[usize; 3]] {
        match op {
            // The instruction has the mask where others have the result.
            Op::Blend if width == Width::Avx512 => &[[2, 1, 0]],
            // That of the sum, or that of a factor.
            Op::MultiplyAddF32 | Op::MultiplyAddF64 => &[[0, 1, 2], [1, 2, 0], [2, 1, 0]],
            _ => &[],
        }
    }

    fn overwriting(
        &mut self,
        width: Width,
        op: Op,
        order: [usize; 3],
        to: u8,
        (second, last): (u8, InstOperand),
    ) {
        self.encoded(width, op, |emitter, encoding| {
            let over_factor = encoding.op.over_factor().filter(|_| order[0] != 0);
            let op = over_factor.unwrap_or(encoding.op);
            emitter.vector(width, &InstEncoding { op, ..*encoding }, to, second, rm(last));
        });
    }

    fn ternary(&mut self, width: Width, op: Op, to: u8, x: u8, y: InstOperand, z: u8) {
        self.encoded(width, op, |emitter, encoding| {
            let encoding = InstEncoding { immediate: Some(z << 4), ..*encoding };
            emitter.vector(width, &encoding, to, x, rm(y));
        });
    }

    fn jump_unless_first(&mut self, mask: u8, to: Label) {
        self.sign_bits(mask);
        self.assembler.test_bit(gpr(Register::Loaded));
        self.assembler.jump_if(Condition::Equal, to);
    }

    fn jump_unless_any(&mut self, mask: u8, to: Label) {
        self.sign_bits(mask);
        self.test(Register::Loaded);
        self.assembler.jump_if(Condition::Equal, to);
    }
}
