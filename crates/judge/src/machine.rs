//! Runs a program on arrays: frames of slots, blocks, control flow and calls.

use crate::alternatives::{MAX_ALTERNATIVES, after_decision};
use crate::array::{Array, Value};
use crate::doubts::{Doubts, Kind};
use crate::model::Model;
use crate::precise;
use crate::rules::{self, RoundingNumbers};
use host::Host;
use numerics::{DType, Tensor};
use program::primitives;
use program::{
    Block, BlockId, Code, EvalError, EvalResult, Evaluator, FunctionId, Instruction, Operand,
    Origin, Primitive, RuntimeValue, UNUSED,
};
use std::cell::Cell;
use std::time::Duration;

/// Receives the results of each op, and may replace them.
pub(crate) trait Watch {
    /// Result `index` of an op: returns the value with which the program goes on.
    ///
    /// # Errors
    /// To end the run.
    fn value(&mut self, op: Origin, index: usize, array: Array) -> Result<Array, EvalError>;

    /// Likewise, of an op whose result is an operand with a few new elements.
    ///
    /// # Errors
    /// To end the run.
    fn updated(&mut self, op: Origin, index: usize, array: Array) -> Result<Array, EvalError> {
        self.value(op, index, array)
    }
}

/// Changes nothing.
pub(crate) struct Unwatched;

impl Watch for Unwatched {
    fn value(&mut self, _: Origin, _: usize, array: Array) -> Result<Array, EvalError> {
        Ok(array)
    }
}

/// The accuracy that an op is required to have: the sum of these may not be exceeded.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AccuracyRequirement {
    /// In units in the last place.
    pub ulps: f64,
    /// As a number.
    pub absolute: f64,
    /// In proportion to the result.
    pub relative: f64,
}

/// Facts about the ops of a program beyond their primitives.
pub(crate) trait Source {
    /// The accuracy that an op is required to have by its own attributes.
    fn requirement(&self, op: Origin) -> Option<AccuracyRequirement>;
    /// True if a sort keeps the order of equal elements.
    fn is_stable(&self, op: Origin) -> bool;
    /// True if the first of the two operands of a comparison is a constant, and the other is not:
    /// it is the expected one.
    fn has_expected_first(&self, op: Origin) -> bool;
    /// The requirement that an op of the check dialect has for its first operand, given the second
    /// operand, if it has one; `None` for any other op.
    fn check(&self, op: Origin, operand: Option<&Tensor>) -> Option<CheckRequirement>;
}

/// The requirement of an op of the check dialect.
#[derive(Clone, Debug)]
pub(crate) enum CheckRequirement {
    /// A value.
    Value(Tensor),
    /// Any value that a conforming backend may compute.
    Within,
}

/// A value of the program that an op of the check dialect has a requirement for.
#[derive(Clone, Debug)]
pub(crate) struct CheckedValue {
    /// The op.
    pub origin: Origin,
    /// The value.
    pub actual: Array,
    /// The requirement.
    pub check: CheckRequirement,
}

/// Limits of a run.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Maximum nesting of calls and regions.
    pub depth: usize,
    /// Maximum number of ops, counting repetitions.
    pub steps: Option<u64>,
    /// The end of all runs, on the clock of the host.
    pub end: Option<Duration>,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { depth: 1000, steps: None, end: None }
    }
}

/// A run of a program.
pub(crate) struct Machine<'a> {
    code: &'a Code,
    /// How operations may round.
    pub model: &'a Model,
    /// True if true values are computed, too.
    pub has_truth: bool,
    /// True if values of types narrower than `f64` need be known to about 50 bits only.
    pub is_quick: bool,
    /// True if some are.
    pub was_quick: Cell<bool>,
    /// In a run with random rounding: the numbers that it takes.
    pub random: Option<RoundingNumbers>,
    watch: &'a mut dyn Watch,
    frames: Vec<Vec<Option<Value>>>,
    /// The reasons why values cannot be judged.
    pub doubts: Doubts,
    limits: Limits,
    depth: usize,
    steps: u64,
    /// The number of elements that ops have computed.
    pub elements: u64,
    /// About the least work of the same run with more digits.
    pub work: u64,
    /// While a block of scalars runs on vectors: their length.
    lanes: Option<usize>,
    /// True while a side of a decision is followed that true values do not take: its values are
    /// neither watched nor checked.
    is_hypothetical: bool,
    source: &'a dyn Source,
    /// The values that ops of the check dialect have requirements for.
    pub checked: Vec<CheckedValue>,
}

