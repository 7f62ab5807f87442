//! The part of code generation that depends on the machine, as an interface.

use crate::ops::{Op, Store};
use crate::vector::Width;

/// A general-purpose register, by its use. Registers of different uses may be the same one:
/// loops, blocks and calls do not use theirs together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Register {
    /// The first argument of a function: of a loop, the addresses.
    First,
    /// The second argument: of a loop, the number of elements.
    Second,
    /// The result of a function.
    Result,
    /// The end of the stack, where vectors are that have no register.
    Stack,
    /// The number of the current element.
    Element,
    /// An address of a loop, by number.
    Address(u8),
    /// The memory of a block, which calls leave as it is.
    Memory,
    /// The context of a block, which calls leave as it is.
    Context,
    /// An index that was computed by [`ScalarInst::Index`](crate::ScalarInst::Index).
    Index,
    /// An address or a number, for the time of an operation.
    Loaded,
    /// The number of an op, which is the third argument of a function, or another number for the
    /// time of an operation.
    Number,
}

/// A place in memory, whose address is computed from registers of type `R`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mem<R = Register> {
    /// The base of the address.
    pub base: MemoryBase<R>,
    /// A register times a power of two, given by its exponent.
    pub index: Option<(R, u8)>,
    /// Bytes from there.
    pub offset: i32,
}

/// The base of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryBase<R = Register> {
    /// A register.
    Register(R),
    /// A constant of the code.
    ConstantData(ConstantData),
}

impl<R> Mem<R> {
    /// A place some bytes from the address in a register.
    pub fn at(base: R, offset: i32) -> Mem<R> {
        Mem { base: MemoryBase::Register(base), index: None, offset }
    }

    /// A constant.
    pub fn constant(constant: ConstantData) -> Mem<R> {
        Mem { base: MemoryBase::ConstantData(constant), index: None, offset: 0 }
    }

    /// The place moved by an index register times `1 << scale`.
    #[must_use]
    pub fn indexed(self, index: R, scale: u8) -> Mem<R> {
        Mem { index: Some((index, scale)), ..self }
    }

    /// The same place with registers of another type.
    pub(crate) fn map<S>(self, register: impl Fn(R) -> S) -> Mem<S> {
        let base = match self.base {
            MemoryBase::Register(base) => MemoryBase::Register(register(base)),
            MemoryBase::ConstantData(constant) => MemoryBase::ConstantData(constant),
        };
        let index = self.index.map(|(index, scale)| (register(index), scale));
        Mem { base, index, offset: self.offset }
    }
}

/// A vector register by number, or a place in memory.
#[derive(Clone, Copy, Debug)]
pub enum InstOperand {
    /// The register with this number.
    Register(u8),
    /// Memory.
    Memory(Mem),
}

/// A condition of jumps and moves, after a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// Below, unsigned.
    Below,
    /// Above or equal, unsigned.
    AboveOrEqual,
    /// Equal, or zero.
    Equal,
    /// Different, or not zero.
    NotEqual,
    /// Above, unsigned.
    Above,
    /// Less, signed.
    Less,
    /// Greater, signed.
    Greater,
}

/// A place in the code, which may not be known yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Label(pub(crate) u32);

/// Bytes behind the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ConstantData(pub(crate) u32);

/// The bytes of a constant, again and again.
pub type ConstantBytes = [u8; 32];

/// Encodes operations as instructions of a machine.
pub trait Encoder {
    /// The number of [`Register::Address`].
    const ADDRESSES: usize;
    /// Code of more vector operations may be too long for the machine's jumps.
    const MAX_OPERATIONS: usize;

    /// The bytes of the code.
    fn position(&self) -> usize;
    /// A constant with these bytes.
    fn constant(&mut self, bytes: ConstantBytes) -> ConstantData;
    /// A label for a place that is not known yet.
    fn label(&mut self) -> Label;
    /// Puts a label here.
    fn bind(&mut self, label: Label);
    /// The code with its constants behind it; `None` if a label is nowhere, the code too long, or
    /// the machine lacks one of its operations.
    fn finish(self) -> Option<Vec<u8>>;

