//! An encoder of the x86-64 instructions that generated code is made of.

/// A general-purpose register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
#[allow(missing_docs)]
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

/// A vector register of 256 bits, or its low half.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ymm(pub u8);

/// A place in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mem {
    /// The base of the address.
    pub base: Base,
    /// A register times a power of two, given by its exponent.
    pub index: Option<(Gpr, u8)>,
    /// Bytes from there.
    pub offset: i32,
}

/// The base of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// A register.
    Register(Gpr),
    /// A constant of the code.
    Constant(Constant),
}

impl Mem {
    /// A place some bytes from the address in a register.
    pub fn at(base: Gpr, offset: i32) -> Mem {
        Mem { base: Base::Register(base), index: None, offset }
    }

    /// A constant.
    pub fn constant(constant: Constant) -> Mem {
        Mem { base: Base::Constant(constant), index: None, offset: 0 }
    }

    /// The place moved by an index register times `1 << scale`.
    #[must_use]
    pub fn indexed(self, index: Gpr, scale: u8) -> Mem {
        Mem { index: Some((index, scale)), ..self }
    }
}

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

/// A vector instruction with the VEX prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vex {
    /// The opcode map: 1 for `0F`, 2 for `0F 38`, 3 for `0F 3A`.
    map: u8,
    /// The implied prefix: 0, or 1 for `66`, 2 for `F3`, 3 for `F2`.
    prefix: u8,
    wide: bool,
    opcode: u8,
}

/// The lengths of vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// The low half of registers.
    Half,
    /// Whole registers.
    Whole,
}

macro_rules! vex {
    ($($name:ident $map:literal $prefix:literal $wide:literal $opcode:literal;)*) => {
        impl Vex {
            $(
                #[doc = concat!("`v", stringify!($name), "`, in lower case.")]
                pub const $name: Vex =
                    Vex { map: $map, prefix: $prefix, wide: $wide != 0, opcode: $opcode };
            )*
            /// Every instruction by name.
            pub const ALL: &'static [(&'static str, Vex)] =
                &[$((stringify!($name), Vex::$name)),*];
        }
    };
}