/// The error that a block of exact values gave others.
const INEXACT: &str = "judge_inexact";

fn internal(what: &str) -> EvalError {
    EvalError::new("judge", format!("the program is not valid: {what}"))
}

impl<'a> Machine<'a> {
    /// A run of `code`.
    pub(crate) fn new(
        code: &'a Code,
        model: &'a Model,
        limits: Limits,
        watch: &'a mut dyn Watch,
        source: &'a dyn Source,
    ) -> Machine<'a> {
        Machine {
            code,
            model,
            has_truth: true,
            is_quick: false,
            was_quick: Cell::new(false),
            random: None,
            watch,
            frames: Vec::new(),
            doubts: Doubts::default(),
            limits,
            depth: 0,
            steps: 0,
            elements: 0,
            work: 0,
            lanes: None,
            is_hypothetical: false,
            source,
            checked: Vec::new(),
        }
    }

    /// Facts about the ops of the program beyond their primitives.
    pub(crate) fn source(&self) -> &'a dyn Source {
        self.source
    }

    /// True if values of a type need be known to about 50 bits only.
    pub(crate) fn is_quick(&self, dtype: DType) -> bool {
        let is_quick = self.is_quick && dtype.part() != DType::F64 && !precise::is_on();
        self.was_quick.set(self.was_quick.get() | is_quick);
        is_quick
    }

    /// The code that is run.
    pub(crate) fn code(&self) -> &'a Code {
        self.code
    }

    /// Calls a function.
    ///
    /// # Errors
    /// Whatever stops one of its ops, and exceeded limits.
    pub(crate) fn call_function(
        &mut self,
        function: FunctionId,
        arguments: Vec<Value>,
    ) -> Result<Vec<Value>, EvalError> {
        let callee = self.code.function(function);
        let body = callee.body.ok_or_else(|| internal("a function has no body"))?;
        self.frames.push(vec![None; callee.slots]);
        let results = self.run_block(body, arguments);
        self.frames.pop();
        results
    }

    fn frame(&mut self) -> Result<&mut Vec<Option<Value>>, EvalError> {
        self.frames.last_mut().ok_or_else(|| internal("no function is running"))
    }

    fn store(&mut self, slots: &[u32], values: Vec<Value>) -> Result<(), EvalError> {
        if slots.len() != values.len() {
            return Err(internal("values differ in number from their slots"));
        }
        let frame = self.frame()?;
        for (&slot, value) in slots.iter().zip(values) {
            if slot != UNUSED {
                frame[slot as usize] = Some(value);
            }
        }
        Ok(())
    }

    fn load(&mut self, operands: &[Operand]) -> Result<Vec<Value>, EvalError> {
        let frame = self.frame()?;
        let one = |operand: &Operand| {
            let slot = frame.get_mut(operand.slot as usize);
            let value = slot.and_then(|slot| if operand.last { slot.take() } else { slot.clone() });
            value.ok_or_else(|| internal("a value is used before it is computed"))
        };
        // A value that an op uses twice is taken by its last use.
        operands.iter().map(one).collect()
    }

    fn clear(&mut self, dead: &[u32]) -> Result<(), EvalError> {
        let frame = self.frame()?;
        dead.iter().for_each(|&slot| frame[slot as usize] = None);
        Ok(())
    }

    /// Runs a block and returns its results.
    ///
    /// # Errors
    /// Whatever stops one of its ops, and exceeded limits.
    pub(crate) fn run_block(
        &mut self,
        id: BlockId,
        arguments: Vec<Value>,
    ) -> Result<Vec<Value>, EvalError> {
        let block = self.code.block(id);
        if self.depth >= self.limits.depth {
            let limit = self.limits.depth;
            let message = format!("calls and regions nest deeper than {limit} levels");
            return Err(EvalError::new("depth", message));
        }
        self.store(&block.arguments, arguments)?;
        self.depth += 1;
        let done = self.instructions(block);
        self.depth -= 1;
        done?;
        let results = self.load(&block.results)?;
        self.clear(&block.dead)?;
        Ok(results)
    }

    fn instructions(&mut self, block: &'a Block) -> Result<(), EvalError> {
        for instruction in self.code.instructions_of(block) {
            self.steps += u64::from(instruction.ops);
            if self.limits.steps.is_some_and(|steps| self.steps > steps) {
                let message = "the program executes more ops than it may";
                return Err(EvalError::new("step_limit", message).at(instruction.origin));
            }
            if let Some(end) = self.limits.end
                && Host::current().now().is_some_and(|now| now > end)
            {
                let message = "the judgement takes longer than it may";
                return Err(EvalError::new("time_limit", message).at(instruction.origin));
            }
            self.step(instruction).map_err(|error| match error.place() {
                None => error.at(instruction.origin),
                Some(_) => error,
            })?;
        }
        Ok(())
    }

    fn step(&mut self, instruction: &'a Instruction) -> Result<(), EvalError> {
        // The same value twice is no pair of independent ones.
        let operands = self.load(&instruction.operands)?;
        let is_same = matches!(&instruction.operands[..],
            [one, other] if one.slot == other.slot);
        let mut results = self.evaluate(instruction, operands, is_same)?;
        let sizes = results.iter().map(|value| value.array().map_or(0, Array::len) as u64);
        self.elements += sizes.sum::<u64>();
        let work = rules::least_work(&instruction.primitive);
        if work > 0 {
            let arrays = results.iter().filter_map(|value| value.array().ok());
            self.work += work * arrays.map(Array::count_inexact).sum::<u64>();
        }
        if self.lanes.is_none() && !self.is_hypothetical {
            for (index, result) in results.iter_mut().enumerate() {
                if let Value::Array(array) = result {
                    let empty = Array::exact(Tensor::scalar(false_element()));
                    let own = std::mem::replace(array, empty);
                    let origin = instruction.origin;
                    *array = match rules::updates(&instruction.primitive) {
                        true => self.watch.updated(origin, index, own)?,
                        false => self.watch.value(origin, index, own)?,
                    };
                }
            }
        }
        self.store(&instruction.results, results)?;
        self.clear(&instruction.dead)
    }

    fn evaluate(
        &mut self,
        instruction: &'a Instruction,
        operands: Vec<Value>,
        is_same: bool,
    ) -> Result<Vec<Value>, EvalError> {
        let origin = instruction.origin;
        match &*instruction.primitive {
            Primitive::If(primitives::If { branches: [on_true, on_false] }) => {
                let (condition, doubt) = self.decision(&operands)?;
                let sides = match program::operands::boolean(&condition)? {
                    true => [*on_true, *on_false],
                    false => [*on_false, *on_true],
                };
                let count = if doubt == 0 { 1 } else { 2 };
                self.sides(origin, doubt, &sides[..count])
            }
            Primitive::Case(primitives::Case { branches }) => {
                let (index, doubt) = self.decision(&operands)?;
                let branch = |index: &Tensor| -> Result<BlockId, EvalError> {
                    let branch = usize::try_from(index.item::<i32>()?).ok();
                    let branch = branch.and_then(|index| branches.get(index)).or(branches.last());
                    branch.copied().ok_or_else(|| internal("there are no branches"))
                };
                let mut sides = vec![branch(&index)?];
                match operands.first().and_then(|value| value.array().ok()) {
                    Some(array) if doubt != 0 => match array.alternatives()? {
                        Some(all) => {
                            for index in &all[1..] {
                                let side = branch(index)?;
                                if !sides.contains(&side) {
                                    sides.push(side);
                                }
                            }
                        }
                        // Any branch.
                        None => {
                            let chosen = sides[0];
                            sides.extend(branches.iter().filter(|&&side| side != chosen));
                        }
                    },
                    _ => {}
                }
                self.sides(origin, doubt, &sides)
            }
            Primitive::While(primitives::While { cond, body }) => {
                self.repeat(origin, *cond, *body, operands)
            }
            Primitive::Block(primitives::Block { block }) => self.run_block(*block, operands),
            Primitive::Call(primitives::Call { function }) => {
                self.call_function(*function, operands)
            }
            _ => rules::apply(self, instruction, operands, is_same),
        }
    }

    /// The value that decides, and its doubt.
    fn decision(&self, values: &[Value]) -> Result<(Tensor, u32), EvalError> {
        let [value] = values else { return Err(internal("a decision is not one value")) };
        let array = value.array()?;
        let doubt = array.doubt_codes()?.and_then(|codes| codes.first().copied()).unwrap_or(0);
        let tensor = array.tensor().ok_or_else(|| internal("a decision is no integer"))?;
        Ok((tensor.clone(), doubt))
    }

    /// The results of a branch that was decided in doubt: of all that may be taken, the first of
    /// which is that of true values.
    fn sides(
        &mut self,
        origin: Origin,
        doubt: u32,
        blocks: &[BlockId],
    ) -> Result<Vec<Value>, EvalError> {
        let [chosen, others @ ..] = blocks else { return Err(internal("there are no branches")) };
        if others.is_empty() || others.len() >= MAX_ALTERNATIVES {
            let results = self.run_block(*chosen, Vec::new())?;
            return self.in_doubt(origin, doubt, results);
        }
        // Each side takes values from the frame.
        let before = self.frame()?.clone();
        let mut sides = vec![self.run_block(*chosen, Vec::new())?];
        let after = self.frame()?.clone();
        for &other in others {
            *self.frame()? = before.clone();
            let results = self.hypothetically(|machine| machine.run_block(other, Vec::new()));
            *self.frame()? = after.clone();
            match results {
                Ok(results) => sides.push(results),
                // A side that fails says nothing about results.
                Err(_) => {
                    let results = sides.swap_remove(0);
                    return self.in_doubt(origin, doubt, results);
                }
            }
        }
        let code = self.control_doubt(origin, doubt);
        let result = |index: usize| {
            let sides: Vec<Value> =
                sides.iter().filter_map(|side| side.get(index).cloned()).collect();
            after_decision(&sides, code)
        };
        (0..sides[0].len()).map(result).collect()
    }

    /// Follows a side of a decision that true values do not take.
    pub(crate) fn hypothetically<T>(&mut self, follow: impl FnOnce(&mut Machine<'a>) -> T) -> T {
        let (around, checked) = (self.is_hypothetical, self.checked.len());
        self.is_hypothetical = true;
        let result = follow(self);
        self.is_hypothetical = around;
        self.checked.truncate(checked);
        result
    }

    /// The values after a loop. Where rounding can flip conditions, they are those after any number
    /// of iterations that follows, if there are few.
    fn repeat(
        &mut self,
        origin: Origin,
        cond: BlockId,
        body: BlockId,
        mut values: Vec<Value>,
    ) -> Result<Vec<Value>, EvalError> {
        let mut exits = LoopExits::default();
        loop {
            let goes_on = self.loop_goes_on(cond, &values, &mut exits)?;
            if !goes_on {
                break;
            }
            values = self.run_block(body, values)?;
            exits.iterations += 1;
        }
        if exits.doubt == 0 {
            return Ok(values);
        }
        if exits.is_open {
            let before = self.frame()?.clone();
            let ended = self
                .hypothetically(|machine| machine.go_on(cond, body, values.clone(), &mut exits));
            *self.frame()? = before;
            // An error there says nothing about results.
            exits.is_cut |= !matches!(ended, Ok(true));
        }
        if exits.is_cut {
            return self.in_doubt(origin, exits.doubt, values);
        }
        let code = self.control_doubt(origin, exits.doubt);
        let result = |(index, value): (usize, Value)| {
            let others = exits.values.iter().filter_map(|exit| exit.get(index).cloned());
            after_decision(&std::iter::once(value).chain(others).collect::<Vec<_>>(), code)
        };
        values.into_iter().enumerate().map(result).collect()
    }

    /// True if a loop goes on with these values, the true ones. Where rounding can flip that, the
    /// other side is noted.
    fn loop_goes_on(
        &mut self,
        cond: BlockId,
        values: &[Value],
        exits: &mut LoopExits,
    ) -> Result<bool, EvalError> {
        let condition = self.run_block(cond, values.to_vec())?;
        let (condition, doubt) = self.decision(&condition)?;
        let goes_on = program::operands::boolean(&condition)?;
        if doubt != 0 {
            // A doubt about the true condition counts more.
            exits.doubt = if exits.doubt & 1 == 1 { exits.doubt } else { doubt };
            match goes_on {
                true => exits.add(values),
                false => exits.is_open = true,
            }
        }
        Ok(goes_on)
    }

    /// Goes on with a loop that ends for true values, by a condition that rounding can flip.
    /// Returns true if the loop ends for all values after few iterations.
    fn go_on(
        &mut self,
        cond: BlockId,
        body: BlockId,
        mut values: Vec<Value>,
        exits: &mut LoopExits,
    ) -> Result<bool, EvalError> {
        for _ in 0..=exits.iterations.max(MAX_ALTERNATIVES) {
            values = self.run_block(body, values)?;
            let condition = self.run_block(cond, values.clone())?;
            let (condition, doubt) = self.decision(&condition)?;
            let goes_on = program::operands::boolean(&condition)?;
            if doubt != 0 || !goes_on {
                exits.add(&values);
            }
            if exits.is_cut || (doubt == 0 && !goes_on) {
                return Ok(!exits.is_cut);
            }
        }
        Ok(false)
    }

    /// The code of a doubt about the path of the program.
    fn control_doubt(&mut self, origin: Origin, doubt: u32) -> u32 {
        self.doubts.code(origin, Kind::Control, doubt & 1 == 1, None, || {
            "the condition depends on a decision in doubt".into()
        })
    }

    /// Results of control flow that was decided in doubt.
    fn in_doubt(
        &mut self,
        origin: Origin,
        doubt: u32,
        results: Vec<Value>,
    ) -> Result<Vec<Value>, EvalError> {
        if doubt == 0 {
            return Ok(results);
        }
        let code = self.control_doubt(origin, doubt);
        let result = |value: Value| match value {
            Value::Array(array) => {
                let doubts = Tensor::splat(&array.shape, code)?;
                Ok(array.with_doubts(Some(doubts)).into())
            }
            other => Ok(other),
        };
        results.into_iter().map(result).collect()
    }

    /// Runs a block of scalars on vectors of `n` elements, or scalars.
    ///
    /// # Errors
    /// Whatever stops one of its ops.
    pub(crate) fn run_lanes(
        &mut self,
        block: BlockId,
        n: usize,
        arguments: Vec<Value>,
    ) -> Result<Vec<Value>, EvalError> {
        let around = self.lanes.replace(n);
        let results = self.run_block(block, arguments);
        self.lanes = around;
        results
    }

    /// True if a block of scalars can run on vectors.
    pub(crate) fn is_vectorizable(&self, block: BlockId) -> bool {
        self.code.block(block).vectorizable
    }
}

