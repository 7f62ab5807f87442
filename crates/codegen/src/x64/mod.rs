//! An encoder of the x86-64 instructions that generated code is made of.

mod emitter;

pub use emitter::X64Emitter;

use crate::machine::{self, Condition, ConstantBytes, ConstantData, Label, MemoryBase};

/// A general-purpose register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
#[allow(missing_docs, reason = "the names are those of registers")]
pub enum Gpr {
    Rax,
    Rcx,
    Rdx,
    Rbx,
    Rsp,
    Rbp,
    Rsi,
    Rdi,
    R8,
    R9,
    R10,
    R11,
    R12,
    R13,
    R14,
    R15,
}

/// A vector register, of which AVX2 has 16 and AVX-512 32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ymm(pub u8);

/// A place in memory.
pub type Mem = machine::Mem<Gpr>;

/// A register or a place in memory.
#[derive(Clone, Copy, Debug)]
pub enum Rm {
    /// The register with this number.
    Register(u8),
    /// Memory.
    Memory(Mem),
}

impl From<Ymm> for Rm {
    fn from(register: Ymm) -> Rm {
        Rm::Register(register.0)
    }
}

impl From<Gpr> for Rm {
    fn from(register: Gpr) -> Rm {
        Rm::Register(register as u8)
    }
}

impl From<Mem> for Rm {
    fn from(place: Mem) -> Rm {
        Rm::Memory(place)
    }
}

/// A vector instruction of AVX2, FMA and F16C, or of AVX-512.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Avx {
    /// The opcode map: 1 for `0F`, 2 for `0F 38`, 3 for `0F 3A`.
    map: u8,
    /// The implied prefix: 0, or 1 for `66`, 2 for `F3`, 3 for `F2`.
    prefix: u8,
    opcode: u8,
    /// The bit W of the VEX prefix, if the instruction is encoded with one.
    vex_w: Option<bool>,
    /// That of the EVEX prefix.
    evex_w: Option<bool>,
}

impl Avx {
    /// True if there is an encoding with the VEX prefix: in AVX2.
    pub fn has_vex(self) -> bool {
        self.vex_w.is_some()
    }

    /// True if there is an encoding with the EVEX prefix: in AVX-512.
    pub fn has_evex(self) -> bool {
        self.evex_w.is_some()
    }

    /// The instruction that writes what this one does to the register of its first factor
    /// instead of the sum's.
    pub fn over_factor(self) -> Option<Avx> {
        match self {
            Avx::FMADD231PD => Some(Avx::FMADD213PD),
            Avx::FMADD231PS => Some(Avx::FMADD213PS),
            _ => None,
        }
    }

    /// The instruction that makes lanes of the mask register that this one writes in AVX-512.
    fn lanes_of_mask(self) -> Option<Avx> {
        match self {
            Avx::CMPPS | Avx::PCMPEQD | Avx::PCMPGTD => Some(Avx::PMOVM2D),
            Avx::CMPPD | Avx::PCMPEQQ | Avx::PCMPGTQ => Some(Avx::PMOVM2Q),
            _ => None,
        }
    }
}

/// The lengths of vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// The low half of registers.
    Half,
    /// Whole registers.
    Whole,
}

macro_rules! avx {
    ($($name:ident $map:literal $prefix:literal $opcode:literal $vex:tt $evex:tt;)*) => {
        impl Avx {
            $(
                #[doc = concat!("`v", stringify!($name), "`, in lower case.")]
                pub const $name: Avx = Avx {
                    map: $map,
                    prefix: $prefix,
                    opcode: $opcode,
                    vex_w: avx!(@w $vex),
                    evex_w: avx!(@w $evex),
                };
            )*
            /// Every instruction by name.
            pub const ALL: &'static [(&'static str, Avx)] =
                &[$((stringify!($name), Avx::$name)),*];
        }
    };
    (@w -) => { None };
    (@w $bit:literal) => { Some($bit != 0) };
}

