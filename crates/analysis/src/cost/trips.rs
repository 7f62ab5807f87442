//! Trip counts of loops that count up or down by a constant, as exporters write `scan` and
//! `fori_loop`.

use numerics::Tensor;
use numerics::math::{BinaryOp, Direction};
use program::primitives;
use program::{BlockId, Code, FunctionId, Instruction, Primitive, Slot};
use rustc_hash::FxHashMap;

/// The instruction that defines each slot of each function.
pub(crate) struct SlotDefinitions<'c> {
    code: &'c Code,
    by_slot: FxHashMap<(FunctionId, Slot), &'c Instruction>,
}

impl<'c> SlotDefinitions<'c> {
    /// The definitions of a program.
    pub(crate) fn of(code: &'c Code) -> SlotDefinitions<'c> {
        let mut by_slot = FxHashMap::default();
        for block in &code.blocks {
            for instruction in code.instructions_of(block) {
                for &slot in &instruction.results {
                    by_slot.insert((block.function, slot), instruction);
                }
            }
        }
        SlotDefinitions { code, by_slot }
    }

    /// The value of a slot that holds a constant integer.
    fn integer(&self, function: FunctionId, slot: Slot) -> Option<i128> {
        let scalar = |tensor: &Tensor| {
            let is_integer = tensor.rank() == 0 && tensor.dtype().is_integer();
            let values = if is_integer { tensor.to_i64s().ok()? } else { return None };
            values.first().map(|&value| i128::from(value))
        };
        match &*self.by_slot.get(&(function, slot))?.primitive {
            Primitive::Constant(primitives::Constant { tensor }) => scalar(tensor),
            Primitive::Splat(primitives::Splat { element, shape }) if shape.is_empty() => {
                scalar(element)
            }
            _ => None,
        }
    }

    /// Number of times that the body of a loop with these operands runs, if its condition compares
    /// a counter, which the body changes by a constant, with a bound that does not change.
    pub(crate) fn trips(&self, cond: BlockId, body: BlockId, operands: &[Slot]) -> Option<u64> {
        let (cond, body) = (self.code.block(cond), self.code.block(body));
        let function = cond.function;
        let compared = self.by_slot.get(&(function, cond.results.first()?.slot))?;
        let Primitive::Compare(comparison) = &*compared.primitive else { return None };
        let [lhs, rhs] = &compared.operands[..] else { return None };
        let argument = |slot: Slot| cond.arguments.iter().position(|&own| own == slot);
        // The value that is the same in each iteration.
        let bound = |slot: Slot| match argument(slot) {
            None => self.integer(function, slot),
            Some(index) => {
                let is_kept = body.results.get(index)?.slot == *body.arguments.get(index)?;
                if is_kept { self.integer(function, *operands.get(index)?) } else { None }
            }
        };
        let (counter, bound, direction) = match (bound(lhs.slot), bound(rhs.slot)) {
            (None, Some(bound)) => (lhs.slot, bound, comparison.direction),
            (Some(bound), None) => (rhs.slot, bound, comparison.direction.mirrored()),
            _ => return None,
        };
        let index = argument(counter)?;
        let start = self.integer(function, *operands.get(index)?)?;
        let step =
            self.step(function, *body.arguments.get(index)?, body.results.get(index)?.slot)?;
        // The distance to go, in the direction of the steps.
        let (distance, step) = match direction {
            Direction::Lt => (bound - start, step),
            Direction::Le => (bound - start + 1, step),
            Direction::Gt => (start - bound, -step),
            Direction::Ge => (start - bound + 1, -step),
            Direction::Eq | Direction::Ne => return None,
        };
        match (distance, step) {
            (..=0, _) => Some(0),
            (_, ..=0) => None,
            _ => u64::try_from((distance + step - 1) / step).ok(),
        }
    }

    /// The constant by which a body changes its argument.
    fn step(&self, function: FunctionId, argument: Slot, result: Slot) -> Option<i128> {
        let changed = self.by_slot.get(&(function, result))?;
        let [lhs, rhs] = &changed.operands[..] else { return None };
        match *changed.primitive {
            Primitive::Binary(BinaryOp::Add) if lhs.slot == argument => {
                self.integer(function, rhs.slot)
            }
            Primitive::Binary(BinaryOp::Add) if rhs.slot == argument => {
                self.integer(function, lhs.slot)
            }
            Primitive::Binary(BinaryOp::Subtract) if lhs.slot == argument => {
                Some(-self.integer(function, rhs.slot)?)
            }
            _ => None,
        }
    }
}
