//! Constants from constants: an op whose operands are constants is evaluated by the meaning that
//! its declaration holds.

use mlir::attrs::{AttrKind, DenseElements};
use mlir::ods::Trait;
use mlir::prepare;
use mlir::rewrite::fold::constant_value;
use mlir::{Attribute, BlockId, Module, OpRef, Type, Value};
use numerics::{Tensor, math};
use program::RuntimeValue;
use std::collections::HashMap;

/// Bounds on the numbers of elements of the operands and results of an evaluated op.
#[derive(Clone, Copy)]
pub struct Limits {
    /// In general.
    pub elements: usize,
    /// Where one element of each is computed: of an elementwise op on constants whose elements are
    /// all equal.
    pub equal_elements: usize,
}

impl Limits {
    /// The same bound for all constants.
    pub fn elements(count: usize) -> Limits {
        Limits { elements: count, equal_elements: count }
    }
}

/// The values of the results of an op without effects and regions whose operands are all constants,
/// and which has some. `None` if it cannot be evaluated, or exceeds the limits.
pub fn evaluate(op: OpRef<'_>, limits: Limits) -> Option<Vec<Attribute>> {
    let effect_free = op.has_trait(&Trait::Pure) || op.has_trait(&Trait::NoMemoryEffect);
    let simple =
        effect_free && op.regions().is_empty() && !op.operands().is_empty() && op.num_results() > 0;
    if !simple || !has_at_most(op, limits.elements.max(limits.equal_elements)) {
        return None;
    }
    let constants: Option<Vec<Attribute>> =
        op.operands().iter().map(|&value| constant_value(op.module(), value)).collect();
    let constants = constants?;
    let one_element = op.has_trait(&Trait::Elementwise)
        && has_at_most(op, limits.equal_elements)
        && constants.iter().all(|c| c.as_dense().is_some_and(has_equal_elements));
    if !one_element && !has_at_most(op, limits.elements) {
        return None;
    }
    let operand = |constant: &Attribute| {
        let tensor = match one_element {
            true => {
                let dense = constant.as_dense()?;
                Tensor::splat_bytes(dense.dtype(), [], &dense.data()[..]).ok()?
            }
            false => constant.to_tensor()?.ok()?,
        };
        Some(RuntimeValue::Tensor(tensor))
    };
    let operands = constants.iter().map(operand).collect::<Option<Vec<_>>>()?;
    let results = prepare::evaluate(op, operands).ok()?;
    let attribute = |(value, ty): (RuntimeValue, &Type)| {
        let tensor = value.into_tensor().ok()?;
        if !one_element {
            return elements(&tensor, ty);
        }
        if Some(tensor.dtype()) != ty.element_type().dtype() {
            return None;
        }
        Some(DenseElements::new(ty.clone(), tensor.bytes().clone())?.into())
    };
    results.into_iter().zip(op.result_types()).map(attribute).collect()
}

fn has_equal_elements(dense: &DenseElements) -> bool {
    dense.is_splat() && dense.num_elements() > 0
}

/// True if no operand or result has more elements, or an unknown number of them.
fn has_at_most(op: OpRef<'_>, max_elements: usize) -> bool {
    let fits = |ty: &Type| {
        ty.as_tensor().and_then(|t| t.num_elements()).is_some_and(|n| n <= max_elements)
    };
    op.operand_types().chain(op.result_types()).all(fits)
}

/// Maximum number of elements of a value in an evaluated block.
const MAX_BLOCK_ELEMENTS: usize = 1 << 16;

/// Evaluates a block without nested regions for those arguments; from outside it may use constants
/// only.
pub fn evaluate_block(
    module: &Module,
    block: BlockId,
    arguments: Vec<RuntimeValue>,
) -> Option<Vec<Tensor>> {
    let mut values: HashMap<Value, RuntimeValue> =
        module.arguments(block).iter().copied().zip(arguments).collect();
    let value_of = |values: &HashMap<Value, RuntimeValue>, value: &Value| match values.get(value) {
        Some(known) => Some(known.clone()),
        None => Some(RuntimeValue::Tensor(constant_value(module, *value)?.to_tensor()?.ok()?)),
    };
    let mut ops = module.ops(block);
    let end = ops.next_back()?;
    for op in ops {
        let is_constant = op.has_trait(&Trait::ConstantLike);
        if !op.regions().is_empty() || !is_constant && !has_at_most(op, MAX_BLOCK_ELEMENTS) {
            return None;
        }
        let operands =
            op.operands().iter().map(|v| value_of(&values, v)).collect::<Option<Vec<_>>>()?;
        let results = prepare::evaluate(op, operands).ok()?;
        values.extend(op.results().zip(results));
    }
    end.operands().iter().map(|v| value_of(&values, v)?.into_tensor().ok()).collect()
}

/// The value of a tensor as an attribute of that type; none if they do not fit.
pub fn elements(tensor: &Tensor, ty: &Type) -> Option<Attribute> {
    let fits = ty.as_tensor()?.static_shape()? == tensor.shape()
        && ty.element_type().dtype()? == tensor.dtype();
    if !fits {
        return None;
    }
    Some(AttrKind::Dense(DenseElements::new(ty.clone(), tensor.bytes().clone())?).into())
}

/// An integer as a constant of a type of one element; none if it is out of range.
pub fn scalar(value: i64, ty: &Type) -> Option<Attribute> {
    let dtype = ty.element_type().dtype()?;
    let shape = ty.as_tensor()?.static_shape()?;
    let tensor = Tensor::from_vec(shape, vec![value]).ok()?;
    let converted = math::convert(tensor, dtype).ok()?;
    let attribute = elements(&converted, ty)?;
    (attribute.as_dense()?.int_values()? == [value]).then_some(attribute)
}