// Name, map, prefix, opcode, W with the prefix VEX and with EVEX.
avx! {
    ADDPD 1 1 0x58 0 1;
    ADDPS 1 0 0x58 0 0;
    ANDPS 1 0 0x54 0 0;
    BLENDPS 3 1 0x0C 0 -;
    BLENDVPS 3 1 0x4A 0 -;
    BROADCASTSD 2 1 0x19 0 1;
    BROADCASTSS 2 1 0x18 0 0;
    CMPPD 1 1 0xC2 0 1;
    CMPPS 1 0 0xC2 0 0;
    CVTDQ2PD 1 2 0xE6 0 0;
    CVTDQ2PS 1 0 0x5B 0 0;
    CVTPD2PS 1 1 0x5A 0 1;
    CVTPH2PS 2 1 0x13 0 0;
    CVTPS2PD 1 0 0x5A 0 0;
    CVTPS2PH 3 1 0x1D 0 0;
    CVTTPS2DQ 1 2 0x5B 0 0;
    DIVPD 1 1 0x5E 0 1;
    DIVPS 1 0 0x5E 0 0;
    EXTRACTI128 3 1 0x39 0 -;
    EXTRACTI64X4 3 1 0x3B - 1;
    FMADD213PD 2 1 0xA8 1 1;
    FMADD213PS 2 1 0xA8 0 0;
    FMADD231PD 2 1 0xB8 1 1;
    FMADD231PS 2 1 0xB8 0 0;
    INSERTI128 3 1 0x38 0 -;
    INSERTI64X4 3 1 0x3A - 1;
    INSERTPS 3 1 0x21 0 -;
    MAXPD 1 1 0x5F 0 1;
    MAXPS 1 0 0x5F 0 0;
    MINPD 1 1 0x5D 0 1;
    MINPS 1 0 0x5D 0 0;
    MOVD_LOAD 1 1 0x6E 0 -;
    MOVHPS_LOAD 1 0 0x16 0 -;
    MOVMSKPS 1 0 0x50 0 -;
    MOVQ_LOAD 1 2 0x7E 0 -;
    MOVQ_STORE 1 1 0xD6 0 -;
    MOVUPS_LOAD 1 0 0x10 0 0;
    MOVUPS_STORE 1 0 0x11 0 0;
    MULPD 1 1 0x59 0 1;
    MULPS 1 0 0x59 0 0;
    ORPS 1 0 0x56 0 0;
    PABSD 2 1 0x1E 0 0;
    PACKSSDW 1 1 0x6B 0 -;
    PACKSSWB 1 1 0x63 0 -;
    PADDD 1 1 0xFE 0 0;
    PADDQ 1 1 0xD4 0 1;
    PBROADCASTB 2 1 0x78 0 0;
    PBROADCASTW 2 1 0x79 0 0;
    PCMPEQD 1 1 0x76 0 0;
    PCMPEQQ 2 1 0x29 0 1;
    PCMPGTD 1 1 0x66 0 0;
    PCMPGTQ 2 1 0x37 0 1;
    PERMPD 3 1 0x01 1 -;
    PERMPS 2 1 0x16 0 -;
    PMAXSD 2 1 0x3D 0 0;
    PMAXUD 2 1 0x3F 0 0;
    PMINSD 2 1 0x39 0 0;
    PMINUD 2 1 0x3B 0 0;
    PMOVDB 2 2 0x31 - 0;
    PMOVDW 2 2 0x33 - 0;
    PMOVM2D 2 2 0x38 - 0;
    PMOVM2Q 2 2 0x38 - 1;
    PMOVQD 2 2 0x35 - 0;
    PMOVSXDQ 2 1 0x25 0 0;
    PMOVZXBD 2 1 0x31 0 0;
    PMOVZXDQ 2 1 0x35 0 0;
    PMOVZXWD 2 1 0x33 0 0;
    PMULLD 2 1 0x40 0 0;
    PMULUDQ 1 1 0xF4 0 1;
    PSHIFTD_IMMEDIATE 1 1 0x72 0 0;
    PSHIFTQ_IMMEDIATE 1 1 0x73 0 1;
    PSLLVD 2 1 0x47 0 0;
    PSLLVQ 2 1 0x47 1 1;
    PSRAVD 2 1 0x46 0 0;
    PSRLVD 2 1 0x45 0 0;
    PSRLVQ 2 1 0x45 1 1;
    PSUBD 1 1 0xFA 0 0;
    PSUBQ 1 1 0xFB 0 1;
    PTERNLOGD 3 1 0x25 - 0;
    ROUNDPD 3 1 0x09 0 1;
    ROUNDPS 3 1 0x08 0 0;
    SHUFPS 1 0 0xC6 0 0;
    SQRTPD 1 1 0x51 0 1;
    SQRTPS 1 0 0x51 0 0;
    SUBPD 1 1 0x5C 0 1;
    SUBPS 1 0 0x5C 0 0;
    XORPS 1 0 0x57 0 0;
}