// Name, map, prefix, W, opcode.
vex! {
    ADDPD 1 1 0 0x58;
    ADDPS 1 0 0 0x58;
    ANDNPS 1 0 0 0x55;
    ANDPS 1 0 0 0x54;
    BLENDPS 3 1 0 0x0C;
    BLENDVPS 3 1 0 0x4A;
    BROADCASTSD 2 1 0 0x19;
    BROADCASTSS 2 1 0 0x18;
    CMPPD 1 1 0 0xC2;
    CMPPS 1 0 0 0xC2;
    CVTDQ2PD 1 2 0 0xE6;
    CVTDQ2PS 1 0 0 0x5B;
    CVTPD2PS 1 1 0 0x5A;
    CVTPS2PD 1 0 0 0x5A;
    CVTTPD2DQ 1 1 0 0xE6;
    CVTTPS2DQ 1 2 0 0x5B;
    DIVPD 1 1 0 0x5E;
    DIVPS 1 0 0 0x5E;
    EXTRACTI128 3 1 0 0x39;
    FMADD231PD 2 1 1 0xB8;
    FMADD231PS 2 1 0 0xB8;
    INSERTI128 3 1 0 0x38;
    INSERTPS 3 1 0 0x21;
    MAXPD 1 1 0 0x5F;
    MAXPS 1 0 0 0x5F;
    MINPD 1 1 0 0x5D;
    MINPS 1 0 0 0x5D;
    MOVD_LOAD 1 1 0 0x6E;
    MOVD_STORE 1 1 0 0x7E;
    MOVHPS_LOAD 1 0 0 0x16;
    MOVQ_LOAD 1 2 0 0x7E;
    MOVQ_STORE 1 1 0 0xD6;
    MOVUPS_LOAD 1 0 0 0x10;
    MOVUPS_STORE 1 0 0 0x11;
    MULPD 1 1 0 0x59;
    MULPS 1 0 0 0x59;
    ORPS 1 0 0 0x56;
    PABSD 2 1 0 0x1E;
    PACKSSDW 1 1 0 0x6B;
    PACKSSWB 1 1 0 0x63;
    PACKUSDW 2 1 0 0x2B;
    PADDD 1 1 0 0xFE;
    PADDQ 1 1 0 0xD4;
    PBROADCASTB 2 1 0 0x78;
    PCMPEQD 1 1 0 0x76;
    PCMPEQQ 2 1 0 0x29;
    PCMPGTD 1 1 0 0x66;
    PCMPGTQ 2 1 0 0x37;
    PERMPD 3 1 1 0x01;
    PERMPS 2 1 0 0x16;
    PMAXSD 2 1 0 0x3D;
    PMAXUD 2 1 0 0x3F;
    PMINSD 2 1 0 0x39;
    PMINUD 2 1 0 0x3B;
    PMOVSXBD 2 1 0 0x21;
    PMOVSXDQ 2 1 0 0x25;
    PMOVZXBD 2 1 0 0x31;
    PMOVZXDQ 2 1 0 0x35;
    PMOVZXWD 2 1 0 0x33;
    PMULLD 2 1 0 0x40;
    PMULUDQ 1 1 0 0xF4;
    PSHIFTD_IMMEDIATE 1 1 0 0x72;
    PSHIFTQ_IMMEDIATE 1 1 0 0x73;
    PSLLVD 2 1 0 0x47;
    PSLLVQ 2 1 1 0x47;
    PSRAVD 2 1 0 0x46;
    PSRLVD 2 1 0 0x45;
    PSRLVQ 2 1 1 0x45;
    PSUBD 1 1 0 0xFA;
    PSUBQ 1 1 0 0xFB;
    ROUNDPD 3 1 0 0x09;
    ROUNDPS 3 1 0 0x08;
    SHUFPS 1 0 0 0xC6;
    SQRTPD 1 1 0 0x51;
    SQRTPS 1 0 0 0x51;
    SUBPD 1 1 0 0x5C;
    SUBPS 1 0 0 0x5C;
    XORPS 1 0 0 0x57;
}

/// A condition of jumps and moves, after a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Condition {
    /// Below, unsigned.
    Below = 2,
    /// Above or equal, unsigned.
    AboveOrEqual = 3,
    /// Equal, or zero.
    Equal = 4,
    /// Different, or not zero.
    NotEqual = 5,
    /// Above, unsigned.
    Above = 7,
    /// Negative.
    Sign = 8,
    /// Less, signed.
    Less = 12,
    /// Greater, signed.
    Greater = 15,
}

/// A place in the code, which may not be known yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Label(u32);

/// 32 bytes behind the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Constant(u32);

/// The bytes of a constant.
pub type ConstantBytes = [u8; 32];

/// Code while it is made.
#[derive(Default)]
pub struct Assembler {
    code: Vec<u8>,
    labels: Vec<Option<u32>>,
    /// Distances to labels, of four bytes each.
    jumps: Vec<(usize, Label)>,
    constants: Vec<ConstantBytes>,
    numbers: rustc_hash::FxHashMap<ConstantBytes, Constant>,
    /// Distances to constants, with the position after the instruction.
    uses: Vec<(usize, usize, Constant)>,
}

impl Assembler {
    /// No code.
    pub fn new() -> Assembler {
        Assembler::default()
    }

    /// The bytes of the code so far.
    pub fn position(&self) -> usize {
        self.code.len()
    }

    /// A constant with these bytes.
    pub fn constant(&mut self, bytes: ConstantBytes) -> Constant {
        let next = Constant(self.constants.len() as u32);
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
        self.code.resize(self.code.len().next_multiple_of(size_of::<ConstantBytes>()), 0xCC);
        let first = self.code.len();
        for (at, end, constant) in self.uses {
            let target = first + constant.0 as usize * size_of::<ConstantBytes>();
            let distance = i32::try_from(target as i64 - end as i64).ok()?;
            self.code[at..at + 4].copy_from_slice(&distance.to_le_bytes());
        }
        self.constants.iter().for_each(|bytes| self.code.extend(bytes));
        Some(self.code)
    }

