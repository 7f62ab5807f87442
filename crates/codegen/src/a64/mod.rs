//! An encoder of the AArch64 instructions that generated code is made of.

mod emitter;
mod halves;

pub use emitter::A64Emitter;

use crate::machine::{Condition, Label};

/// A general-purpose register, of eight bytes: 0 to 30. Number 31 is zero in most instructions, and
/// the end of the stack where they work on addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct X(pub u8);

/// The register that is always zero.
pub const ZERO: X = X(31);
/// The end of the stack.
pub const SP: X = X(31);

/// A vector register, of 16 bytes: 0 to 31.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct V(pub u8);

/// A register that is loaded or stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransferSize {
    /// The first four bytes of a vector register.
    S,
    /// The first eight bytes of a vector register.
    D,
    /// A vector register.
    Q,
    /// One byte of a general-purpose register, zero-extended.
    Byte,
    /// Two bytes, zero-extended.
    Half,
    /// Four bytes, zero-extended.
    Word,
    /// Eight bytes.
    Double,
    /// One byte, sign-extended.
    SignedByte,
    /// Two bytes, sign-extended.
    SignedHalf,
    /// Four bytes, sign-extended.
    SignedWord,
}

impl TransferSize {
    /// The number of bytes in memory.
    pub fn bytes(self) -> i32 {
        match self {
            TransferSize::Byte | TransferSize::SignedByte => 1,
            TransferSize::Half | TransferSize::SignedHalf => 2,
            TransferSize::S | TransferSize::Word | TransferSize::SignedWord => 4,
            TransferSize::D | TransferSize::Double => 8,
            TransferSize::Q => 16,
        }
    }

    /// The bits of the load from a multiple of the size.
    fn load(self) -> u32 {
        match self {
            TransferSize::S => 0xBD40_0000,
            TransferSize::D => 0xFD40_0000,
            TransferSize::Q => 0x3DC0_0000,
            TransferSize::Byte => 0x3940_0000,
            TransferSize::Half => 0x7940_0000,
            TransferSize::Word => 0xB940_0000,
            TransferSize::Double => 0xF940_0000,
            TransferSize::SignedByte => 0x3980_0000,
            TransferSize::SignedHalf => 0x7980_0000,
            TransferSize::SignedWord => 0xB980_0000,
        }
    }

    /// The bits of the store.
    fn store(self) -> u32 {
        match self {
            TransferSize::S => 0xBD00_0000,
            TransferSize::D => 0xFD00_0000,
            TransferSize::Q => 0x3D80_0000,
            TransferSize::Byte | TransferSize::SignedByte => 0x3900_0000,
            TransferSize::Half | TransferSize::SignedHalf => 0x7900_0000,
            TransferSize::Word | TransferSize::SignedWord => 0xB900_0000,
            TransferSize::Double => 0xF900_0000,
        }
    }
}

/// Turns an instruction whose distances are multiples of the size into the one with distances of
/// bytes.
const UNSCALED: u32 = 0x0100_0000;

/// An instruction on vector registers, by its bits with registers 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Neon(u32);

macro_rules! neon {
    ($($group:ident { $($name:ident $text:literal $bits:literal;)* })*) => {
        impl Neon {
            $($(
                #[doc = concat!("`", $text, "`.")]
                pub const $name: Neon = Neon($bits);
            )*
            /// Every such instruction, with the name and the lanes of its registers as assemblers
            /// have them.
            pub const $group: &'static [(&'static str, Neon)] = &[$(($text, Neon::$name)),*];
            )*
        }
    };
}