/// The values with which a loop may end, but for the true ones, where rounding can flip its
/// conditions.
#[derive(Default)]
struct LoopExits {
    values: Vec<Vec<Value>>,
    /// The doubt of a condition; 0 if all are certain.
    doubt: u32,
    /// True if the loop may go on where it ends for true values.
    is_open: bool,
    /// True if it may end in more ways than are followed.
    is_cut: bool,
    /// The number of iterations of true values.
    iterations: usize,
}

impl LoopExits {
    fn add(&mut self, values: &[Value]) {
        self.is_cut |= self.values.len() + 1 >= MAX_ALTERNATIVES;
        if self.is_cut {
            self.values.clear();
        } else {
            self.values.push(values.to_vec());
        }
    }
}

/// A placeholder while a value is watched.
fn false_element() -> numerics::I1 {
    numerics::I1::from(false)
}

fn exact(results: Vec<Value>) -> EvalResult {
    let inexact = || EvalError::new(INEXACT, "a block has results that are not exact");
    results.iter().map(|value| value.as_exact().ok_or_else(inexact)).collect()
}

/// True if the error says that a block of exact values gave others.
pub(crate) fn is_inexact(error: &EvalError) -> bool {
    error.label() == INEXACT
}

/// Runs blocks for kernels on exact values.
impl Evaluator for Machine<'_> {
    fn block(&mut self, block: BlockId, args: Vec<RuntimeValue>) -> EvalResult {
        exact(self.run_block(block, args.into_iter().map(Value::from).collect())?)
    }

    fn scalar_block(
        &mut self,
        block: BlockId,
        n: usize,
        args: Vec<Tensor>,
    ) -> Result<Vec<Tensor>, EvalError> {
        if !self.is_vectorizable(block) {
            return Err(EvalError::new(INEXACT, "a block cannot run on vectors"));
        }
        let args = args.into_iter().map(|tensor| Array::exact(tensor).into()).collect();
        let results = exact(self.run_lanes(block, n, args)?)?;
        let vector = |result: RuntimeValue| {
            let result = result.into_tensor()?;
            Ok(if result.rank() == 0 { result.broadcast_scalar([n])? } else { result })
        };
        results.into_iter().map(vector).collect()
    }

    fn call(&mut self, function: FunctionId, args: Vec<RuntimeValue>) -> EvalResult {
        exact(self.call_function(function, args.into_iter().map(Value::from).collect())?)
    }
}