/// The bytes that a constant has behind the code.
const CONSTANT_ROOM: usize = 2 * size_of::<ConstantBytes>();

/// The number of a condition in instructions.
fn code(condition: Condition) -> u8 {
    match condition {
        Condition::Below => 2,
        Condition::AboveOrEqual => 3,
        Condition::Equal => 4,
        Condition::NotEqual => 5,
        Condition::Above => 7,
        Condition::Less => 12,
        Condition::Greater => 15,
    }
}

/// The mask register of comparisons, for the time of an instruction.
const MASK: u8 = 1;

/// Code while it is made.
#[derive(Default)]
pub struct X64Assembler {
    code: Vec<u8>,
    labels: Vec<Option<u32>>,
    /// Distances to labels, of four bytes each.
    jumps: Vec<(usize, Label)>,
    constants: Vec<ConstantBytes>,
    numbers: rustc_hash::FxHashMap<ConstantBytes, ConstantData>,
    /// Distances to constants, with the position after the instruction.
    uses: Vec<(usize, usize, ConstantData)>,
}

impl X64Assembler {
    /// No code.
    pub fn new() -> X64Assembler {
        X64Assembler::default()
    }

    /// The bytes of the code.
    pub fn position(&self) -> usize {
        self.code.len()
    }

    /// A constant with these bytes.
    pub fn constant(&mut self, bytes: ConstantBytes) -> ConstantData {
        let next = ConstantData(self.constants.len() as u32);
        let number = *self.numbers.entry(bytes).or_insert(next);
        if number == next {
            self.constants.push(bytes);
        }
        number
    }

    /// A label for a place that is not known yet.
    pub fn label(&mut self) -> Label {
        self.labels.push(None);
        Label(self.labels.len() as u32 - 1)
    }

    /// Puts a label here.
    pub fn bind(&mut self, label: Label) {
        self.labels[label.0 as usize] = Some(self.code.len() as u32);
    }

    /// The code with its constants behind it; `None` if a label is nowhere or the code too long.
    pub fn finish(mut self) -> Option<Vec<u8>> {
        for (at, label) in self.jumps {
            let target = i64::from(self.labels[label.0 as usize]?);
            let distance = i32::try_from(target - (at as i64 + 4)).ok()?;
            self.code[at..at + 4].copy_from_slice(&distance.to_le_bytes());
        }
        self.code.resize(self.code.len().next_multiple_of(CONSTANT_ROOM), 0xCC);
        let first = self.code.len();
        for (at, end, constant) in self.uses {
            let target = first + constant.0 as usize * CONSTANT_ROOM;
            let distance = i32::try_from(target as i64 - end as i64).ok()?;
            self.code[at..at + 4].copy_from_slice(&distance.to_le_bytes());
        }
        self.constants.iter().for_each(|bytes| self.code.extend([*bytes; 2].as_flattened()));
        Some(self.code)
    }