neon! {
    OF_TWO {
        ADD_D "add 2d 2d 2d" 0x4EE0_8400;
        ADD_S "add 4s 4s 4s" 0x4EA0_8400;
        AND "and 16b 16b 16b" 0x4E20_1C00;
        BIF "bif 16b 16b 16b" 0x6EE0_1C00;
        BIT "bit 16b 16b 16b" 0x6EA0_1C00;
        BSL "bsl 16b 16b 16b" 0x6E60_1C00;
        CMEQ_D "cmeq 2d 2d 2d" 0x6EE0_8C00;
        CMEQ_S "cmeq 4s 4s 4s" 0x6EA0_8C00;
        CMGT_D "cmgt 2d 2d 2d" 0x4EE0_3400;
        CMGT_S "cmgt 4s 4s 4s" 0x4EA0_3400;
        CMHI_D "cmhi 2d 2d 2d" 0x6EE0_3400;
        CMHI_S "cmhi 4s 4s 4s" 0x6EA0_3400;
        EOR "eor 16b 16b 16b" 0x6E20_1C00;
        FADD_D "fadd 2d 2d 2d" 0x4E60_D400;
        FADD_S "fadd 4s 4s 4s" 0x4E20_D400;
        FCMEQ_D "fcmeq 2d 2d 2d" 0x4E60_E400;
        FCMEQ_S "fcmeq 4s 4s 4s" 0x4E20_E400;
        FCMGE_D "fcmge 2d 2d 2d" 0x6E60_E400;
        FCMGE_S "fcmge 4s 4s 4s" 0x6E20_E400;
        FCMGT_D "fcmgt 2d 2d 2d" 0x6EE0_E400;
        FCMGT_S "fcmgt 4s 4s 4s" 0x6EA0_E400;
        FDIV_D "fdiv 2d 2d 2d" 0x6E60_FC00;
        FDIV_S "fdiv 4s 4s 4s" 0x6E20_FC00;
        FMAX_D "fmax 2d 2d 2d" 0x4E60_F400;
        FMAX_S "fmax 4s 4s 4s" 0x4E20_F400;
        FMIN_D "fmin 2d 2d 2d" 0x4EE0_F400;
        FMIN_S "fmin 4s 4s 4s" 0x4EA0_F400;
        FMLA_D "fmla 2d 2d 2d" 0x4E60_CC00;
        FMLA_S "fmla 4s 4s 4s" 0x4E20_CC00;
        FMUL_D "fmul 2d 2d 2d" 0x6E60_DC00;
        FMUL_S "fmul 4s 4s 4s" 0x6E20_DC00;
        FSUB_D "fsub 2d 2d 2d" 0x4EE0_D400;
        FSUB_S "fsub 4s 4s 4s" 0x4EA0_D400;
        MUL_S "mul 4s 4s 4s" 0x4EA0_9C00;
        ORR "orr 16b 16b 16b" 0x4EA0_1C00;
        SMAX_S "smax 4s 4s 4s" 0x4EA0_6400;
        SMIN_S "smin 4s 4s 4s" 0x4EA0_6C00;
        SSHL_S "sshl 4s 4s 4s" 0x4EA0_4400;
        SUB_D "sub 2d 2d 2d" 0x6EE0_8400;
        SUB_S "sub 4s 4s 4s" 0x6EA0_8400;
        TRN1_S "trn1 4s 4s 4s" 0x4E80_2800;
        TRN2_S "trn2 4s 4s 4s" 0x4E80_6800;
        UMAX_S "umax 4s 4s 4s" 0x6EA0_6400;
        UMIN_S "umin 4s 4s 4s" 0x6EA0_6C00;
        UMULL_S "umull 2d 2s 2s" 0x2EA0_C000;
        USHL_D "ushl 2d 2d 2d" 0x6EE0_4400;
        USHL_S "ushl 4s 4s 4s" 0x6EA0_4400;
        UZP1_H "uzp1 8h 8h 8h" 0x4E40_1800;
        UZP1_S "uzp1 4s 4s 4s" 0x4E80_1800;
        ZIP1_D "zip1 2d 2d 2d" 0x4EC0_3800;
        ZIP2_D "zip2 2d 2d 2d" 0x4EC0_7800;
    }
    OF_ONE {
        ABS_S "abs 4s 4s" 0x4EA0_B800;
        FCVTL "fcvtl 2d 2s" 0x0E61_7800;
        FCVTL2 "fcvtl2 2d 4s" 0x4E61_7800;
        FCVTN "fcvtn 2s 2d" 0x0E61_6800;
        FCVTN2 "fcvtn2 4s 2d" 0x4E61_6800;
        FCVTZS_S "fcvtzs 4s 4s" 0x4EA1_B800;
        FRINTM_D "frintm 2d 2d" 0x4E61_9800;
        FRINTM_S "frintm 4s 4s" 0x4E21_9800;
        FRINTN_D "frintn 2d 2d" 0x4E61_8800;
        FRINTN_S "frintn 4s 4s" 0x4E21_8800;
        FRINTP_D "frintp 2d 2d" 0x4EE1_8800;
        FRINTP_S "frintp 4s 4s" 0x4EA1_8800;
        FRINTZ_D "frintz 2d 2d" 0x4EE1_9800;
        FRINTZ_S "frintz 4s 4s" 0x4EA1_9800;
        FSQRT_D "fsqrt 2d 2d" 0x6EE1_F800;
        FSQRT_S "fsqrt 4s 4s" 0x6EA1_F800;
        NEG_D "neg 2d 2d" 0x6EE0_B800;
        NEG_S "neg 4s 4s" 0x6EA0_B800;
        REV64_S "rev64 4s 4s" 0x4EA0_0800;
        SCVTF_D "scvtf 2d 2d" 0x4E61_D800;
        SCVTF_S "scvtf 4s 4s" 0x4E21_D800;
        SQXTN2_B "sqxtn2 16b 8h" 0x4E21_4800;
        SQXTN2_H "sqxtn2 8h 4s" 0x4E61_4800;
        SQXTN_B "sqxtn 8b 8h" 0x0E21_4800;
        SQXTN_H "sqxtn 4h 4s" 0x0E61_4800;
        XTN_B "xtn 8b 8h" 0x0E21_2800;
        XTN_S "xtn 2s 2d" 0x0EA1_2800;
    }
    // These are shifts by nothing, with wider results.
    WIDENING {
        SSHLL2_S "sshll2 2d 4s" 0x4F20_A400;
        SSHLL_S "sshll 2d 2s" 0x0F20_A400;
        USHLL2_H "ushll2 4s 8h" 0x6F10_A400;
        USHLL2_S "ushll2 2d 4s" 0x6F20_A400;
        USHLL_B "ushll 8h 8b" 0x2F08_A400;
        USHLL_H "ushll 4s 4h" 0x2F10_A400;
        USHLL_S "ushll 2d 2s" 0x2F20_A400;
    }
}

