//! Solves for the sizes of the arguments' dynamic dimensions, from the names that exporters gave
//! them and the shape assertions of the program.
//!
//! An exporter with symbolic dimensions passes the sizes to functions as arguments with the
//! attribute `jax.global_constant`, computes them from those of the arguments (`(size - 1) / 4` for
//! a dimension `4*b + 1`), and asserts how all other sizes depend on them. So a name is an equation
//! for the size from which it is computed, and so is an assertion. An equation with one unknown is
//! solved by evaluating the ops between: exporters compute names by monotone functions.

use crate::calls::callee;
use crate::check_shape_assertions::is_assertion;
use crate::evaluate::scalar;
use crate::integers::{Integers, Known, integer, preimage};
use hlo::enums::COMPARISON_DIRECTION;
use hlo::ops::{CompareOp, GetDimensionSizeOp};
use mlir::ir::ValueDef;
use mlir::types::DYNAMIC;
use mlir::{Attribute, BlockId, Diagnostic, Module, OpRef, Type, Value};
use program::RuntimeValue;
use side_dialects::func::{CallOp, FuncOp};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

/// The argument attribute with the name of a size.
const NAME: &str = "jax.global_constant";

/// Maximum number of solutions of an equation among which assertions decide.
const MAX_CANDIDATES: i64 = 1 << 16;

/// The known sizes of the arguments of a function.
pub(crate) struct Dimensions<'m> {
    function: FuncOp<'m>,
    block: BlockId,
    module: &'m Module,
    /// Known sizes, by argument and dimension.
    sizes: BTreeMap<(usize, usize), i64>,
    /// Known integer scalars and small tensors.
    values: Known,
    /// Names with a given size, and the values that hold it.
    named: Vec<(String, Value, i64)>,
    integers: Integers<'m>,
}

/// The ops that compute a value from known values and sizes of the arguments.
struct SizeComputation<'m> {
    value: Value,
    /// In an order of evaluation.
    ops: Vec<OpRef<'m>>,
    known: Known,
    /// The sizes that are not known.
    unknown: BTreeSet<(usize, usize)>,
}