    fn byte(&mut self, byte: u8) {
        self.code.push(byte);
    }

    /// Writes ModRM, SIB and the distance. `trailing` bytes of the instruction follow.
    fn modrm(&mut self, reg: u8, rm: Rm, trailing: usize) {
        let reg = (reg & 7) << 3;
        let place = match rm {
            Rm::Register(register) => return self.byte(0xC0 | reg | register & 7),
            Rm::Memory(place) => place,
        };
        let base = match place.base {
            Base::Register(base) => base as u8,
            Base::Constant(constant) => {
                self.byte(reg | 5);
                let at = self.code.len();
                self.uses.push((at, at + 4 + trailing, constant));
                return self.code.extend([0; 4]);
            }
        };
        // No distance at all is not encodable from rbp and r13.
        let mode = match place.offset {
            0 if base & 7 != 5 => 0x00,
            -128..=127 => 0x40,
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

    /// The high bits of the registers of an operand: those of an index and of a base.
    fn high_bits(rm: Rm) -> [u8; 2] {
        match rm {
            Rm::Register(register) => [0, register >> 3],
            Rm::Memory(place) => {
                let base = match place.base {
                    Base::Register(base) => base as u8 >> 3,
                    Base::Constant(_) => 0,
                };
                [place.index.map_or(0, |(index, _)| index as u8 >> 3), base]
            }
        }
    }

    /// A vector instruction: its register, the register that VEX holds (zero if it is unused), the
    /// last operand and the immediate operand.
    pub fn vex(
        &mut self,
        op: Vex,
        length: Length,
        reg: u8,
        other: u8,
        rm: impl Into<Rm>,
        immediate: Option<u8>,
    ) {
        let rm = rm.into();
        let [index, base] = Assembler::high_bits(rm);
        let low = (!other & 15) << 3 | u8::from(length == Length::Whole) << 2 | op.prefix;
        if op.map == 1 && !op.wide && index == 0 && base == 0 {
            self.byte(0xC5);
            self.byte((reg >> 3 ^ 1) << 7 | low);
        } else {
            self.byte(0xC4);
            self.byte((reg >> 3 ^ 1) << 7 | (index ^ 1) << 6 | (base ^ 1) << 5 | op.map);
            self.byte(u8::from(op.wide) << 7 | low);
        }
        self.byte(op.opcode);
        self.modrm(reg, rm, usize::from(immediate.is_some()));
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
        let [index, base] = Assembler::high_bits(rm);
        let rex = 0x40 | u8::from(bytes == 8) << 3 | (reg >> 3) << 2 | index << 1 | base;
        // The low bytes of rsi and rdi need the prefix.
        if rex != 0x40 || bytes == 1 {
            self.byte(rex);
        }
        self.code.extend(opcode);
        self.modrm(reg, rm, trailing);
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

    /// Rounds the register down to a multiple of a power of two.
    pub fn round_down(&mut self, to: Gpr, multiple: i32) {
        self.general(8, &[0x81], 4, to, 4);
        self.code.extend((-multiple).to_le_bytes());
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
        self.general(8, &[0x0F, 0x40 | condition as u8], to as u8, from, 0);
    }

    /// The address of a place.
    pub fn address(&mut self, to: Gpr, place: Mem) {
        self.general(8, &[0x8D], to as u8, place, 0);
    }

    /// Copies the sign bits of eight lanes of four bytes.
    pub fn move_mask(&mut self, to: Gpr, from: Ymm) {
        self.vex(
            Vex { map: 1, prefix: 0, wide: false, opcode: 0x50 },
            Length::Whole,
            to as u8,
            0,
            from,
            None,
        );
    }

    /// Goes on at a label.
    pub fn jump(&mut self, to: Label) {
        self.byte(0xE9);
        self.distance(to);
    }

    /// Goes on at a label if a condition holds.
    pub fn jump_if(&mut self, condition: Condition, to: Label) {
        self.code.extend([0x0F, 0x80 | condition as u8]);
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