impl Neon {
    /// `mvn`: the other bits.
    pub const NOT: Neon = Neon(0x6E20_5800);
    /// `umaxv`: the greatest lane of four bytes, as the first one.
    pub const UMAXV_S: Neon = Neon(0x6EB0_A800);
    /// `ld1r`: elements of four bytes.
    pub const LD1R_S: Neon = Neon(0x4D40_C800);
    /// `ld1r`: elements of eight bytes.
    pub const LD1R_D: Neon = Neon(0x4D40_CC00);
    /// `ld1r`: elements of one byte.
    pub const LD1R_B: Neon = Neon(0x4D40_C000);
}

/// The size of lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaneSize {
    /// Four bytes.
    S,
    /// Eight bytes.
    D,
}

impl LaneSize {
    /// The bits of a lane's number.
    fn number(self, lane: u8) -> u32 {
        match self {
            LaneSize::S => u32::from(lane) << 3 | 4,
            LaneSize::D => u32::from(lane) << 4 | 8,
        }
    }
}

/// The number of a condition.
fn code(condition: Condition) -> u32 {
    match condition {
        Condition::Equal => 0,
        Condition::NotEqual => 1,
        Condition::AboveOrEqual => 2,
        Condition::Below => 3,
        Condition::Above => 8,
        Condition::Less => 11,
        Condition::Greater => 12,
    }
}

/// A distance that is not known yet, by the kind of instruction.
#[derive(Clone, Copy)]
enum Distance {
    /// Of 19 bits, in a conditional jump.
    Conditional,
    /// Of 26 bits, in a jump or a call.
    Jump,
    /// To the constants, in two instructions: that of the page, and that within it.
    Constants,
}

/// Code while it is made.
#[derive(Default)]
pub struct A64Assembler {
    words: Vec<u32>,
    labels: Vec<Option<u32>>,
    distances: Vec<(usize, Distance, Label)>,
}

/// The place behind the code, where constants are.
const END: Label = Label(u32::MAX);

impl A64Assembler {
    /// No code.
    pub fn new() -> A64Assembler {
        A64Assembler::default()
    }

    /// The bytes of the code.
    pub fn position(&self) -> usize {
        4 * self.words.len()
    }