impl<'m> Dimensions<'m> {
    /// Starts from the types of the arguments. `None` for a function without a body.
    pub(crate) fn of(function: FuncOp<'m>) -> Option<Dimensions<'m>> {
        let module = function.module();
        let block = module.entry(function.body())?;
        let mut sizes = BTreeMap::new();
        for (argument, ty) in function.signature().0.iter().enumerate() {
            for (dimension, &size) in
                ty.shape().unwrap_or(&[]).iter().enumerate().filter(|(_, size)| **size != DYNAMIC)
            {
                sizes.insert((argument, dimension), size);
            }
        }
        Some(Dimensions {
            function,
            block,
            module,
            sizes,
            values: HashMap::new(),
            named: Vec::new(),
            integers: Integers::new(module),
        })
    }

    /// Sets the first dimension of each argument where it is dynamic, not known and not implied by
    /// previously set sizes.
    ///
    /// # Errors
    /// If no argument has a dynamic first dimension, or all such dimensions have another size
    /// already.
    pub(crate) fn set_batch(&mut self, size: i64) -> Result<(), Diagnostic> {
        let (mut has_size, mut other) = (false, None);
        for (argument, ty) in self.function.signature().0.iter().enumerate() {
            if ty.shape().is_none_or(|shape| shape.first() != Some(&DYNAMIC)) {
                continue;
            }
            match self.sizes.get(&(argument, 0)) {
                Some(&known) if known != size => other = Some((argument, known)),
                known => {
                    has_size = true;
                    if known.is_none() {
                        self.sizes.insert((argument, 0), size);
                        self.propagate();
                    }
                }
            }
        }
        let message = match other {
            _ if has_size => return Ok(()),
            Some((argument, known)) => {
                format!(
                    "the batch cannot be {size}: the names given make the first dimension of argument {argument} {known}"
                )
            }
            None => format!(
                "there is no batch to become {size}: no argument has a dynamic first dimension"
            ),
        };
        Err(self.function.error("batch", message))
    }

    /// The named sizes, with the values in the function that hold them.
    fn names(&self) -> Vec<(&'m str, Value)> {
        let mut names = Vec::new();
        let module = self.module;
        for call in module.ops(self.block).filter_map(CallOp::cast) {
            let Some(attributes) = callee(*call).and_then(|f| f.arg_attrs()) else {
                continue;
            };
            names.extend(
                named(attributes).filter_map(|(i, name)| Some((name, *call.operands().get(i)?))),
            );
        }
        let own = self.function.arg_attrs().unwrap_or(&[]);
        names.extend(
            named(own).filter_map(|(i, name)| Some((name, *module.arguments(self.block).get(i)?))),
        );
        names
    }

    /// Sets the size of a name.
    ///
    /// # Errors
    /// If the program has no such name, or the type in which it computes with it lacks the size.
    pub(crate) fn set_name(&mut self, name: &str, size: i64) -> Result<(), Diagnostic> {
        let names = self.names();
        let values: Vec<Value> =
            names.iter().filter(|(n, _)| *n == name).map(|(_, value)| *value).collect();
        if values.is_empty() {
            let known: BTreeSet<&str> = names.iter().map(|(name, _)| *name).collect();
            let known: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
            let has =
                if known.is_empty() { "no named dimensions".into() } else { known.join(", ") };
            return Err(self
                .function
                .error("dim", format!("there is no dimension `{name}`; the program has {has}")));
        }
        for value in values {
            let ty = self.module.ty(value);
            let Some(known) = scalar(size, ty).and_then(|a| a.to_tensor()?.ok()) else {
                let element = ty.element_type();
                let message = format!(
                    "dimension `{name}` cannot be {size}: the program computes with it as {element}"
                );
                return Err(self.function.error("dim", message));
            };
            self.values.insert(value, RuntimeValue::Tensor(known));
            self.named.push((name.to_string(), value, size));
        }
        Ok(())
    }

    /// Checks that the names have the sizes given for them.
    ///
    /// # Errors
    /// If the sizes of the arguments contradict.
    pub(crate) fn check_names(&self) -> Result<(), Diagnostic> {
        for (name, value, size) in &self.named {
            let slice = self.slice(*value).filter(|slice| slice.unknown.is_empty());
            if let Some(found) = slice.and_then(|slice| self.evaluate(&slice, None))
                && found != *size
            {
                let message = format!(
                    "dimension `{name}` cannot be {size}: the sizes of the arguments make it {found}"
                );
                return Err(self.function.error("dim", message));
            }
        }
        Ok(())
    }

    /// Derives further sizes from the names and the program's assertions.
    pub(crate) fn propagate(&mut self) {
        loop {
            let found = self.sizes.len();
            self.compute();
            for (_, value, size) in self.named.clone() {
                self.solve(value, size);
            }
            for assertion in self.module.ops(self.block).filter(|op| is_assertion(*op)) {
                let Some((a, b)) =
                    assertion.operands().first().and_then(|&v| equation(self.module, v))
                else {
                    continue;
                };
                match (self.integer(a), self.integer(b)) {
                    (Some(size), None) => self.solve(b, size),
                    (None, Some(size)) => self.solve(a, size),
                    _ => {}
                }
            }
            if self.sizes.len() == found {
                return;
            }
        }
    }

    /// The types of the arguments with the known sizes; other dimensions stay dynamic.
    pub(crate) fn types(&self) -> Vec<Type> {
        let inputs = self.function.signature().0.iter().enumerate();
        let refined = |(argument, ty): (usize, &Type)| {
            let Some(tensor) = ty.as_tensor().filter(|t| !t.has_static_shape()) else {
                return ty.clone();
            };
            let size =
                |(d, &size): (usize, &i64)| self.sizes.get(&(argument, d)).copied().unwrap_or(size);
            let shape: Vec<i64> = tensor.shape.iter().enumerate().map(size).collect();
            // Bounds are redundant once the shape is static.
            let encoding = tensor.encoding.clone().filter(|_| shape.contains(&DYNAMIC));
            Type::encoded_tensor(shape, tensor.element.clone(), encoding)
        };
        inputs.map(refined).collect()
    }

    /// The arguments that are sizes themselves, with their values, as far as known.
    pub(crate) fn constant_arguments(&self) -> Vec<(usize, i64)> {
        let own = self.function.arg_attrs().unwrap_or(&[]);
        let value = |(i, _)| Some((i, self.integer(*self.module.arguments(self.block).get(i)?)?));
        named(own).filter_map(value).collect()
    }

    /// The names of dimensions whose size is unknown.
    pub(crate) fn unknown_names(&self) -> BTreeSet<&'m str> {
        self.names()
            .into_iter()
            .filter(|(_, value)| self.integer(*value).is_none())
            .map(|(name, _)| name)
            .collect()
    }

    fn integer(&self, value: Value) -> Option<i64> {
        integer(self.values.get(&value)?)
    }

    /// Evaluates what follows from the known sizes.
    fn compute(&mut self) {
        for op in self.module.ops(self.block) {
            if op.results().all(|value| self.values.contains_key(&value)) {
                continue;
            }
            for (value, known) in op.results().zip(self.results(op, &self.values, None)) {
                self.values.entry(value).or_insert(known);
            }
        }
    }

    /// The results of an op as far as they follow from known operands, or, for an op that reads the
    /// size of an argument, from the sizes; `assumed` is the size of those that are not known.
    fn results(&self, op: OpRef<'_>, known: &Known, assumed: Option<i64>) -> Vec<RuntimeValue> {
        if let Some(place) = GetDimensionSizeOp::cast(op).and_then(|op| self.argument_dimension(op))
        {
            let size = self.sizes.get(&place).copied().or(assumed);
            let constant = size.and_then(|size| scalar(size, op.result_type(0)));
            return constant
                .and_then(|c| Some(RuntimeValue::Tensor(c.to_tensor()?.ok()?)))
                .into_iter()
                .collect();
        }
        self.integers.results(op, known).unwrap_or_default()
    }