    fn byte(&mut self, byte: u8) {
        self.code.push(byte);
    }

    /// Writes ModRM, SIB and the distance, in one byte if it fits and `has_bytes`. `trailing` bytes
    /// of the instruction follow.
    fn modrm(&mut self, reg: u8, rm: Rm, has_bytes: bool, trailing: usize) {
        let reg = (reg & 7) << 3;
        let place = match rm {
            Rm::Register(register) => return self.byte(0xC0 | reg | register & 7),
            Rm::Memory(place) => place,
        };
        let base = match place.base {
            MemoryBase::Register(base) => base as u8,
            MemoryBase::ConstantData(constant) => {
                self.byte(reg | 5);
                let at = self.code.len();
                self.uses.push((at, at + 4 + trailing, constant));
                return self.code.extend([0; 4]);
            }
        };
        // No distance at all is not encodable from rbp and r13.
        let mode = match place.offset {
            0 if base & 7 != 5 => 0x00,
            -128..=127 if has_bytes => 0x40,
            _ => 0x80,
        };
        match place.index {
            Some((index, scale)) => {
                self.byte(mode | reg | 4);
                self.byte(scale << 6 | (index as u8 & 7) << 3 | base & 7);
            }
            None if base & 7 == 4 => {
                self.byte(mode | reg | 4);
                self.byte(0x24);
            }
            None => self.byte(mode | reg | base & 7),
        }
        match mode {
            0x00 => {}
            0x40 => self.byte(place.offset as u8),
            _ => self.code.extend(place.offset.to_le_bytes()),
        }
    }

    /// The high bits of the registers of an operand: of an index and a base.
    fn high_bits(rm: Rm) -> [u8; 2] {
        match rm {
            Rm::Register(register) => [0, register >> 3],
            Rm::Memory(place) => {
                let base = match place.base {
                    MemoryBase::Register(base) => base as u8 >> 3,
                    MemoryBase::ConstantData(_) => 0,
                };
                [place.index.map_or(0, |(index, _)| index as u8 >> 3), base]
            }
        }
    }

    /// A vector instruction of AVX2: its register, the register that the prefix holds (zero if it
    /// is unused), the last operand and the immediate operand.
    pub fn vex(
        &mut self,
        op: Avx,
        length: Length,
        reg: u8,
        other: u8,
        rm: impl Into<Rm>,
        immediate: Option<u8>,
    ) {
        let rm = rm.into();
        let [index, base] = X64Assembler::high_bits(rm);
        let low = (!other & 15) << 3 | u8::from(length == Length::Whole) << 2 | op.prefix;
        let w = op.vex_w == Some(true);
        if op.map == 1 && !w && index == 0 && base == 0 {
            self.byte(0xC5);
            self.byte((reg >> 3 ^ 1) << 7 | low);
        } else {
            self.byte(0xC4);
            self.byte((reg >> 3 ^ 1) << 7 | (index ^ 1) << 6 | (base ^ 1) << 5 | op.map);
            self.byte(u8::from(w) << 7 | low);
        }
        self.byte(op.opcode);
        self.modrm(reg, rm, true, usize::from(immediate.is_some()));
        immediate.into_iter().for_each(|byte| self.byte(byte));
    }

    /// As [`X64Assembler::vex`], an instruction of AVX-512 on whole registers. Where it would write
    /// a mask register, its result is a mask of lanes, as that of AVX2.
    pub fn evex(&mut self, op: Avx, reg: u8, other: u8, rm: impl Into<Rm>, immediate: Option<u8>) {
        match op.lanes_of_mask() {
            Some(expand) => {
                self.evex_plain(op, MASK, other, rm.into(), immediate);
                self.evex_plain(expand, reg, 0, Rm::Register(MASK), None);
            }
            None => self.evex_plain(op, reg, other, rm.into(), immediate),
        }
    }

