//! Solves for the sizes of the arguments' dynamic dimensions, from the names that exporters gave
//! them and the shape assertions of the program.
//!
//! An exporter with symbolic dimensions passes the sizes to functions as arguments with the
//! attribute `jax.global_constant`, computes them with `get_dimension_size`, and asserts how all
//! other dimensions depend on them.

use crate::calls::callee;
use crate::check_shape_assertions::is_assertion;
use crate::evaluate::scalar;
use hlo::enums::COMPARISON_DIRECTION;
use hlo::ops::{CompareOp, ConvertOp, GetDimensionSizeOp, ReshapeOp};
use mlir::ir::ValueDef;
use mlir::prepare;
use mlir::types::DYNAMIC;
use mlir::{Attribute, BlockId, Diagnostic, Module, OpRef, Type, Value};
use program::RuntimeValue;
use side_dialects::func::{CallOp, FuncOp};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The argument attribute with the name of a size.
const NAME: &str = "jax.global_constant";

/// Maximum number of elements of tensors that are evaluated to compute sizes.
const MAX_ELEMENTS: usize = 64;

/// The known sizes of the arguments of a function.
pub struct Dimensions<'m> {
    function: FuncOp<'m>,
    block: BlockId,
    module: &'m Module,
    /// Known sizes, by argument and dimension.
    sizes: BTreeMap<(usize, usize), i64>,
    /// Known integer scalars and small tensors.
    values: HashMap<Value, RuntimeValue>,
}

impl<'m> Dimensions<'m> {
    /// Starts from the types of the arguments. `None` for a function without a body.
    pub fn of(function: FuncOp<'m>) -> Option<Dimensions<'m>> {
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
        Some(Dimensions { function, block, module, sizes, values: HashMap::new() })
    }

    /// Sets the first dimension of each argument where it is dynamic, not known and not implied by
    /// previously set sizes.
    ///
    /// # Errors
    /// If no argument has a dynamic first dimension, or all such dimensions have another size
    /// already.
    pub fn set_batch(&mut self, size: i64) -> Result<(), Diagnostic> {
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
            let Some(attributes) = callee(*call).and_then(|f| f.arg_attrs()?.as_array()) else {
                continue;
            };
            names.extend(
                named(attributes).filter_map(|(i, name)| Some((name, *call.operands().get(i)?))),
            );
        }
        let own = self.function.arg_attrs().and_then(Attribute::as_array).unwrap_or(&[]);
        names.extend(
            named(own).filter_map(|(i, name)| Some((name, *module.arguments(self.block).get(i)?))),
        );
        names
    }

    /// Sets the size of a name.
    ///
    /// # Errors
    /// If the program has no such name.
    pub fn set_name(&mut self, name: &str, size: i64) -> Result<(), Diagnostic> {
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
            let known = scalar(size, self.module.ty(value)).and_then(|a| a.to_tensor()?.ok());
            if let Some(tensor) = known {
                self.values.insert(value, RuntimeValue::Tensor(tensor));
            }
            self.solve(value, size);
        }
        Ok(())
    }

    /// Derives further sizes from the program's assertions.
    pub fn propagate(&mut self) {
        loop {
            let found = self.sizes.len();
            self.compute();
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
    pub fn types(&self) -> Vec<Type> {
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
    pub fn constant_arguments(&self) -> Vec<(usize, i64)> {
        let own = self.function.arg_attrs().and_then(Attribute::as_array).unwrap_or(&[]);
        let value = |(i, _)| Some((i, self.integer(*self.module.arguments(self.block).get(i)?)?));
        named(own).filter_map(value).collect()
    }

    /// The names of dimensions whose size is unknown.
    pub fn unknown_names(&self) -> BTreeSet<&'m str> {
        self.names()
            .into_iter()
            .filter(|(_, value)| self.integer(*value).is_none())
            .map(|(name, _)| name)
            .collect()
    }

    fn integer(&self, value: Value) -> Option<i64> {
        let tensor = self.values.get(&value)?.tensor().ok()?;
        tensor.to_i64s().ok()?.first().copied()
    }

    /// Evaluates what follows from the known sizes.
    fn compute(&mut self) {
        for op in self.module.ops(self.block) {
            if op.num_results() != 1 || self.values.contains_key(&op.result(0)) {
                continue;
            }
            if let Some(value) = self.value_of(op) {
                self.values.insert(op.result(0), value);
            }
        }
    }

    fn value_of(&self, op: OpRef<'_>) -> Option<RuntimeValue> {
        let small = |ty: &Type| {
            ty.as_tensor().and_then(|t| t.num_elements()).is_some_and(|n| n <= MAX_ELEMENTS)
        };
        let integers = |ty: &Type| ty.element_type().is_integer(None) && small(ty);
        if let Some(place) = GetDimensionSizeOp::cast(op).and_then(|op| self.argument_dimension(op))
        {
            let size = *self.sizes.get(&place)?;
            return Some(RuntimeValue::Tensor(scalar(size, op.result_type(0))?.to_tensor()?.ok()?));
        }
        if !op.regions().is_empty() || !op.operand_types().chain(op.result_types()).all(integers) {
            return None;
        }
        let operands = op
            .operands()
            .iter()
            .map(|v| self.values.get(v).cloned())
            .collect::<Option<Vec<_>>>()?;
        prepare::evaluate(op, operands).ok()?.pop()
    }

    /// The argument and dimension that an op reads the size of.
    fn argument_dimension(&self, op: GetDimensionSizeOp<'_>) -> Option<(usize, usize)> {
        let ValueDef::Argument { block, index } = self.module.definition(op.operand()) else {
            return None;
        };
        let dimension = usize::try_from(op.dimension()?.as_i64()?).ok()?;
        (block == self.block).then_some((index as usize, dimension))
    }

    /// Records that a value equals `size`, if it is the size of an unknown dimension.
    fn solve(&mut self, value: Value, size: i64) {
        let mut value = value;
        while let Some(op) = self.module.defining_op(value) {
            if let Some(place) =
                GetDimensionSizeOp::cast(op).and_then(|op| self.argument_dimension(op))
            {
                self.sizes.entry(place).or_insert(size);
                return;
            }
            if !op.is(ConvertOp::DEF) && !op.is(ReshapeOp::DEF) {
                return;
            }
            value = op.operand(0);
        }
    }
}

/// The arguments that hold named sizes.
fn named(attributes: &[Attribute]) -> impl Iterator<Item = (usize, &str)> {
    let entries = attributes.iter().enumerate();
    entries.filter_map(|(i, a)| Some((i, a.as_dictionary()?.get(NAME)?.as_str()?)))
}

/// The two sides of the equation that `condition` states.
fn equation(module: &Module, condition: Value) -> Option<(Value, Value)> {
    let compare = module.defining_op(condition).and_then(CompareOp::cast)?;
    let direction = compare.comparison_direction()?.as_enum(&COMPARISON_DIRECTION)?;
    (COMPARISON_DIRECTION.case(direction) == Some("EQ")).then(|| (compare.lhs(), compare.rhs()))
}