    /// The ops that a value depends on; `None` if it depends on more than integers and sizes.
    fn slice(&self, value: Value) -> Option<SizeComputation<'m>> {
        let root = self.module.defining_op(value)?;
        let mut slice = SizeComputation {
            value,
            ops: Vec::new(),
            known: HashMap::new(),
            unknown: BTreeSet::new(),
        };
        let mut seen = BTreeSet::from([root.id()]);
        // Each op with the operands still to be visited: it follows all that it depends on.
        let mut stack = vec![(root, 0)];
        while let Some((op, next)) = stack.last_mut() {
            let op = *op;
            if let Some(size) = GetDimensionSizeOp::cast(op) {
                let place = self.argument_dimension(size)?;
                if !self.sizes.contains_key(&place) {
                    slice.unknown.insert(place);
                }
            } else if let Some(&operand) = op.operands().get(*next) {
                *next += 1;
                if let Some(known) = self.values.get(&operand) {
                    slice.known.insert(operand, known.clone());
                    continue;
                }
                let source = self.module.defining_op(operand)?;
                if seen.insert(source.id()) {
                    self.integers.spend()?;
                    stack.push((source, 0));
                }
                continue;
            }
            slice.ops.push(op);
            stack.pop();
        }
        Some(slice)
    }

    /// The integer that a slice computes if its unknown sizes are `assumed`.
    fn evaluate(&self, slice: &SizeComputation<'m>, assumed: Option<i64>) -> Option<i64> {
        let mut known = slice.known.clone();
        for &op in &slice.ops {
            let results = self.results(op, &known, assumed);
            known.extend(op.results().zip(results));
        }
        integer(known.get(&slice.value)?)
    }

    /// Solves `value = size` for a size of an argument, if only one is unknown, and the solution is
    /// the only one for which the program's assertions hold.
    fn solve(&mut self, value: Value, size: i64) {
        let Some(slice) = self.slice(value) else { return };
        let mut unknown = slice.unknown.iter();
        let (Some(&place), None) = (unknown.next(), unknown.next()) else { return };
        let candidates = preimage(|assumed| self.evaluate(&slice, Some(assumed)), size);
        if let Some(solution) = candidates.and_then(|all| self.only(place, all)) {
            self.sizes.insert(place, solution);
        }
    }

    /// The only candidate for a size for which all assertions about it hold.
    fn only(&self, place: (usize, usize), candidates: Range<i64>) -> Option<i64> {
        let count = candidates.end.checked_sub(candidates.start)?;
        if count == 1 {
            return Some(candidates.start);
        }
        if count > MAX_CANDIDATES {
            return None;
        }
        let assertions = self.module.ops(self.block).filter(|op| is_assertion(*op));
        let conditions = assertions.filter_map(|op| self.slice(*op.operands().first()?));
        let conditions: Vec<SizeComputation<'_>> =
            conditions.filter(|slice| slice.unknown.iter().eq([&place])).collect();
        let holds = |size: &i64| {
            conditions.iter().all(|slice| self.evaluate(slice, Some(*size)).is_some_and(|b| b != 0))
        };
        let mut solutions = candidates.filter(holds);
        let solution = solutions.next()?;
        solutions.next().is_none().then_some(solution)
    }

    /// The argument and dimension that an op reads the size of.
    fn argument_dimension(&self, op: GetDimensionSizeOp<'_>) -> Option<(usize, usize)> {
        let ValueDef::Argument { block, index } = self.module.definition(op.operand()) else {
            return None;
        };
        let dimension = usize::try_from(op.dimension()).ok()?;
        (block == self.block).then_some((index as usize, dimension))
    }
}

/// The arguments of a function that hold named sizes, with the names.
pub(crate) fn named_arguments(function: FuncOp<'_>) -> Vec<(usize, &str)> {
    let attributes = function.arg_attrs().unwrap_or(&[]);
    named(attributes).collect()
}

fn named(attributes: &[Attribute]) -> impl Iterator<Item = (usize, &str)> {
    let entries = attributes.iter().enumerate();
    // Exporters also write empty names.
    entries.filter_map(|(i, a)| {
        Some((i, a.as_dictionary()?.get(NAME)?.as_str().filter(|name| !name.is_empty())?))
    })
}

/// The two sides of the equation that `condition` states.
fn equation(module: &Module, condition: Value) -> Option<(Value, Value)> {
    let compare = module.defining_op(condition).and_then(CompareOp::cast)?;
    (COMPARISON_DIRECTION.case(compare.comparison_direction()) == Some("EQ"))
        .then(|| (compare.lhs(), compare.rhs()))
}