    /// A label for a place that is not known yet.
    pub fn label(&mut self) -> Label {
        self.labels.push(None);
        Label(self.labels.len() as u32 - 1)
    }

    /// Puts a label here.
    pub fn bind(&mut self, label: Label) {
        self.labels[label.0 as usize] = Some(self.words.len() as u32);
    }

    /// The code with constants behind it; `None` if a label is nowhere or the code too long. It
    /// has to start at a page of 4 KiB.
    pub fn finish(mut self, constants: &[u8]) -> Option<Vec<u8>> {
        self.words.resize(self.words.len().next_multiple_of(4), 0);
        for (at, kind, label) in self.distances {
            let target = match label {
                END => self.words.len() as u32,
                _ => self.labels[label.0 as usize]?,
            };
            let distance = i64::from(target) - at as i64;
            let bits = |bits: u32| {
                let limit = 1i64 << (bits - 1);
                (-limit..limit).contains(&distance).then_some(distance as u32 & ((1 << bits) - 1))
            };
            match kind {
                Distance::Conditional => self.words[at] |= bits(19)? << 5,
                Distance::Jump => self.words[at] |= bits(26)?,
                Distance::Constants => {
                    let [target, at_byte] = [u64::from(target), at as u64].map(|word| 4 * word);
                    let pages = u32::try_from((target >> 12) - (at_byte >> 12)).ok()?;
                    self.words[at] |= (pages & 3) << 29 | (pages >> 2) << 5;
                    self.words[at + 1] |= (target as u32 & 0xFFF) << 10;
                }
            }
        }
        let code = self.words.iter().flat_map(|word| word.to_le_bytes());
        Some(code.chain(constants.iter().copied()).collect())
    }

    fn word(&mut self, word: u32) {
        self.words.push(word);
    }

    /// An instruction with registers in the usual places.
    fn registers(&mut self, bits: u32, [d, n, m]: [u8; 3]) {
        self.word(bits | u32::from(m) << 16 | u32::from(n) << 5 | u32::from(d));
    }

    /// A function of two registers, or of the result, too.
    pub fn vector(&mut self, op: Neon, d: V, n: V, m: V) {
        self.registers(op.0, [d.0, n.0, m.0]);
    }

    /// A function of one register.
    pub fn vector_of_one(&mut self, op: Neon, d: V, n: V) {
        self.registers(op.0, [d.0, n.0, 0]);
    }

    /// Copies a vector register.
    pub fn copy(&mut self, d: V, n: V) {
        self.vector(Neon::ORR, d, n, n);
    }

    /// `tbl`: bytes of a register and the next one, chosen by another one.
    pub fn table(&mut self, d: V, first: V, lanes: V) {
        self.registers(0x4E00_2000, [d.0, first.0, lanes.0]);
    }

    /// `ext`: the second half of a register, and the first half of another.
    pub fn halves_between(&mut self, d: V, n: V, m: V) {
        self.registers(0x6E00_4000, [d.0, n.0, m.0]);
    }

    /// `dup`: a lane in all lanes.
    pub fn splat(&mut self, size: LaneSize, d: V, n: V, lane: u8) {
        self.registers(0x4E00_0400 | size.number(lane) << 16, [d.0, n.0, 0]);
    }

    /// `dup`: a general-purpose register in all lanes of eight bytes.
    pub fn splat_general(&mut self, d: V, n: X) {
        self.registers(0x4E08_0C00, [d.0, n.0, 0]);
    }

    /// `ins`: a lane of a register replaced by one of another.
    pub fn insert(&mut self, size: LaneSize, (d, to): (V, u8), (n, from): (V, u8)) {
        let from = match size {
            LaneSize::S => u32::from(from) << 2,
            LaneSize::D => u32::from(from) << 3,
        };
        self.registers(0x6E00_0400 | size.number(to) << 16 | from << 11, [d.0, n.0, 0]);
    }

    /// `umov`: the first lane of four bytes.
    pub fn first_lane(&mut self, d: X, n: V) {
        self.registers(0x0E04_3C00, [d.0, n.0, 0]);
    }