    /// Copies a register of eight bytes.
    fn mov(&mut self, to: Register, from: Register);
    /// Loads 1, 2, 4 or 8 bytes, with zeros above them, or copies of their sign.
    fn load(&mut self, to: Register, from: Mem, bytes: usize, signed: bool);
    /// Stores the low 1, 2, 4 or 8 bytes of a register.
    fn store(&mut self, to: Mem, from: Register, bytes: usize);
    /// Sets a register to a number.
    fn set(&mut self, to: Register, value: u32);
    /// Adds two registers.
    fn add(&mut self, to: Register, from: Register);
    /// Adds a number.
    fn add_number(&mut self, to: Register, value: i32);
    /// Subtracts a number from eight bytes in memory, which compares them with it.
    fn subtract_number(&mut self, from: Mem, value: i32);
    /// Multiplies by a number.
    fn multiply(&mut self, to: Register, from: Register, value: i32);
    /// Compares two registers.
    fn compare(&mut self, lhs: Register, rhs: Register);
    /// Compares a register with a number.
    fn compare_number(&mut self, lhs: Register, rhs: i32);
    /// Compares a byte with zero.
    fn test_byte(&mut self, place: Mem);
    /// Compares the low four bytes of a register with zero.
    fn test(&mut self, register: Register);
    /// Copies a register of eight bytes if a condition holds.
    fn move_if(&mut self, condition: Condition, to: Register, from: Register);
    /// Goes on at a label.
    fn jump(&mut self, to: Label);
    /// Goes on at a label if a condition holds.
    fn jump_if(&mut self, condition: Condition, to: Label);
    /// Calls the function at the address in memory.
    fn call(&mut self, function: Mem);
    /// Calls code at a label, made by [`Encoder::callback`].
    fn call_label(&mut self, to: Label);

    /// Begins the function of a loop, which the caller calls with two arguments. The result is for
    /// [`Encoder::leave_loop`].
    fn enter_loop(&mut self) -> usize;
    /// Ends the function of a loop that began at `entered`, and has some bytes of the stack, less
    /// than a page.
    fn leave_loop(&mut self, entered: usize, stack: i32);
    /// Begins the function of a block, which has some bytes of the stack.
    fn enter_block(&mut self, stack: i32);
    /// Ends the function of a block with [`Register::Result`].
    fn leave_block(&mut self);
    /// Ends code with vectors before other code is called.
    fn end_vectors(&mut self);
    /// Puts a label at code that calls a function of [`Register::Context`] and of what is in other
    /// registers, and leaves all vectors and [`Register::Index`] as they are. If the result is not
    /// zero, it goes on at `failed`.
    fn callback(&mut self, label: Label, function: Mem, second: Register, failed: Label);

    /// Stores a part of a vector.
    fn store_vector(&mut self, width: Width, store: Store, to: Mem, from: u8);
    /// Adds an operation of one operand.
    fn unary(&mut self, width: Width, op: Op, to: u8, x: InstOperand);
    /// True if an operation of one operand takes it from memory.
    fn reads_memory(op: Op) -> bool;
    /// Adds an operation of two operands.
    fn binary(&mut self, width: Width, op: Op, to: u8, x: u8, y: InstOperand);
    /// The orders in which an operation of three operands, by number, may have these: the result
    /// takes the register of the first one. Without an order, [`Encoder::ternary`] has a separate
    /// register for the result.
    fn orders(width: Width, op: Op) -> &'static [[usize; 3]];
    /// Adds an operation of three operands, the first of which is in the register `to`.
    fn overwriting(
        &mut self,
        width: Width,
        op: Op,
        order: [usize; 3],
        to: u8,
        operands: (u8, InstOperand),
    );
    /// Adds an operation of the operands `x`, `y` and `z`.
    fn ternary(&mut self, width: Width, op: Op, to: u8, x: u8, y: InstOperand, z: u8);
    /// Goes on at a label if the first lane of a mask is not set.
    fn jump_unless_first(&mut self, mask: u8, to: Label);
    /// Goes on at a label if no lane of four bytes of a mask is set.
    fn jump_unless_any(&mut self, mask: u8, to: Label);
}
