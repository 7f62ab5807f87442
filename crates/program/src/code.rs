//! Functions and blocks of instructions over slots.
//!
//! All values of a function, also of its nested blocks, have a slot in one flat frame, so
//! that nested blocks read the values around them without copies. A value dies with the last
//! instruction of its own block that uses it, directly or from a nested block.

use crate::{Primitive, ValueType};
use smallvec::SmallVec;
use std::ops::Range;
use std::sync::Arc;

macro_rules! ids {
    ($($(#[doc = $doc:literal])* $name:ident)*) => {$(
        $(#[doc = $doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// Position in its table.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

ids! {
    /// A function of a program.
    FunctionId
    /// A block of a program.
    BlockId
    /// An instruction of a program.
    InstructionId
    /// The op that an instruction was prepared from: a key of the side table that the executor
    /// keeps for diagnostics, traces and profiles.
    Origin
}

/// A slot of the frame of a function.
pub type Slot = u32;

/// The slot of a value without uses.
pub const UNUSED: Slot = u32::MAX;

/// A use of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operand {
    /// The slot of the value.
    pub slot: Slot,
    /// True if this is the last use, so that the value may be moved out of its slot.
    pub last: bool,
}

/// One step of a block.
#[derive(Debug, PartialEq)]
pub struct Instruction {
    /// The operation.
    pub primitive: Arc<Primitive>,
    /// Its operands.
    pub operands: SmallVec<[Operand; 2]>,
    /// Slots of its results.
    pub results: SmallVec<[Slot; 1]>,
    /// Types of its results.
    pub result_types: SmallVec<[Arc<ValueType>; 1]>,
    /// Slots of the values that die with this instruction without being its operands.
    pub dead: SmallVec<[Slot; 0]>,
    /// A lower bound of the bytes by which the results exceed the operands, whose memory they may
    /// reuse.
    pub growth: usize,
    /// Number of ops that it stands for.
    pub ops: u32,
    /// The op that it was prepared from.
    pub origin: Origin,
}

impl Instruction {
    /// The evaluation of its primitive.
    pub fn evaluation(&self) -> Evaluation<'_> {
        Evaluation {
            primitive: &self.primitive,
            origin: self.origin,
            result_types: &self.result_types,
            growth: self.growth,
        }
    }
}

/// A primitive that is to be evaluated.
#[derive(Debug)]
pub struct Evaluation<'a> {
    /// The primitive.
    pub primitive: &'a Primitive,
    /// The op that it was prepared from.
    pub origin: Origin,
    /// Types of its results.
    pub result_types: &'a [Arc<ValueType>],
    /// As that of an [`Instruction`].
    pub growth: usize,
}

/// A sequence of instructions with arguments and results.
#[derive(Debug, PartialEq, Eq)]
pub struct Block {
    /// The function whose frame it uses.
    pub function: FunctionId,
    /// Slots of the arguments.
    pub arguments: SmallVec<[Slot; 4]>,
    /// Types of the arguments.
    pub argument_types: SmallVec<[Arc<ValueType>; 4]>,
    /// Its instructions, as a range of all instructions of the program.
    pub instructions: Range<u32>,
    /// The operands of its terminator: the results.
    pub results: SmallVec<[Operand; 4]>,
    /// The types of the results, as far as known: element types of tensors.
    pub result_types: SmallVec<[Arc<ValueType>; 4]>,
    /// Slots of the values that die with the terminator without being its operands.
    pub dead: SmallVec<[Slot; 0]>,
    /// True if all instructions are elementwise on scalars, so that the block can run on vectors
    /// of many scalars at once.
    pub vectorizable: bool,
    /// True if the block uses only its arguments and the values that it defines.
    pub closed: bool,
}

/// A function of a program.
#[derive(Debug, PartialEq, Eq)]
pub struct Function {
    /// Its symbol name.
    pub name: String,
    /// Its only block; `None` for declarations and functions of several blocks, which cannot run.
    pub body: Option<BlockId>,
    /// Number of slots of its frame.
    pub slots: usize,
    /// Types of its inputs.
    pub inputs: Vec<Arc<ValueType>>,
    /// The op that it was prepared from.
    pub origin: Origin,
}

/// The functions of a program: owned, immutable, free of IR.
#[derive(Debug, Default, PartialEq)]
pub struct Code {
    /// All functions.
    pub functions: Vec<Function>,
    /// All blocks, of functions and nested ones.
    pub blocks: Vec<Block>,
    /// All instructions, block by block.
    pub instructions: Vec<Instruction>,
}

impl Code {
    /// A function.
    pub fn function(&self, id: FunctionId) -> &Function {
        &self.functions[id.index()]
    }

    /// A block.
    pub fn block(&self, id: BlockId) -> &Block {
        &self.blocks[id.index()]
    }

    /// An instruction.
    pub fn instruction(&self, id: InstructionId) -> &Instruction {
        &self.instructions[id.index()]
    }

    /// The types of the slots of each function; `None` if nothing defines a slot.
    pub fn slot_types(&self) -> Vec<Vec<Option<Arc<ValueType>>>> {
        let mut types: Vec<Vec<Option<Arc<ValueType>>>> =
            self.functions.iter().map(|function| vec![None; function.slots]).collect();
        for block in &self.blocks {
            let types = &mut types[block.function.index()];
            let mut define = |slots: &[Slot], defined: &[Arc<ValueType>]| {
                for (&slot, ty) in slots.iter().zip(defined) {
                    if let Some(known) = types.get_mut(slot as usize) {
                        *known = Some(ty.clone());
                    }
                }
            };
            define(&block.arguments, &block.argument_types);
            for instruction in self.instructions_of(block) {
                define(&instruction.results, &instruction.result_types);
            }
        }
        types
    }

    /// The instructions of a block.
    pub fn instructions_of(&self, block: &Block) -> &[Instruction] {
        &self.instructions[block.instructions.start as usize..block.instructions.end as usize]
    }
}