    /// `movi`: a number below 256 in all lanes of four bytes.
    pub fn splat_number(&mut self, d: V, number: u8) {
        let bits = u32::from(number);
        self.registers(0x4F00_0400 | (bits >> 5) << 16 | (bits & 31) << 5, [d.0, 0, 0]);
    }

    /// `shl`: lanes moved up by fewer bits than they have.
    pub fn shift_left(&mut self, size: LaneSize, d: V, n: V, by: u8) {
        let bits = if size == LaneSize::S { 32 } else { 64 };
        self.registers(0x4F00_5400 | (bits + u32::from(by)) << 16, [d.0, n.0, 0]);
    }

    /// `ushr`: lanes moved down by at least one bit, and at most all of them.
    pub fn shift_right(&mut self, size: LaneSize, d: V, n: V, by: u8) {
        let bits = if size == LaneSize::S { 64 } else { 128 };
        self.registers(0x6F00_0400 | (bits - u32::from(by)) << 16, [d.0, n.0, 0]);
    }

    /// `ld1` of one lane.
    pub fn load_lane(&mut self, size: LaneSize, d: V, lane: u8, address: X) {
        let lane = u32::from(lane);
        let bits = match size {
            LaneSize::S => 0x0D40_8000 | (lane >> 1) << 30 | (lane & 1) << 12,
            LaneSize::D => 0x0D40_8400 | lane << 30,
        };
        self.registers(bits, [d.0, address.0, 0]);
    }

    /// `ld1r`: an element in all lanes.
    pub fn load_splat(&mut self, op: Neon, d: V, address: X) {
        self.registers(op.0, [d.0, address.0, 0]);
    }

    /// Loads or stores a register at some distance from an address; false if the distance is not
    /// encodable.
    pub fn transfer(
        &mut self,
        (kind, is_load): (TransferSize, bool),
        register: u8,
        address: X,
        distance: i32,
    ) -> bool {
        let bits = if is_load { kind.load() } else { kind.store() };
        let bytes = kind.bytes();
        let bits = match distance {
            _ if distance % bytes == 0 && (0..4096 * bytes).contains(&distance) => {
                bits | ((distance / bytes) as u32) << 10
            }
            -256..=255 => (bits - UNSCALED) | (distance as u32 & 0x1FF) << 12,
            _ => return false,
        };
        self.registers(bits, [register, address.0, 0]);
        true
    }

    fn pair(&mut self, bits: u32, [first, second]: [u8; 2], address: X, distance: i32) {
        let distance = (distance as u32 & 0x7F) << 15;
        self.registers(bits | distance | u32::from(second) << 10, [first, address.0, 0]);
    }

    /// `ldp` or `stp` of two vector registers; false if the distance is not encodable.
    pub fn transfer_pair(
        &mut self,
        is_load: bool,
        [first, second]: [V; 2],
        address: X,
        distance: i32,
    ) -> bool {
        if distance % 16 != 0 || !(-1024..=1008).contains(&distance) {
            return false;
        }
        let bits = if is_load { 0xAD40_0000 } else { 0xAD00_0000 };
        self.pair(bits, [first.0, second.0], address, distance / 16);
        true
    }

    /// `ldp` or `stp` of the low halves of two vector registers, at a multiple of 8 up to 504.
    pub fn transfer_low_halves(&mut self, is_load: bool, [first, second]: [V; 2], distance: i32) {
        let bits = if is_load { 0x6D40_0000 } else { 0x6D00_0000 };
        self.pair(bits, [first.0, second.0], SP, distance / 8);
    }

    /// `ldp` or `stp` of two registers on the stack, at a multiple of 8 up to 504.
    pub fn transfer_general(&mut self, is_load: bool, [first, second]: [X; 2], distance: i32) {
        let bits = if is_load { 0xA940_0000 } else { 0xA900_0000 };
        self.pair(bits, [first.0, second.0], SP, distance / 8);
    }

    /// `stp` of two registers at the new end of the stack, some bytes before the old one: a
    /// multiple of 8 up to 512.
    pub fn push(&mut self, [first, second]: [X; 2], bytes: i32) {
        self.pair(0xA980_0000, [first.0, second.0], SP, -bytes / 8);
    }

    /// The opposite of [`A64Assembler::push`].
    pub fn pop(&mut self, [first, second]: [X; 2], bytes: i32) {
        self.pair(0xA8C0_0000, [first.0, second.0], SP, bytes / 8);
    }