    fn evex_plain(&mut self, op: Avx, reg: u8, other: u8, rm: Rm, immediate: Option<u8>) {
        // The prefix has bits 3 and 4 of each register, but of a base or an index bit 3 only.
        let [index, base] = match rm {
            Rm::Register(register) => [register >> 4, register >> 3 & 1],
            Rm::Memory(_) => X64Assembler::high_bits(rm),
        };
        let inverted = |bits: u8| bits & 1 ^ 1;
        self.byte(0x62);
        self.byte(
            inverted(reg >> 3) << 7
                | inverted(index) << 6
                | inverted(base) << 5
                | inverted(reg >> 4) << 4
                | op.map,
        );
        let w = u8::from(op.evex_w == Some(true));
        self.byte(w << 7 | (!other & 15) << 3 | 1 << 2 | op.prefix);
        // Of 512 bits, and without a mask.
        self.byte(2 << 5 | inverted(other >> 4) << 3);
        self.byte(op.opcode);
        // A distance of one byte would be in units of the operand.
        self.modrm(reg, rm, false, usize::from(immediate.is_some()));
        immediate.into_iter().for_each(|byte| self.byte(byte));
    }

    /// `vzeroupper`.
    pub fn vzeroupper(&mut self) {
        self.code.extend([0xC5, 0xF8, 0x77]);
    }

    /// An instruction on general-purpose registers, with a REX prefix where needed. `bytes` is the
    /// size of its operands: 1, 4 or 8.
    fn general(&mut self, bytes: u8, opcode: &[u8], reg: u8, rm: impl Into<Rm>, trailing: usize) {
        let rm = rm.into();
        let [index, base] = X64Assembler::high_bits(rm);
        let rex = 0x40 | u8::from(bytes == 8) << 3 | (reg >> 3) << 2 | index << 1 | base;
        // The low bytes of rsi and rdi need the prefix.
        if rex != 0x40 || bytes == 1 {
            self.byte(rex);
        }
        self.code.extend(opcode);
        self.modrm(reg, rm, true, trailing);
    }

    /// Copies a register of eight bytes.
    pub fn mov(&mut self, to: Gpr, from: Gpr) {
        self.general(8, &[0x8B], to as u8, from, 0);
    }

    /// Loads 1, 2, 4 or 8 bytes, with zeros above them, or copies of their sign.
    pub fn load(&mut self, to: Gpr, from: Mem, bytes: usize, signed: bool) {
        match (bytes, signed) {
            (1, false) => self.general(4, &[0x0F, 0xB6], to as u8, from, 0),
            (1, true) => self.general(8, &[0x0F, 0xBE], to as u8, from, 0),
            (2, false) => self.general(4, &[0x0F, 0xB7], to as u8, from, 0),
            (2, true) => self.general(8, &[0x0F, 0xBF], to as u8, from, 0),
            (4, false) => self.general(4, &[0x8B], to as u8, from, 0),
            (4, true) => self.general(8, &[0x63], to as u8, from, 0),
            _ => self.general(8, &[0x8B], to as u8, from, 0),
        }
    }

    /// Stores the low 1, 2, 4 or 8 bytes of a register.
    pub fn store(&mut self, to: Mem, from: Gpr, bytes: usize) {
        match bytes {
            1 => self.general(1, &[0x88], from as u8, to, 0),
            2 => {
                self.byte(0x66);
                self.general(4, &[0x89], from as u8, to, 0);
            }
            4 => self.general(4, &[0x89], from as u8, to, 0),
            _ => self.general(8, &[0x89], from as u8, to, 0),
        }
    }

    /// Sets a register to a number.
    pub fn set(&mut self, to: Gpr, value: u32) {
        if value == 0 {
            return self.general(4, &[0x33], to as u8, to, 0);
        }
        if to as u8 >= 8 {
            self.byte(0x41);
        }
        self.byte(0xB8 | to as u8 & 7);
        self.code.extend(value.to_le_bytes());
    }

    /// Adds two registers.
    pub fn add(&mut self, to: Gpr, from: Gpr) {
        self.general(8, &[0x03], to as u8, from, 0);
    }

