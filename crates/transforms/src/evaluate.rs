//! Constants from constants: an op whose operands are constants is evaluated by the meaning that
//! its declaration holds.

use mlir::attrs::{AttrKind, DenseElements};
use mlir::ods::Trait;
use mlir::rewrite::fold::constant_value;
use mlir::{Attribute, BlockId, Module, OpRef, Type, Value};
use numerics::{Tensor, math};
use program::RuntimeValue;
use std::collections::HashMap;

/// Bounds on the numbers of elements of the operands and results of an evaluated op.
#[derive(Clone, Copy)]
pub(crate) struct Limits {
    /// In general.
    pub elements: usize,
    /// Where one element of each is computed: of an elementwise op on constants whose elements are
    /// all equal.
    pub equal_elements: usize,
}

impl Limits {
    /// The same bound for all constants.
    pub(crate) fn elements(count: usize) -> Limits {
        Limits { elements: count, equal_elements: count }
    }
}

/// The values of the results of an op without effects and regions whose operands are all constants,
/// and which has some. `None` if it cannot be evaluated, or exceeds the limits.
pub(crate) fn evaluate(op: OpRef<'_>, limits: Limits) -> Option<Vec<Attribute>> {
    let effect_free = op.has_trait(&Trait::Pure) || op.has_trait(&Trait::NoMemoryEffect);
    if !effect_free || op.operands().is_empty() || op.num_results() == 0 {
        return None;
    }
    let module = op.module();
    let constants: Option<Vec<Attribute>> =
        op.operands().iter().map(|&value| constant_value(module, value)).collect();
    if op.has_trait(&Trait::Elementwise) && constants?.iter().all(has_equal_elements) {
        return evaluate_element(op, limits.equal_elements);
    }
    let results = folding::results(op, limits.elements, |value| folding::constant(module, value))?;
    let attribute = |(value, ty): (RuntimeValue, &Type)| elements(&value.into_tensor().ok()?, ty);
    results.into_iter().zip(op.result_types()).map(attribute).collect()
}

fn has_equal_elements(constant: &Attribute) -> bool {
    constant.as_dense().is_some_and(|dense| dense.is_splat() && dense.num_elements() > 0)
}

/// As `evaluate`, of one element of each constant, whose elements are all equal.
fn evaluate_element(op: OpRef<'_>, max_elements: usize) -> Option<Vec<Attribute>> {
    let element = |value: Value| {
        let constant = constant_value(op.module(), value)?;
        let dense = constant.as_dense()?;
        let tensor = Tensor::splat_bytes(dense.dtype(), [], &dense.data()[..]).ok()?;
        Some(RuntimeValue::Tensor(tensor))
    };
    let results = folding::results(op, max_elements, element)?;
    let attribute = |(value, ty): (RuntimeValue, &Type)| {
        let tensor = value.into_tensor().ok()?;
        if Some(tensor.dtype()) != ty.element_type().dtype() {
            return None;
        }
        Some(DenseElements::new(ty.clone(), tensor.bytes().clone())?.into())
    };
    results.into_iter().zip(op.result_types()).map(attribute).collect()
}

/// Maximum number of elements of a value in an evaluated block.
const MAX_BLOCK_ELEMENTS: usize = 1 << 16;

/// Evaluates a block without nested regions for given arguments; from outside it may use constants
/// only.
pub(crate) fn evaluate_block(
    module: &Module,
    block: BlockId,
    arguments: Vec<RuntimeValue>,
) -> Option<Vec<Tensor>> {
    let mut known: HashMap<Value, RuntimeValue> =
        module.arguments(block).iter().copied().zip(arguments).collect();
    let value_of = |known: &HashMap<Value, RuntimeValue>, value: Value| {
        known.get(&value).cloned().or_else(|| folding::constant(module, value))
    };
    let mut ops = module.ops(block);
    let end = ops.next_back()?;
    for op in ops.filter(|op| !op.has_trait(&Trait::ConstantLike)) {
        let results = folding::results(op, MAX_BLOCK_ELEMENTS, |value| value_of(&known, value))?;
        known.extend(op.results().zip(results));
    }
    end.operands().iter().map(|&value| value_of(&known, value)?.into_tensor().ok()).collect()
}

/// The value of a tensor as an attribute of that type; `None` if they do not fit.
pub(crate) fn elements(tensor: &Tensor, ty: &Type) -> Option<Attribute> {
    let fits = ty.as_tensor()?.static_shape()? == tensor.shape()
        && ty.element_type().dtype()? == tensor.dtype();
    if !fits {
        return None;
    }
    Some(AttrKind::Dense(DenseElements::new(ty.clone(), tensor.bytes().clone())?).into())
}

/// An integer as a constant of a type of one element; `None` if it is out of range.
pub(crate) fn scalar(value: i64, ty: &Type) -> Option<Attribute> {
    let dtype = ty.element_type().dtype()?;
    let shape = ty.as_tensor()?.static_shape()?;
    let tensor = Tensor::from_vec(shape, vec![value]).ok()?;
    let converted = math::convert(tensor, dtype).ok()?;
    let attribute = elements(&converted, ty)?;
    (attribute.as_dense()?.int_values()? == [value]).then_some(attribute)
}