    /// Copies a register, neither of which is the end of the stack.
    pub fn mov(&mut self, d: X, n: X) {
        self.registers(0xAA00_0000, [d.0, ZERO.0, n.0]);
    }

    /// Sets a register to a number.
    pub fn set(&mut self, d: X, value: u64) {
        let part = |number: u32| (value >> (16 * number)) as u32 & 0xFFFF;
        self.registers(0xD280_0000 | part(0) << 5, [d.0, 0, 0]);
        for number in (1..4).filter(|&number| part(number) != 0) {
            self.registers(0xF280_0000 | number << 21 | part(number) << 5, [d.0, 0, 0]);
        }
    }

    /// Adds a register times a power of two, given by its exponent.
    pub fn add(&mut self, d: X, n: X, m: X, scale: u8) {
        self.registers(0x8B00_0000 | u32::from(scale) << 10, [d.0, n.0, m.0]);
    }

    /// As [`A64Assembler::add`], to a register that may be the end of the stack.
    pub fn add_to_stack(&mut self, d: X, n: X, m: X) {
        self.registers(0x8B20_6000, [d.0, n.0, m.0]);
    }

    /// Adds a number below 4096, maybe times 4096. The registers may be the end of the stack.
    pub fn add_number(&mut self, d: X, n: X, number: u32, is_high: bool) {
        self.registers(0x9100_0000 | u32::from(is_high) << 22 | number << 10, [d.0, n.0, 0]);
    }

    /// As [`A64Assembler::add_number`], subtracts.
    pub fn subtract_number(&mut self, d: X, n: X, number: u32, is_high: bool) {
        self.registers(0xD100_0000 | u32::from(is_high) << 22 | number << 10, [d.0, n.0, 0]);
    }

    /// Subtracts a register, and compares with it.
    pub fn subtract(&mut self, d: X, n: X, m: X) {
        self.registers(0xEB00_0000, [d.0, n.0, m.0]);
    }

    /// Compares the low four bytes of a register with zero.
    pub fn test(&mut self, n: X) {
        self.registers(0x7100_0000, [ZERO.0, n.0, 0]);
    }

    /// Compares the lowest bit of a register with zero.
    pub fn test_bit(&mut self, n: X) {
        self.registers(0x7200_0000, [ZERO.0, n.0, 0]);
    }

    /// Multiplies.
    pub fn multiply(&mut self, d: X, n: X, m: X) {
        self.registers(0x9B00_7C00, [d.0, n.0, m.0]);
    }

    /// The first register if a condition holds, else the second.
    pub fn choose(&mut self, condition: Condition, d: X, n: X, m: X) {
        self.registers(0x9A80_0000 | code(condition) << 12, [d.0, n.0, m.0]);
    }

    /// The address of the constants behind the code.
    pub fn address_of_constants(&mut self, d: X) {
        self.distances.push((self.words.len(), Distance::Constants, END));
        self.registers(0x9000_0000, [d.0, 0, 0]);
        self.add_number(d, d, 0, false);
    }

    fn distance(&mut self, kind: Distance, bits: u32, to: Label) {
        self.distances.push((self.words.len(), kind, to));
        self.word(bits);
    }

    /// Goes on at a label.
    pub fn jump(&mut self, to: Label) {
        self.distance(Distance::Jump, 0x1400_0000, to);
    }

    /// Goes on at a label if a condition holds.
    pub fn jump_if(&mut self, condition: Condition, to: Label) {
        self.distance(Distance::Conditional, 0x5400_0000 | code(condition), to);
    }

    /// Calls code at a label.
    pub fn call_label(&mut self, to: Label) {
        self.distance(Distance::Jump, 0x9400_0000, to);
    }

    /// Calls code at an address.
    pub fn call(&mut self, address: X) {
        self.registers(0xD63F_0000, [0, address.0, 0]);
    }

    /// Returns.
    pub fn ret(&mut self) {
        self.registers(0xD65F_0000, [0, 30, 0]);
    }

    /// Changes the number of the instruction at a position: an addition of one.
    pub fn patch(&mut self, position: usize, number: u32) {
        self.words[position / 4] |= number << 10;
    }
}