    /// Adds a number.
    pub fn add_number(&mut self, to: Gpr, value: i32) {
        self.general(8, &[0x81], 0, to, 4);
        self.code.extend(value.to_le_bytes());
    }

    /// Subtracts a number from eight bytes in memory.
    pub fn subtract_number(&mut self, from: Mem, value: i32) {
        self.general(8, &[0x81], 5, from, 4);
        self.code.extend(value.to_le_bytes());
    }

    /// Multiplies by a number.
    pub fn multiply(&mut self, to: Gpr, from: Gpr, value: i32) {
        self.general(8, &[0x69], to as u8, from, 4);
        self.code.extend(value.to_le_bytes());
    }

    /// Compares two registers.
    pub fn compare(&mut self, lhs: Gpr, rhs: Gpr) {
        self.general(8, &[0x3B], lhs as u8, rhs, 0);
    }

    /// Compares a register with a number.
    pub fn compare_number(&mut self, lhs: Gpr, rhs: i32) {
        self.general(8, &[0x81], 7, lhs, 4);
        self.code.extend(rhs.to_le_bytes());
    }

    /// Compares a byte with zero.
    pub fn test_byte(&mut self, place: Mem) {
        self.general(4, &[0x80], 7, place, 1);
        self.byte(0);
    }

    /// Compares the low four bytes of a register with zero.
    pub fn test(&mut self, register: Gpr) {
        self.general(4, &[0x85], register as u8, register, 0);
    }

    /// Compares the lowest bit of a register with zero.
    pub fn test_bit(&mut self, register: Gpr) {
        self.general(1, &[0xF6], 0, register, 1);
        self.byte(1);
    }

    /// Copies a register of eight bytes if a condition holds.
    pub fn move_if(&mut self, condition: Condition, to: Gpr, from: Gpr) {
        self.general(8, &[0x0F, 0x40 | code(condition)], to as u8, from, 0);
    }

    /// The address of a place.
    pub fn address(&mut self, to: Gpr, place: Mem) {
        self.general(8, &[0x8D], to as u8, place, 0);
    }

    /// Copies the sign bits of eight lanes of four bytes.
    pub fn move_mask(&mut self, to: Gpr, from: Ymm) {
        self.vex(Avx::MOVMSKPS, Length::Whole, to as u8, 0, from, None);
    }

    /// Goes on at a label.
    pub fn jump(&mut self, to: Label) {
        self.byte(0xE9);
        self.distance(to);
    }

    /// Goes on at a label if a condition holds.
    pub fn jump_if(&mut self, condition: Condition, to: Label) {
        self.code.extend([0x0F, 0x80 | code(condition)]);
        self.distance(to);
    }

    fn distance(&mut self, to: Label) {
        self.jumps.push((self.code.len(), to));
        self.code.extend([0; 4]);
    }

    /// Calls the function at the address in memory.
    pub fn call(&mut self, function: Mem) {
        self.general(4, &[0xFF], 2, function, 0);
    }

    /// Calls code at a label.
    pub fn call_label(&mut self, to: Label) {
        self.byte(0xE8);
        self.distance(to);
    }

    /// Saves a register on the stack.
    pub fn push(&mut self, register: Gpr) {
        if register as u8 >= 8 {
            self.byte(0x41);
        }
        self.byte(0x50 | register as u8 & 7);
    }

    /// Restores a register from the stack.
    pub fn pop(&mut self, register: Gpr) {
        if register as u8 >= 8 {
            self.byte(0x41);
        }
        self.byte(0x58 | register as u8 & 7);
    }

    /// Returns.
    pub fn ret(&mut self) {
        self.byte(0xC3);
    }

    /// Changes the four bytes of a number that ends before `end`.
    pub fn patch(&mut self, end: usize, value: i32) {
        self.code[end - 4..end].copy_from_slice(&value.to_le_bytes());
    }
}
